package vec

import "fmt"

// Elem is an element type as the kernels see it: a width and a zero test.
type Elem uint8

// The element types. Bits types are nonzero if any bit is set: signed and unsigned integers, bools and
// everything that is only compared with all-zero bytes. Float8 covers e4m3fn and e5m2, Float16 covers
// IEEE half precision and bfloat16, for only the position of the sign bit matters.
const (
	Bits8 Elem = iota + 1
	Bits16
	Bits32
	Bits64
	Bits128
	Float8
	Float16
	Float32
	Float64
	Complex64
	Complex128
)

var elems = [...]struct {
	name string
	size int
	mask uint64 // the bits that make an element nonzero, repeated over 64 bits
}{
	Bits8:      {"bits8", 1, ^uint64(0)},
	Bits16:     {"bits16", 2, ^uint64(0)},
	Bits32:     {"bits32", 4, ^uint64(0)},
	Bits64:     {"bits64", 8, ^uint64(0)},
	Bits128:    {"bits128", 16, ^uint64(0)},
	Float8:     {"float8", 1, 0x7f7f7f7f7f7f7f7f},
	Float16:    {"float16", 2, 0x7fff7fff7fff7fff},
	Float32:    {"float32", 4, 0x7fffffff7fffffff},
	Float64:    {"float64", 8, 0x7fffffffffffffff},
	Complex64:  {"complex64", 8, 0x7fffffff7fffffff},
	Complex128: {"complex128", 16, 0x7fffffffffffffff},
}

// Valid reports whether e is one of the constants above.
func (e Elem) Valid() bool { return e >= Bits8 && e <= Complex128 }

// Size returns the bytes an element takes: 1, 2, 4, 8 or 16.
func (e Elem) Size() int { return elems[e.check()].size }

// String returns the name of the constant in lower case.
func (e Elem) String() string {
	if !e.Valid() {
		return fmt.Sprintf("Elem(%d)", uint8(e))
	}
	return elems[e].name
}

func (e Elem) mask() uint64 { return elems[e].mask }

func (e Elem) check() Elem {
	if !e.Valid() {
		panic("vec: invalid element type " + e.String())
	}
	return e
}

// len returns how many elements b holds.
func (e Elem) len(b []byte) int {
	size := e.Size()
	if len(b)%size != 0 {
		panic(fmt.Sprintf("vec: %d bytes are not a whole number of %d-byte elements", len(b), size))
	}
	return len(b) / size
}
