package vec

import (
	"fmt"
	"math/bits"
)

// CountNonZero returns the number of nonzero elements of src.
func CountNonZero(src []byte, e Elem) int {
	e.len(src)
	return count(src, e)
}

// CountNonZeroStrided returns the number of nonzero elements among the n whose first bytes are at
// src[0], src[stride], src[2·stride] and so on. The stride is in bytes and may be 0 or any positive
// number. It panics if an element lies outside src.
func CountNonZeroStrided(src []byte, e Elem, n, stride int) int {
	size := e.Size()
	if n <= 0 {
		return 0
	}
	if hi, span := bits.Mul64(uint64(n-1), uint64(stride)); stride < 0 || hi != 0 || len(src) < size || span > uint64(len(src)-size) {
		panic(fmt.Sprintf("vec: %d %d-byte elements with stride %d do not lie in %d bytes", n, size, stride, len(src)))
	}
	switch {
	case stride == size:
		return count(src[:n*size], e)
	case stride > size && (stride == 2 || stride == 4 || stride == 8):
		// A mask that leaves out what lies between the elements makes the whole run contiguous.
		mask := e.mask() & (^uint64(0) >> (64 - 8*size))
		for shift := stride; shift < 8; shift *= 2 {
			mask |= mask << (8 * shift)
		}
		last := src[(n-1)*stride:]
		return countMasked(src[:(n-1)*stride], size, mask) + countGo(last[:size], e)
	}
	return countStrides(src, e, n, stride)
}
