package layout

import "github.com/tstore/tstore/vec"

// toDense returns all elements of a tensor in row-major order.
func (c *conversion) toDense(t Tensor) ([]byte, error) {
	dt, shape := t.DType(), t.Shape()
	n, err := checkShape(dt, shape)
	if err != nil {
		return nil, err
	}
	width := int64(dt.width)
	// Nothing is allocated before the index arrays have been found to be right, but for matrices in lines: their indices are
	// looked at when they are written.
	switch t := t.(type) {
	case *Dense:
		data, err := c.room(c.oldData, n, width)
		if err != nil {
			return nil, err
		}
		t.CopyRange(data, 0)
		return data, nil
	case *COO:
		if data, err := c.cooToDense(t, n); data != nil || err != nil {
			return data, err
		}
	case *CSR:
		// Elements may be stored several times, and are summed then.
		if data, err := c.linesToDense(&t.compressed, 0, n); data != nil || err != nil {
			return data, err
		}
	case *CSC:
		if data, err := c.linesToDense(&t.compressed, 1, n); data != nil || err != nil {
			return data, err
		}
	case *CSF:
		if len(shape) == 2 {
			if from, axis, err := c.lineSource(t); err != nil {
				return nil, err
			} else if from != nil {
				return c.linesToDense(from, axis, n)
			}
		}
		err := t.Validate()
		if err == nil {
			return c.treeToDense(t, n)
		}
		if !isOrder(err) {
			return nil, err
		}
	}
	// Elements may be stored several times.
	e, err := c.entriesOf(t, naturalOrder(len(shape)))
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return c.room(c.oldData, 0, 1)
	}
	w := &c.windows
	if err := w.begin(c, int64(len(e.keys)), n, windowElements); err != nil {
		return nil, err
	}
	w.add(e.keys)
	return c.writeWindows(w, n, width, e.data)
}

// writeWindows returns n elements that windows have taken.
func (c *conversion) writeWindows(w *windows, n, width int64, values []byte) ([]byte, error) {
	data, zeroed, err := c.denseRoom(n, width)
	if err != nil {
		return nil, err
	}
	return data, w.write(c, data, zeroed, width, values)
}

// cooToDense returns the n elements of a COO, or nil if they are not in order.
func (c *conversion) cooToDense(t *COO, n int64) ([]byte, error) {
	if n == 0 || t.nnz == 0 {
		if _, err := c.look(t, nil); err != nil {
			return nil, err
		}
		return c.zeros(n, int64(t.dtype.width))
	}
	if len(t.shape) == 2 && t.shape[1]*int64(t.dtype.width)%rowAlign == 0 {
		return c.cooRowsToDense(t, n)
	}
	w := &c.windows
	if err := w.begin(c, t.nnz, n, windowElements); err != nil {
		return nil, err
	}
	ordered, err := c.look(t, w)
	if err != nil {
		return nil, err
	}
	if !ordered {
		c.free(int64(len(w.places)))
		return nil, nil
	}
	return c.writeWindows(w, n, int64(t.dtype.width), t.data)
}

// rowAlign is what the bytes of a row are a multiple of if rows are best written as they are, and not by windows.
const rowAlign = 64

// cooRowsToDense is cooToDense for a matrix, by rows.
func (c *conversion) cooRowsToDense(t *COO, n int64) ([]byte, error) {
	places := Index{typ: IndexUint32}
	switch columns := t.shape[1]; {
	case columns <= 1<<16:
		places.typ = IndexUint16
	case columns > 1<<32:
		places.typ = IndexUint64
	}
	left, width := c.left, int64(t.dtype.width)
	// What does not fit is refused before there is room for where rows begin: there may be very many, without elements.
	bytes, err := c.reserve(n, width)
	if err != nil {
		return nil, err
	}
	c.free(bytes)
	if places.data, err = c.spaceFor(spacePlaces, t.nnz, int64(places.typ.Size())); err != nil {
		return nil, err
	}
	ends, err := spaceOf[uint64](c, spacePointers, t.shape[0]+1)
	if err != nil {
		return nil, err
	}
	pointers := Index{IndexUint64, vec.Bytes(ends)}
	ordered := false
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		ordered, err = t.linesTogether(pointers, places, workers)
	} else {
		ordered, err = t.lines(pointers, places)
	}
	if err != nil || !ordered {
		c.left = left
		return nil, err
	}
	data, zeroed, err := c.denseRoom(n, width)
	if err != nil {
		return nil, err
	}
	return data, c.scatterRows(rowScatter{data, zeroed, width, t.shape[1], pointers, places, t.data, true})
}

// treeToDense returns the n elements of a CSF that is in order.
func (c *conversion) treeToDense(t *CSF, n int64) ([]byte, error) {
	if n == 0 {
		return c.room(c.oldData, 0, 1)
	}
	width := int64(t.dtype.width)
	last := len(t.shape) - 1
	// Elements below one node of the level at which the axes leave their natural order lie side by side, though
	// not in order.
	fixed := 0
	for fixed < last && t.order[fixed] == fixed {
		fixed++
	}
	size := int64(windowElements)
	if fixed < last {
		size, _ = CheckedProduct(t.shape[fixed:], 1)
		if size < windowElements {
			size *= windowElements / size
		}
	}
	if size > windowMost/width && fixed < last {
		data, err := c.zeros(n, width)
		if err != nil {
			return nil, err
		}
		keys, err := c.treeKeys(t, last)
		if err != nil {
			return nil, err
		}
		rekey(keys, t.shape, t.order, naturalOrder(last+1))
		scatterFrom(width, data, keys, t.data)
		return data, nil
	}
	fibres, err := c.treeKeys(t, last-1)
	if err != nil {
		return nil, err
	}
	var factors [MaxDims]uint64
	keyFactors(factors[:last+1], t.shape, naturalOrder(last+1))
	spread(fibres, t.shape, t.order[:last], factors[:last+1])
	w := &c.windows
	if err := w.begin(c, t.nnz, n, size); err != nil {
		return nil, err
	}
	leaves := treeLeaves{fibres, t.indptr[last-1], t.indices[last], factors[t.order[last]]}
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		leaves.addTogether(w, workers)
	} else {
		leaves.add(w, 0, int64(len(fibres)))
	}
	return c.writeWindows(w, n, width, t.data)
}

// zeros returns room for n elements of a dense tensor, all of them zero.
func (c *conversion) zeros(n, width int64) ([]byte, error) {
	data, zeroed, err := c.denseRoom(n, width)
	if err == nil && !zeroed {
		clear(data)
	}
	return data, err
}

// linesToDense returns the n elements of a matrix with lines along axis, or nil if these are not in order.
func (c *conversion) linesToDense(t *compressed, axis int, n int64) ([]byte, error) {
	if err := t.checkPointers(); err != nil {
		return nil, err
	}
	width, left := int64(t.dtype.width), c.left
	data, zeroed, err := c.denseRoom(n, width)
	if err != nil {
		return nil, err
	}
	if axis == 1 {
		err = c.scatterColumns(data, zeroed, t)
	} else {
		err = c.scatterRows(rowScatter{data, zeroed, width, t.shape[1], t.indptr, t.indices, t.data, true})
	}
	if isOrder(err) {
		c.oldData, c.left = data, left
		return nil, nil
	}
	return data, err
}
