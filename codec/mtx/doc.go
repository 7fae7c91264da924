// Package mtx reads and writes Matrix Market files, plain and gzipped.
//
// [Decode] takes a whole file. What it gives depends on the first line of the file:
//
//	coordinate    a COO, in row-major order; non-canonical, in the order of the file, only if an
//	              element occurs more than once
//	array         a column-major Dense
//
//	real, double       float64
//	integer            int64
//	unsigned-integer   uint64 (an extension that SciPy writes)
//	complex            complex128
//	pattern            bool, every stored element true
//
// Of symmetric, skew-symmetric and hermitian matrices a file has one half; the tensor has both. Zeros
// that a file lists stay stored.
//
// [Encode] writes a dense matrix as an array and a sparse one as coordinates, always as a general
// matrix. Every number is written with as many digits as it takes to read the same value again, but
// a file has no way to say how wide it was: float32 comes back as float64, int8 as int64, dense
// bools as integers. Dimension names are not written.
//
// # Untrusted files
//
// Sizes that a file claims cost nothing: memory is taken for the entries that have been read. Of a
// gzipped file those may be a thousand times as many as the file has bytes. Every error says in
// which line it is. Entries above the diagonal of a symmetric matrix are refused, not guessed at.
//
// Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial
// Design, NISTIR 5935, 1996.
package mtx
