package layout

import (
	"fmt"
	"sort"
	"unsafe"
)

// At returns one element of a tensor, by one index per axis. In a sparse tensor it is looked for by
// binary search, which takes for granted that the tensor is valid; in a COO that does not say it
// is canonical all elements are gone through, and if the element is stored several times the
// result is the sum. An element that is not stored is zero. Whatever the index arrays hold, At does not
// panic.
//
// Errors: [ErrDType] if the elements are not of type T, [ErrShape] for a wrong number of indices,
// [ErrBounds], [ErrIndex] if index arrays contradict each other, [ErrValue] for a bool that is
// neither 0 nor 1.
func At[T Element](t Tensor, index ...int64) (T, error) {
	var zero T
	if want := DTypeOf[T](); t.DType().kind != want.kind {
		return zero, fmt.Errorf("%w: the tensor holds %v, not %v", ErrDType, t.DType(), want)
	}
	b, err := locate(t, index)
	if err != nil || b == nil {
		return zero, err
	}
	if t.DType().kind == KindBool && b[0] > 1 {
		return zero, fmt.Errorf("%w: the bool has the byte %d; only 0 and 1 are bools", ErrValue, b[0])
	}
	return *(*T)(unsafe.Pointer(&b[0])), nil
}

// locate returns the bytes of an element, or nil if it is not stored.
func locate(t Tensor, index []int64) ([]byte, error) {
	shape := t.Shape()
	if len(index) != len(shape) {
		return nil, fmt.Errorf("%w: %d indices for %d dimensions", ErrShape, len(index), len(shape))
	}
	for axis, i := range index {
		if i < 0 || i >= shape[axis] {
			return nil, fmt.Errorf("%w: index %d of axis %d, which has %d elements", ErrBounds, i, axis, shape[axis])
		}
	}
	switch t := t.(type) {
	case *Dense:
		off := t.offset
		for axis, i := range index {
			off += i * t.strides[axis]
		}
		return t.data[off : off+int64(t.dtype.width)], nil
	case *COO:
		return t.locate(index)
	case *CSR:
		return t.locate(0, index[0], index[1])
	case *CSC:
		return t.locate(1, index[1], index[0])
	case *CSF:
		return t.locate(index)
	}
	return nil, unknownTensor(t)
}

// find returns where in integers start to stop−1, which are in ascending order, v stands, or −1.
func (x Index) find(start, stop int64, v uint64) int64 {
	k := start + int64(sort.Search(int(stop-start), func(k int) bool { return x.At(start+int64(k)) >= v }))
	if k == stop || x.At(k) != v {
		return -1
	}
	return k
}

func (c *compressed) locate(axis int, line, at int64) ([]byte, error) {
	start, stop, err := c.span(axis, line)
	if err != nil {
		return nil, err
	}
	k := c.indices.find(start, stop, uint64(at))
	if k < 0 {
		return nil, nil
	}
	return c.value(k), nil
}

func (c *COO) locate(index []int64) ([]byte, error) {
	compare := func(k int64) int {
		for axis, i := range index {
			switch v := c.Coordinate(k, axis); {
			case v < uint64(i):
				return -1
			case v > uint64(i):
				return 1
			}
		}
		return 0
	}
	if c.canonical {
		k := int64(sort.Search(int(c.nnz), func(k int) bool { return compare(int64(k)) >= 0 }))
		if k == c.nnz || compare(k) != 0 {
			return nil, nil
		}
		return c.value(k), nil
	}
	var found []keyed // all with one key
	for k := range c.nnz {
		if compare(k) == 0 {
			found = append(found, keyed{at: uint64(k)})
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return c.value(int64(found[0].at)), nil
	}
	sum := make([]byte, c.dtype.width)
	_, err := sumGroups(c.dtype, sum, c.data, found)
	return sum, err
}

func (c *CSF) locate(index []int64) ([]byte, error) {
	start, stop := int64(0), c.indices[0].Len()
	for l, x := range c.indices {
		node := x.find(start, stop, uint64(index[c.order[l]]))
		if node < 0 {
			return nil, nil
		}
		if l == len(c.indptr) {
			return c.value(node), nil
		}
		lo, hi := c.indptr[l].At(node), c.indptr[l].At(node+1)
		if lo > hi || hi > uint64(c.indices[l+1].Len()) {
			return nil, fmt.Errorf("%w: indptr of level %d has %d before %d, with %d nodes below", ErrIndex, l, int64(lo), int64(hi), c.indices[l+1].Len())
		}
		start, stop = int64(lo), int64(hi)
	}
	return nil, nil
}
