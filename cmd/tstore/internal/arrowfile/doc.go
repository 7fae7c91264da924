// Package arrowfile reads and writes tensors as tables in Arrow IPC files (.arrow, which pandas calls
// Feather) and streams (.arrows), which pandas, polars, DuckDB and others read.
//
// # Out
//
// [Write] makes a table with a row for each tensor: its name, in a column called name, and its elements.
//
//   - Where all tensors have the same element type, shape and names of dimensions, the elements are in a
//     column called tensor, of the extension type arrow.fixed_shape_tensor. So are tensors of no
//     dimensions.
//   - Otherwise, and where there are no elements, it is arrow.variable_shape_tensor. A column of that type
//     has one element type and number of dimensions. If the tensors have several, each gets a column, as
//     float32_2d, and a row is null in all columns but one.
//   - If a tensor has attributes, a column called attrs has a list of keys and values.
//
// Elements are of the Arrow type that corresponds to theirs; bool takes a bit. Arrow has no bfloat16, float8
// and complex types, which are refused, as are more than 2³¹−1 elements, more than its lists hold. Sparse
// tensors are to be made dense before. Elements are in row-major order.
//
// # In
//
// [Open] says what tensors a table has; [Member.Tensor] gets one.
//
//   - A column of tensors (the extension types above), of lists or of lists of fixed length gives a tensor
//     for each row, called as the column called name says, if there is one with texts. If a row has
//     several tensors, each is called NAME/COLUMN.
//   - Without such a column of names, one whose rows all have one shape gives a tensor of rows × shape,
//     called as the column; one of other shapes a tensor for each row, called COLUMN/ROW, from 0.
//   - Every other column of fixed-width elements gives a tensor of one dimension, called as the column.
//   - Everything else (texts, dictionaries, structures, …) is in [File.Skipped], with the reason.
//
// A null among floating-point numbers is NaN, as pandas writes NaN; any other is an error.
//
// # Memory
//
// Elements lie over the file's bytes where they can: where one batch of rows has all of them, uncompressed,
// aligned and without nulls, and they are not bools. Else they are copied, tensor by tensor. Compressed
// batches are unpacked one at a time.
//
// # Library
//
// github.com/apache/arrow-go does the IPC format: it is maintained by the Arrow project and reads over a map
// without a copy. It knows neither extension type, which are here. So is finding the messages of a file,
// with checks of what they say of themselves: arrow-go takes memory by the lengths of lists that it finds
// there, whatever they are.
//
// # Untrusted files
//
// Every length and offset is checked against the bytes that are there before elements are taken. What a
// compressed batch claims to unpack to is bounded by [unpackRatio] times its size.
//
// Source: Arrow Columnar Format, section IPC; Canonical Extension Types, arrow.fixed_shape_tensor and
// arrow.variable_shape_tensor.
package arrowfile
