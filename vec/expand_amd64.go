package vec

import "unsafe"

// canExpand reports whether there are kernels that expand values of this size.
func canExpand(size int) bool {
	v := Active()
	return v >= AVX512VBMI2 && kernelSize(size) && size <= 8 || v == AVX512 && (size == 4 || size == 8)
}

// expandAny writes dst, which is aligned to 64 and has a multiple of that many bytes, past the caches: elements that are all zeros
// but for those of values whose indices, which ascend, are base, base+1 and so on. It returns how many
// values it has used. After the last, streamDone is due.
func expandAny(dst []byte, size int, values []byte, indices []uint32, base uint32, next uintptr, shift uint64) (used int) {
	many := len(indices) > len(dst)/size/7
	for len(dst) > 0 {
		n := min(len(dst), piece)
		left := len(indices) - used
		used += expandPiece(&dst[0], n, size, many, ptr(values, used*size), ptr(memory(indices), used*4), left, base, next+uintptr(used)<<shift, shift)
		dst = dst[n:]
		base += uint32(n / size)
	}
	return used
}

func expandPiece(dst *byte, n, size int, many bool, values, index *byte, count int, base uint32, next uintptr, shift uint64) int {
	indices := (*uint32)(unsafe.Pointer(index))
	switch {
	case size == 1 && many:
		ran("expandMany1VBMI2")
		return expandMany1VBMI2(dst, n, values, indices, count, base, next, shift)
	case size == 1:
		ran("expandFew1VBMI2")
		return expandFew1VBMI2(dst, n, values, indices, count, base, next, shift)
	case size == 2 && many:
		ran("expandMany2VBMI2")
		return expandMany2VBMI2(dst, n, values, indices, count, base, next, shift)
	case size == 2:
		ran("expandFew2VBMI2")
		return expandFew2VBMI2(dst, n, values, indices, count, base, next, shift)
	case size == 4 && many:
		ran("expandMany4AVX512")
		return expandMany4AVX512(dst, n, values, indices, count, base, next, shift)
	case size == 4:
		ran("expandFew4AVX512")
		return expandFew4AVX512(dst, n, values, indices, count, base, next, shift)
	case many:
		ran("expandMany8AVX512")
		return expandMany8AVX512(dst, n, values, indices, count, base, next, shift)
	default:
		ran("expandFew8AVX512")
		return expandFew8AVX512(dst, n, values, indices, count, base, next, shift)
	}
}
