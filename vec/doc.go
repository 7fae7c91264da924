// Package vec holds the inner loops of tstore: counting, gathering and scattering the nonzero
// elements of dense buffers, and checking and converting arrays of indices.
//
// It knows nothing of tensors. Every function takes raw bytes, an [Elem] that says how wide an
// element is and which of its bits make it nonzero, and an [Index] that says how the integers of an
// index array are stored. Buffers are little endian, may lie at any address (aligned or not), are
// borrowed for the length of the call, and are never written outside the slices that were given, not
// even when the store is followed by a load that puts the old bytes back: a neighbour may be a
// read-only page or belong to another goroutine.
//
// # Zero
//
// An element is zero if it compares equal to 0. For integers and bools that means all bits clear; for
// floating point the sign bit is ignored, so −0.0 is zero and NaN is not; a complex number is zero if
// both its parts are.
//
// # Misuse and bad data
//
// A slice whose length does not fit the call (not a whole number of elements, output shorter than
// promised) is a programmer's mistake and panics, as indexing does. Bad data never panics: an index
// outside its range is returned as an [*IndexError], before anything was written.
package vec
