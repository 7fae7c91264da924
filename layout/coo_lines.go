package layout

import "unsafe"

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
	switch c.indices.typ.Size() {
	case 1:
		return cooLinesFrom[uint8](c, indptr, indices, from, to)
	case 2:
		return cooLinesFrom[uint16](c, indptr, indices, from, to)
	case 4:
		return cooLinesFrom[uint32](c, indptr, indices, from, to)
	}
	return cooLinesFrom[uint64](c, indptr, indices, from, to)
}

func cooLinesFrom[I indexWord](c *COO, indptr, indices Index, from, to int64) bool {
	switch indices.typ.Size() {
	case 1:
		return cooLines[I](c, indptr, indices.data, from, to)
	case 2:
		return cooLines[I](c, indptr, words[uint16](indices.data), from, to)
	case 4:
		return cooLines[I](c, indptr, words[uint32](indices.data), from, to)
	}
	return cooLines[I](c, indptr, words[uint64](indices.data), from, to)
}

func cooLines[I, O indexWord](c *COO, indptr Index, indices []O, from, to int64) bool {
	if from == to {
		return true
	}
	most := c.indices.typ.Max() // see cooFirstOutside
	rows, columns := uint64(c.shape[0]), uint64(c.shape[1])
	if rows == 0 || columns == 0 {
		return false
	}
	lastRow, lastColumn := I(min(rows-1, most)), I(min(columns-1, most))
	base := unsafe.Pointer(unsafe.SliceData(c.indices.data))
	row, column := c.strides[0], c.strides[1]
	s := lineSplitter{indptr: indptr}
	off := from * row
	line, before := I(0), I(0) // of the element before
	inLine := false            // whether there is one in this line
	if from > 0 {
		line, before = *(*I)(unsafe.Add(base, off-row)), *(*I)(unsafe.Add(base, off-row+column))
		if line > lastRow {
			return false
		}
		s.line, inLine = int64(line), true
	}
	for k := from; k < to; {
		i := *(*I)(unsafe.Add(base, off))
		if i > lastRow || i < line {
			return false
		}
		if i != line {
			line, inLine = i, false
			s.begin(int64(i), k)
		}
		// The rest of the line.
		for ; k < to; k++ {
			i, j := *(*I)(unsafe.Add(base, off)), *(*I)(unsafe.Add(base, off+column))
			if i != line {
				break
			}
			if j > lastColumn || inLine && j <= before {
				return false
			}
			before, inLine = j, true
			indices[k] = O(j)
			off += row
		}
	}
	return true
}
