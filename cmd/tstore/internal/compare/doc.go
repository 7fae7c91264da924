// Package compare finds out where two tensors of the same element type and shape differ, and by how
// much.
//
// Elements differ if their bits do: 0 and −0, which are the same number, differ by 0. A NaN is the same
// as itself; if only one of two elements is a NaN there is no difference that could be the largest,
// and they are counted apart. What a sparse tensor does not store is 0, and it makes no difference
// whether a zero is stored.
//
// Dense tensors are compared where they lie, piece by piece; sparse ones, and a sparse with a dense
// one, by their elements in the order of their coordinates.
package compare
