package layout

import (
	"fmt"

	"github.com/tstore/tstore/vec"
)

// toLines returns a matrix in lines along an axis.
func (c *conversion) toLines(t Tensor, axis int) (compressed, error) {
	shape := t.Shape()
	if len(shape) != 2 {
		return compressed{}, fmt.Errorf("%w: csr and csc keep matrices, not tensors of %d dimensions", ErrLayout, len(shape))
	}
	switch t := t.(type) {
	case *Dense:
		return c.denseToLines(t, axis)
	case *COO:
		if r, ok, err := c.cooToLines(t, axis); ok || err != nil {
			return r, err
		}
	default:
		from, along, err := c.lineSource(t)
		switch {
		case err != nil:
			return compressed{}, err
		case from != nil && along == axis:
			return c.copyLines(from, axis)
		case from != nil:
			return c.transposeLines(from, along)
		}
	}
	order := c.orders[0][:2]
	order[0], order[1] = axis, 1-axis
	e, err := c.entriesOf(t, order)
	if err != nil {
		return compressed{}, err
	}
	return e.lines(c, t.DType(), shape, axis)
}

// lineSource returns a matrix that is kept in lines, and along which axis they are, or nil if it is not, or if elements are not in
// order. What it returns has been checked.
func (c *conversion) lineSource(t Tensor) (from *compressed, axis int, err error) {
	switch t := t.(type) {
	case *CSR:
		from = &t.compressed
	case *CSC:
		from, axis = &t.compressed, 1
	case *CSF:
		// Lines that hold nothing, which a CSF does not have, must not take too much memory.
		if len(t.order) != 2 || t.shape[t.order[0]]/4 > t.nnz {
			return nil, 0, nil
		}
		if err = t.Validate(); err == nil {
			err = c.lineUp(t)
		}
		if err == nil {
			return &c.lined, t.order[0], nil
		}
	default:
		return nil, 0, nil
	}
	if from != nil {
		err = c.validateLines(from, axis)
	}
	if err == nil {
		return from, axis, nil
	}
	if isOrder(err) {
		err = nil
	}
	return nil, 0, err
}

// lineUp makes c.lined the matrix t, whose first level has the lines that are not empty.
func (c *conversion) lineUp(t *CSF) error {
	lines := t.shape[t.order[0]]
	pointers, err := spaceOf[uint64](c, spaceLined, lines+1)
	if err != nil {
		return err
	}
	var buf, ends lineBuffer
	next, end := int64(0), uint64(0) // the first line whose start is not known, and the end of the one before it
	for first := int64(0); first < t.indices[0].Len(); first += int64(len(buf)) {
		nodes := t.indices[0].chunk(buf[:], first)
		stops := t.indptr[0].chunk(ends[:len(nodes)], first+1)
		for i, line := range nodes {
			for ; next <= int64(line); next++ {
				pointers[next] = end
			}
			end = stops[i]
		}
	}
	for ; next <= lines; next++ {
		pointers[next] = end
	}
	c.lined = compressed{sparse: t.sparse, indptr: Index{IndexUint64, vec.Bytes(pointers)}, indices: t.indices[1]}
	return nil
}

// cooToLines returns the elements of a COO in lines along axis. It is not ok if they are not in order.
func (c *conversion) cooToLines(t *COO, axis int) (r compressed, ok bool, err error) {
	if t.shape[0]/4 > t.nnz+t.shape[axis] { // see lineEntries
		return r, false, nil
	}
	left := c.left
	if axis == 0 {
		r, err = c.newLines(t.dtype, t.shape, 0, t.nnz)
	} else {
		r, err = c.newTurned(t.dtype, t.shape, 0, t.nnz)
	}
	if err != nil {
		return r, false, err
	}
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		ok, err = t.linesTogether(r.indptr, r.indices, workers)
	} else {
		ok, err = t.lines(r.indptr, r.indices)
	}
	if !ok || err != nil {
		c.left = left
		return r, false, err
	}
	if axis == 0 {
		copy(r.data, t.data)
		r, err = c.finishLines(r, t.shape[0])
		return r, err == nil, err
	}
	c.turned = r
	c.turned.data = t.data
	r, err = c.transposeLines(&c.turned, 0)
	return r, err == nil, err
}

// copyLines copies a matrix that is in order.
func (c *conversion) copyLines(t *compressed, axis int) (r compressed, err error) {
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, err
	}
	copy(r.data, t.data)
	if r.indptr, err = c.copyIndex(c.oldIndptr[0], t.indptr, c.opts.Indptr, uint64(max(t.nnz, t.shape[axis]+1))); err != nil {
		return r, err
	}
	r.indices, err = c.copyIndex(c.oldIndices[0], t.indices, c.opts.Indices, uint64(t.nnz))
	return r, err
}
