package vec

import (
	"math"
)

// CheckIndices returns nil if every index is at least 0 and less than n, and otherwise an [*IndexError]
// for the first that is not.
func CheckIndices(indices []byte, t Index, n uint64) error {
	count := t.len(indices)
	if count == 0 {
		return nil
	}
	at := 0
	if n > 0 {
		// Read as unsigned, a negative index lies above the largest of its signed type.
		at = firstAboveAny(indices, t, min(n-1, t.Max()))
	}
	if at < 0 {
		return nil
	}
	return &IndexError{At: at, Value: t.At(indices, at), Type: t, N: n}
}

// FirstDecrease returns the first i for which element i of the index array is smaller than element
// i−1, or −1 if there is none.
func FirstDecrease(indices []byte, t Index) int {
	t.len(indices)
	return firstDisorderAny(indices, t, false)
}

// FirstNotIncreasing returns the first i for which element i of the index array is not greater than
// element i−1, or −1 if there is none.
func FirstNotIncreasing(indices []byte, t Index) int {
	t.len(indices)
	return firstDisorderAny(indices, t, true)
}

// MinMax returns the smallest and the largest index. A smallest one above the largest int64 is given as
// the largest int64, a negative largest one as 0, and both are 0 for an empty array.
func MinMax(indices []byte, t Index) (lo int64, hi uint64) {
	if t.len(indices) == 0 {
		return 0, 0
	}
	first, last := minMaxAny(indices, t)
	if t.Signed() {
		return int64(first), uint64(max(int64(last), 0))
	}
	return int64(min(first, math.MaxInt64)), last
}
