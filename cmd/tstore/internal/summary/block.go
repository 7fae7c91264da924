package summary

import "math"

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

// blockSize is the number of values whose sums are taken together. They are counted from the first
// value of the block, so that little is lost where all are large.
const blockSize = 4096

// integerBlock goes through at most blockSize values, at least one.
func integerBlock[T integer](v []T) (lo, hi T, m moments) {
	lo, hi = v[0], v[0]
	pivot := float64(v[0])
	var sum, squares float64
	for _, x := range v {
		if x < lo {
			lo = x
		}
		if x > hi {
			hi = x
		}
		d := float64(x) - pivot
		sum += d
		squares += d * d
	}
	return lo, hi, fromSums(len(v), pivot, sum, squares)
}

// fromSums are the moments of n values, given the sums of their distances from pivot and of the
// squares of those.
func fromSums(n int, pivot, sum, squares float64) moments {
	mean := sum / float64(n)
	return moments{n: float64(n), mean: pivot + mean, squares: squares - sum*mean}
}

// floatBlock goes through at most blockSize values, at least one. ok is false if not all of them are
// finite or the sums overflow; then it has found out nothing.
func floatBlock[T float](v []T) (lo, hi T, m moments, ok bool) {
	first := v[0]
	pivot := float64(first)
	lo0, lo1, hi0, hi1 := first, first, first, first
	var sum0, sum1, sum2, sum3, squares0, squares1, squares2, squares3 float64
	rest := v
	for ; len(rest) >= 4; rest = rest[4:] {
		a, b, c, d := rest[0], rest[1], rest[2], rest[3]
		if a < lo0 {
			lo0 = a
		}
		if b < lo1 {
			lo1 = b
		}
		if c < lo0 {
			lo0 = c
		}
		if d < lo1 {
			lo1 = d
		}
		if a > hi0 {
			hi0 = a
		}
		if b > hi1 {
			hi1 = b
		}
		if c > hi0 {
			hi0 = c
		}
		if d > hi1 {
			hi1 = d
		}
		p, q, r, s := float64(a)-pivot, float64(b)-pivot, float64(c)-pivot, float64(d)-pivot
		sum0 += p
		sum1 += q
		sum2 += r
		sum3 += s
		squares0 += p * p
		squares1 += q * q
		squares2 += r * r
		squares3 += s * s
	}
	for _, x := range rest {
		lo0, hi0 = min(lo0, x), max(hi0, x)
		p := float64(x) - pivot
		sum0 += p
		squares0 += p * p
	}
	sum, squares := (sum0+sum1)+(sum2+sum3), (squares0+squares1)+(squares2+squares3)
	if squares-squares != 0 { // a NaN or an infinity goes through all sums
		return 0, 0, moments{}, false
	}
	return min(lo0, lo1), max(hi0, hi1), fromSums(len(v), pivot, sum, squares), true
}

// kinds are the numbers of values that are not finite.
type kinds struct{ nan, inf int64 }

// mixedBlock is floatBlock for values that may be NaN, infinite or huge. any is false if none is
// finite.
func mixedBlock[T float](v []T, k *kinds) (lo, hi T, m moments, any bool) {
	for _, x := range v {
		switch {
		case x != x:
			k.nan++
			continue
		case math.IsInf(float64(x), 0):
			k.inf++
			continue
		}
		if !any {
			lo, hi, any = x, x, true
		}
		lo, hi = min(lo, x), max(hi, x)
		m.add(float64(x))
	}
	return lo, hi, m, any
}

// bins are the counts of a histogram: of values that are at least edges[k] and less than edges[k+1],
// or not more for the last k.
type bins struct {
	edges  []float64
	scale  float64 // bins for a unit
	counts []int64
}

func newBins(edges []float64) bins {
	n := len(edges) - 1
	scale := float64(n) / (edges[n] - edges[0]) // 0 if the range overflows; then at searches
	return bins{edges: edges, scale: scale, counts: make([]int64, n)}
}

// at is the bin of a finite value in the range. Rounding may lead to a neighbour of it first.
func (b *bins) at(v float64) int {
	last := len(b.counts) - 1
	k := max(0, min(int((v-b.edges[0])*b.scale), last))
	for v < b.edges[k] {
		k--
	}
	for k < last && v >= b.edges[k+1] {
		k++
	}
	return k
}

func countIntegers[T integer](b *bins, v []T) {
	for _, x := range v {
		b.counts[b.at(float64(x))]++
	}
}

func countFloats[T float](b *bins, v []T) {
	first, last := b.edges[0], b.edges[len(b.edges)-1]
	for _, x := range v {
		if v := float64(x); first <= v && v <= last { // neither NaN nor infinite
			b.counts[b.at(v)]++
		}
	}
}
