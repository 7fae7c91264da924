package layout

import "fmt"

// toCSF makes the levels of a CSF in c, and returns the order of its axes and its elements.
func (c *conversion) toCSF(t Tensor) (order []int, data []byte, err error) {
	shape := t.Shape()
	if len(shape) < 2 {
		return nil, nil, fmt.Errorf("%w: csf keeps tensors of 2 or more dimensions, not of %d", ErrLayout, len(shape))
	}
	if order, err = c.axisOrder(shape); err != nil {
		return nil, nil, err
	}
	d, dense := t.(*Dense)
	if len(shape) == 2 && (!dense || c.linesSuit(d, order)) && shape[order[0]]/4 <= t.NNZ() {
		data, err = c.matrixToCSF(t, order)
		return order, data, err
	}
	if dense {
		data, err = c.denseToCSF(d, order)
		return order, data, err
	}
	e, err := c.entriesOf(t, order)
	if err != nil {
		return nil, nil, err
	}
	data, err = e.csf(c, shape, order)
	return order, data, err
}

// axisOrder returns the axis of each level of a CSF.
func (c *conversion) axisOrder(shape []int64) ([]int, error) {
	if c.opts.AxisOrder != nil {
		return c.opts.AxisOrder, checkAxisOrder(c.opts.AxisOrder, len(shape))
	}
	order := c.orders[1][:len(shape)]
	ascendingDimensions(order, shape)
	return order, nil
}

// ascendingDimensions sets order to the axes by their dimensions, equal ones in their order.
func ascendingDimensions(order []int, shape []int64) {
	for k := range order {
		// Few axes: each is moved to where it belongs among those before it.
		i := k
		for ; i > 0 && shape[order[i-1]] > shape[k]; i-- {
			order[i] = order[i-1]
		}
		order[i] = k
	}
}

// linesSuit reports whether the nonzeros of a matrix are better gathered line by line than as a tree.
func (c *conversion) linesSuit(d *Dense, order []int) bool {
	if d.len == 0 {
		return false
	}
	levels := c.permuted(0, d, order)
	return !levels.lastAxisIsFastest() || levels.shape[1]*int64(d.dtype.width) >= longFibre
}

// matrixToCSF makes the levels of a CSF with its axes in the given order, in c, by way of the lines of a matrix.
func (c *conversion) matrixToCSF(t Tensor, order []int) (data []byte, err error) {
	// The lines' indices are those of the last level, and where they begin and end is not part of the result.
	want, indptr := c.opts, c.oldIndptr[0]
	typ := IndexAuto
	if d, ok := t.(*Dense); ok {
		if typ, err = c.indexTypeFor(largestCoordinate(d.shape), d); err != nil {
			return nil, err
		}
	} else {
		typ = workType(want.Indices, largestCoordinate(t.Shape()), uint64(t.NNZ()))
	}
	c.opts.Indices, c.opts.Indptr = typ, IndexInt64
	c.oldIndices[0], c.oldIndices[1] = c.oldIndices[1], c.oldIndices[0]
	c.oldIndptr[0] = c.space[spaceEnds]
	r, err := c.toLines(t, order[0])
	c.opts, c.oldIndptr[0] = want, indptr
	c.oldIndices[0], c.oldIndices[1] = c.oldIndices[1], c.oldIndices[0]
	if err != nil {
		return nil, err
	}
	c.space[spaceEnds] = r.indptr.data[:0]
	c.indices[1] = r.indices
	ptr := workType(want.Indptr, uint64(r.indices.Len()), 0)
	lines := [1]int64{t.Shape()[order[0]]}
	if err := c.treeAbove(r.indptr, lines[:], typ, ptr); err != nil {
		return nil, err
	}
	return r.data, c.finishLevels(2)
}
