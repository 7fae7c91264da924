package plot

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/layout"
)

// Every element is in one bin, and every bin has elements, however long the axis is.
func TestBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "n")
		a := newAxis(n, rapid.IntRange(1, MaxSize).Draw(t, "bins"))
		i := rapid.Int64Range(0, n-1).Draw(t, "i")
		k := a.bin(i)
		if k < 0 || k >= a.bins || i < a.start(k) || i >= a.start(k+1) {
			t.Fatalf("element %d is in bin %d of %d, which has elements %d to %d", i, k, a.bins, a.start(k), a.start(k+1))
		}
		if a.start(0) != 0 || a.start(a.bins) != n || a.elements(k) < 1 {
			t.Fatalf("bins from %d to %d, bin %d with %d elements", a.start(0), a.start(a.bins), k, a.elements(k))
		}
	})
}

func must(t testing.TB) func(x layout.Tensor, err error) layout.Tensor {
	return func(x layout.Tensor, err error) layout.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// variants are the same values in all layouts and in other orders of memory.
func variants(t testing.TB, d *layout.Dense) map[string]layout.Tensor {
	t.Helper()
	m := map[string]layout.Tensor{"dense": d}
	for _, l := range []layout.Layout{layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF} {
		m[l.String()] = must(t)(layout.Convert(d, l, nil))
	}
	turned, err := d.Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	turned, err = turned.Clone().Contiguous().Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	m["column-major"] = turned
	return m
}

// The mean of each bin is that of its elements, in every layout.
func TestGridMeans(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows, cols := rapid.Int64Range(1, 12).Draw(rt, "rows"), rapid.Int64Range(1, 12).Draw(rt, "cols")
		value := rapid.SampledFrom([]float64{0, 0, 0, 1, 2.5, -4, math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)})
		v := rapid.SliceOfN(value, int(rows*cols), int(rows*cols)).Draw(rt, "values")
		height, width := rapid.IntRange(1, 12).Draw(rt, "height"), rapid.IntRange(1, 12).Draw(rt, "width")
		for kind, want := range map[Kind]func([]float64) float64{Heatmap: meanOf, Spy: shareOf} {
			for how, x := range variants(t, layout.DenseOf(v, rows, cols)) {
				g, err := filling{ctx: t.Context(), kind: kind}.fill(x, height, width)
				if err != nil {
					rt.Fatal(err)
				}
				for r := range g.rows.bins {
					for c := range g.cols.bins {
						var inside []float64
						for i := g.rows.start(r); i < g.rows.start(r+1); i++ {
							inside = append(inside, v[i*cols+g.cols.start(c):i*cols+g.cols.start(c+1)]...)
						}
						if diff := cmp.Diff(want(inside), g.mean(r, c), cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, largest(inside)*1e-14)); diff != "" {
							rt.Fatalf("%s, %s: bin %d, %d of %v: %s", kind, how, r, c, inside, diff)
						}
					}
				}
			}
		}
	})
}

// meanOf is the mean of the finite values, or what most of them are if none is.
func meanOf(v []float64) float64 {
	var n, nan, up, down float64
	sum := new(big.Float).SetPrec(3000) // exact
	for _, x := range v {
		switch {
		case x != x:
			nan++
		case x > math.MaxFloat64:
			up++
		case x < -math.MaxFloat64:
			down++
		default:
			n++
		}
	}
	for _, x := range v {
		if x-x == 0 {
			sum.Add(sum, big.NewFloat(x))
		}
	}
	switch {
	case n > 0:
		m, _ := sum.Quo(sum, big.NewFloat(n)).Float64()
		return m
	case up >= down && up > nan:
		return math.Inf(1)
	case down > nan:
		return math.Inf(-1)
	}
	return math.NaN()
}

// largest is the largest absolute finite value: sums lose digits of that.
func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		if x-x == 0 {
			m = max(m, math.Abs(x))
		}
	}
	return m
}

func shareOf(v []float64) float64 {
	n := 0.0
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n / float64(len(v))
}

// What a COO stores several times is one element: its values are summed before they are looked at.
func TestGridSumsDuplicates(t *testing.T) {
	inf := math.Inf(1)
	x := must(t)(layout.NewCOO(layout.DTypeOf[float64](), []int64{2, 2}, layout.IndexOf([]int64{0, 1, 0, 1, 1, 0, 1, 0}), layout.BytesOf([]float64{1, 2, inf, -inf}), false))
	g, err := filling{ctx: t.Context(), kind: Heatmap}.fill(x, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	if g.mean(0, 1) != 3 || !math.IsNaN(g.mean(1, 0)) || g.total.nan != 1 || g.total.up != 0 {
		t.Errorf("means %v, %v; %d NaN, %d infinite", g.mean(0, 1), g.mean(1, 0), g.total.nan, g.total.up)
	}
}

// A matrix may be larger than what can be counted one by one.
func TestGridOfHugeShape(t *testing.T) {
	const n = 1 << 31
	x := must(t)(layout.NewCOO(layout.DTypeOf[int8](), []int64{n, n}, layout.IndexOf([]int64{0, 0, n - 1, n - 1}), []byte{1, 1}, true))
	c, err := paint(t.Context(), x, Options{Title: "huge"}, 400, 400)
	if err != nil {
		t.Fatal(err)
	}
	checkWords(t, c)
	text, err := Text(t.Context(), x, Options{Kind: Heatmap}, 80, 24, NoColours)
	if err != nil || text == "" {
		t.Errorf("%q, %v", text, err)
	}
}

// All types are read as what they are, opaque ones as zero or not.
func TestValues(t *testing.T) {
	f16 := layout.F16FromFloat32
	for _, c := range []struct {
		d    *layout.Dense
		want []float64
	}{
		{layout.DenseOf([]bool{true, false}, 2), []float64{1, 0}},
		{layout.DenseOf([]int8{-3, 0}, 2), []float64{-3, 0}},
		{layout.DenseOf([]uint8{200, 0}, 2), []float64{200, 0}},
		{layout.DenseOf([]int16{-300, 0}, 2), []float64{-300, 0}},
		{layout.DenseOf([]uint16{60000, 0}, 2), []float64{60000, 0}},
		{layout.DenseOf([]int32{-70000, 0}, 2), []float64{-70000, 0}},
		{layout.DenseOf([]uint32{4e9, 0}, 2), []float64{4e9, 0}},
		{layout.DenseOf([]int64{-5e9, 0}, 2), []float64{-5e9, 0}},
		{layout.DenseOf([]uint64{1 << 63, 0}, 2), []float64{1 << 63, 0}},
		{layout.DenseOf([]layout.F16{f16(1.5), 0}, 2), []float64{1.5, 0}},
		{layout.DenseOf([]layout.BF16{layout.BF16FromFloat32(-2), 0}, 2), []float64{-2, 0}},
		{layout.DenseOf([]layout.F8E4M3{0x38, 0}, 2), []float64{1, 0}},
		{layout.DenseOf([]layout.F8E5M2{0x3c, 0}, 2), []float64{1, 0}},
		{layout.DenseOf([]float32{0.5, 0}, 2), []float64{0.5, 0}},
		{layout.DenseOf([]float64{-0.25, 0}, 2), []float64{-0.25, 0}},
		{layout.DenseOf([]complex64{3 + 4i, 0}, 2), []float64{5, 0}},
		{layout.DenseOf([]complex128{-6 - 8i, 0}, 2), []float64{10, 0}},
	} {
		got := make([]float64, 2)
		numbers(c.d.DType())(got, c.d.Data())
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.d.DType(), diff)
		}
		nonzeros(c.d.DType())(got, c.d.Data())
		if diff := cmp.Diff([]float64{1, 0}, got); diff != "" {
			t.Errorf("%v, which are not zero: %s", c.d.DType(), diff)
		}
	}
	date, err := layout.Date(layout.UnitDay)
	if err != nil {
		t.Fatal(err)
	}
	if numbers(date) != nil {
		t.Errorf("%v is no number", date)
	}
	got := make([]float64, 2)
	b := make([]byte, 2*date.Size())
	b[date.Size()-1] = 1
	nonzeros(date)(got, b)
	if diff := cmp.Diff([]float64{1, 0}, got); diff != "" {
		t.Errorf("%v: %s", date, diff)
	}
}

// Reading stops when the context ends.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := layout.DenseOf(make([]float64, 600), 20, 30)
	for how, x := range variants(t, x) {
		for _, k := range Kinds {
			if x.NNZ() == 0 {
				continue // nothing is read
			}
			if _, err := Draw(ctx, x, Options{Kind: k}, 400, 400); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s: %v", how, k, err)
			}
		}
	}
}

func TestProgress(t *testing.T) {
	d := layout.DenseOf(make([]float64, 1<<17), 1<<10, 1<<7)
	d2 := layout.DenseOf([]float64{1, 2, 3, 4}, 2, 2)
	for _, x := range []layout.Tensor{d, d2, must(t)(layout.Convert(d2, layout.LayoutCSR, nil))} {
		for _, k := range Kinds {
			var last, of int64
			_, err := Draw(t.Context(), x, Options{Kind: k, Progress: func(done, total int64) {
				if done < last || done > total {
					t.Errorf("%d of %d bytes after %d", done, total, last)
				}
				last, of = done, total
			}}, 400, 400)
			if err != nil || last != of || of == 0 {
				t.Errorf("%s: the last report was %d of %d bytes; %v", k, last, of, err)
			}
		}
	}
}
