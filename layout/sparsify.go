package layout

// manyNonzeros is the number of elements per nonzero below which it is cheaper to gather a dense
// tensor in the wanted order than to sort its nonzeros.
const manyNonzeros = 8

// denseEntries returns the nonzeros of d in row-major order of its axes in the given order.
func denseEntries(d *Dense, order []int, b *budget) (entries, error) {
	nnz := denseCount(d)
	keys, err := takeSlice[uint64](b, nnz)
	if err != nil {
		return entries{}, err
	}
	data, err := b.take(nnz, int(d.dtype.width))
	if err != nil {
		return entries{}, err
	}
	view, err := d.Transpose(order...)
	if err != nil {
		return entries{}, err
	}
	if view.lastAxisIsFastest() || nnz > d.len/manyNonzeros {
		denseKeys(view, keys, data)
		return entries{keys: keys, data: data}, nil
	}
	inMemory := d.memoryOrder()
	if view, err = d.Transpose(inMemory...); err != nil {
		return entries{}, err
	}
	denseKeys(view, keys, data)
	rekey(keys, d.shape, inMemory, order)
	found := sparse{dtype: d.dtype, shape: d.shape, nnz: nnz, data: data}
	e, err := settle(&found, keys, &ConvertOptions{}, b)
	e.borrowed = false
	return e, err
}

// denseKeys writes the row-major numbers and the values of the nonzeros of d.
func denseKeys(d *Dense, keys []uint64, data []byte) {
	positions := newPositions(d)
	width := int64(d.dtype.width)
	k := int64(0)
	for src, first := range d.pieces {
		n := compact(d.dtype, data[k*width:], positions, src)
		for i, p := range words[uint32](positions.data)[:n] {
			keys[k+int64(i)] = uint64(first) + uint64(p)
		}
		k += n
	}
}

// newPositions returns room for the positions of all elements of a piece of d.
func newPositions(d *Dense) Index {
	return Index{typ: IndexUint32, data: make([]byte, 4*min(d.dtype.pieceElements(), d.len))}
}

// denseToCOO returns the nonzeros of d as a canonical COO.
func denseToCOO(d *Dense, o *ConvertOptions, b *budget) (*COO, error) {
	nnz := denseCount(d)
	ndim := int64(len(d.shape))
	data, err := b.take(nnz, int(d.dtype.width))
	if err != nil {
		return nil, err
	}
	indices, err := b.matrix(nnz, ndim, o.workType(o.Indices, largestCoordinate(d.shape), uint64(max(nnz, ndim))))
	if err != nil {
		return nil, err
	}
	positions := newPositions(d)
	width := int64(d.dtype.width)
	k := int64(0)
	for src, first := range d.pieces {
		n := compact(d.dtype, data[k*width:], positions, src)
		writeCoordinates(indices.Slice(k*ndim, (k+n)*ndim), words[uint32](positions.data)[:n], uint64(first), d.shape)
		k += n
	}
	return finishCOO(d.dtype, d.shape, indices, data, true, d.names, o, b)
}

// denseToLines returns the nonzeros of a matrix line by line, lines along the given axis.
func denseToLines(d *Dense, axis int, o *ConvertOptions, b *budget) (*compressed, error) {
	view, err := d.Transpose(axis, 1-axis)
	if err != nil {
		return nil, err
	}
	nnz := denseCount(d)
	if !view.lastAxisIsFastest() && nnz <= d.len/manyNonzeros {
		across, err := denseToLines(d, 1-axis, &ConvertOptions{}, b)
		if err != nil {
			return nil, err
		}
		return transposeCompressed(across, 1-axis, o, b)
	}
	lines, minor := view.shape[0], view.shape[1]
	c, err := newCompressed(d.dtype, d.shape, axis, nnz, d.names, o, b)
	if err != nil {
		return nil, err
	}
	if c.data, err = b.take(nnz, int(d.dtype.width)); err != nil {
		return nil, err
	}
	width := int64(d.dtype.width)
	if minor*width >= shortRun && (minor == 1 || view.strides[1] == width) {
		k := int64(0)
		for i := range lines {
			off := view.offset + i*view.strides[0]
			k += compact(d.dtype, c.data[k*width:], c.indices.Slice(k, nnz), d.data[off:off+minor*width])
			c.indptr.set(i+1, uint64(k))
		}
		return c, c.finish(axis, o, b)
	}
	positions := newPositions(d)
	s := lineSplitter{indptr: c.indptr, minor: uint64(minor)}
	for src, first := range view.pieces {
		n := compact(d.dtype, c.data[s.elements*width:], positions, src)
		splitLines(&s, c.indices, words[uint32](positions.data)[:n], uint64(first))
	}
	s.close(lines)
	return c, c.finish(axis, o, b)
}
