package vec

import "unsafe"

// Number is every type whose slices Bytes takes.
type Number interface {
	Integer | ~float32 | ~float64 | ~complex64 | ~complex128 | ~bool
}

// Bytes returns the memory of s as bytes, without a copy.
func Bytes[T Number](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// word128 is a 16-byte element.
type word128 struct{ lo, hi uint64 }

// view returns the whole T's in b without a copy. The address may be misaligned for T, which the
// 64-bit platforms that tstore supports load and store all the same; T holds no pointers.
func view[T any](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil // what lies at the address of no bytes may be the end of an object
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// ptr returns the address of byte i of b. If that is the end of b, where nothing will be read or written,
// it is the address of b: the end may belong to another object, and the garbage collector takes an
// address in a freed one for corruption.
func ptr(b []byte, i int) *byte {
	if i >= len(b) {
		return unsafe.SliceData(b)
	}
	return &b[i]
}

// memory returns the memory of s as bytes, without a copy. T has no pointers.
func memory[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}
