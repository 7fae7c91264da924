package summary

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/vec"
)

// reference describes finite values with sums of 300 bits.
func reference(values []float64) (mean, std float64) {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	n := exact(float64(len(values)))
	sum := exact(0)
	for _, v := range values {
		sum.Add(sum, exact(v))
	}
	m := exact(0).Quo(sum, n)
	squares := exact(0)
	for _, v := range values {
		d := exact(0).Sub(exact(v), m)
		squares.Add(squares, d.Mul(d, d))
	}
	mean, _ = m.Float64()
	std, _ = squares.Quo(squares, n).Sqrt(squares).Float64()
	return mean, std
}

// Mean and deviation are right to 13 digits of the range of the values, by every version of the kernels, however far from zero
// they lie and wherever NaNs lie between them; all else is right exactly.
func TestAccuracy(t *testing.T) {
	const n = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		make func(i int) float64
	}{
		{"between 0 and 1", func(int) float64 { return rng.Float64() }},
		{"far from zero", func(int) float64 { return 1e6 + rng.Float64() }},
		{"mostly zero", func(int) float64 { return float64(max(0, rng.IntN(1000)-990)) }},
		{"all the same", func(int) float64 { return 0.1 }},
		{"of many sizes", func(int) float64 { return math.Exp2(float64(rng.IntN(40)-20)) * (rng.Float64() - 0.5) }},
		{"rising", func(i int) float64 { return float64(i) }},
	} {
		for _, broken := range []float64{0, math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, dt := range []layout.DType{layout.Float32, layout.Float64, layout.Int32, layout.Int16} {
				if dt != layout.Float32 && dt != layout.Float64 && broken != 0 {
					continue
				}
				doubles := make([]float64, n)
				for i := range doubles {
					doubles[i] = c.make(i)
					if broken != 0 && rng.IntN(2000) == 0 {
						doubles[i] = broken
					}
				}
				var data []byte
				switch dt {
				case layout.Float32:
					data = layout.BytesOf(convert[float32](doubles))
				case layout.Int32:
					data = layout.BytesOf(convert[int32](doubles))
				case layout.Int16:
					for i := range doubles { // int16s wrap in their own way
						doubles[i] = math.Mod(doubles[i], 1<<15)
					}
					data = layout.BytesOf(convert[int16](doubles))
				default:
					data = layout.BytesOf(doubles)
				}
				finite := slices.DeleteFunc(slices.Clone(doubles), func(v float64) bool { return v-v != 0 })
				mean, std := reference(finite)
				lo, hi := slices.Min(finite), slices.Max(finite)
				within := 1e-13 * max(math.Abs(lo), math.Abs(hi))
				d, err := layout.NewDense(dt, []int64{n}, data)
				if err != nil {
					t.Fatal(err)
				}
				before := vec.Active()
				for _, v := range vec.Available() {
					if err := vec.Use(v); err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("%v: %v %s, with %v", v, dt, c.name, broken)
					s, err := Of(t.Context(), d, 10, nil)
					if err != nil {
						t.Fatal(err)
					}
					if math.Abs(s.Mean-mean) > within || math.Abs(s.Std-std) > within {
						t.Errorf("%s: mean %v, deviation %v, want %v and %v", what, s.Mean, s.Std, mean, std)
					}
					if s.Min.Float() != lo || s.Max.Float() != hi {
						t.Errorf("%s: from %v to %v, want %v to %v", what, s.Min, s.Max, lo, hi)
					}
					nonzero, counts := int64(0), make([]int64, len(s.Edges)-1)
					for _, x := range doubles {
						if x != 0 {
							nonzero++
						}
					}
					for _, x := range finite {
						counts[binOf(s.Edges, x)]++
					}
					if s.NonZero != nonzero || s.NaN+s.Inf != int64(n-len(finite)) {
						t.Errorf("%s: %d nonzeros, %d NaNs, %d infinities; want %d and %d together", what, s.NonZero, s.NaN, s.Inf, nonzero, n-len(finite))
					}
					if diff := cmp.Diff(counts, s.Counts); diff != "" {
						t.Errorf("%s: histogram:\n%s", what, diff)
					}
				}
				if err := vec.Use(before); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// The deviation is finite where its square is not.
func TestDeviationOfFarValues(t *testing.T) {
	for _, values := range [][]float64{
		{1e300, 1e300, 2, 2},
		{-math.MaxFloat64, math.MaxFloat64},
		{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64},
		slices.Repeat([]float64{1e200, -3e180, 7, 0}, 70_000),
	} {
		mean, std := reference(values)
		with := append(slices.Clone(values), math.NaN(), math.Inf(1), math.Inf(-1))
		for _, d := range []*layout.Dense{layout.DenseOf(values, int64(len(values))), layout.DenseOf(with, int64(len(with)))} {
			s, err := Of(t.Context(), d, 4, nil)
			if err != nil {
				t.Fatal(err)
			}
			if within := 1e-12 * std; !(math.Abs(s.Std-std) <= within) || !(math.Abs(s.Mean-mean) <= within) {
				t.Errorf("%v…: mean %v, deviation %v, want %v and %v", values[:2], s.Mean, s.Std, mean, std)
			}
		}
	}
	sparse, err := layout.Convert(layout.DenseOf([]float64{1e300, 0, 0, 1e300}, 2, 2), layout.LayoutCOO, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Of(t.Context(), sparse, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.Std-5e299) > 1e287 {
		t.Errorf("with zeros that are not stored: %v", s.Std)
	}
}

// convert converts values, which become what they are as values of type T.
func convert[T float32 | int32 | int16](values []float64) []T {
	all := make([]T, len(values))
	for i, v := range values {
		all[i] = T(v)
		values[i] = float64(all[i])
	}
	return all
}

// Bins that are narrower than numbers can be told apart take no longer than others.
func TestManyBinsOfATinyRange(t *testing.T) {
	values := make([]float64, 100_000)
	for i := range values {
		values[i] = 5e-324 * float64(i%2)
	}
	start := time.Now()
	for range 2 {
		s, err := Of(t.Context(), layout.DenseOf(values, int64(len(values))), 1_000_000, nil)
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for _, n := range s.Counts {
			total += n
		}
		if total != int64(len(values)) {
			t.Errorf("%d values in bins", total)
		}
		for i := range values {
			values[i] = math.MaxFloat64 * float64(i%3-1)
		}
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

// Counts of small values are moved on before they overflow.
func TestTallySettles(t *testing.T) {
	for _, size := range []int{1, 2} {
		a := newTally(size)
		a.left = 40
		for range 5 {
			a.add(slices.Repeat([]byte{7, 0, 9, 0}, 4))
		}
		if a.left != tallyMost-48 {
			t.Errorf("%d values of %d bytes are left", a.left, size)
		}
		a.settle()
		if want := int64(20); a.counts[7] != want || a.counts[9] != want || a.counts[0] != int64(2-size)*2*want {
			t.Errorf("values of %d bytes: %d, %d and %d of 7, 9 and 0", size, a.counts[7], a.counts[9], a.counts[0])
		}
	}
}
