package vec

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"
)

// Index is the type of the integers in an index array.
type Index uint8

// The index types: I for signed, U for unsigned, and the width in bits.
const (
	I8 Index = iota + 1
	U8
	I16
	U16
	I32
	U32
	I64
	U64
)

var indexTypes = [...]struct {
	name string
	size int
	max  uint64
}{
	I8:  {"int8", 1, math.MaxInt8},
	U8:  {"uint8", 1, math.MaxUint8},
	I16: {"int16", 2, math.MaxInt16},
	U16: {"uint16", 2, math.MaxUint16},
	I32: {"int32", 4, math.MaxInt32},
	U32: {"uint32", 4, math.MaxUint32},
	I64: {"int64", 8, math.MaxInt64},
	U64: {"uint64", 8, math.MaxUint64},
}

// Valid reports whether t is one of the constants above.
func (t Index) Valid() bool { return t >= I8 && t <= U64 }

// Size returns the bytes an index takes: 1, 2, 4 or 8.
func (t Index) Size() int { return indexTypes[t.check()].size }

// Max returns the largest value of the type.
func (t Index) Max() uint64 { return indexTypes[t.check()].max }

// Signed reports whether the type has negative values.
func (t Index) Signed() bool { return t.check()&1 == 1 }

// String returns the name of the Go type of the same integers.
func (t Index) String() string {
	if !t.Valid() {
		return fmt.Sprintf("Index(%d)", uint8(t))
	}
	return indexTypes[t].name
}

func (t Index) check() Index {
	if !t.Valid() {
		panic("vec: invalid index type " + t.String())
	}
	return t
}

// len returns how many indices b holds.
func (t Index) len(b []byte) int {
	size := t.Size()
	if len(b)%size != 0 {
		panic(fmt.Sprintf("vec: %d bytes are not a whole number of %v indices", len(b), t))
	}
	return len(b) / size
}

// Integer is what an index array may hold.
type Integer interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint
}

// IndexOf returns the Index of a Go integer type.
func IndexOf[T Integer]() Index {
	var zero T
	t := U8
	if ^zero < zero {
		t = I8
	}
	for size := unsafe.Sizeof(zero); size > 1; size /= 2 {
		t += 2
	}
	return t
}

// IndexError says that an index lies outside its range.
type IndexError struct {
	At    int    // position in the index array
	Value uint64 // the index; a negative one has its sign extended
	Type  Index
	N     uint64 // indices must be at least 0 and less than N
}

// Error describes the index and its range.
func (e *IndexError) Error() string {
	v := strconv.FormatUint(e.Value, 10)
	if e.Type.Valid() && e.Type.Signed() {
		v = strconv.FormatInt(int64(e.Value), 10)
	}
	return fmt.Sprintf("index %s at position %d is outside [0, %d)", v, e.At, e.N)
}

// At returns element i of the index array b of type t, sign extended to 64 bits.
func (t Index) At(b []byte, i int) uint64 {
	switch t.check() {
	case I8:
		return uint64(int64(view[int8](b)[i]))
	case U8:
		return uint64(b[i])
	case I16:
		return uint64(int64(view[int16](b)[i]))
	case U16:
		return uint64(view[uint16](b)[i])
	case I32:
		return uint64(int64(view[int32](b)[i]))
	case U32:
		return uint64(view[uint32](b)[i])
	default:
		return view[uint64](b)[i]
	}
}

// unsignedIndex returns the unsigned index type of so many bytes.
func unsignedIndex(size int) Index {
	switch size {
	case 1:
		return U8
	case 2:
		return U16
	case 4:
		return U32
	}
	return U64
}
