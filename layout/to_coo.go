package layout

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
	default:
		from, axis, err := c.lineSource(t)
		if err != nil {
			return COO{}, err
		}
		// Rows that hold nothing would take too much memory on the way.
		if from != nil && (axis == 0 || from.shape[0]/4 <= from.nnz+from.shape[1]) {
			return c.linesToCOO(from, axis)
		}
	}
	e, err := c.entriesOf(t, naturalOrder(len(t.Shape())))
	if err != nil {
		return COO{}, err
	}
	return e.coo(c, t.DType(), t.Shape())
}

// linesToCOO returns the elements of a matrix with lines along axis, which are in order, as a COO.
func (c *conversion) linesToCOO(t *compressed, axis int) (r COO, err error) {
	fit := uint64(max(t.nnz, 2))
	typ := workType(c.opts.Indices, largestCoordinate(t.shape), fit)
	if axis == 1 {
		if err := c.turn(t, axis); err != nil {
			return r, err
		}
		t = &c.turned
	}
	if r.indices, err = c.roomMatrix(c.oldIndices[0], t.nnz, 2, typ); err != nil {
		return r, err
	}
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, err
	}
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		coordinatesTogether(r, t, workers)
	} else {
		lineCoordinates(r.indices, t.indptr, t.indices, 0, t.indptr.Len()-1)
		copy(r.data, t.data)
	}
	r.canonical = true
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, fit)
	return r, err
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
