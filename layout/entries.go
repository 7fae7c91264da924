package layout

import (
	"fmt"
)

// entries are the stored elements of a tensor on their way from one sparse layout to another: in
// row-major order of the axes in some order, each element once.
type entries struct {
	keys []uint64 // row-major number of each element, ascending
	data []byte   // the elements
}

// entriesOf returns the elements of t in row-major order of its axes taken in the given order. The
// index arrays of a sparse tensor are checked first; elements that are not in order are sorted, and
// those that are stored several times are summed or refused. Entries lie in the source or in spaces of c.
func (c *conversion) entriesOf(t Tensor, order []int) (entries, error) {
	switch t := t.(type) {
	case *Dense:
		return c.denseEntries(t, order)
	case *COO:
		ordered, err := c.look(t, nil)
		if err != nil {
			return entries{}, err
		}
		block := uint64(0)
		if ordered {
			block = sharedBlock(t.shape, naturalOrder(len(t.shape)), order)
		}
		keys, err := spaceOf[uint64](c, spaceKeys, t.nnz)
		if err != nil {
			return entries{}, err
		}
		var factors [MaxDims]uint64
		keyFactors(factors[:len(t.shape)], t.shape, order)
		t.keys(keys, 0, factors[:len(t.shape)])
		return c.settle(t.dtype, t.data, keys, block)
	case *CSR:
		return c.lineEntries(&t.compressed, 0, order)
	case *CSC:
		return c.lineEntries(&t.compressed, 1, order)
	case *CSF:
		if err := t.checkStructure(); err != nil {
			return entries{}, err
		}
		keys, err := c.treeKeys(t, len(t.indptr))
		if err != nil {
			return entries{}, err
		}
		rekey(keys, t.shape, t.order, order)
		return c.settle(t.dtype, t.data, keys, sharedBlock(t.shape, t.order, order))
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
	spread(keys, shape, from, factors[:len(shape)])
}

// spread turns row-major numbers in an array of some axes, in the given order, into sums of coordinate·factor over
// these axes.
func spread(keys []uint64, shape []int64, axes []int, factors []uint64) {
	if len(axes) == 1 {
		for i := range keys {
			keys[i] *= factors[axes[0]]
		}
		return
	}
	var dims, steps [MaxDims]uint64
	for l, axis := range axes {
		dims[l], steps[l] = uint64(shape[axis]), factors[axis]
	}
	for i, key := range keys {
		sum := uint64(0)
		for l := len(axes) - 1; l > 0; l-- {
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

// sharedBlock returns how many elements share the coordinates of the axes with which both orders begin, or 0 if there
// is no such axis: elements that are in one order are then in order by blocks of so many in the other.
func sharedBlock(shape []int64, from, to []int) uint64 {
	same := 0
	for same < len(from) && from[same] == to[same] {
		same++
	}
	if same == 0 {
		return 0
	}
	block := uint64(1)
	for _, axis := range to[same:] {
		block *= uint64(shape[axis])
	}
	return block
}

// settle turns the elements in data, with these keys, into entries. If block is not 0, they may be in order by blocks of
// so many elements of the tensor.
func (c *conversion) settle(dt DType, data []byte, keys []uint64, block uint64) (entries, error) {
	if ascending(keys) {
		return entries{keys: keys, data: data}, nil
	}
	n := int64(len(keys))
	order, err := spaceOf[keyed](c, spaceOrder, n)
	if err != nil {
		return entries{}, err
	}
	scratch, err := spaceOf[keyed](c, spaceSorted, n)
	if err != nil {
		return entries{}, err
	}
	if block == 0 || !sortBlocks(order, scratch, keys, block) {
		most := uint64(0)
		for i, key := range keys {
			order[i] = keyed{key, uint64(i)}
			most = max(most, key)
		}
		order = sortKeyed(order, scratch, most)
	}
	repeated := false
	for i := 1; i < len(order); i++ {
		if order[i].key == order[i-1].key {
			if c.opts.Duplicates == DuplicatesRefuse {
				return entries{}, fmt.Errorf("%w: elements %d and %d are at the same place", ErrDuplicate, order[i-1].at, order[i].at)
			}
			repeated = true
			break
		}
	}
	sorted, err := c.spaceFor(spaceValues, n, int64(dt.width))
	if err != nil {
		return entries{}, err
	}
	if repeated {
		if order, err = sumGroups(dt, sorted, data, order); err != nil {
			return entries{}, err
		}
		sorted = sorted[:len(order)*int(dt.width)]
	} else {
		gatherElements(int64(dt.width), sorted, data, order)
	}
	for i := range order {
		keys[i] = order[i].key
	}
	c.free(2 * n * 16)
	return entries{keys: keys[:len(order)], data: sorted}, nil
}

func ascending(keys []uint64) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			return false
		}
	}
	return true
}

// lineEntries returns the entries of a matrix that is kept by lines along axis.
func (c *conversion) lineEntries(t *compressed, axis int, order []int) (entries, error) {
	if err := t.checkStructure(axis); err != nil {
		return entries{}, err
	}
	// Turning the matrix is the faster way to elements in another order, but takes memory for lines
	// that hold nothing.
	if order[0] != axis && t.shape[1-axis]/4 <= t.nnz+t.shape[axis] {
		data, err := c.spaceFor(spaceTurned, t.nnz, int64(t.dtype.width))
		if err != nil {
			return entries{}, err
		}
		if err := c.turn(t, axis, data); err != nil {
			return entries{}, err
		}
		t, axis = &c.turned, 1-axis
	}
	keys, err := spaceOf[uint64](c, spaceKeys, t.nnz)
	if err != nil {
		return entries{}, err
	}
	minor := uint64(t.shape[1-axis])
	switch t.indices.typ.Size() {
	case 1:
		lineKeys(keys, t.indptr, t.indices.data, minor)
	case 2:
		lineKeys(keys, t.indptr, words[uint16](t.indices.data), minor)
	case 4:
		lineKeys(keys, t.indptr, words[uint32](t.indices.data), minor)
	default:
		lineKeys(keys, t.indptr, words[uint64](t.indices.data), minor)
	}
	from := [2]int{axis, 1 - axis}
	rekey(keys, t.shape, from[:], order)
	return c.settle(t.dtype, t.data, keys, 0)
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

// treeKeys returns the row-major numbers of the nodes of a level of t with the axes in the order of its levels, down
// to that one.
func (c *conversion) treeKeys(t *CSF, level int) ([]uint64, error) {
	here, above := spaceKeys, spaceParents
	if level%2 == 1 { // the last keys are to lie in spaceKeys
		here, above = above, here
	}
	parents, err := spaceOf[uint64](c, here, t.indices[0].Len())
	if err != nil {
		return nil, err
	}
	t.indices[0].chunk(parents, 0)
	for l := range level {
		x := t.indices[l+1]
		here, above = above, here
		children, err := spaceOf[uint64](c, here, x.Len())
		if err != nil {
			return nil, err
		}
		dim := uint64(t.shape[t.order[l+1]])
		switch x.typ.Size() {
		case 1:
			childKeys(children, parents, t.indptr[l], x.data, dim)
		case 2:
			childKeys(children, parents, t.indptr[l], words[uint16](x.data), dim)
		case 4:
			childKeys(children, parents, t.indptr[l], words[uint32](x.data), dim)
		default:
			childKeys(children, parents, t.indptr[l], words[uint64](x.data), dim)
		}
		c.leave(int64(len(parents)), 8)
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
