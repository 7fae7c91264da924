// Package arraytext writes the values of tensors as text, the way NumPy's print does with its
// default options: at most 8 digits after the point and only as many as are needed, columns
// aligned, lines of 75 characters, and of more than 1,000 elements only the first and last three
// of each axis.
//
// What NumPy has no type for is written in the same manner: bfloat16 and float8 with the fewest
// digits that tell neighbouring values apart, decimals as numbers, times of day as clock times, and
// other opaque elements as hexadecimal bytes.
package arraytext
