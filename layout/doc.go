// Package layout says what a tensor is in memory: its element type, its shape, and how its
// elements are kept.
//
// A [Tensor] has a [DType], a shape and possibly a name for each axis. A [Dense] keeps every
// element, at byte strides, so that row-major, column-major, sliced, reversed, transposed and
// broadcast tensors are all views of one piece of memory.
//
// # Ownership
//
// Tensors borrow the memory that they are made of. Nothing here copies elements unless its name
// says so (Clone, Copy…, Append…), and nothing here ever writes to a tensor's memory. What a
// tensor borrows must stay as it is for as long as the tensor or a view of it is used. Shapes,
// strides and names are copied by the New… functions and kept as they are by the Init methods,
// which decoders use.
//
// Tensors do not change, so any number of goroutines may use one.
//
// # Untrusted input
//
// Every constructor checks that all elements lie inside the memory it was given, with arithmetic
// that can't overflow, and costs time in the number of dimensions only. A strided tensor may
// still claim far more elements than there are bytes, by strides of 0; who takes strides from
// untrusted bytes and wants to copy the tensor should compare [Dense.NumBytes] with the length
// of the data first.
//
// # Caveats
//
//   - Little-endian hosts with 64-bit pointers only: elements are the bytes that Arrow writes.
//   - [Values] gives typed slices without a copy. Writing to one that lies in a read-only map
//     ends the program.
//   - [Equal] compares bits: a NaN equals itself, and +0 is not −0.
package layout
