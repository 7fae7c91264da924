package vec

import (
	"encoding/binary"
	"math"
)

func momentsFloat32Go(m *Moments, src []byte, pivot float64) {
	lo0, lo1, hi0, hi1 := m.Min, m.Min, m.Max, m.Max
	var sum0, sum1, sum2, sum3, squares0, squares1, squares2, squares3 float64
	zeros := 0
	n := len(src) / 4
	for ; len(src) >= 16; src = src[16:] {
		w, x := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
		a, b := float64(math.Float32frombits(uint32(w))), float64(math.Float32frombits(uint32(w>>32)))
		c, d := float64(math.Float32frombits(uint32(x))), float64(math.Float32frombits(uint32(x>>32)))
		lo0, lo1, hi0, hi1 = less(lo0, a), less(lo1, b), more(hi0, a), more(hi1, b)
		lo0, lo1, hi0, hi1 = less(lo0, c), less(lo1, d), more(hi0, c), more(hi1, d)
		zeros += isZero(a) + isZero(b) + isZero(c) + isZero(d)
		a, b, c, d = a-pivot, b-pivot, c-pivot, d-pivot
		sum0, sum1, sum2, sum3 = sum0+a, sum1+b, sum2+c, sum3+d
		squares0, squares1, squares2, squares3 = squares0+a*a, squares1+b*b, squares2+c*c, squares3+d*d
	}
	for ; len(src) >= 4; src = src[4:] {
		a := float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
		lo0, hi0 = less(lo0, a), more(hi0, a)
		zeros += isZero(a)
		sum0 += a - pivot
		squares0 += (a - pivot) * (a - pivot)
	}
	m.Min, m.Max = less(lo0, lo1), more(hi0, hi1)
	m.Sum += (sum0 + sum1) + (sum2 + sum3)
	m.Squares += (squares0 + squares1) + (squares2 + squares3)
	m.NonZero += n - zeros
}

func momentsFloat64Go(m *Moments, src []byte, pivot float64) {
	lo0, lo1, hi0, hi1 := m.Min, m.Min, m.Max, m.Max
	var sum0, sum1, sum2, sum3, squares0, squares1, squares2, squares3 float64
	zeros := 0
	n := len(src) / 8
	at := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])) }
	for ; len(src) >= 32; src = src[32:] {
		a, b, c, d := at(0), at(1), at(2), at(3)
		lo0, lo1, hi0, hi1 = less(lo0, a), less(lo1, b), more(hi0, a), more(hi1, b)
		lo0, lo1, hi0, hi1 = less(lo0, c), less(lo1, d), more(hi0, c), more(hi1, d)
		zeros += isZero(a) + isZero(b) + isZero(c) + isZero(d)
		a, b, c, d = a-pivot, b-pivot, c-pivot, d-pivot
		sum0, sum1, sum2, sum3 = sum0+a, sum1+b, sum2+c, sum3+d
		squares0, squares1, squares2, squares3 = squares0+a*a, squares1+b*b, squares2+c*c, squares3+d*d
	}
	for ; len(src) >= 8; src = src[8:] {
		a := at(0)
		lo0, hi0 = less(lo0, a), more(hi0, a)
		zeros += isZero(a)
		sum0 += a - pivot
		squares0 += (a - pivot) * (a - pivot)
	}
	m.Min, m.Max = less(lo0, lo1), more(hi0, hi1)
	m.Sum += (sum0 + sum1) + (sum2 + sum3)
	m.Squares += (squares0 + squares1) + (squares2 + squares3)
	m.NonZero += n - zeros
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

// isZero has no branch.
func isZero(x float64) int {
	bits := math.Float64bits(x) << 1
	return int(1 ^ (bits|-bits)>>63)
}
