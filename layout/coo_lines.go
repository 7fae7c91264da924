package layout

import "github.com/tstore/tstore/vec"

// lines writes the columns of the elements of a matrix to indices, and where its rows begin and end to indptr. It makes
// sure that every coordinate lies inside the shape and reports whether the elements are in lexicographic order and
// none is stored twice; if not, what it has written is of no use.
func (c *COO) lines(indptr, indices Index) (ordered bool, err error) {
	indptr.set(0, 0)
	ordered = c.linesOf(indptr, indices, 0, c.nnz)
	return c.linesEnd(indptr, ordered)
}

// linesTogether is lines by so many goroutines.
func (c *COO) linesTogether(indptr, indices Index, workers int) (ordered bool, err error) {
	indptr.set(0, 0)
	results := make([]bool, workers)
	inParallel(workers, func(i int) {
		results[i] = c.linesOf(indptr, indices, c.nnz*int64(i)/int64(workers), c.nnz*int64(i+1)/int64(workers))
	})
	ordered = true
	for _, ok := range results {
		ordered = ordered && ok
	}
	return c.linesEnd(indptr, ordered)
}

// linesEnd ends the rows behind the last element, if all elements are in order, and says what is wrong with the
// coordinates if they are not.
func (c *COO) linesEnd(indptr Index, ordered bool) (bool, error) {
	if !ordered {
		if at, axis := c.firstOutside(); at >= 0 {
			return false, c.outside(at, axis)
		}
		return false, nil
	}
	row := int64(0) // of the last element
	if c.nnz > 0 {
		row = int64(c.Coordinate(c.nnz-1, 0))
	}
	for ; row < c.shape[0]; row++ {
		indptr.set(row+1, uint64(c.nnz))
	}
	return true, nil
}

// linesOf is lines for elements from to to−1. It reports whether they lie inside the shape and are in order, and after
// the one before them. It sets the ends of rows up to that of its last element, but for that itself.
func (c *COO) linesOf(indptr, indices Index, from, to int64) bool {
	strides := [2]int{int(c.strides[0]), int(c.strides[1])}
	return vec.CoordLines(indptr.data, indptr.typ.kernel(), indices.data, indices.typ.kernel(), c.indices.data, c.indices.typ.kernel(), strides,
		int(from), int(to), uint64(c.shape[0]), uint64(c.shape[1]))
}
