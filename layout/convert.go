package layout

import (
	"errors"
	"fmt"
	"sort"
)

// Duplicates says what a conversion does with elements that are stored several times, as a COO that
// is not canonical may have them.
type Duplicates uint8

const (
	// DuplicatesDefault keeps them from COO to COO and sums them everywhere else.
	DuplicatesDefault Duplicates = iota
	// DuplicatesSum sums them, as SciPy does, in the order in which they are stored and in the
	// arithmetic of the element type: integers wrap around, small floats are rounded after each
	// addition, bools are or'ed. Opaque types can't be summed. (Arrow C++ keeps the last one.)
	DuplicatesSum
	// DuplicatesRefuse makes them an [ErrDuplicate].
	DuplicatesRefuse
)

// ConvertOptions says how a tensor is converted. The zero value, and a nil pointer, ask for the
// defaults.
type ConvertOptions struct {
	// Indptr and Indices are the types of the index arrays; COO has the latter only. IndexAuto
	// means the narrowest, by the rule of [NarrowestIndexTypes]. A type that does not hold what
	// is stored is refused with [ErrIndexType].
	Indptr, Indices IndexType

	// Duplicates says what becomes of elements that are stored several times.
	Duplicates Duplicates

	// AxisOrder is the axis of each level of a CSF. If it is nil, axes come by ascending
	// dimension, those with equal dimensions in their order, as Arrow C++ has it.
	AxisOrder []int

	// MaxBytes limits the memory of the result and everything that is needed on the way to it;
	// what would need more is refused with [ErrTooLarge] before it is allocated. 0 means three
	// quarters of what the machine has, or the process is limited to.
	MaxBytes int64
}

// Convert returns a tensor in another layout, or in the same one with other index types. The result
// has the same element type, shape and dimension names, and memory of its own; t is only read.
//
// From dense to sparse, elements that are zero are left out; −0.0 is zero, NaN is not, and an opaque
// element is zero if all its bytes are. From sparse to sparse, all stored elements are kept,
// zeros too. What comes out is valid, and in order, and a COO says that it is canonical, unless
// duplicates were kept. The index arrays of a sparse source are checked completely; if they are
// merely not in order, they are sorted.
//
// Errors: [ErrIndex] for a source that is not valid, [ErrLayout] for CSR and CSC if it is not a
// matrix and for CSF if it has fewer than two dimensions, [ErrDuplicate], [ErrIndexType],
// [ErrShape] for an axis order that is not a permutation or a dense result of more than 2⁶³−1
// bytes, [ErrTooLarge].
func Convert(t Tensor, to Layout, o *ConvertOptions) (Tensor, error) {
	// Each case keeps a nil of a concrete type from becoming a Tensor.
	switch to {
	case LayoutDense:
		return tensorOrError(ToDense(t, o))
	case LayoutCOO:
		return tensorOrError(ToCOO(t, o))
	case LayoutCSR:
		return tensorOrError(ToCSR(t, o))
	case LayoutCSC:
		return tensorOrError(ToCSC(t, o))
	case LayoutCSF:
		return tensorOrError(ToCSF(t, o))
	}
	return nil, fmt.Errorf("%w: there is no %v", ErrLayout, to)
}

func tensorOrError[T Tensor](t T, err error) (Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// options returns o with nothing left to default, and the memory it allows, once t is known to be set.
func (o *ConvertOptions) options(t Tensor) (*ConvertOptions, *budget, error) {
	if err := checkSet(t.DType()); err != nil {
		return nil, nil, err
	}
	if o == nil {
		o = &ConvertOptions{}
	}
	if o.Indptr >= numIndexTypes || o.Indices >= numIndexTypes || o.Duplicates > DuplicatesRefuse {
		return nil, nil, fmt.Errorf("%w: indptr %v, indices %v, duplicates %d", ErrIndexType, o.Indptr, o.Indices, o.Duplicates)
	}
	return o, newBudget(o.MaxBytes), nil
}

// ToDense returns a tensor as a row-major Dense; see [Convert].
func ToDense(t Tensor, o *ConvertOptions) (*Dense, error) {
	o, b, err := o.options(t)
	if err != nil {
		return nil, err
	}
	return toDense(t, o, b)
}

// ToCOO returns a tensor as a COO with a row-major index matrix; see [Convert].
func ToCOO(t Tensor, o *ConvertOptions) (*COO, error) {
	o, b, err := o.options(t)
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case *Dense:
		return denseToCOO(t, o, b)
	case *COO:
		if at, axis := t.firstOutside(); at >= 0 {
			return nil, t.outside(at, axis)
		}
		if ordered := t.firstDisorder() < 0; ordered || o.Duplicates == DuplicatesDefault {
			return copyCOO(t, ordered, o, b)
		}
	}
	e, err := entriesOf(t, naturalOrder(len(t.Shape())), o, b)
	if err != nil {
		return nil, err
	}
	return e.coo(t.DType(), t.Shape(), t.DimNames(), o, b)
}

// copyCOO copies a COO element by element.
func copyCOO(c *COO, ordered bool, o *ConvertOptions, b *budget) (*COO, error) {
	ndim := int64(len(c.shape))
	indices, err := b.matrix(c.nnz, ndim, o.workType(o.Indices, largestCoordinate(c.shape), uint64(max(c.nnz, ndim))))
	if err != nil {
		return nil, err
	}
	data, err := b.take(int64(len(c.data)), 1)
	if err != nil {
		return nil, err
	}
	copy(data, c.data)
	switch c.indices.typ.Size() {
	case 1:
		copyCoordinatesFrom[uint8](c, indices)
	case 2:
		copyCoordinatesFrom[uint16](c, indices)
	case 4:
		copyCoordinatesFrom[uint32](c, indices)
	default:
		copyCoordinatesFrom[uint64](c, indices)
	}
	return finishCOO(c.dtype, c.shape, indices, data, ordered, c.names, o, b)
}

// ToCSR returns a matrix as a CSR; see [Convert].
func ToCSR(t Tensor, o *ConvertOptions) (*CSR, error) {
	c, err := toLines(t, 0, o)
	if err != nil {
		return nil, err
	}
	return &CSR{*c}, nil
}

// ToCSC returns a matrix as a CSC; see [Convert].
func ToCSC(t Tensor, o *ConvertOptions) (*CSC, error) {
	c, err := toLines(t, 1, o)
	if err != nil {
		return nil, err
	}
	return &CSC{*c}, nil
}

func toLines(t Tensor, axis int, o *ConvertOptions) (*compressed, error) {
	o, b, err := o.options(t)
	if err != nil {
		return nil, err
	}
	if ndim := len(t.Shape()); ndim != 2 {
		return nil, fmt.Errorf("%w: csr and csc keep matrices, not tensors of %d dimensions", ErrLayout, ndim)
	}
	var from *compressed
	along := 0
	switch t := t.(type) {
	case *Dense:
		return denseToLines(t, axis, o, b)
	case *CSR:
		from = &t.compressed
	case *CSC:
		from, along = &t.compressed, 1
	}
	if from != nil {
		err := from.validate(along)
		if err != nil && !isOrder(err) {
			return nil, err
		}
		if err == nil && along == axis {
			return copyCompressed(from, axis, o, b)
		}
		if err == nil {
			return transposeCompressed(from, along, o, b)
		}
	}
	e, err := entriesOf(t, []int{axis, 1 - axis}, o, b)
	if err != nil {
		return nil, err
	}
	return e.lines(t.DType(), t.Shape(), axis, t.DimNames(), o, b)
}

// copyCompressed copies a matrix that is in order.
func copyCompressed(c *compressed, axis int, o *ConvertOptions, b *budget) (*compressed, error) {
	data, err := b.take(int64(len(c.data)), 1)
	if err != nil {
		return nil, err
	}
	copy(data, c.data)
	y := &compressed{sparse: c.sparse}
	y.shape, y.names, y.data = cloneInts(c.shape), cloneNames(c.names), data
	if y.indptr, err = copyIndex(c.indptr, o.Indptr, uint64(max(c.nnz, c.shape[axis]+1)), b); err != nil {
		return nil, err
	}
	y.indices, err = copyIndex(c.indices, o.Indices, max(c.indices.max(), uint64(c.nnz)), b)
	return y, err
}

// ToCSF returns a tensor of two or more dimensions as a CSF; see [Convert].
func ToCSF(t Tensor, o *ConvertOptions) (*CSF, error) {
	o, b, err := o.options(t)
	if err != nil {
		return nil, err
	}
	shape := t.Shape()
	if len(shape) < 2 {
		return nil, fmt.Errorf("%w: csf keeps tensors of 2 or more dimensions, not of %d", ErrLayout, len(shape))
	}
	order := o.AxisOrder
	if order == nil {
		order = ascendingDimensions(shape)
	} else if err := checkAxisOrder(order, len(shape)); err != nil {
		return nil, err
	}
	e, err := entriesOf(t, order, o, b)
	if err != nil {
		return nil, err
	}
	return e.csf(t.DType(), shape, order, t.DimNames(), o, b)
}

// ascendingDimensions returns the axes by their dimensions, equal ones in their order.
func ascendingDimensions(shape []int64) []int {
	order := naturalOrder(len(shape))
	sort.SliceStable(order, func(i, j int) bool { return shape[order[i]] < shape[order[j]] })
	return order
}

// naturalOrder returns 0, 1, …, ndim−1.
func naturalOrder(ndim int) []int {
	order := make([]int, ndim)
	for i := range order {
		order[i] = i
	}
	return order
}

func isOrder(err error) bool { return errors.Is(err, ErrOrder) }

// IndexTypes returns the types of the index arrays of a sparse tensor. A COO has indices only, a
// dense tensor neither: then they are IndexAuto.
func IndexTypes(t Tensor) (indptr, indices IndexType) {
	switch t := t.(type) {
	case *COO:
		return IndexAuto, t.indices.typ
	case *CSR:
		return t.indptr.typ, t.indices.typ
	case *CSC:
		return t.indptr.typ, t.indices.typ
	case *CSF:
		if len(t.indptr) > 0 { // else t is not set
			return t.indptr[0].typ, t.indices[0].typ
		}
	}
	return IndexAuto, IndexAuto
}

// NarrowestIndexTypes returns the narrowest types for the index arrays of a sparse tensor that every
// reader takes. Arrow C++ wants a type to hold every stored value and also the length of its array,
// and refuses uint64. So the type is the smallest other than uint64 whose maximum is at least every
// value that it stores and: for a COO, the number of elements and of dimensions; for the indices
// of CSR and CSC the number of elements, for their indptr its own length; for the indices of a
// CSF the number of nodes of the longest level, for its indptr the length of the longest. It reads all
// indices and allocates nothing. The tensor must be valid.
func NarrowestIndexTypes(t Tensor) (indptr, indices IndexType) {
	switch t := t.(type) {
	case *COO:
		return IndexAuto, NarrowestIndexType(max(t.largestCoordinate(), uint64(t.nnz), uint64(len(t.shape))))
	case *CSR:
		return t.narrowest()
	case *CSC:
		return t.narrowest()
	case *CSF:
		var ptr, idx uint64
		for l, x := range t.indices {
			idx = max(idx, x.max(), uint64(x.Len()))
			if l < len(t.indptr) {
				ptr = max(ptr, t.indptr[l].max(), uint64(t.indptr[l].Len()))
			}
		}
		return NarrowestIndexType(ptr), NarrowestIndexType(idx)
	}
	return IndexAuto, IndexAuto
}

func (c *compressed) narrowest() (indptr, indices IndexType) {
	return NarrowestIndexType(max(c.indptr.max(), uint64(c.indptr.Len()))), NarrowestIndexType(max(c.indices.max(), uint64(c.nnz)))
}
