package layout

// toDense returns all elements of a tensor in row-major order.
func toDense(t Tensor, o *ConvertOptions, b *budget) (*Dense, error) {
	dt, shape := t.DType(), t.Shape()
	n, err := checkShape(dt, shape)
	if err != nil {
		return nil, err
	}
	// Nothing is allocated before the index arrays have been found to be right.
	switch t := t.(type) {
	case *Dense:
		data, err := b.take(n, int(dt.width))
		if err != nil {
			return nil, err
		}
		t.CopyRange(data, 0)
		return denseResult(t, data)
	case *COO:
		if at, axis := t.firstOutside(); at >= 0 {
			return nil, t.outside(at, axis)
		}
		if t.firstDisorder() >= 0 {
			break
		}
		data, err := b.take(n, int(dt.width))
		if err != nil {
			return nil, err
		}
		var factors [MaxDims]uint64
		keyFactors(factors[:len(shape)], shape, naturalOrder(len(shape)))
		var keys [512]uint64
		width := int64(dt.width)
		for first := int64(0); first < t.nnz; first += int64(len(keys)) {
			some := keys[:min(int64(len(keys)), t.nnz-first)]
			t.keys(some, first, factors[:len(shape)])
			scatterFrom(width, data, some, t.data[first*width:(first+int64(len(some)))*width])
		}
		return denseResult(t, data)
	case *CSR:
		if data, err := linesToDense(&t.compressed, 0, n, b); data != nil || err != nil {
			return denseOrError(t, data, err)
		}
	case *CSC:
		if data, err := linesToDense(&t.compressed, 1, n, b); data != nil || err != nil {
			return denseOrError(t, data, err)
		}
	case *CSF:
		err := t.Validate()
		if isOrder(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		data, err := b.take(n, int(dt.width))
		if err != nil {
			return nil, err
		}
		keys, err := t.keys(b)
		if err != nil {
			return nil, err
		}
		rekey(keys, shape, t.order, naturalOrder(len(shape)))
		scatterFrom(int64(dt.width), data, keys, t.data)
		return denseResult(t, data)
	}
	// Elements may be stored several times.
	e, err := entriesOf(t, naturalOrder(len(shape)), o, b)
	if err != nil {
		return nil, err
	}
	data, err := b.take(n, int(dt.width))
	if err != nil {
		return nil, err
	}
	scatterFrom(int64(dt.width), data, e.keys, e.data)
	return denseResult(t, data)
}

func denseResult(t Tensor, data []byte) (*Dense, error) {
	d, err := NewDense(t.DType(), t.Shape(), data)
	if err != nil {
		return nil, err
	}
	d.names = cloneNames(t.DimNames())
	return d, nil
}

func denseOrError(t Tensor, data []byte, err error) (*Dense, error) {
	if err != nil {
		return nil, err
	}
	return denseResult(t, data)
}

// linesToDense returns the n elements of a matrix with lines along axis in row-major order, or nil if
// the indices are not in order, so that an element may be stored twice.
func linesToDense(c *compressed, axis int, n int64, b *budget) ([]byte, error) {
	err := c.validate(axis)
	if isOrder(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := b.take(n, int(c.dtype.width))
	if err != nil {
		return nil, err
	}
	// How far apart in data neighbouring lines are, and neighbours in a line.
	line, step := c.shape[1], int64(1)
	if axis == 1 {
		line, step = 1, c.shape[1]
	}
	switch c.indices.typ.Size() {
	case 1:
		scatterLines(c, data, c.indices.data, line, step)
	case 2:
		scatterLines(c, data, words[uint16](c.indices.data), line, step)
	case 4:
		scatterLines(c, data, words[uint32](c.indices.data), line, step)
	default:
		scatterLines(c, data, words[uint64](c.indices.data), line, step)
	}
	return data, nil
}

func scatterLines[I indexWord](c *compressed, dst []byte, indices []I, line, step int64) {
	switch c.dtype.width {
	case 1:
		scatterLineWords(c.indptr, dst, indices, c.data, line, step)
	case 2:
		scatterLineWords(c.indptr, words[uint16](dst), indices, words[uint16](c.data), line, step)
	case 4:
		scatterLineWords(c.indptr, words[uint32](dst), indices, words[uint32](c.data), line, step)
	case 8:
		scatterLineWords(c.indptr, words[uint64](dst), indices, words[uint64](c.data), line, step)
	case 16:
		scatterLineWords(c.indptr, words[[2]uint64](dst), indices, words[[2]uint64](c.data), line, step)
	default:
		scatterLineBytes(c.indptr, dst, indices, c.data, line, step, int64(c.dtype.width))
	}
}

func scatterLineWords[I indexWord, V word](indptr Index, dst []V, indices []I, values []V, line, step int64) {
	var buf lineBuffer
	start, base := uint64(0), int64(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:], first) {
			for k := start; k < stop; k++ {
				dst[base+int64(indices[k])*step] = values[k]
			}
			start = stop
			base += line
		}
	}
}

// scatterLineBytes is scatterLineWords for elements of any width.
func scatterLineBytes[I indexWord](indptr Index, dst []byte, indices []I, values []byte, line, step, width int64) {
	var buf lineBuffer
	start, base := uint64(0), int64(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:], first) {
			for k := start; k < stop; k++ {
				at := (base + int64(indices[k])*step) * width
				copy(dst[at:at+width], values[int64(k)*width:])
			}
			start = stop
			base += line
		}
	}
}
