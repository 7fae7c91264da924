package layout

// longFibre is the size in bytes of the last axis from which the nonzeros of a dense tensor are better gathered line by
// line, and the levels of a CSF above them made of the lines that have some.
const longFibre = 2 << 10

// treeOfLines makes the levels of a CSF, in c, of the nonzeros of view, whose axes are in the order of the levels.
func (c *conversion) treeOfLines(view *Dense) (data []byte, err error) {
	last := len(view.shape) - 1
	typ, err := c.indexTypeFor(largestCoordinate(view.shape), view)
	if err != nil {
		return nil, err
	}
	minor := view.shape[last]
	lines := view.len / minor
	ends := Index{typ: NarrowestIndexType(uint64(view.len))}
	if ends.data, err = c.spaceFor(spaceIndptr, lines+1, int64(ends.typ.Size())); err != nil {
		return nil, err
	}
	ends.set(0, 0)
	f, g := &c.found, &c.gathering
	*f = found{per: int64(typ.Size()), level: last}
	*g = gathering{view: view, typ: typ, minor: minor, indptr: ends}
	if err := c.gather(f, g); err != nil {
		return nil, err
	}
	data, places := c.done(f)
	c.indices[last] = Index{typ, places}

	ptr := workType(c.opts.Indptr, uint64(view.len), 0)
	if err := c.treeAbove(ends, view.shape[:last], typ, ptr); err != nil {
		return nil, err
	}
	return data, c.finishLevels(last + 1)
}

// treeAbove makes the levels of a CSF, in c, above the last one. They have the dimensions above, whose product is the
// number of lines that end with the given numbers of elements.
func (c *conversion) treeAbove(ends Index, above []int64, typ, ptr IndexType) error {
	lines, last := ends.Len()-1, len(above)
	// The lines that have elements.
	keys, err := spaceOf[uint64](c, spaceKeys, lines)
	if err != nil {
		return err
	}
	var buf lineBuffer
	n, start := 0, uint64(0)
	for first := int64(1); first <= lines; first += int64(len(buf)) {
		for i, end := range ends.chunk(buf[:], first) {
			keys[n] = uint64(first) - 1 + uint64(i)
			if end > start {
				n++
			}
			start = end
		}
	}
	keys = keys[:n]
	if c.indptr[last-1], err = c.roomIndex(c.oldIndptr[last-1], int64(n)+1, ptr); err != nil {
		return err
	}
	for i, key := range keys {
		c.indptr[last-1].set(int64(i), ends.At(int64(key)))
	}
	c.indptr[last-1].set(int64(n), start)

	var tree csfTree
	tree.init(above, naturalOrder(last))
	sizes := tree.levelSizes(keys)
	for l := range last {
		if c.indices[l], err = c.roomIndex(c.oldIndices[l], sizes[l], typ); err != nil {
			return err
		}
		if l < last-1 {
			if c.indptr[l], err = c.roomIndex(c.oldIndptr[l], sizes[l]+1, ptr); err != nil {
				return err
			}
		}
	}
	tree.fill(keys, c.indptr[:last-1], c.indices[:last])
	return nil
}
