package layout

import (
	"slices"

	"github.com/tstore/tstore/vec"
)

// denseToCSF makes the levels of a CSF with its axes in the given order, in c, of the nonzeros of d, and returns
// these.
func (c *conversion) denseToCSF(d *Dense, order []int) (data []byte, err error) {
	levels := c.permuted(0, d, order)
	if d.dtype.elem() != 0 && d.len > 0 && !d.repeatsZeros() {
		if levels.lastAxisIsFastest() {
			if levels.shape[len(order)-1]*int64(d.dtype.width) >= longFibre {
				return c.treeOfLines(levels)
			}
			return c.growTree(levels, levels, nil)
		}
		// Walk through memory as it is, and let the kernel sort what it finds in each block.
		inMemory, relative := c.orders[2][:len(order)], c.orders[3][:len(order)]
		d.memoryOrder(inMemory)
		for l, axis := range order {
			relative[l] = slices.Index(inMemory, axis)
		}
		view := c.permuted(1, d, inMemory)
		if vec.CanAppendOrder(dimensions(view.shape), relative) && view.hasWhole(blockOf(view.shape, relative)) {
			return c.growTree(levels, view, relative)
		}
		sorts, err := c.worthSorting(d)
		if err != nil {
			return nil, err
		}
		if !sorts {
			return c.growTree(levels, levels, nil)
		}
	}
	e, err := c.denseEntries(d, order)
	if err != nil {
		return nil, err
	}
	return e.csf(c, d.shape, order)
}

// blockOf returns the number of elements that differ only in the axes from the first one on that is not at its
// own level.
func blockOf(shape []int64, order []int) int64 {
	fixed := 0
	for fixed < len(order) && order[fixed] == fixed {
		fixed++
	}
	n, _ := CheckedProduct(shape[fixed:], 1)
	return n
}

// hasWhole reports whether a walk through d can have pieces of whole blocks of so many elements, which are those of
// some of its last axes.
func (d *Dense) hasWhole(block int64) bool {
	if bufferBytes(d) > 0 {
		return block*int64(d.dtype.width) <= bufferBytes(d)
	}
	return d.runBytes()/int64(d.dtype.width)%block == 0
}

// growTree makes the levels of a CSF, in c, of the nonzeros of view. The axes of levels are those of view in the
// order of the levels: order[l] is the number that axis l of levels has in view. A nil order leaves them as they are.
func (c *conversion) growTree(levels, view *Dense, order []int) (data []byte, err error) {
	ndim := len(view.shape)
	t := &c.tree
	t.Reset()
	for len(t.Levels) < ndim {
		t.Levels = append(t.Levels, vec.Level{})
	}
	t.Levels = t.Levels[:ndim]
	typ, err := c.indexTypeFor(largestCoordinate(view.shape), view)
	if err != nil {
		return nil, err
	}
	ptr := workType(c.opts.Indptr, uint64(view.len), 0)
	t.Indices, t.Pointers = typ.kernel(), ptr.kernel()
	width, size, ptrSize := int64(view.dtype.width), int64(typ.Size()), int64(ptr.Size())
	block := int64(1)
	if order != nil {
		block = blockOf(view.shape, order)
	}

	leaves := min(int64(cap(c.oldData))/width, int64(cap(c.oldIndices[ndim-1]))/size, view.len)
	if leaves == 0 {
		if leaves, err = c.expect(view, 0, view.len); err != nil {
			return nil, err
		}
	}
	if leaves > c.left/(width+size) {
		if leaves, err = c.countRange(view, 0, view.len); err != nil {
			return nil, err
		}
	}
	room := &c.levelRoom
	for l := range t.Levels {
		t.Levels[l] = vec.Level{}
		room[l] = leaves
		if l < ndim-1 {
			// There are as many nodes as leaves at most, and mostly fewer.
			old := min(int64(cap(c.oldIndices[l]))/size, int64(cap(c.oldIndptr[l]))/ptrSize-1)
			room[l] = min(max(old, leaves/4, 1<<14), leaves, mostNodes(levels.shape, l))
		}
		if err := c.growLevel(view, l, room[l], ptrSize); err != nil {
			return nil, err
		}
	}
	most := max(largePiece*view.dtype.pieceElements()/block, 1) * block
	if workers := c.workers(view.NumBytes()); workers > 1 && block*width <= max(grain.part, 512<<10) {
		if err := c.growTogether(view, order, block, most, ptrSize, workers); err != nil {
			return nil, err
		}
		return c.finishTree(view, typ, ptr)
	}
	buffer, err := c.spaceFor(spaceGather, bufferBytes(view), 1)
	if err != nil {
		return nil, err
	}
	var w walk
	w.begin(view, 0, view.len, most, buffer)
	dims := dimensions(view.shape)
	for src, first := w.piece(); src != nil; src, first = w.piece() {
		for {
			used, short := appendTree(t, src, view.dtype, dims, order, first)
			if short < 0 {
				break
			}
			src, first = src[used*width:], first+used
			if err := c.growFor(view, short, int64(t.Levels[short].Len), max(block, 1<<13), first, ptrSize); err != nil {
				return nil, err
			}
		}
	}
	return c.finishTree(view, typ, ptr)
}

// appendTree appends the nonzeros of src, whose first element has a row-major number, to a tree.
func appendTree(t *vec.Tree, src []byte, dt DType, dims []uint64, order []int, first int64) (used int64, short int) {
	var n int
	if order == nil {
		n, short = t.Append(src, dt.elem(), dims, uint64(first))
	} else {
		n, short = t.AppendOrder(src, dt.elem(), dims, order, uint64(first))
	}
	return int64(n), short
}

// growFor makes room in a level that has some nodes for so many more: for the nonzeros of element next and on as well,
// if it is that of the leaves, and else for some.
func (c *conversion) growFor(view *Dense, l int, nodes, more, next, ptrSize int64) error {
	n := max(2*c.levelRoom[l], nodes+more)
	if l == len(c.tree.Levels)-1 {
		rest, err := c.countRange(view, next, view.len)
		if err != nil {
			return err
		}
		n = nodes + rest
	}
	return c.growLevel(view, l, n, ptrSize)
}

// mostNodes returns how many nodes level l of a tree of this shape may have.
func mostNodes(shape []int64, l int) int64 {
	n, _ := CheckedProduct(shape[:l+1], 1)
	return n
}

// growLevel makes room for n nodes in level l of c.tree.
func (c *conversion) growLevel(view *Dense, l int, n, ptrSize int64) error {
	t := &c.tree
	level := &t.Levels[l]
	width, size := int64(view.dtype.width), int64(t.Indices.Size())
	indices, err := c.room(c.oldIndices[l], n, size)
	if err != nil {
		return err
	}
	copy(indices, level.Indices)
	c.free(int64(len(level.Indices)))
	level.Indices = indices
	c.levelRoom[l] = n
	if l == len(t.Levels)-1 {
		values, err := c.room(c.oldData, n, width)
		if err != nil {
			return err
		}
		copy(values, t.Values)
		c.free(int64(len(t.Values)))
		t.Values = values
		return nil
	}
	pointers, err := c.room(c.oldIndptr[l], n+1, ptrSize)
	if err != nil {
		return err
	}
	copy(pointers, level.Pointers)
	c.free(int64(len(level.Pointers)))
	level.Pointers = pointers
	return nil
}

// finishTree makes the index arrays of c.tree those of the result, and returns its elements.
func (c *conversion) finishTree(view *Dense, typ, ptr IndexType) (data []byte, err error) {
	t := &c.tree
	last := len(t.Levels) - 1
	for l := range t.Levels {
		level := &t.Levels[l]
		n := int64(level.Len)
		c.indices[l] = Index{typ, c.trim(level.Indices[:n*int64(typ.Size())], c.oldIndices[l])}
		if l < last {
			c.indptr[l] = Index{ptr, c.trim(level.Pointers[:(n+1)*int64(ptr.Size())], c.oldIndptr[l])}
			c.indptr[l].set(n, uint64(t.Levels[l+1].Len))
		}
	}
	data = c.trim(t.Values[:int64(t.Levels[last].Len)*int64(view.dtype.width)], c.oldData)
	for l := range t.Levels {
		t.Levels[l] = vec.Level{}
	}
	t.Values = nil
	return data, c.finishLevels(last + 1)
}
