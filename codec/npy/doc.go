// Package npy reads and writes NumPy's .npy files, format versions 1.0 to 3.0.
//
// [Decode] takes the bytes of a whole file, usually a map of it, and gives a tensor that lies over
// them: no copy is made where the elements are little-endian and aligned, in C order as in Fortran
// order. [Encode] streams a tensor to a writer; what it writes for the arrays that NumPy itself can
// make is byte for byte what np.save writes.
//
// # Element types
//
//	npy                            tensor
//	i1 i2 i4 i8  u1 u2 u4 u8       int8 … uint64
//	f2 f4 f8                       float16, float32, float64
//	b1                             bool
//	c8 c16                         complex64, complex128
//	M8[s] M8[ms] M8[us] M8[ns]     timestamp without a zone
//	m8[s] m8[ms] m8[us] m8[ns]     duration
//	M8[D]                          date[day]
//
// NaT, the smallest int64, stays what it is in timestamps and durations; Arrow has no such value,
// so other readers see a time very long ago. A date[day] has 32 bits where M8[D] has 64: an array
// with NaT or with days beyond ±2³¹ is refused, every other comes back as it was. A byte above 1 in
// a bool array counts as true, as in NumPy, and is read as 1.
//
// Everything else is refused with the reason and a way out ([ErrUnsupported]): structured, object,
// string, void and long double arrays, other time units and multiples of units. In the other
// direction, what no .npy file can hold so that it comes back the same is refused too: bfloat16,
// float8, timestamps with a zone, times of day, decimals and so on. [Raw] gives a view of such a
// tensor as unsigned integers, which can be written.
//
// Dimension names have no place in a .npy file and are not written.
//
// # Untrusted files
//
// The header is parsed by hand, in time linear in its length, and nothing in it is evaluated.
// Decode allocates nothing by what the header claims, only by the bytes that are there. The file has to
// be exactly as long as its header says: a shorter one gives [ErrTruncated], and a longer one
// [ErrInvalid], since np.save called twice on one file makes such files and taking the first array
// alone would lose the rest.
//
// Source: the docstring of numpy.lib.format, and NEP 1.
package npy
