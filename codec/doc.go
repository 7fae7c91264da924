// Package codec turns tensors into Apache Arrow encapsulated messages and
// back.
//
// A message is a small FlatBuffer, the metadata, that says what the tensor is,
// and a body with its elements. [Encode] makes a [Record], which knows its
// length and can be written, without ever copying the elements of a tensor
// that lies in memory as it is stored. [Decode] returns a tensor that lies in
// the message. [ParseHead] reads the metadata alone, and [Head.Describe] says
// what tensor is in a message whose body is elsewhere. docs/FORMAT.md
// describes the messages byte by byte.
//
// # What is written
//
// Metadata version V5, little endian, framed with 0xFFFFFFFF. Head, body and
// every buffer in the body are multiples of 64 bytes long, so a file of
// messages that starts with one has every element aligned, and Arrow's readers
// walk it. Equal tensors with equal metadata make equal bytes.
//
// # What is read
//
// Also what others write: messages from before Arrow 0.15 without the
// 0xFFFFFFFF, version V4, bodies and buffers at any offset, tensors without
// strides or names and with any strides that are not negative, every type of a
// fixed width. Element types that Arrow's tensors lack (bool, bfloat16,
// float8, complex) are kept as integers or floats of the same bytes with their
// name in the custom metadata, key tstore.dtype.
//
// # Untrusted bytes
//
// No input makes this package panic, read outside the given slice, allocate
// more than a small multiple of the bytes that are there, or take more than
// linear time. A verifier checks all of the FlatBuffer that is read; every
// shape, stride and offset is checked before memory is touched. What breaks a
// rule is an [*Error] with the rule and the offset.
//
// Decoding does not look into the index arrays of a sparse tensor, which would
// cost a pass over them each time. [Validate] does; so do all conversions in
// package layout.
//
// # Caveats
//
//   - What Decode, ParseHead and Metadata return lies in the bytes they were
//     given. If those are a map of a file, another process that changes the
//     file changes the tensor, after all checks.
//   - Dimension names and custom metadata are not checked to be UTF-8.
//   - Padding and unused bytes are not checked to be zero; a message is not
//     known to be whole by decoding it. Checksums are the store's.
package codec
