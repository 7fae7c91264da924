package layout

import (
	"fmt"
	"math"

	"github.com/tstore/tstore/vec"
)

// workType returns the type in which an index array is made: the one that was asked for if it holds
// everything that could come, else one that does, and finishIndex then sees whether what did come
// fits. No stored value is above bound; fit is what the type must hold besides.
func workType(want IndexType, bound, fit uint64) IndexType {
	if want != IndexAuto && want.Max() >= bound {
		return want
	}
	return NarrowestIndexType(max(bound, fit))
}

// finishIndex returns x, an array of the result, in the type that was asked for, or in the narrowest
// one that holds what is stored and fit.
func (c *conversion) finishIndex(x Index, want IndexType, fit uint64) (Index, error) {
	if want == x.typ || want == IndexAuto && NarrowestIndexType(fit) == x.typ {
		return x, nil // x holds what is stored in it
	}
	largest := x.max()
	if want == IndexAuto {
		want = NarrowestIndexType(max(largest, fit))
	}
	if want == x.typ {
		return x, nil
	}
	if largest > want.Max() {
		return Index{}, tooNarrow(want, largest)
	}
	n, from, to := x.Len(), int64(x.typ.Size()), int64(want.Size())
	if to > from {
		y, err := c.roomIndex(nil, n, want)
		if err != nil {
			return Index{}, err
		}
		c.free(n * from)
		return y, vec.ConvertIndices(y.data, want.kernel(), x.data, x.typ.kernel())
	}
	// Narrower integers go where they were, piece by piece.
	const most = 4096
	piece, err := c.spaceFor(spaceGather, min(n, most), from)
	if err != nil {
		return Index{}, err
	}
	for i := int64(0); i < n; i += most {
		m := min(n-i, most)
		copy(piece, x.data[i*from:(i+m)*from])
		if err := vec.ConvertIndices(x.data[i*to:(i+m)*to], want.kernel(), piece[:m*from], x.typ.kernel()); err != nil {
			return Index{}, fmt.Errorf("%w: %w", ErrIndexType, err)
		}
	}
	c.free(int64(len(piece)) + n*(from-to))
	return Index{typ: want, data: x.data[:n*to]}, nil
}

func tooNarrow(t IndexType, v uint64) error {
	return fmt.Errorf("%w: %v does not hold %d", ErrIndexType, t, v)
}

// copyIndex is finishIndex for an array of the source, which is copied to old or to new memory.
func (c *conversion) copyIndex(old []byte, x Index, want IndexType, fit uint64) (Index, error) {
	if want == IndexAuto && NarrowestIndexType(fit) == x.typ {
		want = x.typ
	} else if want == IndexAuto {
		want = NarrowestIndexType(max(x.max(), fit))
	}
	y, err := c.roomIndex(old, x.Len(), want)
	if err != nil {
		return Index{}, err
	}
	if err := vec.ConvertIndices(y.data, want.kernel(), x.data, x.typ.kernel()); err != nil {
		return Index{}, tooNarrow(want, x.max())
	}
	return y, nil
}

// trim returns b in memory of about its size, if it lies in new memory that turned out far too large.
func (c *conversion) trim(b, old []byte) []byte {
	waste := int64(cap(b) - len(b))
	if waste <= int64(len(b))/8+4096 || cap(old) > 0 && overlap(b[:1], old[:1]) {
		return b
	}
	n, err := c.reserve(int64(len(b)), 1)
	if err != nil {
		return b
	}
	exact := newBytes(n)
	copy(exact, b)
	c.free(n)
	return exact
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

// splitLines adds the elements with the row-major numbers first+key, and writes their indices.
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
	indices = indices[:len(keys)]
	start := uint64(s.line) * s.minor
	for i, key := range keys {
		x := first + uint64(key)
		if x-start >= s.minor {
			line := x / s.minor
			s.begin(int64(line), s.elements+int64(i))
			start = line * s.minor
		}
		indices[i] = O(x - start)
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

func cloneNames(names []string) []string { return append([]string(nil), names...) }

// newLines returns room for a matrix of lines along axis with nnz elements.
func (c *conversion) newLines(dt DType, shape []int64, axis int, nnz int64) (r compressed, err error) {
	lines, minor := shape[axis], shape[1-axis]
	if r.indptr, err = c.newIndptr(c.oldIndptr[0], lines, uint64(nnz)); err != nil {
		return r, err
	}
	typ := workType(c.opts.Indices, uint64(max(minor, 1)-1), uint64(nnz))
	if r.indices, err = c.roomIndex(c.oldIndices[0], nnz, typ); err != nil {
		return r, err
	}
	r.data, err = c.room(c.oldData, nnz, int64(dt.width))
	return r, err
}

// newIndptr returns room for where lines begin and end among elements of which there are at most so many.
func (c *conversion) newIndptr(old []byte, lines int64, most uint64) (Index, error) {
	if lines == math.MaxInt64 {
		return Index{}, fmt.Errorf("%w: an indptr for %d lines", ErrTooLarge, lines)
	}
	x, err := c.roomIndex(old, lines+1, workType(c.opts.Indptr, most, uint64(lines)+1))
	if err == nil {
		x.set(0, 0)
	}
	return x, err
}

// finishLines brings the index arrays of a matrix with so many lines into the types that they are to have.
func (c *conversion) finishLines(r compressed, lines int64) (compressed, error) {
	var err error
	nnz := r.indices.Len()
	if r.indptr, err = c.finishIndex(r.indptr, c.opts.Indptr, uint64(max(nnz, lines+1))); err != nil {
		return r, err
	}
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, uint64(nnz))
	return r, err
}

// own returns the elements in memory that the result may keep.
func (e *entries) own(c *conversion) ([]byte, error) {
	data, err := c.room(c.oldData, int64(len(e.data)), 1)
	copy(data, e.data)
	return data, err
}

// coo makes a COO of entries whose axes are in natural order.
func (e *entries) coo(c *conversion, dt DType, shape []int64) (r COO, err error) {
	n, ndim := int64(len(e.keys)), int64(len(shape))
	if r.data, err = e.own(c); err != nil {
		return r, err
	}
	typ := workType(c.opts.Indices, largestCoordinate(shape), uint64(max(n, ndim)))
	if r.indices, err = c.roomMatrix(c.oldIndices[0], n, ndim, typ); err != nil {
		return r, err
	}
	writeCoordinates(r.indices, e.keys, 0, shape)
	r.canonical = true
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, uint64(max(n, ndim)))
	return r, err
}

// lines makes a matrix of lines along axis of entries whose first axis that is.
func (e *entries) lines(c *conversion, dt DType, shape []int64, axis int) (compressed, error) {
	r, err := c.newLines(dt, shape, axis, int64(len(e.keys)))
	if err != nil {
		return r, err
	}
	copy(r.data, e.data)
	s := lineSplitter{indptr: r.indptr, minor: uint64(shape[1-axis])}
	splitLines(&s, r.indices, e.keys, 0)
	s.close(shape[axis])
	return c.finishLines(r, shape[axis])
}

// csf makes the levels of a CSF, in c, of entries whose axes are in the given order.
func (e *entries) csf(c *conversion, shape []int64, order []int) (data []byte, err error) {
	if data, err = e.own(c); err != nil {
		return nil, err
	}
	ndim := len(shape)
	var tree csfTree
	tree.init(shape, order)
	sizes := tree.levelSizes(e.keys)
	longest := uint64(sizes[ndim-1])
	indices, indptr := c.indices[:ndim], c.indptr[:ndim-1]
	indicesType := workType(c.opts.Indices, largestCoordinate(shape), longest)
	indptrType := workType(c.opts.Indptr, longest, uint64(sizes[ndim-2])+1)
	for l := range indices {
		if indices[l], err = c.roomIndex(c.oldIndices[l], sizes[l], indicesType); err != nil {
			return nil, err
		}
		if l < ndim-1 {
			if indptr[l], err = c.roomIndex(c.oldIndptr[l], sizes[l]+1, indptrType); err != nil {
				return nil, err
			}
		}
	}
	tree.fill(e.keys, indptr, indices)
	return data, c.finishLevels(ndim)
}

// finishLevels brings the index arrays of a CSF into the types that they are to have. The type of all levels is that
// which the largest number of any of them needs.
func (c *conversion) finishLevels(ndim int) (err error) {
	indices, indptr := c.indices[:ndim], c.indptr[:ndim-1]
	fit := uint64(indices[ndim-1].Len())
	fitPtr := max(fit, uint64(indices[ndim-2].Len())+1)
	if c.opts.Indices == IndexAuto && NarrowestIndexType(fit) != indices[0].typ {
		for l := range indices {
			fit = max(fit, indices[l].max())
		}
	}
	for l := range indices {
		if indices[l], err = c.finishIndex(indices[l], c.opts.Indices, fit); err != nil {
			return err
		}
		if l < ndim-1 {
			if indptr[l], err = c.finishIndex(indptr[l], c.opts.Indptr, fitPtr); err != nil {
				return err
			}
		}
	}
	return nil
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
		start := uint64(0)
		if last > 0 {
			start = t.stop[last-1] - t.below[last-1]
		}
		level[last][k] = O(key - start)
		nodes[last]++
	}
	for l, x := range indptr {
		x.set(nodes[l], uint64(nodes[l+1]))
	}
}
