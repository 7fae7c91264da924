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
	if stride == size {
		return CountNonZero(src[:n*size], e)
	}
	return countStridedGo(src, e, n, stride)
}
