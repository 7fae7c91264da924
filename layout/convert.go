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

func (c *conversion) toCOO(t Tensor) (COO, error) {
	switch t := t.(type) {
	case *Dense:
		return c.denseToCOO(t)
	case *COO:
		ordered, err := c.look(t, nil)
		if err != nil {
			return COO{}, err
		}
		if ordered || c.opts.Duplicates == DuplicatesDefault {
			return c.copyCOO(t, ordered)
		}
	case *CSR:
		if r, ok, err := c.linesToCOO(&t.compressed, 0); ok || err != nil {
			return r, err
		}
	case *CSC:
		if r, ok, err := c.linesToCOO(&t.compressed, 1); ok || err != nil {
			return r, err
		}
	}
	e, err := c.entriesOf(t, c.natural(len(t.Shape())))
	if err != nil {
		return COO{}, err
	}
	return e.coo(c, t.DType(), t.Shape())
}

// linesToCOO returns the elements of a matrix with lines along axis as a COO. It is not ok if the lines are not in
// order.
func (c *conversion) linesToCOO(t *compressed, axis int) (r COO, ok bool, err error) {
	if err := c.validateLines(t, axis); isOrder(err) {
		return r, false, nil
	} else if err != nil {
		return r, false, err
	}
	fit := uint64(max(t.nnz, 2))
	typ := workType(c.opts.Indices, largestCoordinate(t.shape), fit)
	if axis == 1 {
		if t.shape[0]/4 > t.nnz+t.shape[1] {
			return r, false, nil // too much memory for rows that hold nothing
		}
		if err := c.turn(t, axis); err != nil {
			return r, false, err
		}
		t = &c.turned
	}
	if r.indices, err = c.roomMatrix(c.oldIndices[0], t.nnz, 2, typ); err != nil {
		return r, false, err
	}
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, false, err
	}
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		coordinatesTogether(r, t, workers)
	} else {
		lineCoordinates(r.indices, t.indptr, t.indices, 0, t.indptr.Len()-1)
		copy(r.data, t.data)
	}
	r.canonical = true
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, fit)
	return r, err == nil, err
}

// copyCOO copies a COO element by element.
func (c *conversion) copyCOO(t *COO, ordered bool) (r COO, err error) {
	ndim := int64(len(t.shape))
	fit := uint64(max(t.nnz, ndim))
	typ := workType(c.opts.Indices, largestCoordinate(t.shape), fit)
	if r.indices, err = c.roomMatrix(c.oldIndices[0], t.nnz, ndim, typ); err != nil {
		return r, err
	}
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, err
	}
	copy(r.data, t.data)
	switch t.indices.typ.Size() {
	case 1:
		copyCoordinatesFrom[uint8](t, r.indices)
	case 2:
		copyCoordinatesFrom[uint16](t, r.indices)
	case 4:
		copyCoordinatesFrom[uint32](t, r.indices)
	default:
		copyCoordinatesFrom[uint64](t, r.indices)
	}
	r.canonical = ordered
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, fit)
	return r, err
}

func (c *conversion) toLines(t Tensor, axis int) (compressed, error) {
	shape := t.Shape()
	if len(shape) != 2 {
		return compressed{}, fmt.Errorf("%w: csr and csc keep matrices, not tensors of %d dimensions", ErrLayout, len(shape))
	}
	var from *compressed
	along := 0
	switch t := t.(type) {
	case *Dense:
		return c.denseToLines(t, axis)
	case *CSR:
		from = &t.compressed
	case *CSC:
		from, along = &t.compressed, 1
	case *COO:
		if r, ok, err := c.cooToLines(t, axis); ok || err != nil {
			return r, err
		}
	}
	if from != nil {
		err := c.validateLines(from, along)
		if err != nil && !isOrder(err) {
			return compressed{}, err
		}
		if err == nil && along == axis {
			return c.copyLines(from, axis)
		}
		if err == nil {
			return c.transposeLines(from, along)
		}
	}
	order := c.orders[0][:2]
	order[0], order[1] = axis, 1-axis
	e, err := c.entriesOf(t, order)
	if err != nil {
		return compressed{}, err
	}
	return e.lines(c, t.DType(), shape, axis)
}

// cooToLines returns the elements of a COO in lines along axis. It is not ok if they are not in order.
func (c *conversion) cooToLines(t *COO, axis int) (r compressed, ok bool, err error) {
	if t.shape[0]/4 > t.nnz+t.shape[axis] { // see lineEntries
		return r, false, nil
	}
	left := c.left
	if axis == 0 {
		r, err = c.newLines(t.dtype, t.shape, 0, t.nnz)
	} else {
		r, err = c.newTurned(t.dtype, t.shape, 0, t.nnz)
	}
	if err != nil {
		return r, false, err
	}
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		ok, err = t.linesTogether(r.indptr, r.indices, workers)
	} else {
		ok, err = t.lines(r.indptr, r.indices)
	}
	if !ok || err != nil {
		c.left = left
		return r, false, err
	}
	if axis == 0 {
		copy(r.data, t.data)
		r, err = c.finishLines(r, t.shape[0])
		return r, err == nil, err
	}
	c.turned = r
	c.turned.data = t.data
	r, err = c.transposeLines(&c.turned, 0)
	return r, err == nil, err
}

// copyLines copies a matrix that is in order.
func (c *conversion) copyLines(t *compressed, axis int) (r compressed, err error) {
	if r.data, err = c.room(c.oldData, int64(len(t.data)), 1); err != nil {
		return r, err
	}
	copy(r.data, t.data)
	if r.indptr, err = c.copyIndex(c.oldIndptr[0], t.indptr, c.opts.Indptr, uint64(max(t.nnz, t.shape[axis]+1))); err != nil {
		return r, err
	}
	r.indices, err = c.copyIndex(c.oldIndices[0], t.indices, c.opts.Indices, uint64(t.nnz))
	return r, err
}

// toCSF makes the levels of a CSF in c, and returns the order of its axes and its elements.
func (c *conversion) toCSF(t Tensor) (order []int, data []byte, err error) {
	shape := t.Shape()
	if len(shape) < 2 {
		return nil, nil, fmt.Errorf("%w: csf keeps tensors of 2 or more dimensions, not of %d", ErrLayout, len(shape))
	}
	if order, err = c.axisOrder(shape); err != nil {
		return nil, nil, err
	}
	if d, ok := t.(*Dense); ok {
		data, err = c.denseToCSF(d, order)
		return order, data, err
	}
	e, err := c.entriesOf(t, order)
	if err != nil {
		return nil, nil, err
	}
	data, err = e.csf(c, shape, order)
	return order, data, err
}

// axisOrder returns the axis of each level of a CSF.
func (c *conversion) axisOrder(shape []int64) ([]int, error) {
	if c.opts.AxisOrder != nil {
		return c.opts.AxisOrder, checkAxisOrder(c.opts.AxisOrder, len(shape))
	}
	order := c.orders[1][:len(shape)]
	ascendingDimensions(order, shape)
	return order, nil
}

// ascendingDimensions sets order to the axes by their dimensions, equal ones in their order.
func ascendingDimensions(order []int, shape []int64) {
	for k := range order {
		// Few axes: each is moved to where it belongs among those before it.
		i := k
		for ; i > 0 && shape[order[i-1]] > shape[k]; i-- {
			order[i] = order[i-1]
		}
		order[i] = k
	}
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
