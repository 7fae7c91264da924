package vec

import "math"

// Moments is what [FloatMoments] finds out about the elements of a buffer.
type Moments struct {
	Min, Max float64 // exactly; of zeros of both signs it is not said which
	Sum      float64 // of the differences from the pivot
	Squares  float64 // of the squares of these
	NonZero  int
}

// FloatMoments goes through the elements of src, at least one, of type [Float32] or [Float64]. It is meant for blocks of some
// thousand elements, with one of them as the pivot: what is added up then is small, and sums of blocks can be
// put together without a loss. The sums of n elements are wrong by at most (n/4 + 8)·2⁻⁵³ times the sum of the absolute
// values of what is added up; the kernels, which have more partial sums, stay well below.
//
// finite is false if the elements are not all finite, or if their squares are too large for a float64. Then all
// but NonZero is undefined.
func FloatMoments(src []byte, e Elem, pivot float64) (m Moments, finite bool) {
	if e != Float32 && e != Float64 {
		panic("vec: moments of " + e.String() + " elements")
	}
	if e.len(src) == 0 {
		panic("vec: moments of no elements")
	}
	m = Moments{Min: math.Inf(1), Max: math.Inf(-1)}
	momentsGo(&m, src[momentsAny(&m, src, e, pivot):], e, pivot)
	return m, m.Squares-m.Squares == 0 // a NaN or an infinity goes through all sums
}
