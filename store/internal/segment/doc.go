// Package segment keeps the files that are the truth of a store: it lays out
// control records, appends batches, walks what is there and maps it for reading.
//
// A segment file holds nothing but Arrow encapsulated messages, each a multiple
// of 64 bytes long, back to back from byte 0. Four kinds of message occur:
//
//   - the segment header, always first: which store and segment this is, and the
//     live set, that is which other files count (header.go);
//   - put records, each an Arrow Tensor or SparseTensor message;
//   - commit records, each making the puts before it and its other operations
//     true, all or nothing (commit.go);
//   - in a sealed segment, the frozen index, followed by the end-of-stream marker
//     and a trailer (seal.go).
//
// Control records (header, commit, index) are messages without an Arrow header:
// readers of Arrow step over them. Their last four bytes are a CRC-32C of every
// byte of the record before it, so that no flipped bit in one goes unseen; the
// CRC of a put record stands in the commit record that names it.
//
// Walk (walk.go) is the one judge of what a log holds: it tells a torn tail,
// which was never acknowledged and may be left behind, from damage below the
// position known to be durable, which is an error.
//
// Memory: files are mapped read-only. A Mapping is never unmapped while the
// process lives; Retire replaces it by an inaccessible range, so that a slice
// kept too long faults and never reads someone else's bytes.
package segment
