package vec

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

var floatElems = []Elem{Float32, Float64}

// floatAt returns element i as a float64.
func floatAt(src []byte, e Elem, i int) float64 {
	if e == Float32 {
		return float64(math.Float32frombits(uint32(U32.At(src, i))))
	}
	return math.Float64frombits(U64.At(src, i))
}

func putFloat(dst []byte, e Elem, i int, v float64) {
	if e == Float32 {
		copy(dst[4*i:], appendIndex(nil, U32, uint64(math.Float32bits(float32(v)))))
	} else {
		copy(dst[8*i:], appendIndex(nil, U64, math.Float64bits(v)))
	}
}

// compareMoments compares FloatMoments with sums that are exact.
func compareMoments(t *testing.T, v Version, src []byte, e Elem, pivot float64, what string) {
	t.Helper()
	m, finite := FloatMoments(src, e, pivot)
	n := len(src) / e.Size()
	if want := naiveCount(src, e); m.NonZero != want {
		t.Fatalf("%v: %s: %d nonzeros of %d %v, want %d", v, what, m.NonZero, n, e, want)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	exact := func() *big.Float { return new(big.Float).SetPrec(2400) } // holds any sum of squares of float64s
	sum, size, squares := exact(), exact(), exact()
	for i := range n {
		x := floatAt(src, e, i)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if finite {
				t.Fatalf("%v: %s: %v among %d %v is finite", v, what, x, n, e)
			}
			return
		}
		lo, hi = min(lo, x), max(hi, x)
		d := exact().Sub(exact().SetFloat64(x), exact().SetFloat64(pivot))
		sum.Add(sum, d)
		size.Add(size, exact().Abs(d))
		squares.Add(squares, exact().Mul(d, d))
	}
	if !finite {
		if f, _ := squares.Float64(); f < math.MaxFloat64/2 {
			t.Fatalf("%v: %s: %d %v are not finite", v, what, n, e)
		}
		return
	}
	if m.Min != lo || m.Max != hi {
		t.Fatalf("%v: %s: %d %v from %v to %v, want %v to %v", v, what, n, e, m.Min, m.Max, lo, hi)
	}
	// A square may be too small for its digits.
	within := exact().SetFloat64((float64(n)/4 + 8) * 0x1p-53)
	for _, c := range []struct {
		name              string
		got               float64
		want, size, small *big.Float
	}{{"sum", m.Sum, sum, size, exact()}, {"squares", m.Squares, squares, squares, exact().SetFloat64(float64(n) * 0x1p-1074)}} {
		off := exact().Sub(exact().SetFloat64(c.got), c.want)
		if most := exact().Add(exact().Mul(c.size, within), c.small); off.Abs(off).Cmp(most) > 0 {
			t.Fatalf("%v: %s: %s of %d %v is %v, want %v", v, what, c.name, n, e, c.got, c.want.Text('g', 20))
		}
	}
}

func TestFloatMoments(t *testing.T) {
	for _, e := range floatElems {
		for _, p := range patterns {
			rng := rand.New(rand.NewPCG(31, uint64(e)))
			for _, n := range append(lengths()[1:], 4096) {
				if n > 10_000 {
					continue
				}
				src := make([]byte, n*e.Size())
				p.fill(rng, src, e)
				if p.name == "random bits" { // mostly of a size that has a square
					for i := range n {
						putFloat(src, e, i, (rng.Float64()-0.3)*math.Exp2(float64(rng.IntN(60)-30)))
					}
				}
				eachVersion(func(v Version) { compareMoments(t, v, src, e, floatAt(src, e, 0), p.name) })
			}
		}
	}
}

// What is far from zero and close together loses nothing, given a pivot among it.
func TestFloatMomentsOfLargeOffsets(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	src := make([]byte, 4096*8)
	for i := range 4096 {
		putFloat(src, Float64, i, 1e9+rng.Float64())
	}
	eachVersion(func(v Version) {
		compareMoments(t, v, src, Float64, floatAt(src, Float64, 0), "offset")
		m, _ := FloatMoments(src, Float64, floatAt(src, Float64, 0))
		mean := m.Sum / 4096
		if variance := m.Squares/4096 - mean*mean; math.Abs(variance-1./12) > 0.01 {
			t.Errorf("%v: variance %v of numbers between 1e9 and 1e9 + 1", v, variance)
		}
	})
}

// naiveHistogram looks at each bin for each element.
func naiveHistogram(edges []float64, src []byte, e Elem) []int64 {
	counts := make([]int64, len(edges)-1)
	last := len(counts) - 1
	for i := range len(src) / e.Size() {
		v := floatAt(src, e, i)
		at := -1
		for k := range counts {
			if edges[k] <= v && (v < edges[k+1] || k == last && v == edges[k+1]) {
				at = k
			}
		}
		if at >= 0 {
			counts[at]++
		}
	}
	return counts
}

func compareHistogram(t *testing.T, edges []float64, src []byte, e Elem, what string) {
	t.Helper()
	want := naiveHistogram(edges, src, e)
	eachVersion(func(v Version) {
		counts := make([]int64, len(want))
		for k := range counts {
			counts[k] = int64(k)
		}
		Histogram(counts, edges, src, e, false)
		for k := range counts {
			counts[k] -= int64(k)
		}
		total := int64(0)
		for _, n := range want {
			total += n
		}
		if total == int64(len(src)/e.Size()) { // all are inside
			inside := make([]int64, len(want))
			Histogram(inside, edges, src, e, true)
			if !slices.Equal(inside, want) {
				t.Fatalf("%v: %s: histogram of %d %v inside %v:\n got %v\nwant %v", v, what, len(src)/e.Size(), e, edges, inside, want)
			}
		}
		if !slices.Equal(counts, want) {
			t.Fatalf("%v: %s: histogram of %d %v between %v:\n got %v\nwant %v", v, what, len(src)/e.Size(), e, edges, counts, want)
		}
	})
}

// edgesFor returns edges of n bins from lo to hi.
func edgesFor(n int, lo, hi float64) []float64 {
	edges := make([]float64, n+1)
	for k := range edges {
		edges[k] = lo + (hi-lo)*(float64(k)/float64(n))
		if math.IsInf(hi-lo, 0) {
			edges[k] = lo*(float64(n-k)/float64(n)) + hi*(float64(k)/float64(n))
		}
	}
	edges[n] = hi
	return edges
}

func TestHistogram(t *testing.T) {
	for _, e := range floatElems {
		rng := rand.New(rand.NewPCG(33, uint64(e)))
		for _, p := range patterns {
			for _, n := range lengths() {
				if n > 10_000 {
					continue
				}
				src := make([]byte, n*e.Size())
				p.fill(rng, src, e)
				bins := []int{1, 2, 7, 10, 39, 40, 41, 100}[rng.IntN(8)]
				compareHistogram(t, edgesFor(bins, 0, 1), src, e, p.name)
				compareHistogram(t, edgesFor(bins, -math.MaxFloat64, math.MaxFloat64), src, e, p.name)
			}
		}
	}
}

// Numbers on the edges, next to them and outside, for edges that are far apart, close together, or the same.
func TestHistogramAtEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, edges := range [][]float64{
		{0, 1}, {-1, 0, 1}, edgesFor(10, 0, 1), edgesFor(39, -3, 11), edgesFor(40, 0.1, 0.7), edgesFor(1000, 1e9, 1e9+1),
		edgesFor(10, 0, 5e-324), edgesFor(100, 1, math.Nextafter(1, 2)), edgesFor(7, -math.MaxFloat64, math.MaxFloat64), {1, 2, 4, 8, 1e300},
		edgesFor(12, -math.MaxFloat32, math.MaxFloat32), {3, 3}, {0, 0.1, 0.1, 0.1, 2},
	} {
		for _, e := range floatElems {
			var src []byte
			add := func(v float64) {
				src = append(src, make([]byte, e.Size())...)
				putFloat(src, e, len(src)/e.Size()-1, v)
			}
			for range 3 {
				for _, v := range edges {
					add(v)
					add(-v)
					for _, to := range []float64{-inf, inf} {
						add(math.Nextafter(v, to))
						add(float64(math.Nextafter32(float32(v), float32(to))))
						add(v + (v-to)*0x1p-60)
					}
				}
				for _, v := range []float64{0, math.Copysign(0, -1), inf, -inf, math.NaN(), math.MaxFloat32, -math.MaxFloat64, 5e-324} {
					add(v)
				}
			}
			for len(src) < 3*1024 {
				src = append(src, src...)
			}
			compareHistogram(t, edges, src, e, "edges")
		}
	}
}

// Counts go beyond what a lane holds between two sums of lanes.
func TestHistogramOfMuch(t *testing.T) {
	const n = 3 << 20
	src := make([]float32, n)
	low := int64(0)
	for i := range src {
		src[i] = float32(i % 5)
		if i%5 < 3 {
			low++
		}
	}
	eachVersion(func(v Version) {
		counts := make([]int64, 2)
		Histogram(counts, []float64{0, 3, 4}, Bytes(src), Float32, true)
		if counts[0] != low || counts[1] != n-low {
			t.Errorf("%v: %v", v, counts)
		}
	})
}

func TestMomentsMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"moments of integers":   func() { FloatMoments(make([]byte, 8), Bits32, 0) },
		"moments of nothing":    func() { FloatMoments(nil, Float32, 0) },
		"moments of a half":     func() { FloatMoments(make([]byte, 6), Float32, 0) },
		"histogram of integers": func() { Histogram(make([]int64, 1), []float64{0, 1}, nil, Bits32, false) },
		"histogram of a half":   func() { Histogram(make([]int64, 1), []float64{0, 1}, make([]byte, 6), Float32, false) },
		"no bins":               func() { Histogram(nil, []float64{0}, nil, Float32, false) },
		"edges missing":         func() { Histogram(make([]int64, 2), []float64{0, 1}, nil, Float32, false) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// FuzzMoments compares moments and histograms with sums that are exact and bins that are looked for one by one.
func FuzzMoments(f *testing.F) {
	f.Add([]byte("\x00\x00\x80\x3f\x00\x00\x00\x40"), uint8(0), uint8(10), -1.0, 3.0, uint16(300))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, uint8(1), uint8(39), 0.0, 5e-324, uint16(200))
	f.Add([]byte{0xff, 0xff, 0x7f, 0x7f, 1, 0, 0, 0}, uint8(0), uint8(45), -math.MaxFloat64, math.MaxFloat64, uint16(700))
	f.Fuzz(func(t *testing.T, some []byte, elem, bins uint8, lo, hi float64, times uint16) {
		e := floatElems[elem%2]
		var src []byte
		for len(some) > 0 && len(src) < int(times)*e.Size() {
			src = append(src, some...)
		}
		src = src[:len(src)/e.Size()*e.Size()]
		if len(src) > 0 {
			eachVersion(func(v Version) { compareMoments(t, v, src, e, floatAt(src, e, 0), "fuzzed") })
		}
		edges := edgesFor(1+int(bins)%60, lo, hi)
		if lo <= hi && slices.IsSorted(edges) && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
			compareHistogram(t, edges, src, e, fmt.Sprint("fuzzed ", lo, " to ", hi))
		}
	})
}
