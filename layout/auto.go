package layout

import "math"

// Auto returns a tensor in the layout that takes the fewest bytes for its elements and its index
// arrays, which have the types that o asks for; of layouts that take the same, the first of dense,
// CSR, CSC, COO, CSF. It is [Convert] in everything else. Zeros that a sparse tensor stores count as
// elements of sparse layouts; elements that are stored several times are summed, or refused if o says so.
func Auto(t Tensor, o *ConvertOptions) (Tensor, error) {
	best, csf, err := smallest(t, o)
	if csf != nil || err != nil {
		return tensorOrError(csf, err)
	}
	if o == nil || o.Duplicates == DuplicatesDefault { // which COO keeps
		var sum ConvertOptions
		if o != nil {
			sum = *o
		}
		sum.Duplicates = DuplicatesSum
		o = &sum
	}
	return Convert(t, best, o)
}

// smallest returns the layout that takes the fewest bytes, and if that is CSF, the tensor in it.
func smallest(t Tensor, o *ConvertOptions) (Layout, *CSF, error) {
	c, err := begin(t, o)
	if err != nil {
		return 0, nil, err
	}
	defer c.end()
	if c.opts.Duplicates == DuplicatesDefault {
		c.opts.Duplicates = DuplicatesSum
	}
	shape, width := t.Shape(), int64(t.DType().width)
	ndim := len(shape)
	dense, ok := CheckedProduct(shape, width)
	if !ok {
		dense = math.MaxInt64
	}
	// Whatever the layout, an element takes its own bytes and an index of one byte.
	if d, ok := t.(*Dense); ok && addUp(denseCount(d), width+1, 0) >= dense {
		return LayoutDense, nil, nil
	}
	e, err := c.entriesOf(t, naturalOrder(ndim))
	if err != nil {
		return 0, nil, err
	}
	nnz := int64(len(e.keys))
	var most [MaxDims]uint64
	largest := e.largestCoordinates(most[:ndim], shape)

	best, fewest := LayoutDense, dense
	consider := func(l Layout, bytes int64) {
		if bytes < fewest {
			best, fewest = l, bytes
		}
	}
	if ndim == 2 {
		consider(LayoutCSR, linesBytes(nnz, shape[0], most[1], width, &c.opts))
		consider(LayoutCSC, linesBytes(nnz, shape[1], most[0], width, &c.opts))
	}
	matrix, ok := CheckedMul(nnz, int64(ndim))
	if !ok {
		matrix = math.MaxInt64
	}
	consider(LayoutCOO, addUp(nnz, width, indexBytes(matrix, c.opts.Indices, max(largest, uint64(nnz), uint64(ndim)))))
	if ndim >= 2 && addUp(nnz, width+1, 0) < fewest {
		order, err := c.axisOrder(shape)
		if err != nil {
			return 0, nil, err
		}
		c.budget = newBudget(c.opts.MaxBytes) // the entries so far are needed no more
		e, err := c.entriesOf(t, order)
		if err != nil {
			return 0, nil, err
		}
		if csfBytes(&e, shape, order, largest, width, &c.opts) < fewest {
			data, err := e.csf(c, shape, order)
			if err != nil {
				return 0, nil, err
			}
			csf := new(CSF)
			csf.become(t, order, c.indptr[:ndim-1], c.indices[:ndim], data)
			return LayoutCSF, csf, nil
		}
	}
	return best, nil, nil
}

// largestCoordinates fills most with the largest coordinate along each axis, and returns the largest of
// them. The entries must be in natural order.
func (e *entries) largestCoordinates(most []uint64, shape []int64) uint64 {
	for _, key := range e.keys {
		for axis := len(shape) - 1; axis >= 0; axis-- {
			n := uint64(shape[axis])
			most[axis] = max(most[axis], key%n)
			key /= n
		}
	}
	largest := uint64(0)
	for _, m := range most {
		largest = max(largest, m)
	}
	return largest
}

// addUp returns n·size + more, or the largest int64 if that is too much.
func addUp(n, size, more int64) int64 {
	p, ok1 := CheckedMul(n, size)
	sum, ok2 := CheckedAdd(p, more)
	if !ok1 || !ok2 {
		return math.MaxInt64
	}
	return sum
}

// indexBytes returns the bytes of n integers of the type that was asked for, or of the narrowest that
// holds largest.
func indexBytes(n int64, want IndexType, largest uint64) int64 {
	if want == IndexAuto {
		want = NarrowestIndexType(largest)
	}
	return addUp(n, int64(want.Size()), 0)
}

func linesBytes(nnz, lines int64, largest uint64, width int64, o *ConvertOptions) int64 {
	if lines == math.MaxInt64 {
		return math.MaxInt64
	}
	indptr := indexBytes(lines+1, o.Indptr, uint64(max(nnz, lines+1)))
	return addUp(nnz, width, addUp(1, indptr, indexBytes(nnz, o.Indices, max(largest, uint64(nnz)))))
}

func csfBytes(e *entries, shape []int64, order []int, largest uint64, width int64, o *ConvertOptions) int64 {
	var tree csfTree
	tree.init(shape, order)
	sizes := tree.levelSizes(e.keys)
	last := len(shape) - 1
	nnz := sizes[last]
	total := addUp(nnz, width, 0)
	for l := range shape {
		total = addUp(1, indexBytes(sizes[l], o.Indices, max(largest, uint64(nnz))), total)
		if l < last {
			total = addUp(1, indexBytes(sizes[l]+1, o.Indptr, uint64(max(nnz, sizes[last-1]+1))), total)
		}
	}
	return total
}
