package layout

import (
	"errors"
	"fmt"
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

	// Goroutines is how many goroutines a conversion may use. 0 means as many as GOMAXPROCS, for tensors
	// that are large enough; 1 keeps it to that of the caller. The result is the same in any case.
	Goroutines int
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

// ToDense returns a tensor as a row-major Dense; see [Convert].
func ToDense(t Tensor, o *ConvertOptions) (*Dense, error) {
	d, shape, strides := allocDense(len(t.Shape()))
	d.shape, d.strides, d.owned = shape, strides, true
	if err := ToDenseInto(d, t, o); err != nil {
		return nil, err
	}
	return d, nil
}

// ToCOO returns a tensor as a COO with a row-major index matrix; see [Convert].
func ToCOO(t Tensor, o *ConvertOptions) (*COO, error) {
	c := new(COO)
	if err := ToCOOInto(c, t, o); err != nil {
		return nil, err
	}
	return c, nil
}

// ToCSR returns a matrix as a CSR; see [Convert].
func ToCSR(t Tensor, o *ConvertOptions) (*CSR, error) {
	c := new(CSR)
	if err := ToCSRInto(c, t, o); err != nil {
		return nil, err
	}
	return c, nil
}

// ToCSC returns a matrix as a CSC; see [Convert].
func ToCSC(t Tensor, o *ConvertOptions) (*CSC, error) {
	c := new(CSC)
	if err := ToCSCInto(c, t, o); err != nil {
		return nil, err
	}
	return c, nil
}

// ToCSF returns a tensor of two or more dimensions as a CSF; see [Convert].
func ToCSF(t Tensor, o *ConvertOptions) (*CSF, error) {
	c := new(CSF)
	if err := ToCSFInto(c, t, o); err != nil {
		return nil, err
	}
	return c, nil
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
