package layout

import (
	"fmt"
	"math"

	"github.com/tstore/tstore/vec"
)

// workType returns the type in which an index array is made: the one that was asked for if it holds
// everything that could come, else one that does, and finishIndex then sees whether what did come
// fits. No stored value is above bound; fit is what the type must hold besides.
func (o *ConvertOptions) workType(want IndexType, bound, fit uint64) IndexType {
	if want != IndexAuto && want.Max() >= bound {
		return want
	}
	return NarrowestIndexType(max(bound, fit))
}

// finishIndex returns x, an array of the conversion, in the type that was asked for, or in the narrowest
// one that holds largest: what is stored and what the type must hold besides.
func finishIndex(x Index, want IndexType, largest uint64, b *budget) (Index, error) {
	if want == x.typ || want == IndexAuto && NarrowestIndexType(largest) == x.typ {
		return x, nil
	}
	y, err := copyIndex(x, want, largest, b)
	b.free(len(x.data))
	return y, err
}

// copyIndex is finishIndex for an array of the source, which is copied in any case.
func copyIndex(x Index, want IndexType, largest uint64, b *budget) (Index, error) {
	if want == IndexAuto {
		want = NarrowestIndexType(largest)
	}
	y, err := b.index(x.Len(), want)
	if err != nil {
		return Index{}, err
	}
	if err := vec.ConvertIndices(y.data, want.kernel(), x.data, x.typ.kernel()); err != nil {
		return Index{}, fmt.Errorf("%w: %v does not hold %d", ErrIndexType, want, x.max())
	}
	return y, nil
}

// largestCoordinate returns the largest index that any axis can have.
func largestCoordinate(shape []int64) uint64 {
	most := int64(1)
	for _, n := range shape {
		most = max(most, n)
	}
	return uint64(most - 1)
}

// writeCoordinates fills an index matrix, row by row, with the coordinates of the elements whose
// row-major numbers are first+key.
func writeCoordinates[K uint32 | uint64](dst Index, keys []K, first uint64, shape []int64) {
	switch dst.typ.Size() {
	case 1:
		coordinates(dst.data, keys, first, shape)
	case 2:
		coordinates(words[uint16](dst.data), keys, first, shape)
	case 4:
		coordinates(words[uint32](dst.data), keys, first, shape)
	default:
		coordinates(words[uint64](dst.data), keys, first, shape)
	}
}

func coordinates[O indexWord, K uint32 | uint64](dst []O, keys []K, first uint64, shape []int64) {
	last := len(shape) - 1
	if last < 0 {
		return
	}
	// Elements mostly share all but their last coordinate with the one before.
	var row [MaxDims]O
	fibre := uint64(shape[last])
	start, stop := uint64(0), uint64(0) // the elements that share the coordinates in row
	for _, key := range keys {
		x := first + uint64(key)
		if x >= stop {
			q := x / fibre
			start, stop = q*fibre, (q+1)*fibre
			for axis := last - 1; axis > 0; axis-- {
				n := uint64(shape[axis])
				next := q / n
				row[axis] = O(q - next*n)
				q = next
			}
			row[0] = O(q)
		}
		cell := dst[: last+1 : last+1]
		dst = dst[last+1:]
		copy(cell, row[:last])
		cell[last] = O(x - start)
	}
}

// lineSplitter turns ascending row-major numbers into indices in lines and an indptr.
type lineSplitter struct {
	indptr   Index
	minor    uint64 // length of a line
	line     int64  // the line that is being filled
	elements int64  // number of elements so far
}

// splitLines adds the elements with the row-major numbers first+key.
func splitLines[K uint32 | uint64](s *lineSplitter, indices Index, keys []K, first uint64) {
	switch indices.typ.Size() {
	case 1:
		splitInto(s, indices.data, keys, first)
	case 2:
		splitInto(s, words[uint16](indices.data), keys, first)
	case 4:
		splitInto(s, words[uint32](indices.data), keys, first)
	default:
		splitInto(s, words[uint64](indices.data), keys, first)
	}
}

func splitInto[O indexWord, K uint32 | uint64](s *lineSplitter, indices []O, keys []K, first uint64) {
	start := uint64(s.line) * s.minor
	for i, key := range keys {
		x := first + uint64(key)
		if x-start >= s.minor {
			line := x / s.minor
			s.begin(int64(line), s.elements+int64(i))
			start = line * s.minor
		}
		indices[s.elements+int64(i)] = O(x - start)
	}
	s.elements += int64(len(keys))
}

// begin ends all lines before the given one after some number of elements.
func (s *lineSplitter) begin(line, elements int64) {
	for s.line < line {
		s.line++
		s.indptr.set(s.line, uint64(elements))
	}
}

// close ends the last line.
func (s *lineSplitter) close(lines int64) { s.begin(lines, s.elements) }

// finishCOO makes a COO of a row-major index matrix.
func finishCOO(dt DType, shape []int64, indices Index, data []byte, canonical bool, names []string, o *ConvertOptions, b *budget) (*COO, error) {
	nnz := uint64(len(data) / int(dt.width))
	x, err := finishIndex(indices, o.Indices, max(indices.max(), nnz, uint64(len(shape))), b)
	if err != nil {
		return nil, err
	}
	c, err := NewCOO(dt, shape, x, data, canonical)
	if err != nil {
		return nil, err
	}
	c.names = cloneNames(names)
	return c, nil
}

func cloneNames(names []string) []string { return append([]string(nil), names...) }

// newCompressed returns a matrix of lines along axis with room for indices. indptr is all 0, and data
// still has to be set.
func newCompressed(dt DType, shape []int64, axis int, nnz int64, names []string, o *ConvertOptions, b *budget) (*compressed, error) {
	lines, minor := shape[axis], shape[1-axis]
	if lines == math.MaxInt64 {
		return nil, fmt.Errorf("%w: an indptr for %d lines", ErrTooLarge, lines)
	}
	indptr, err := b.index(lines+1, o.workType(o.Indptr, uint64(nnz), uint64(lines)+1))
	if err != nil {
		return nil, err
	}
	indices, err := b.index(nnz, o.workType(o.Indices, uint64(max(minor, 1)-1), uint64(nnz)))
	if err != nil {
		return nil, err
	}
	s := sparse{dtype: dt, shape: cloneInts(shape), names: cloneNames(names), nnz: nnz}
	return &compressed{sparse: s, indptr: indptr, indices: indices}, nil
}

// finish brings the index arrays into the types that they are to have.
func (c *compressed) finish(axis int, o *ConvertOptions, b *budget) (err error) {
	if c.indptr, err = finishIndex(c.indptr, o.Indptr, uint64(max(c.nnz, c.shape[axis]+1)), b); err != nil {
		return err
	}
	c.indices, err = finishIndex(c.indices, o.Indices, max(c.indices.max(), uint64(c.nnz)), b)
	return err
}

// own returns the elements in memory that the result may keep.
func (e *entries) own(width int32, b *budget) ([]byte, error) {
	if !e.borrowed {
		return e.data, nil
	}
	data, err := b.take(int64(len(e.data)), 1)
	copy(data, e.data)
	return data, err
}

// coo makes a COO of entries whose axes are in natural order.
func (e *entries) coo(dt DType, shape []int64, names []string, o *ConvertOptions, b *budget) (*COO, error) {
	data, err := e.own(dt.width, b)
	if err != nil {
		return nil, err
	}
	ndim := int64(len(shape))
	indices, err := b.matrix(int64(len(e.keys)), ndim, o.workType(o.Indices, largestCoordinate(shape), uint64(max(int64(len(e.keys)), ndim))))
	if err != nil {
		return nil, err
	}
	writeCoordinates(indices, e.keys, 0, shape)
	return finishCOO(dt, shape, indices, data, true, names, o, b)
}

// lines makes a matrix of lines along axis of entries whose first axis that is.
func (e *entries) lines(dt DType, shape []int64, axis int, names []string, o *ConvertOptions, b *budget) (*compressed, error) {
	c, err := newCompressed(dt, shape, axis, int64(len(e.keys)), names, o, b)
	if err != nil {
		return nil, err
	}
	if c.data, err = e.own(dt.width, b); err != nil {
		return nil, err
	}
	s := lineSplitter{indptr: c.indptr, minor: uint64(shape[1-axis])}
	splitLines(&s, c.indices, e.keys, 0)
	s.close(shape[axis])
	return c, c.finish(axis, o, b)
}

// csf makes a CSF of entries whose axes are in the given order.
func (e *entries) csf(dt DType, shape []int64, order []int, names []string, o *ConvertOptions, b *budget) (*CSF, error) {
	data, err := e.own(dt.width, b)
	if err != nil {
		return nil, err
	}
	ndim := len(shape)
	var tree csfTree
	tree.init(shape, order)
	sizes := tree.levelSizes(e.keys)
	longest := uint64(sizes[ndim-1])
	indptr, indices := make([]Index, ndim-1), make([]Index, ndim)
	indicesType := o.workType(o.Indices, largestCoordinate(shape), longest)
	indptrType := o.workType(o.Indptr, longest, uint64(sizes[ndim-2])+1)
	for l := range indices {
		if indices[l], err = b.index(sizes[l], indicesType); err != nil {
			return nil, err
		}
		if l < ndim-1 {
			if indptr[l], err = b.index(sizes[l]+1, indptrType); err != nil {
				return nil, err
			}
		}
	}
	tree.fill(e.keys, indptr, indices)
	// The type of all levels is that which the largest index of any level needs.
	largest := longest
	for l := range indices {
		largest = max(largest, indices[l].max())
	}
	for l := range indices {
		if indices[l], err = finishIndex(indices[l], o.Indices, largest, b); err != nil {
			return nil, err
		}
		if l < ndim-1 {
			if indptr[l], err = finishIndex(indptr[l], o.Indptr, max(longest, uint64(sizes[ndim-2])+1), b); err != nil {
				return nil, err
			}
		}
	}
	c := new(CSF)
	return c, c.Init(dt, cloneInts(shape), append([]int(nil), order...), indptr, indices, data, cloneNames(names))
}

// csfTree walks ascending keys as the nodes of a tree.
type csfTree struct {
	ndim  int
	below [MaxDims]uint64 // number of elements below one node of each level
	stop  [MaxDims]uint64 // the first element that is not below the current node of each level
}

func (t *csfTree) init(shape []int64, order []int) {
	t.ndim = len(order)
	n := uint64(1)
	for l := t.ndim - 1; l >= 0; l-- {
		t.below[l] = n
		n *= uint64(shape[order[l]])
	}
}

// branch returns the highest level on which element key has a node of its own, and moves to it.
func (t *csfTree) branch(key uint64) int {
	l := t.ndim - 1
	for l > 0 && key >= t.stop[l-1] {
		l--
	}
	return l
}

// levelSizes returns the number of nodes of each level.
func (t *csfTree) levelSizes(keys []uint64) (sizes [MaxDims]int64) {
	clear(t.stop[:])
	for _, key := range keys {
		l := t.branch(key)
		for sizes[t.ndim-1]++; l < t.ndim-1; l++ {
			sizes[l]++
			t.stop[l] = key - key%t.below[l] + t.below[l]
		}
	}
	return sizes
}

func (t *csfTree) fill(keys []uint64, indptr, indices []Index) {
	switch indices[0].typ.Size() {
	case 1:
		fillTree[uint8](t, keys, indptr, indices)
	case 2:
		fillTree[uint16](t, keys, indptr, indices)
	case 4:
		fillTree[uint32](t, keys, indptr, indices)
	default:
		fillTree[uint64](t, keys, indptr, indices)
	}
}

func fillTree[O indexWord](t *csfTree, keys []uint64, indptr, indices []Index) {
	clear(t.stop[:])
	var level [MaxDims][]O
	var nodes [MaxDims]int64
	for l, x := range indices {
		level[l] = words[O](x.data)
	}
	last := t.ndim - 1
	for k, key := range keys {
		for l := t.branch(key); l < last; l++ {
			start := uint64(0) // of the parent
			if l > 0 {
				start = t.stop[l-1] - t.below[l-1]
			}
			index := (key - start) / t.below[l]
			level[l][nodes[l]] = O(index)
			indptr[l].set(nodes[l], uint64(nodes[l+1]))
			nodes[l]++
			t.stop[l] = start + (index+1)*t.below[l]
		}
		level[last][k] = O(key - (t.stop[last-1] - t.below[last-1]))
		nodes[last]++
	}
	for l, x := range indptr {
		x.set(nodes[l], uint64(nodes[l+1]))
	}
}
