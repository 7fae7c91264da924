// Package csv reads and writes tables of numbers as text: .csv, with commas, and .tsv, with tabs.
//
// [Decode] gives a [Table]: a matrix of as many rows and columns as the file has, and the names of the
// columns if there is a header. What the numbers become is decided for the table as a whole:
//
//	all are integers that 64 bits hold     int64, or uint64 if one exceeds 2⁶³−1 and none is negative
//	all are numbers                        float64
//
// Numbers are decimal, as 1, -2.5 or 1e-3. nan, inf and infinity, with or without a sign and in any
// case, are themselves; an empty cell and NA, which pandas and R write for what is missing, are NaN.
// White space around a number does not count, nor do empty lines, nor a byte order mark at the
// beginning. Everything else that is no number is an error that names line and cell; so are a row that
// is shorter or longer than the others, and a table of integers that no type of 64 bits holds.
//
// Unless [Options] say otherwise, the first row is a header if one of its cells is not a number.
//
// [Encode] writes a matrix; a tensor with fewer dimensions becomes a table of one column. Every number
// is written with as many digits as it takes to read the same value again, and a floating-point number
// that is whole with a point, as 1.0, so that it comes back as one. A file has no way to say how wide a
// number was: float32 comes back as float64, int8 and bool as int64.
//
// # Library
//
// Rows are split by encoding/csv, which follows RFC 4180 and takes no longer for it than the numbers take.
//
// # Untrusted files
//
// A file takes some ten times its size in memory at most: eight bytes for each cell, which has at least a
// byte that ends it, and room to grow. Decoding begins again when the type of the numbers turns out to be
// another one, at most twice.
//
// Source: RFC 4180.
package csv
