package vec

import "math"

// momentsGo adds the elements of src to m.
func momentsGo(m *Moments, src []byte, e Elem, pivot float64) {
	if e == Float32 {
		addMoments(m, view[float32](src), pivot)
	} else {
		addMoments(m, view[float64](src), pivot)
	}
}

func addMoments[T float32 | float64](m *Moments, src []T, pivot float64) {
	lo0, lo1, hi0, hi1 := m.Min, m.Min, m.Max, m.Max
	var sum0, sum1, sum2, sum3, squares0, squares1, squares2, squares3 float64
	nonzero := 0
	for ; len(src) >= 4; src = src[4:] {
		a, b, c, d := float64(src[0]), float64(src[1]), float64(src[2]), float64(src[3])
		lo0, lo1, hi0, hi1 = less(lo0, a), less(lo1, b), more(hi0, a), more(hi1, b)
		lo0, lo1, hi0, hi1 = less(lo0, c), less(lo1, d), more(hi0, c), more(hi1, d)
		nonzero += isNonZero(a) + isNonZero(b) + isNonZero(c) + isNonZero(d)
		a, b, c, d = a-pivot, b-pivot, c-pivot, d-pivot
		sum0, sum1, sum2, sum3 = sum0+a, sum1+b, sum2+c, sum3+d
		squares0, squares1, squares2, squares3 = squares0+a*a, squares1+b*b, squares2+c*c, squares3+d*d
	}
	for _, x := range src {
		a := float64(x)
		lo0, hi0 = less(lo0, a), more(hi0, a)
		nonzero += isNonZero(a)
		sum0 += a - pivot
		squares0 += (a - pivot) * (a - pivot)
	}
	m.Min, m.Max = less(lo0, lo1), more(hi0, hi1)
	m.Sum += (sum0 + sum1) + (sum2 + sum3)
	m.Squares += (squares0 + squares1) + (squares2 + squares3)
	m.NonZero += nonzero
}

func less(x, y float64) float64 {
	if y < x {
		return y
	}
	return x
}

func more(x, y float64) float64 {
	if y > x {
		return y
	}
	return x
}

// isNonZero returns 1 for what is not zero and 0 for zeros of both signs, without a branch.
func isNonZero(x float64) int {
	bits := math.Float64bits(x) << 1
	return int((bits | -bits) >> 63)
}
