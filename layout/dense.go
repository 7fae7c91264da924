package layout

import (
	"fmt"
	"math/bits"
)

// Dense is a tensor with all its elements in memory: element [i, j, …] lies at
// offset + i·strides[0] + j·strides[1] + … bytes in its data. Strides may be negative or zero, so
// reversed and broadcast views are possible. A Dense never changes its shape, and its methods
// never write to its data; it may be used by many goroutines at once. The zero value is a tensor
// of no type; fill it with [Dense.Init].
//
// A Dense borrows the memory that it was made of, and so do all views of it.
type Dense struct {
	dtype   DType
	shape   []int64
	strides []int64
	offset  int64 // byte offset of element [0, …, 0] in data
	len     int64 // number of elements
	names   []string
	data    []byte
	order   order
	owned   bool // all slices, to their capacity, came out of a conversion into this very tensor
}

// order says in which ways the elements lie without gaps.
type order uint8

const (
	rowMajor order = 1 << iota
	columnMajor
)

// inlineDims is the number of dimensions up to which a Dense and its shape are one allocation.
const inlineDims = 8

// allocDense returns an empty Dense and slices for its shape and strides, in one allocation if
// there are few dimensions.
func allocDense(ndim int) (d *Dense, shape, strides []int64) {
	if ndim <= inlineDims {
		var block struct {
			dense Dense
			dims  [2 * inlineDims]int64
		}
		b := &block
		return &b.dense, b.dims[:ndim:ndim], b.dims[inlineDims : inlineDims+ndim : inlineDims+ndim]
	}
	dims := make([]int64, 2*ndim)
	return new(Dense), dims[:ndim:ndim], dims[ndim:]
}

// NewDense returns a tensor whose elements are data in row-major order. The tensor borrows data,
// which must have exactly the bytes that the shape asks for; the shape is copied. No dimensions
// make a scalar. Errors: [ErrDType], [ErrShape], [ErrBounds].
func NewDense(dt DType, shape []int64, data []byte) (*Dense, error) {
	return newContiguous(dt, shape, data, RowMajorStrides)
}

// NewColumnMajor is [NewDense] for data in column-major (Fortran) order.
func NewColumnMajor(dt DType, shape []int64, data []byte) (*Dense, error) {
	return newContiguous(dt, shape, data, ColumnMajorStrides)
}

func newContiguous(dt DType, shape []int64, data []byte, fillStrides func(strides, shape []int64, size int64)) (*Dense, error) {
	n, err := checkShape(dt, shape)
	if err != nil {
		return nil, err
	}
	if want := n * int64(dt.width); want != int64(len(data)) {
		return nil, fmt.Errorf("%w: %v of shape %v has %d bytes, the data %d", ErrBounds, dt, cloneInts(shape), want, len(data))
	}
	d, ownShape, ownStrides := allocDense(len(shape))
	copy(ownShape, shape)
	fillStrides(ownStrides, ownShape, int64(dt.width))
	if err := d.Init(dt, ownShape, ownStrides, 0, data, nil); err != nil {
		return nil, err
	}
	return d, nil
}

// NewStrided returns a tensor whose element [i, j, …] lies at byte
// offset + i·strides[0] + j·strides[1] + … of data. Any strides will do as long as every element
// lies inside data, which is checked; a tensor without elements may have any strides at all.
// The tensor borrows data; shape and strides are copied. Errors: [ErrDType], [ErrShape],
// [ErrBounds].
func NewStrided(dt DType, shape, strides []int64, offset int64, data []byte) (*Dense, error) {
	if len(shape) > MaxDims || len(strides) != len(shape) {
		return nil, fmt.Errorf("%w: %d dimensions and %d strides; there must be as many, and at most %d", ErrShape, len(shape), len(strides), MaxDims)
	}
	d, ownShape, ownStrides := allocDense(len(shape))
	copy(ownShape, shape)
	copy(ownStrides, strides)
	if err := d.Init(dt, ownShape, ownStrides, offset, data, nil); err != nil {
		return nil, err
	}
	return d, nil
}

// FromSlice returns a tensor of the values in row-major order. It borrows them. Errors:
// [ErrShape], [ErrBounds].
func FromSlice[T Element](values []T, shape ...int64) (*Dense, error) {
	return NewDense(DTypeOf[T](), shape, BytesOf(values))
}

// DenseOf is [FromSlice] for shapes that are known to fit, as in tests and examples. It panics
// where FromSlice returns an error.
func DenseOf[T Element](values []T, shape ...int64) *Dense {
	d, err := FromSlice(values, shape...)
	if err != nil {
		panic(err)
	}
	return d
}

// Init makes d the tensor that [NewStrided] describes, with names as its dimension names, which
// may be nil. It allocates nothing: d keeps the slices shape, strides, data and names, and the
// caller must not change them any more. It exists so that a decoder can have a Dense and its shape
// in one struct of its own. If it returns an error, d is unchanged.
func (d *Dense) Init(dt DType, shape, strides []int64, offset int64, data []byte, names []string) error {
	n, err := checkShape(dt, shape)
	if err != nil {
		return err
	}
	if len(strides) != len(shape) {
		return fmt.Errorf("%w: %d strides for %d dimensions", ErrShape, len(strides), len(shape))
	}
	if err := checkNames(names, len(shape)); err != nil {
		return err
	}
	if offset < 0 || offset > int64(len(data)) {
		return fmt.Errorf("%w: offset %d in data of %d bytes", ErrBounds, offset, len(data))
	}
	if n > 0 && !spanFits(shape, strides, offset, int64(dt.width), int64(len(data))) {
		return fmt.Errorf("%w: %v of shape %v with strides %v at offset %d leaves its data of %d bytes",
			ErrBounds, dt, cloneInts(shape), cloneInts(strides), offset, len(data))
	}
	d.set(dt, shape, strides, offset, n, data, names)
	return nil
}

// set fills d with what is known to be valid.
func (d *Dense) set(dt DType, shape, strides []int64, offset, n int64, data []byte, names []string) {
	*d = Dense{dtype: dt, shape: shape, strides: strides, offset: offset, len: n, names: names, data: data}
	d.order = orderOf(shape, strides, int64(dt.width), n)
}

// spanFits reports whether every element of a tensor that has some lies inside size bytes of data.
func spanFits(shape, strides []int64, offset, width, size int64) bool {
	if offset < 0 || offset > size || width > size-offset {
		return false
	}
	// What is left of data below the lowest and above the highest element so far.
	below, above := uint64(offset), uint64(size-offset-width)
	for i, n := range shape {
		stride := uint64(strides[i])
		room := &above
		if strides[i] < 0 {
			stride, room = -stride, &below
		}
		hi, reach := bits.Mul64(uint64(n-1), stride)
		if hi != 0 || reach > *room {
			return false
		}
		*room -= reach
	}
	return true
}

func orderOf(shape, strides []int64, width, n int64) order {
	if n == 0 {
		return rowMajor | columnMajor
	}
	o := rowMajor | columnMajor
	want := width
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && strides[i] != want {
			o &^= rowMajor
			break
		}
		want *= shape[i]
	}
	want = width
	for i := range shape {
		if shape[i] != 1 && strides[i] != want {
			o &^= columnMajor
			break
		}
		want *= shape[i]
	}
	return o
}

// DType returns the type of the elements.
func (d *Dense) DType() DType { return d.dtype }

// Shape returns the dimensions. The slice belongs to d and must not be modified.
func (d *Dense) Shape() []int64 { return d.shape }

// Strides returns the distance in bytes between neighbours along each axis. The slice belongs to
// d and must not be modified.
func (d *Dense) Strides() []int64 { return d.strides }

// Offset returns where in [Dense.Data] element [0, …, 0] lies, in bytes.
func (d *Dense) Offset() int64 { return d.offset }

// DimNames returns nil or one name per axis. The slice belongs to d and must not be modified.
func (d *Dense) DimNames() []string { return d.names }

// Layout returns LayoutDense.
func (d *Dense) Layout() Layout { return LayoutDense }

// NNZ returns the number of elements, zero or not, as all of them are stored.
func (d *Dense) NNZ() int64 { return d.len }

// NDim returns the number of dimensions.
func (d *Dense) NDim() int { return len(d.shape) }

// Len returns the number of elements: 1 for a scalar, 0 if a dimension is 0.
func (d *Dense) Len() int64 { return d.len }

// NumBytes returns Len times the size of an element. A broadcast view can have more of them than
// there is data.
func (d *Dense) NumBytes() int64 { return d.len * int64(d.dtype.width) }

// IsContiguous reports whether the elements lie in row-major order without gaps.
func (d *Dense) IsContiguous() bool { return d.order&rowMajor != 0 }

// IsColumnMajor reports whether the elements lie in column-major order without gaps. Tensors of at
// most one dimension that is not 1 can be both contiguous and column-major.
func (d *Dense) IsColumnMajor() bool { return d.order&columnMajor != 0 }

// Data returns all the memory that d was made of, elements or not.
func (d *Dense) Data() []byte { return d.data[:len(d.data):len(d.data)] }

// Bytes returns the elements in row-major order, without a copy, or [ErrNotContiguous].
func (d *Dense) Bytes() ([]byte, error) {
	if d.order&rowMajor == 0 {
		return nil, fmt.Errorf("%w: %v of shape %v has strides %v; copy it with Contiguous", ErrNotContiguous, d.dtype, cloneInts(d.shape), cloneInts(d.strides))
	}
	end := d.offset + d.NumBytes()
	return d.data[d.offset:end:end], nil
}

func (d *Dense) storedBytes() ([]byte, error) { return d.Bytes() }

// WithDimNames returns a view of d with these names, one per axis; with none, a view without
// names.
func (d *Dense) WithDimNames(names ...string) (*Dense, error) {
	if len(names) == 0 {
		names = nil
	} else {
		names = append([]string(nil), names...)
	}
	if err := checkNames(names, len(d.shape)); err != nil {
		return nil, err
	}
	v := *d
	v.owned = false
	v.names = names
	return &v, nil
}

// Reinterpret returns a view of the same bytes as elements of another type of the same size, as
// of a timestamp as int64. The error is [ErrDType] if the sizes differ.
func (d *Dense) Reinterpret(dt DType) (*Dense, error) {
	if !dt.Valid() || dt.width != d.dtype.width {
		return nil, fmt.Errorf("%w: elements of %v have %d bytes, those of %v %d", ErrDType, d.dtype, d.dtype.width, dt, dt.width)
	}
	v := *d
	v.owned = false
	v.dtype = dt
	return &v, nil
}

// Slice returns a view of the elements start, start+step, … of an axis, as far as they come before
// stop. With a negative step they run downwards and stop may be −1, to take in element 0.
// Errors: [ErrShape] for an axis that is not there or a step of 0, [ErrBounds].
func (d *Dense) Slice(axis int, start, stop, step int64) (*Dense, error) {
	if err := d.checkAxis(axis); err != nil {
		return nil, err
	}
	dim := d.shape[axis]
	var count int64
	switch {
	case step == 0:
		return nil, fmt.Errorf("%w: a slice needs a step other than 0", ErrShape)
	case step > 0 && 0 <= start && start <= stop && stop <= dim:
		if stop > start {
			count = (stop-start-1)/step + 1
		}
	case step < 0 && -1 <= stop && stop <= start && start < dim:
		if start > stop {
			count = int64(uint64(start-stop-1)/-uint64(step)) + 1
		}
	default:
		return nil, fmt.Errorf("%w: slice %d:%d:%d of axis %d, which has %d elements", ErrBounds, start, stop, step, axis, dim)
	}
	v, shape, strides := allocDense(len(d.shape))
	copy(shape, d.shape)
	copy(strides, d.strides)
	shape[axis] = count
	if count > 1 {
		strides[axis] *= step
	}
	v.view(d, shape, strides, start*d.strides[axis], d.names)
	return v, nil
}

// Index returns a view of element i of an axis, without that axis. Errors: [ErrShape],
// [ErrBounds].
func (d *Dense) Index(axis int, i int64) (*Dense, error) {
	if err := d.checkAxis(axis); err != nil {
		return nil, err
	}
	if i < 0 || i >= d.shape[axis] {
		return nil, fmt.Errorf("%w: index %d of axis %d, which has %d elements", ErrBounds, i, axis, d.shape[axis])
	}
	v, shape, strides := allocDense(len(d.shape) - 1)
	copy(shape, d.shape[:axis])
	copy(shape[axis:], d.shape[axis+1:])
	copy(strides, d.strides[:axis])
	copy(strides[axis:], d.strides[axis+1:])
	names := d.names
	if names != nil {
		names = append(append(make([]string, 0, len(names)-1), names[:axis]...), names[axis+1:]...)
	}
	v.view(d, shape, strides, i*d.strides[axis], names)
	return v, nil
}

// Transpose returns a view whose axis k is axis perm[k] of d; without perm the axes are reversed.
// The error is [ErrShape] if perm is not a permutation of the axes.
func (d *Dense) Transpose(perm ...int) (*Dense, error) {
	ndim := len(d.shape)
	if len(perm) != 0 && len(perm) != ndim {
		return nil, fmt.Errorf("%w: permutation of %d axes for %d dimensions", ErrShape, len(perm), ndim)
	}
	v, shape, strides := allocDense(ndim)
	var names []string
	if d.names != nil {
		names = make([]string, ndim)
	}
	var seen uint64
	for k := range ndim {
		axis := ndim - 1 - k
		if len(perm) != 0 {
			axis = perm[k]
		}
		if axis < 0 || axis >= ndim || seen>>axis&1 != 0 {
			return nil, fmt.Errorf("%w: %v is not a permutation of %d axes", ErrShape, append([]int(nil), perm...), ndim)
		}
		seen |= 1 << axis
		shape[k], strides[k] = d.shape[axis], d.strides[axis]
		if names != nil {
			names[k] = d.names[axis]
		}
	}
	v.view(d, shape, strides, 0, names)
	return v, nil
}

// Reshape returns a view of a contiguous tensor with other dimensions for as many elements, and
// without dimension names. Errors: [ErrNotContiguous], [ErrShape].
func (d *Dense) Reshape(shape ...int64) (*Dense, error) {
	b, err := d.Bytes()
	if err != nil {
		return nil, err
	}
	n, err := checkShape(d.dtype, shape)
	if err != nil {
		return nil, err
	}
	if n != d.len {
		return nil, fmt.Errorf("%w: shape %v has %d elements, the tensor %d", ErrShape, cloneInts(shape), n, d.len)
	}
	return NewDense(d.dtype, shape, b)
}

func (d *Dense) checkAxis(axis int) error {
	if axis < 0 || axis >= len(d.shape) {
		return fmt.Errorf("%w: axis %d of a tensor with %d dimensions", ErrShape, axis, len(d.shape))
	}
	return nil
}

// view makes v a view of d whose first element lies shift bytes after that of d. Shape and strides
// must lead to elements of d only.
func (v *Dense) view(d *Dense, shape, strides []int64, shift int64, names []string) {
	n, _ := CheckedProduct(shape, 1)
	offset := d.offset
	if n > 0 { // else the first element need not be inside the data
		offset += shift
	}
	v.set(d.dtype, shape, strides, offset, n, d.data, names)
}

// Contiguous returns d itself if it is contiguous, and otherwise what [Dense.Clone] returns.
func (d *Dense) Contiguous() *Dense {
	if d.order&rowMajor != 0 {
		return d
	}
	return d.Clone()
}

// Clone returns a row-major copy of d, in memory of its own, with the same dimension names. It
// allocates [Dense.NumBytes], which for a broadcast view may be more than d has data.
func (d *Dense) Clone() *Dense {
	data := make([]byte, d.NumBytes())
	d.CopyRange(data, 0)
	v, shape, strides := allocDense(len(d.shape))
	copy(shape, d.shape)
	RowMajorStrides(strides, shape, int64(d.dtype.width))
	v.set(d.dtype, shape, strides, 0, d.len, data, append([]string(nil), d.names...))
	return v
}

// at returns the byte offset of the element with row-major number i.
func (d *Dense) at(i int64) int64 {
	off := d.offset
	for axis := len(d.shape) - 1; axis >= 0; axis-- {
		n := d.shape[axis]
		off += i % n * d.strides[axis]
		i /= n
	}
	return off
}
