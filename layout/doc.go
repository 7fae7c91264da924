// Package layout says what a tensor is in memory: its element type, its shape, and how its
// elements are kept.
//
// A [Tensor] has a [DType], a shape and possibly a name for each axis. There are five layouts:
//
//   - [Dense] keeps every element, at byte strides, so that row-major, column-major, sliced,
//     reversed, transposed and broadcast tensors are all views of one piece of memory.
//   - [COO] keeps the coordinates and values of the nonzeros, any number of dimensions.
//   - [CSR] and [CSC] keep the nonzeros of a matrix row by row or column by column.
//   - [CSF] keeps the nonzeros of a tensor of two or more dimensions as a tree, a level per axis.
//
// They are those of Arrow's tensor messages, so that a stored message and a tensor in memory are the
// same bytes. The arrays of a sparse tensor are views of bytes as well: an [Index] holds integers of any
// of the eight types, at any alignment, and [IndexValues] and [Values] give Go slices of them without
// a copy. [Convert] turns any layout into any other, and [Auto] finds the smallest.
//
// # Zero
//
// An element is zero if it compares equal to 0: −0.0 is zero, NaN is not; a complex number is zero if both
// its parts are, and an element of an opaque type (dates, times, decimals, binaries) if all its
// bytes are. So from sparse to dense and back everything stays as it is but for zeros that were stored,
// and from dense to sparse and back −0.0 becomes +0.0. From sparse to sparse, stored zeros are kept.
//
// # Ownership
//
// Tensors borrow the memory that they are made of. Nothing here copies elements unless its name
// says so (Clone, Copy…, Append…, Convert, To…, Auto), and nothing here ever writes to a tensor's
// memory. What a tensor borrows must stay as it is for as long as the tensor or a view of it is used.
// Shapes, strides, names and axis orders are copied by the New… functions and kept as they are by the
// Init methods, which decoders use.
//
// Tensors do not change, so any number of goroutines may use one.
//
// # Untrusted input
//
// Constructors check with arithmetic that can't overflow that lengths, shapes and strides fit together
// and that all elements lie inside the memory that was given; they take time in the number of
// dimensions only, and do not look into the arrays. Validate does, in linear time and without
// allocating. It tells apart arrays that contradict each other ([ErrIndex]) from arrays that are merely not
// in order ([ErrOrder]), as other writers make them: conversions refuse the former and sort the latter.
// Whatever the arrays hold, nothing here panics or reads outside them.
//
// A conversion finds out how large its result will be before it allocates it, and refuses what exceeds
// [ConvertOptions].MaxBytes or the machine's memory. A strided dense tensor may claim far more
// elements than there are bytes, by strides of 0: who takes strides from untrusted bytes and wants
// to copy the tensor should compare [Dense.NumBytes] with the length of the data first.
//
// # Caveats
//
//   - Little-endian hosts with 64-bit pointers only: elements are the bytes that Arrow writes.
//   - Writing to a slice from [Values] or [IndexValues] that lies in a read-only map ends the program.
//   - [Equal] compares bits: a NaN equals itself, and +0 is not −0.
//   - A conversion between sparse layouts may take some 40 bytes for each element on the way, where they
//     have to be sorted.
//   - CSR and CSC take memory for every row or column, empty or not.
package layout
