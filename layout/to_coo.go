package layout

import (
	"slices"

	"github.com/tstore/tstore/vec"
)

// toCOO returns a tensor as a COO.
func (c *conversion) toCOO(t Tensor) (COO, error) {
	switch t := t.(type) {
	case *Dense:
		return c.denseToCOO(t)
	case *COO:
		ordered, err := c.look(t, nil)
		if err != nil {
			return COO{}, err
		}
		if ordered || c.opts.Duplicates == DuplicatesDefault {
			return c.copyCOO(t, ordered)
		}
	case *CSR:
		if r, ok, err := c.rowsToCOO(&t.compressed); ok || err != nil {
			return r, err
		}
	default:
		from, axis, err := c.lineSource(t)
		if err != nil {
			return COO{}, err
		}
		// Rows that hold nothing would take too much memory on the way.
		if from != nil && (axis == 0 || from.shape[0]/4 <= from.nnz+from.shape[1]) {
			if axis == 1 {
				return c.columnsToCOO(from)
			}
			r, _, err := c.rowsToCOO(from)
			return r, err
		}
	}
	e, err := c.entriesOf(t, naturalOrder(len(t.Shape())))
	if err != nil {
		return COO{}, err
	}
	return e.coo(c, t.DType(), t.Shape())
}

// rowsToCOO returns the elements of a matrix in rows as a COO. It is not ok if the index arrays are not valid, or not in order.
func (c *conversion) rowsToCOO(t *compressed) (r COO, ok bool, err error) {
	left := c.left
	if t.checkPointers() != nil {
		return r, false, nil
	}
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, false, err
	}
	if r.indices, ok, err = c.rowCoordinates(t); !ok || err != nil {
		c.left = left
		return r, false, err
	}
	copyTogether(r.data, t.data, c.workers(t.nnz*leafBytes))
	r.canonical = true
	return r, true, nil
}

// columnsToCOO returns the elements of a matrix in columns, which are in order, as a COO.
func (c *conversion) columnsToCOO(t *compressed) (r COO, err error) {
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, err
	}
	if err = c.turn(t, 1, r.data); err != nil {
		return r, err
	}
	r.indices, _, err = c.rowCoordinates(&c.turned)
	r.canonical = true
	return r, err
}

// rowCoordinates returns the coordinates of a matrix in rows, whose indptr must be valid. It is not ok if its indices are not, or not in
// order.
func (c *conversion) rowCoordinates(t *compressed) (x Index, ok bool, err error) {
	fit := uint64(max(t.nnz, 2))
	if x, err = c.roomMatrix(c.oldIndices[0], t.nnz, 2, workType(c.opts.Indices, largestCoordinate(t.shape), fit)); err != nil {
		return x, false, err
	}
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		ok = t.coordinatesTogether(x, workers)
	} else {
		ok = t.coordinates(x, 0, t.shape[0])
	}
	if !ok {
		return x, false, nil
	}
	x, err = c.finishIndex(x, c.opts.Indices, fit)
	return x, err == nil, err
}

// coordinates writes the coordinates of the elements in rows from to to−1 to their places in an index matrix, and reports whether
// their columns are in order and inside the matrix.
func (t *compressed) coordinates(x Index, from, to int64) bool {
	indptr := t.indptr.Slice(from, to+1)
	return vec.LineCoords(x.data, x.typ.kernel(), indptr.data, indptr.typ.kernel(), t.indices.data, t.indices.typ.kernel(), uint64(from), uint64(t.shape[1]))
}

// coordinatesTogether is coordinates of all rows by so many goroutines.
func (t *compressed) coordinatesTogether(x Index, workers int) bool {
	results := make([]bool, workers)
	inParallel(workers, func(i int) {
		from, to := t.indptr.part(i, workers)
		results[i] = t.coordinates(x, from, to)
	})
	return !slices.Contains(results, false)
}

// copyTogether is copy by so many goroutines.
func copyTogether(dst, src []byte, workers int) {
	if workers == 1 {
		copy(dst, src)
		return
	}
	inParallel(workers, func(i int) {
		from, to := len(src)/workers*i, len(src)/workers*(i+1)
		if i == workers-1 {
			to = len(src)
		}
		copy(dst[from:to], src[from:to])
	})
}

// copyCOO copies a COO element by element.
func (c *conversion) copyCOO(t *COO, ordered bool) (r COO, err error) {
	ndim := int64(len(t.shape))
	fit := uint64(max(t.nnz, ndim))
	typ := workType(c.opts.Indices, largestCoordinate(t.shape), fit)
	if r.indices, err = c.roomMatrix(c.oldIndices[0], t.nnz, ndim, typ); err != nil {
		return r, err
	}
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, err
	}
	copy(r.data, t.data)
	switch t.indices.typ.Size() {
	case 1:
		copyCoordinatesFrom[uint8](t, r.indices)
	case 2:
		copyCoordinatesFrom[uint16](t, r.indices)
	case 4:
		copyCoordinatesFrom[uint32](t, r.indices)
	default:
		copyCoordinatesFrom[uint64](t, r.indices)
	}
	r.canonical = ordered
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, fit)
	return r, err
}
