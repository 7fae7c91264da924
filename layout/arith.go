package layout

import (
	"fmt"
	"math"
	"math/bits"
)

// Alignment is the number of bytes at whose multiples buffers start, in memory that this package
// allocates for large tensors and in every stored message.
const Alignment = 64

// Align64 rounds n up to a multiple of 64. n must be at most MaxInt64−63; see [CheckedAlign64].
func Align64(n int64) int64 { return (n + Alignment - 1) &^ (Alignment - 1) }

// CheckedAlign64 rounds n ≥ 0 up to a multiple of 64 and reports whether that fits.
func CheckedAlign64(n int64) (int64, bool) {
	if n < 0 || n > math.MaxInt64-(Alignment-1) {
		return 0, false
	}
	return Align64(n), true
}

// CheckedMul returns a×b for a, b ≥ 0 and reports whether the product fits in an int64.
func CheckedMul(a, b int64) (int64, bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	return int64(lo), true
}

// CheckedAdd returns a+b for a, b ≥ 0 and reports whether the sum fits in an int64.
func CheckedAdd(a, b int64) (int64, bool) {
	if a < 0 || b < 0 || a > math.MaxInt64-b {
		return 0, false
	}
	return a + b, true
}

// CheckedProduct returns size × the product of the dimensions. It reports false if a dimension
// or the size is negative or the product does not fit in an int64. A shape with a dimension of 0
// has product 0 however large the others are.
func CheckedProduct(shape []int64, size int64) (int64, bool) {
	if size < 0 {
		return 0, false
	}
	empty := size == 0
	for _, n := range shape {
		if n < 0 {
			return 0, false
		}
		empty = empty || n == 0
	}
	if empty {
		return 0, true
	}
	p, ok := size, true
	for _, n := range shape {
		if p, ok = CheckedMul(p, n); !ok {
			return 0, false
		}
	}
	return p, true
}

// RowMajorStrides fills strides, which has the length of shape, with the byte strides of a tensor
// whose last axis is contiguous. A tensor without elements gets size everywhere, as Arrow has it.
// The product of shape and size must not overflow; see [CheckedProduct].
func RowMajorStrides(strides, shape []int64, size int64) {
	stride := size
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= shape[i]
	}
	if stride == 0 {
		fill(strides, size)
	}
}

// ColumnMajorStrides is [RowMajorStrides] for a tensor whose first axis is contiguous.
func ColumnMajorStrides(strides, shape []int64, size int64) {
	stride := size
	for i := range shape {
		strides[i] = stride
		stride *= shape[i]
	}
	if stride == 0 {
		fill(strides, size)
	}
}

func fill(s []int64, v int64) {
	for i := range s {
		s[i] = v
	}
}

// checkShape returns the number of elements of a shape, having made sure that their bytes fit in
// an int64 as well.
func checkShape(dt DType, shape []int64) (elements int64, err error) {
	if !dt.Valid() {
		return 0, fmt.Errorf("%w: the element type is not set", ErrDType)
	}
	if len(shape) > MaxDims {
		return 0, fmt.Errorf("%w: %d dimensions, at most %d are possible", ErrShape, len(shape), MaxDims)
	}
	for axis, n := range shape {
		if n < 0 {
			return 0, fmt.Errorf("%w: dimension %d is %d", ErrShape, axis, n)
		}
	}
	n, ok := CheckedProduct(shape, int64(dt.width))
	if !ok {
		return 0, fmt.Errorf("%w: %v of %v has more than 2^63-1 bytes", ErrShape, dt, cloneInts(shape))
	}
	return n / int64(dt.width), nil
}

// cloneInts copies a slice for an error message, so that formatting does not make the caller's
// slice escape to the heap.
func cloneInts(s []int64) []int64 { return append([]int64(nil), s...) }
