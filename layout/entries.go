package layout

import (
	"fmt"
)

// entries are the stored elements of a tensor on their way from one sparse layout to another: in
// row-major order of the axes in some order, each element once.
type entries struct {
	keys     []uint64 // row-major number of each element, ascending
	data     []byte   // the elements
	borrowed bool     // data is that of the source
}

// entriesOf returns the elements of t in row-major order of its axes taken in the given order. The
// index arrays of a sparse tensor are checked first; elements that are not in order are sorted, and
// those that are stored several times are summed or refused.
func entriesOf(t Tensor, order []int, o *ConvertOptions, b *budget) (entries, error) {
	switch t := t.(type) {
	case *Dense:
		return denseEntries(t, order, b)
	case *COO:
		if at, axis := t.firstOutside(); at >= 0 {
			return entries{}, t.outside(at, axis)
		}
		keys, err := takeSlice[uint64](b, t.nnz)
		if err != nil {
			return entries{}, err
		}
		var factors [MaxDims]uint64
		keyFactors(factors[:len(t.shape)], t.shape, order)
		t.keys(keys, 0, factors[:len(t.shape)])
		return settle(&t.sparse, keys, o, b)
	case *CSR:
		return compressedEntries(&t.compressed, 0, order, o, b)
	case *CSC:
		return compressedEntries(&t.compressed, 1, order, o, b)
	case *CSF:
		if err := t.checkStructure(); err != nil {
			return entries{}, err
		}
		keys, err := t.keys(b)
		if err != nil {
			return entries{}, err
		}
		rekey(keys, t.shape, t.order, order)
		return settle(&t.sparse, keys, o, b)
	}
	return entries{}, unknownTensor(t)
}

func unknownTensor(t Tensor) error {
	return fmt.Errorf("layout: %T is not a tensor of this package", t)
}

// keyFactors fills factors with what one step along each axis adds to the row-major number of an
// element, when the axes come in the given order. A shape without elements may overflow; there are
// no elements whose keys would be wrong.
func keyFactors(factors []uint64, shape []int64, order []int) {
	f := uint64(1)
	for l := len(order) - 1; l >= 0; l-- {
		factors[order[l]] = f
		f *= uint64(shape[order[l]])
	}
}

// rekey turns row-major numbers with the axes in one order into those with the axes in another.
func rekey(keys []uint64, shape []int64, from, to []int) {
	if equalAxes(from, to) {
		return
	}
	var factors [MaxDims]uint64
	keyFactors(factors[:len(shape)], shape, to)
	var dims, steps [MaxDims]uint64
	for l, axis := range from {
		dims[l], steps[l] = uint64(shape[axis]), factors[axis]
	}
	for i, key := range keys {
		sum := uint64(0)
		for l := len(from) - 1; l > 0; l-- {
			q := key / dims[l]
			sum += (key - q*dims[l]) * steps[l]
			key = q
		}
		keys[i] = sum + key*steps[0]
	}
}

func equalAxes(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// settle turns the keys of all stored elements of s into entries.
func settle(s *sparse, keys []uint64, o *ConvertOptions, b *budget) (entries, error) {
	if ascending(keys) {
		return entries{keys: keys, data: s.data, borrowed: true}, nil
	}
	n := int64(len(keys))
	order, err := takeSlice[keyed](b, n)
	if err != nil {
		return entries{}, err
	}
	scratch, err := takeSlice[keyed](b, n)
	if err != nil {
		return entries{}, err
	}
	most := uint64(0)
	for i, key := range keys {
		order[i] = keyed{key, uint64(i)}
		most = max(most, key)
	}
	order = sortKeyed(order, scratch, most)
	repeated := false
	for i := 1; i < len(order); i++ {
		if order[i].key == order[i-1].key {
			if o.Duplicates == DuplicatesRefuse {
				return entries{}, fmt.Errorf("%w: elements %d and %d are at the same place", ErrDuplicate, order[i-1].at, order[i].at)
			}
			repeated = true
			break
		}
	}
	data, err := b.take(n, int(s.dtype.width))
	if err != nil {
		return entries{}, err
	}
	if repeated {
		if order, err = sumGroups(s.dtype, data, s.data, order); err != nil {
			return entries{}, err
		}
		data = data[:len(order)*int(s.dtype.width)]
	} else {
		gatherElements(int64(s.dtype.width), data, s.data, order)
	}
	for i := range order {
		keys[i] = order[i].key
	}
	b.free(2 * int(n) * 16)
	return entries{keys: keys[:len(order)], data: data}, nil
}

func ascending(keys []uint64) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			return false
		}
	}
	return true
}

// compressedEntries returns the entries of a matrix that is kept by lines along axis.
func compressedEntries(c *compressed, axis int, order []int, o *ConvertOptions, b *budget) (entries, error) {
	if err := c.checkStructure(axis); err != nil {
		return entries{}, err
	}
	// Turning the matrix is the faster way to elements in another order, but takes memory for lines
	// that hold nothing.
	turned := order[0] != axis && c.shape[1-axis]/4 <= c.nnz+c.shape[axis]
	if turned {
		t, err := transposeCompressed(c, axis, &ConvertOptions{}, b)
		if err != nil {
			return entries{}, err
		}
		c, axis = t, 1-axis
	}
	keys, err := takeSlice[uint64](b, c.nnz)
	if err != nil {
		return entries{}, err
	}
	minor := uint64(c.shape[1-axis])
	switch c.indices.typ.Size() {
	case 1:
		lineKeys(keys, c.indptr, c.indices.data, minor)
	case 2:
		lineKeys(keys, c.indptr, words[uint16](c.indices.data), minor)
	case 4:
		lineKeys(keys, c.indptr, words[uint32](c.indices.data), minor)
	default:
		lineKeys(keys, c.indptr, words[uint64](c.indices.data), minor)
	}
	rekey(keys, c.shape, []int{axis, 1 - axis}, order)
	e, err := settle(&c.sparse, keys, o, b)
	if turned {
		e.borrowed = false
	}
	return e, err
}

func lineKeys[I indexWord](keys []uint64, indptr Index, indices []I, minor uint64) {
	var buf lineBuffer
	start, base := uint64(0), uint64(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:], first) {
			for k := start; k < stop; k++ {
				keys[k] = base + uint64(indices[k])
			}
			start = stop
			base += minor
		}
	}
}

// keys returns the row-major numbers of the stored elements with the axes in the order of the levels.
func (c *CSF) keys(b *budget) ([]uint64, error) {
	parents, err := takeSlice[uint64](b, c.indices[0].Len())
	if err != nil {
		return nil, err
	}
	c.indices[0].chunk(parents, 0)
	for l := range c.indptr {
		x := c.indices[l+1]
		children, err := takeSlice[uint64](b, x.Len())
		if err != nil {
			return nil, err
		}
		dim := uint64(c.shape[c.order[l+1]])
		switch x.typ.Size() {
		case 1:
			childKeys(children, parents, c.indptr[l], x.data, dim)
		case 2:
			childKeys(children, parents, c.indptr[l], words[uint16](x.data), dim)
		case 4:
			childKeys(children, parents, c.indptr[l], words[uint32](x.data), dim)
		default:
			childKeys(children, parents, c.indptr[l], words[uint64](x.data), dim)
		}
		b.free(8 * len(parents))
		parents = children
	}
	return parents, nil
}

func childKeys[I indexWord](children, parents []uint64, indptr Index, indices []I, dim uint64) {
	var buf lineBuffer
	start := uint64(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for i, stop := range indptr.chunk(buf[:], first) {
			base := parents[first-1+int64(i)] * dim
			for k := start; k < stop; k++ {
				children[k] = base + uint64(indices[k])
			}
			start = stop
		}
	}
}
