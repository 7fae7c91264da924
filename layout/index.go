package layout

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/tstore/tstore/vec"
)

// IndexType is the type of the integers in an index array of a sparse tensor. The zero value,
// IndexAuto, is not a type: where one is asked for it means the narrowest that will do.
type IndexType uint8

// The index types, in the order of the sizes of what they hold.
const (
	IndexAuto IndexType = iota
	IndexInt8
	IndexUint8
	IndexInt16
	IndexUint16
	IndexInt32
	IndexUint32
	IndexInt64
	IndexUint64
	numIndexTypes
)

// The kernels count their index types in the same order.
var _ = [1]int{}[IndexInt8-IndexType(vec.I8)+IndexUint64-IndexType(vec.U64)]

var indexDTypes = [numIndexTypes]DType{{}, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64}

// IndexTypeOf returns the index type whose integers are elements of dt, which must be one of the
// eight integer types; else the error is [ErrDType].
func IndexTypeOf(dt DType) (IndexType, error) {
	for t := IndexInt8; t < numIndexTypes; t++ {
		if indexDTypes[t] == dt {
			return t, nil
		}
	}
	return IndexAuto, fmt.Errorf("%w: indices are integers, not %v", ErrDType, dt)
}

// Valid reports whether t is one of the eight types, which IndexAuto is not.
func (t IndexType) Valid() bool { return t > IndexAuto && t < numIndexTypes }

// DType returns the integer type as an element type.
func (t IndexType) DType() DType {
	if !t.Valid() {
		return DType{}
	}
	return indexDTypes[t]
}

// Size returns the bytes of an index: 1, 2, 4 or 8, or 0 if t is not valid.
func (t IndexType) Size() int {
	if !t.Valid() {
		return 0
	}
	return 1 << ((t - 1) / 2)
}

// Max returns the largest index that the type holds, or 0 if t is not valid.
func (t IndexType) Max() uint64 {
	if !t.Valid() {
		return 0
	}
	return ^uint64(0) >> (64 - 8*t.Size() + int(t&1))
}

// String returns "int8", "uint8", …, or "auto".
func (t IndexType) String() string {
	if t == IndexAuto {
		return "auto"
	}
	if !t.Valid() {
		return fmt.Sprintf("index type(%d)", uint8(t))
	}
	return indexDTypes[t].String()
}

// NarrowestIndexType returns the smallest index type that holds largest: of types of the same
// size the signed one if it will do, and never uint64, since Arrow C++ refuses it. No other type
// holds a value of 2⁶³ or more, for which the result is IndexInt64 and of no use.
func NarrowestIndexType(largest uint64) IndexType {
	for t := IndexInt8; t < IndexInt64; t++ {
		if largest <= t.Max() {
			return t
		}
	}
	return IndexInt64
}

// Index is an array of integers as a sparse tensor keeps it: a view of bytes, little-endian, at
// any alignment. It is a small value and borrows its memory. The zero Index is an array of no type
// without elements.
type Index struct {
	typ  IndexType
	data []byte
}

// IndexInteger is a Go type that the integers of an [Index] can be given as.
type IndexInteger interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int | ~uint
}

// NewIndex returns an array of integers of the given type. It borrows data, whose length must be
// a multiple of the type's size. Errors: [ErrDType], [ErrBounds].
func NewIndex(t IndexType, data []byte) (Index, error) {
	if !t.Valid() {
		return Index{}, fmt.Errorf("%w: an index array needs one of the eight integer types, not %v", ErrDType, t)
	}
	if len(data)%t.Size() != 0 {
		return Index{}, fmt.Errorf("%w: %d bytes are not a whole number of %v indices", ErrBounds, len(data), t)
	}
	return Index{typ: t, data: data}, nil
}

// IndexOf returns the integers of a slice, which it borrows, as an Index.
func IndexOf[I IndexInteger](s []I) Index {
	var zero I
	return Index{typ: indexTypeFor[I](), data: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(zero))}
}

func indexTypeFor[I IndexInteger]() IndexType { return IndexType(vec.IndexOf[I]()) }

// IndexValues returns the integers of an Index as a slice of Go values, without a copy. The error
// is [ErrDType] if they are not of type I (int counts as int64, uint as uint64), [ErrMisaligned]
// if the memory starts where no Go value of the type may lie.
func IndexValues[I IndexInteger](x Index) ([]I, error) {
	if want := indexTypeFor[I](); x.typ != want {
		return nil, fmt.Errorf("%w: the indices are %v, not %v", ErrDType, x.typ, reflect.TypeFor[I]())
	}
	if len(x.data) == 0 {
		return []I{}, nil
	}
	var zero I
	p := unsafe.Pointer(unsafe.SliceData(x.data))
	if rem := uintptr(p) % unsafe.Alignof(zero); rem != 0 {
		return nil, fmt.Errorf("%w: %v indices start %d bytes past a multiple of %d", ErrMisaligned, x.typ, rem, unsafe.Alignof(zero))
	}
	return unsafe.Slice((*I)(p), len(x.data)/x.typ.Size()), nil
}

// Type returns the type of the integers.
func (x Index) Type() IndexType { return x.typ }

// Bytes returns the array's memory.
func (x Index) Bytes() []byte { return x.data[:len(x.data):len(x.data)] }

// Len returns the number of integers.
func (x Index) Len() int64 {
	if !x.typ.Valid() {
		return 0
	}
	return int64(len(x.data)) >> ((x.typ - 1) / 2)
}

// At returns integer i, 0 ≤ i < Len. A negative one, which no valid sparse tensor has, comes with
// its sign extended to 64 bits, above every index that is possible.
func (x Index) At(i int64) uint64 {
	switch x.typ {
	case IndexInt8:
		return uint64(int8(x.data[i]))
	case IndexUint8:
		return uint64(x.data[i])
	case IndexInt16:
		return uint64(int16(words[uint16](x.data)[i]))
	case IndexUint16:
		return uint64(words[uint16](x.data)[i])
	case IndexInt32:
		return uint64(int32(words[uint32](x.data)[i]))
	case IndexUint32:
		return uint64(words[uint32](x.data)[i])
	}
	return words[uint64](x.data)[i]
}

// Slice returns integers start to stop−1, without a copy.
func (x Index) Slice(start, stop int64) Index {
	w := int64(x.typ.Size())
	return Index{typ: x.typ, data: x.data[start*w : stop*w : stop*w]}
}

// kernel returns the type as the kernels know it.
func (t IndexType) kernel() vec.Index { return vec.Index(t) }

// set stores v, cut to the width of the type, in an array that is being made.
func (x Index) set(i int64, v uint64) {
	switch x.typ.Size() {
	case 1:
		x.data[i] = uint8(v)
	case 2:
		words[uint16](x.data)[i] = uint16(v)
	case 4:
		words[uint32](x.data)[i] = uint32(v)
	case 8:
		words[uint64](x.data)[i] = v
	}
}

// max returns the largest integer of the array, or 0 if there is none above that.
func (x Index) max() uint64 {
	if len(x.data) == 0 {
		return 0
	}
	_, hi := vec.MinMax(x.data, x.typ.kernel())
	return hi
}

// equal reports whether two arrays hold the same integers, of whatever types.
func (x Index) equal(y Index) bool {
	if x.Len() != y.Len() {
		return false
	}
	if x.typ == y.typ {
		return string(x.data) == string(y.data)
	}
	for i := range x.Len() {
		if x.At(i) != y.At(i) {
			return false
		}
	}
	return true
}

// indexWord is the unsigned integer that a valid index, which is never negative, can be read as
// whatever the signedness of its type.
type indexWord interface {
	uint8 | uint16 | uint32 | uint64
}

// words returns bytes as machine words, which may lie at any address: they are only loaded and
// stored one by one.
func words[T word](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(zero))
}

// chunk copies integers start, start+1, … to buf, as many as fit and are there, and returns them.
// A negative integer comes with its sign extended.
func (x Index) chunk(buf []uint64, start int64) []uint64 {
	n := min(int64(len(buf)), x.Len()-start)
	w := int64(x.typ.Size())
	src := x.data[start*w : (start+n)*w]
	buf = buf[:n]
	switch x.typ {
	case IndexInt8:
		for i, v := range src {
			buf[i] = uint64(int8(v))
		}
	case IndexUint8:
		widen(buf, src)
	case IndexInt16:
		for i, v := range words[uint16](src) {
			buf[i] = uint64(int16(v))
		}
	case IndexUint16:
		widen(buf, words[uint16](src))
	case IndexInt32:
		for i, v := range words[uint32](src) {
			buf[i] = uint64(int32(v))
		}
	case IndexUint32:
		widen(buf, words[uint32](src))
	default:
		copy(buf, words[uint64](src))
	}
	return buf
}

func widen[I indexWord](dst []uint64, src []I) {
	for i, v := range src {
		dst[i] = uint64(v)
	}
}
