package layout

import (
	"fmt"
	"iter"
	"unsafe"
)

// Nonzeros returns the nonzeros of a tensor with their coordinates: of a dense tensor all elements
// that are not zero, in row-major order; of a sparse tensor all that are stored, zeros too, in the
// order in which they are stored. The coordinates, one per axis, are in a slice that is overwritten by
// the next element. The index arrays are checked first, but for their order.
//
// Errors: [ErrDType] if the elements are not of type T, [ErrIndex].
func Nonzeros[T Element](t Tensor) (iter.Seq2[[]int64, T], error) {
	if want := DTypeOf[T](); t.DType().kind != want.kind {
		return nil, fmt.Errorf("%w: the tensor holds %v, not %v", ErrDType, t.DType(), want)
	}
	all, err := NonzeroBytes(t)
	if err != nil {
		return nil, err
	}
	isBool := t.DType().kind == KindBool
	one := byte(1)
	return func(yield func([]int64, T) bool) {
		for index, b := range all {
			p := &b[0]
			if isBool && *p > 1 { // a Go bool must be 0 or 1
				p = &one
			}
			if !yield(index, *(*T)(unsafe.Pointer(p))) {
				return
			}
		}
	}, nil
}

// NonzeroBytes is [Nonzeros] for elements of any type, as bytes. They belong to the tensor, or are
// valid until the next element.
func NonzeroBytes(t Tensor) (iter.Seq2[[]int64, []byte], error) {
	if err := checkSet(t.DType()); err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case *Dense:
		return t.nonzeros, nil
	case *COO:
		if at, axis := t.firstOutside(); at >= 0 {
			return nil, t.outside(at, axis)
		}
		return t.stored, nil
	case *CSR:
		if err := t.checkStructure(0); err != nil {
			return nil, err
		}
		return t.stored(0), nil
	case *CSC:
		if err := t.checkStructure(1); err != nil {
			return nil, err
		}
		return t.stored(1), nil
	case *CSF:
		if err := t.checkStructure(); err != nil {
			return nil, err
		}
		return t.stored, nil
	}
	return nil, unknownTensor(t)
}

func (d *Dense) nonzeros(yield func([]int64, []byte) bool) {
	if d.len == 0 || d.repeatsZeros() {
		return
	}
	index := make([]int64, len(d.shape))
	width := int64(d.dtype.width)
	most := min(d.dtype.pieceElements(), d.len)
	positions := Index{IndexUint32, make([]byte, 4*most)}
	values := make([]byte, most*width)
	var w walk
	w.begin(d, 0, d.len, most, make([]byte, bufferBytes(d)))
	for src, first := w.piece(); src != nil; src, first = w.piece() {
		_, n := compact(d.dtype, values, positions, src, 0)
		for i, p := range words[uint32](positions.data)[:n] {
			at := first + int64(p)
			for axis := len(index) - 1; axis >= 0; axis-- {
				q := at / d.shape[axis]
				index[axis] = at - q*d.shape[axis]
				at = q
			}
			if !yield(index, values[int64(i)*width:int64(i+1)*width:int64(i+1)*width]) {
				return
			}
		}
	}
}

func (c *COO) stored(yield func([]int64, []byte) bool) {
	index := make([]int64, len(c.shape))
	for k := range c.nnz {
		for axis := range index {
			index[axis] = int64(c.Coordinate(k, axis))
		}
		if !yield(index, c.value(k)) {
			return
		}
	}
}

func (c *compressed) stored(axis int) iter.Seq2[[]int64, []byte] {
	return func(yield func([]int64, []byte) bool) {
		index := make([]int64, 2)
		var buf lineBuffer
		k := int64(0)
		for first := int64(1); first < c.indptr.Len(); first += int64(len(buf)) {
			for i, stop := range c.indptr.chunk(buf[:], first) {
				for ; k < int64(stop); k++ {
					index[axis], index[1-axis] = first-1+int64(i), int64(c.indices.At(k))
					if !yield(index, c.value(k)) {
						return
					}
				}
			}
		}
	}
}

func (c *CSF) stored(yield func([]int64, []byte) bool) {
	index := make([]int64, len(c.shape))
	last := len(c.indptr)
	var node [MaxDims]int64 // the current node of each level
	for l := range last {
		if c.nnz > 0 {
			index[c.order[l]] = int64(c.indices[l].At(0))
		}
	}
	for k := range c.nnz {
		node[last] = k
		index[c.order[last]] = int64(c.indices[last].At(k))
		for l := last - 1; l >= 0; l-- {
			moved := false
			for c.indptr[l].At(node[l]+1) <= uint64(node[l+1]) {
				node[l]++
				moved = true
			}
			if !moved {
				break
			}
			index[c.order[l]] = int64(c.indices[l].At(node[l]))
		}
		if !yield(index, c.value(k)) {
			return
		}
	}
}
