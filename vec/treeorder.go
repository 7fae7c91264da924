package vec

import (
	"fmt"
	"sync"
)

// blockMost is how many elements the axes may have that are not in their own place: their positions still have 2
// bytes, and can be divided like those in a slab.
const blockMost = maxDividend

// fixedAxes returns how many leading axes have their own level.
func fixedAxes(order []int) int {
	m := 0
	for m < len(order) && order[m] == m {
		m++
	}
	return m
}

// CanAppendOrder reports whether [Tree.AppendOrder] takes an array with these dimensions for this order of axes: if
// the axes that are not at their own level, and what lies between them, have few elements, or if it is no more than
// the last two axes that are exchanged.
func CanAppendOrder(dims []uint64, order []int) bool {
	m := fixedAxes(order)
	if m >= len(dims)-2 {
		return true
	}
	block := uint64(1)
	for _, d := range dims[m:] {
		if d > blockMost || block*d > blockMost {
			return false
		}
		block *= d
	}
	return true
}

// AppendOrder is [Tree.Append] for levels of other axes: level l has the nodes of axis order[l], where order is a
// permutation of the axes for which [CanAppendOrder] is true. The elements of src must be whole blocks, a block
// being those that differ only in the axes that are not at their own level and what lies between them. No piece
// has more nodes in a level than a block has elements.
func (t *Tree) AppendOrder(src []byte, e Elem, dims []uint64, order []int, first uint64) (consumed, short int) {
	m := fixedAxes(order)
	if m == len(dims) {
		return t.Append(src, e, dims, first)
	}
	t.check(e, dims)
	block := uint64(1)
	for _, d := range dims[m:] {
		block *= d
	}
	n := e.len(src)
	if !CanAppendOrder(dims, order) || first%block != 0 || uint64(n)%block != 0 {
		panic(fmt.Sprintf("vec: %d elements from %d of an array with dimensions %d can't be appended in the order %d", n, first, append([]uint64(nil), dims...), append([]int(nil), order...)))
	}
	if n == 0 {
		return 0, -1
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	b := blockSorters.Get().(*blockSorter)
	defer blockSorters.Put(b)
	b.dims = b.dims[:0]
	for _, axis := range order {
		b.dims = append(b.dims, dims[axis])
	}
	w.set(b.dims)
	if block > blockMost {
		return t.appendMatrices(w, b, src, e, dims, first)
	}
	return t.appendBlocks(w, b, src, e, dims[m:], order[m:], m, first)
}

// majorMost is how long the last axis may be for one pass of counting.
const majorMost = 2048

// blockSorter is what sorting blocks needs beside a workspace.
type blockSorter struct {
	dims      []uint64
	positions [blockMost + slack]uint16
	keys      [blockMost + slack]uint16
	values    [blockMost * 16]byte
	spare     [blockMost * 16]byte
	major     [blockMost]uint16 // if only the last two axes are exchanged: the coordinate along the last
	digits    [2][256]uint32
	counts    [majorMost]uint32
	inner     workspace // divides positions in a block
	before    treeState
	steps     []uint16 // how far apart, in the new order, neighbours along each axis are

	columns  Columns
	pointers []byte
}

var blockSorters = sync.Pool{New: func() any { return new(blockSorter) }}

// appendBlocks appends small blocks with these dimensions, whose axes have their levels in the given order, after
// so many axes that are at their own.
func (t *Tree) appendBlocks(w *workspace, b *blockSorter, src []byte, e Elem, dims []uint64, order []int, before int, first uint64) (consumed, short int) {
	size, ndim := e.Size(), len(t.Levels)
	leaves := &t.Levels[ndim-1]
	b.inner.set(dims)
	block := 1
	b.steps = append(b.steps[:0], make([]uint16, len(dims))...)
	for l := len(order) - 1; l >= 0; l-- {
		b.steps[order[l]-before] = uint16(block)
		block *= int(b.dims[before+l])
	}
	for n := len(src) / size; consumed < n; consumed += block {
		_, k := compactAny(b.values[:], memory(b.positions[:]), U16, src[consumed*size:(consumed+block)*size], e, 0)
		if k == 0 {
			continue
		}
		if min(len(t.Values)/size, len(leaves.Indices)/t.Indices.Size())-leaves.Len < k {
			return consumed, ndim - 1
		}
		b.permute(k)
		sorted := b.sort(k, size)

		// The sorted block in pieces, all of which must find room.
		w.shape.coordinates(w.start, first+uint64(consumed))
		b.before.save(t)
		for done := 0; done < k; done += slabLen {
			m := min(k-done, slabLen)
			copy(w.positions[slack:], b.keys[done:done+m])
			copy(t.Values[leaves.Len*size:], sorted[done*size:(done+m)*size])
			if short := t.grow(w, m); short >= 0 {
				b.before.restore(t)
				return consumed, short
			}
		}
	}
	return consumed, -1
}

// treeState is what a Tree was before something was appended to it.
type treeState struct {
	lens  []int
	last  []uint64
	begun bool
}

func (s *treeState) save(t *Tree) {
	s.lens = s.lens[:0]
	for l := range t.Levels {
		s.lens = append(s.lens, t.Levels[l].Len)
	}
	s.last, s.begun = append(s.last[:0], t.last...), t.begun
}

func (s *treeState) restore(t *Tree) {
	for l := range t.Levels {
		t.Levels[l].Len = s.lens[l]
	}
	copy(t.last, s.last)
	t.begun = s.begun
}

// permute makes b.keys of the k positions: where the elements lie in the new order of axes.
func (b *blockSorter) permute(k int) {
	w := &b.inner
	w.start = append(w.start[:0], make([]uint64, len(w.shape.dims))...)
	for done := 0; done < k; done += slabLen {
		m := min(k-done, slabLen)
		copy(w.positions[slack:], b.positions[done:done+m])
		for a := len(w.shape.dims) - 1; a > w.shape.top; a-- {
			w.split(&w.positions, m, a, 0)
		}
		keys := b.keys[done : done+m]
		if b.exchanged() {
			// Rows are in order already, so columns alone have to be sorted.
			step := b.steps[1]
			cols, _ := w.axis(1)
			rows, _ := w.axis(0)
			copy(b.major[done:done+m], cols[slack:])
			for i, x := range cols[slack : slack+m] {
				keys[i] = x*step + rows[slack+i]
			}
			continue
		}
		for a := w.shape.top; a < len(w.shape.dims); a++ {
			c, _ := w.axis(a)
			step := b.steps[a]
			coordinate := c[slack : slack+m]
			if a == w.shape.top {
				for i, x := range coordinate {
					keys[i] = x * step
				}
				continue
			}
			for i, x := range coordinate {
				keys[i] += x * step
			}
		}
	}
}

// exchanged reports whether a block is a matrix, to be sorted by columns.
func (b *blockSorter) exchanged() bool {
	return len(b.steps) == 2 && b.steps[0] == 1 && b.inner.shape.dims[1] <= majorMost
}

// sort sorts the k keys, and the values with them, byte by byte. It returns the sorted values.
func (b *blockSorter) sort(k, size int) []byte {
	switch size {
	case 1:
		return sortBlock(b, k, b.values[:], b.spare[:])
	case 2:
		return memory(sortBlock(b, k, view[uint16](b.values[:]), view[uint16](b.spare[:])))
	case 4:
		return memory(sortBlock(b, k, view[uint32](b.values[:]), view[uint32](b.spare[:])))
	case 8:
		return memory(sortBlock(b, k, view[uint64](b.values[:]), view[uint64](b.spare[:])))
	}
	return memory(sortBlock(b, k, view[word128](b.values[:]), view[word128](b.spare[:])))
}

func sortBlock[T any](b *blockSorter, k int, values, spare []T) []T {
	if k < 48 {
		keys := b.keys[:k]
		for i, key := range keys {
			v, j := values[i], i
			for ; j > 0 && keys[j-1] > key; j-- {
				keys[j], values[j] = keys[j-1], values[j-1]
			}
			keys[j], values[j] = key, v
		}
		return values
	}
	if b.exchanged() {
		counts := b.counts[:b.inner.shape.dims[1]]
		clear(counts)
		for _, c := range b.major[:k] {
			counts[c]++
		}
		sum := uint32(0)
		for i, n := range counts {
			counts[i], sum = sum, sum+n
		}
		keys, other := b.keys[:k], b.positions[:k]
		for i, c := range b.major[:k] {
			at := counts[c]
			counts[c] = at + 1
			other[at], spare[at] = keys[i], values[i]
		}
		copy(keys, other)
		return spare
	}
	low, high := &b.digits[0], &b.digits[1]
	clear(low[:])
	clear(high[:])
	for _, key := range b.keys[:k] {
		low[key&255]++
		high[key>>8]++
	}
	sumLow, sumHigh := uint32(0), uint32(0)
	for i := range low {
		low[i], sumLow = sumLow, sumLow+low[i]
		high[i], sumHigh = sumHigh, sumHigh+high[i]
	}
	keys, other := b.keys[:k], b.positions[:k]
	for i, key := range keys {
		at := low[key&255]
		low[key&255] = at + 1
		other[at], spare[at] = key, values[i]
	}
	for i, key := range other {
		at := high[key>>8]
		high[key>>8] = at + 1
		keys[at], values[at] = key, spare[i]
	}
	return values
}

// appendMatrices appends large matrices, whose columns are the last level but one.
func (t *Tree) appendMatrices(w *workspace, b *blockSorter, src []byte, e Elem, dims []uint64, first uint64) (consumed, short int) {
	size, ndim := e.Size(), len(dims)
	rows, cols := int(dims[ndim-2]), int(dims[ndim-1])
	block := rows * cols
	leaves, nodes := &t.Levels[ndim-1], &t.Levels[ndim-2]
	isize, psize := t.Indices.Size(), t.Pointers.Size()
	c := &b.columns
	for n := len(src) / size; consumed < n; consumed += block {
		c.Start(src[consumed*size:(consumed+block)*size], e, rows, cols, cols*size)
		b.before.save(t)
		w.shape.coordinates(w.start, first+uint64(consumed))
		for c.Next() {
			k := c.Len()
			if k == 0 {
				continue
			}
			if min(len(t.Values)/size, len(leaves.Indices)/isize)-leaves.Len < k {
				b.before.restore(t)
				return consumed, ndim - 1
			}
			from, to := c.Columns()
			b.pointers = grown(b.pointers, (to-from)*8)
			c.Write(t.Values[leaves.Len*size:], leaves.Indices[leaves.Len*isize:], t.Indices, b.pointers, U64, 0)
			if short := t.openPrefix(w, ndim-3); short >= 0 {
				b.before.restore(t)
				return consumed, short
			}
			start := uint64(0)
			for j, end := range view[uint64](b.pointers) {
				if end == start {
					continue
				}
				if !t.hasRoom(ndim-2, 1) {
					b.before.restore(t)
					return consumed, ndim - 2
				}
				putIndex(nodes.Indices[nodes.Len*isize:], t.Indices, uint64(from+j))
				putIndex(nodes.Pointers[nodes.Len*psize:], t.Pointers, uint64(leaves.Len)+start)
				nodes.Len++
				start = end
			}
			leaves.Len += k
		}
	}
	return consumed, -1
}

// openPrefix adds a node for the element at w.start to level l and those before it, unless it is there.
func (t *Tree) openPrefix(w *workspace, l int) (short int) {
	children := t.Levels[l+1].Len // where those of the new node begin
	for ; l >= 0; l-- {
		number := uint64(0)
		for a := 0; a <= l; a++ {
			number = number*w.shape.dims[a] + w.start[a]
		}
		if t.begun && t.last[l] == number {
			break
		}
		if !t.hasRoom(l, 1) {
			return l
		}
		level := &t.Levels[l]
		putIndex(level.Indices[level.Len*t.Indices.Size():], t.Indices, w.start[l])
		putIndex(level.Pointers[level.Len*t.Pointers.Size():], t.Pointers, uint64(children))
		t.last[l] = number
		children, level.Len = level.Len, level.Len+1
	}
	t.begun = true
	return -1
}
