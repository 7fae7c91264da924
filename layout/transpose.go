package layout

// transposeCompressed returns the elements of c, whose lines run along axis, in lines along the
// other axis. c's structure must have been checked. It is a counting sort: stable, and in time
// linear in elements and lines.
func transposeCompressed(c *compressed, axis int, o *ConvertOptions, b *budget) (*compressed, error) {
	t, err := newCompressed(c.dtype, c.shape, 1-axis, c.nnz, c.names, o, b)
	if err != nil {
		return nil, err
	}
	if t.data, err = b.take(c.nnz, int(c.dtype.width)); err != nil {
		return nil, err
	}
	cursors, err := takeSlice[int64](b, c.shape[1-axis])
	if err != nil {
		return nil, err
	}
	switch c.indices.typ.Size() {
	case 1:
		transposeFrom(c, t, cursors, c.indices.data)
	case 2:
		transposeFrom(c, t, cursors, words[uint16](c.indices.data))
	case 4:
		transposeFrom(c, t, cursors, words[uint32](c.indices.data))
	default:
		transposeFrom(c, t, cursors, words[uint64](c.indices.data))
	}
	b.free(8 * len(cursors))
	return t, t.finish(1-axis, o, b)
}

func transposeFrom[I indexWord](c, t *compressed, cursors []int64, in []I) {
	for _, j := range in {
		cursors[j]++
	}
	sum := int64(0)
	for j, n := range cursors {
		cursors[j] = sum
		sum += n
		t.indptr.set(int64(j)+1, uint64(sum))
	}
	switch t.indices.typ.Size() {
	case 1:
		transposeInto(c, t, cursors, in, t.indices.data)
	case 2:
		transposeInto(c, t, cursors, in, words[uint16](t.indices.data))
	case 4:
		transposeInto(c, t, cursors, in, words[uint32](t.indices.data))
	default:
		transposeInto(c, t, cursors, in, words[uint64](t.indices.data))
	}
}

func transposeInto[I, O indexWord](c, t *compressed, cursors []int64, in []I, out []O) {
	switch c.dtype.width {
	case 1:
		transposeWords(c.indptr, cursors, in, out, c.data, t.data)
	case 2:
		transposeWords(c.indptr, cursors, in, out, words[uint16](c.data), words[uint16](t.data))
	case 4:
		transposeWords(c.indptr, cursors, in, out, words[uint32](c.data), words[uint32](t.data))
	case 8:
		transposeWords(c.indptr, cursors, in, out, words[uint64](c.data), words[uint64](t.data))
	case 16:
		transposeWords(c.indptr, cursors, in, out, words[[2]uint64](c.data), words[[2]uint64](t.data))
	default:
		transposeBytes(c.indptr, cursors, in, out, c.data, t.data, int64(c.dtype.width))
	}
}

func transposeWords[I, O indexWord, V word](indptr Index, cursors []int64, in []I, out []O, src, dst []V) {
	var buf lineBuffer
	start, line := uint64(0), uint64(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:], first) {
			for k := start; k < stop; k++ {
				j := in[k]
				at := cursors[j]
				cursors[j] = at + 1
				out[at] = O(line)
				dst[at] = src[k]
			}
			start = stop
			line++
		}
	}
}

// transposeBytes is transposeWords for elements of any width.
func transposeBytes[I, O indexWord](indptr Index, cursors []int64, in []I, out []O, src, dst []byte, width int64) {
	var buf lineBuffer
	start, line := uint64(0), uint64(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:], first) {
			for k := start; k < stop; k++ {
				j := in[k]
				at := cursors[j]
				cursors[j] = at + 1
				out[at] = O(line)
				copy(dst[at*width:(at+1)*width], src[int64(k)*width:])
			}
			start = stop
			line++
		}
	}
}
