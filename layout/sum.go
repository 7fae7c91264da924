package layout

import (
	"fmt"
	"unsafe"
)

// sumGroups writes one element for each group of equal keys in order to dst: the sum of the
// group's elements in src, added one after the other in the arithmetic of the type. order must have
// been sorted; it is reduced to the first of each group, and what is left of it is returned.
// Integers wrap around, float16, bfloat16 and float8 are rounded after each addition, and bools are
// or'ed. An element that is alone keeps its bits. Opaque types can't be summed: [ErrDuplicate].
func sumGroups(dt DType, dst, src []byte, order []keyed) ([]keyed, error) {
	switch dt.kind {
	case KindInt8, KindUint8:
		return sumWords(dst, src, order, func(a, b uint8) uint8 { return a + b }), nil
	case KindInt16, KindUint16:
		return sumWords(words[uint16](dst), words[uint16](src), order, func(a, b uint16) uint16 { return a + b }), nil
	case KindInt32, KindUint32:
		return sumWords(words[uint32](dst), words[uint32](src), order, func(a, b uint32) uint32 { return a + b }), nil
	case KindInt64, KindUint64:
		return sumWords(words[uint64](dst), words[uint64](src), order, func(a, b uint64) uint64 { return a + b }), nil
	case KindBool:
		return sumWords(dst, src, order, func(a, b uint8) uint8 { return a | b }), nil
	case KindFloat16:
		return sumWords(castWords[F16](dst), castWords[F16](src), order, func(a, b F16) F16 { return F16FromFloat32(a.Float32() + b.Float32()) }), nil
	case KindBFloat16:
		return sumWords(castWords[BF16](dst), castWords[BF16](src), order, func(a, b BF16) BF16 { return BF16FromFloat32(a.Float32() + b.Float32()) }), nil
	case KindFloat8E4M3FN:
		return sumWords(castWords[F8E4M3](dst), castWords[F8E4M3](src), order, func(a, b F8E4M3) F8E4M3 { return F8E4M3FromFloat32(a.Float32() + b.Float32()) }), nil
	case KindFloat8E5M2:
		return sumWords(castWords[F8E5M2](dst), castWords[F8E5M2](src), order, func(a, b F8E5M2) F8E5M2 { return F8E5M2FromFloat32(a.Float32() + b.Float32()) }), nil
	case KindFloat32:
		return sumWords(castWords[float32](dst), castWords[float32](src), order, func(a, b float32) float32 { return a + b }), nil
	case KindFloat64:
		return sumWords(castWords[float64](dst), castWords[float64](src), order, func(a, b float64) float64 { return a + b }), nil
	case KindComplex64:
		return sumWords(castWords[complex64](dst), castWords[complex64](src), order, func(a, b complex64) complex64 { return a + b }), nil
	case KindComplex128:
		return sumWords(castWords[complex128](dst), castWords[complex128](src), order, func(a, b complex128) complex128 { return a + b }), nil
	}
	return nil, fmt.Errorf("%w: elements of %v can't be summed", ErrDuplicate, dt)
}

func sumWords[T any](dst, src []T, order []keyed, add func(a, b T) T) []keyed {
	n := 0
	for i := 0; i < len(order); n++ {
		first := order[i]
		sum := src[first.at]
		for i++; i < len(order) && order[i].key == first.key; i++ {
			sum = add(sum, src[order[i].at])
		}
		dst[n] = sum
		order[n] = first
	}
	return order[:n]
}

// castWords returns bytes as elements that are only loaded and stored one by one, at any address.
func castWords[T Element](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(zero))
}
