package layout

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"
)

// MaxDims is the largest number of dimensions of a tensor.
const MaxDims = 64

// Layout is a way of keeping the elements of a tensor.
type Layout uint8

// The layouts.
const (
	LayoutDense Layout = iota // every element, at byte strides
	LayoutCOO                 // coordinates and values of the nonzeros
	LayoutCSR                 // matrix, nonzeros row by row
	LayoutCSC                 // matrix, nonzeros column by column
	LayoutCSF                 // nonzeros as a tree with one level per axis
	numLayouts
)

var layoutNames = [numLayouts]string{"dense", "coo", "csr", "csc", "csf"}

// String returns "dense", "coo", "csr", "csc" or "csf".
func (l Layout) String() string {
	if l < numLayouts {
		return layoutNames[l]
	}
	return "layout(" + strconv.Itoa(int(l)) + ")"
}

// ParseLayout returns the layout with the given name, the inverse of [Layout.String].
func ParseLayout(s string) (Layout, error) {
	for l, name := range layoutNames {
		if name == s {
			return Layout(l), nil
		}
	}
	return 0, fmt.Errorf("layout: no layout is called %.100q; there are dense, coo, csr, csc and csf", s)
}

// Tensor is a tensor in one of the layouts. Only the types of this package implement it.
type Tensor interface {
	// DType returns the type of the elements.
	DType() DType
	// Shape returns the dimensions: none for a scalar. The slice belongs to the tensor and must
	// not be modified.
	Shape() []int64
	// DimNames returns nil or one name per axis, any of which may be empty. The slice belongs to
	// the tensor and must not be modified.
	DimNames() []string
	// Layout returns how the elements are kept.
	Layout() Layout
	// NNZ returns the number of stored elements; for a dense tensor, of all elements.
	NNZ() int64

	// storedBytes returns the stored elements, one after the other.
	storedBytes() ([]byte, error)
}

// Element is a Go type that [Values] can give a tensor's elements in. Beside Go's own types,
// [F16], [BF16], [F8E4M3] and [F8E5M2] stand for the types that Go lacks.
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128 | ~bool
}

// DTypeOf returns the element type that T stands for.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case F16:
		return Float16
	case BF16:
		return BFloat16
	case F8E4M3:
		return Float8E4M3FN
	case F8E5M2:
		return Float8E5M2
	case float32:
		return Float32
	case float64:
		return Float64
	}
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int8:
		return Int8
	case reflect.Int16:
		return Int16
	case reflect.Int32:
		return Int32
	case reflect.Int64:
		return Int64
	case reflect.Uint8:
		return Uint8
	case reflect.Uint16:
		return Uint16
	case reflect.Uint32:
		return Uint32
	case reflect.Uint64:
		return Uint64
	case reflect.Float32:
		return Float32
	case reflect.Float64:
		return Float64
	case reflect.Complex64:
		return Complex64
	case reflect.Complex128:
		return Complex128
	case reflect.Bool:
		return Bool
	}
	return DType{}
}

// Values returns the stored elements of a tensor as a slice of Go values, without a copy: for a
// dense tensor all elements in row-major order, for a sparse one those that are stored, in the
// order in which they are stored. The slice shares the tensor's memory; it lives as long as that
// does, and if that is a read-only map, writing to it ends the program.
//
// The error is [ErrDType] if the elements are not of type T, [ErrNotContiguous] if a dense tensor
// is not contiguous in row-major order (see [Dense.Contiguous]), [ErrMisaligned] if the memory
// starts where no Go value of the type may lie, and [ErrValue] if an element of a bool tensor is
// neither 0 nor 1; for the sake of the last one, and only for bool, Values reads the elements.
// Elements of opaque types are reached through [Dense.Reinterpret].
func Values[T Element](t Tensor) ([]T, error) {
	dt := t.DType()
	if want := DTypeOf[T](); dt.kind != want.kind {
		return nil, fmt.Errorf("%w: the tensor holds %v, not %v", ErrDType, dt, want)
	}
	b, err := t.storedBytes()
	if err != nil {
		return nil, err
	}
	return castBytes[T](dt, b)
}

// castBytes returns elements of type dt as Go values.
func castBytes[T Element](dt DType, b []byte) ([]T, error) {
	want := DTypeOf[T]()
	if dt.kind != want.kind {
		return nil, fmt.Errorf("%w: the tensor holds %v, not %v", ErrDType, dt, want)
	}
	if len(b) == 0 {
		return []T{}, nil
	}
	var zero T
	p := unsafe.Pointer(unsafe.SliceData(b))
	if rem := uintptr(p) % unsafe.Alignof(zero); rem != 0 {
		return nil, fmt.Errorf("%w: %v starts %d bytes past a multiple of %d; copy it first", ErrMisaligned, want, rem, unsafe.Alignof(zero))
	}
	if want.kind == KindBool {
		// A Go bool with any other byte in it compares wrongly, so it must never come into being.
		if i := firstNotBool(b); i >= 0 {
			return nil, fmt.Errorf("%w: bool element %d has the byte %d; only 0 and 1 are bools", ErrValue, i, b[i])
		}
	}
	return unsafe.Slice((*T)(p), uintptr(len(b))/unsafe.Sizeof(zero)), nil
}

// firstNotBool returns the index of the first byte above 1, or -1.
func firstNotBool(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if *(*uint64)(unsafe.Pointer(&b[i : i+8][0]))&^0x0101010101010101 != 0 {
			break
		}
	}
	for ; i < len(b); i++ {
		if b[i] > 1 {
			return i
		}
	}
	return -1
}

// BytesOf returns the memory of a slice as bytes, without a copy, as the constructors take it.
func BytesOf[T Element](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v))*unsafe.Sizeof(zero))
}

// checkNames makes sure that there is one name per axis or none at all.
func checkNames(names []string, ndim int) error {
	if names != nil && len(names) != ndim {
		return fmt.Errorf("%w: %d dimension names for %d dimensions", ErrShape, len(names), ndim)
	}
	return nil
}
