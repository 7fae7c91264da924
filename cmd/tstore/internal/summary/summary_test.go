package summary

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/layout"
)

// The values of every type are described as NumPy describes them, also if the tensor is sparse, strided
// or misaligned. testdata/make_summaries.py has made the cases.
func TestAsNumPy(t *testing.T) {
	f, err := os.Open("testdata/summaries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		n++
		var c struct {
			DType, Data         string
			Shape               []int64
			Bins                int
			NonZero, NaN, Inf   int64
			Min, Max, Mean, Std *float64
			Counts              []int64
			Edges               []float64
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		dt, err := layout.ParseDType(c.DType)
		if err != nil {
			t.Fatal(err)
		}
		data, err := hex.DecodeString(c.Data)
		if err != nil {
			t.Fatal(err)
		}
		for how, x := range variants(t, dt, c.Shape, data) {
			s, err := Of(t.Context(), x, c.Bins, nil)
			if err != nil {
				t.Fatalf("case %d, %s: %v", n, how, err)
			}
			if s.NonZero != c.NonZero || s.NaN != c.NaN || s.Inf != c.Inf || s.Finite != (c.Min != nil) {
				t.Errorf("case %d, %s: %d nonzero, %d NaN, %d infinite, finite ones: %v, want %d, %d, %d", n, how, s.NonZero, s.NaN, s.Inf, s.Finite, c.NonZero, c.NaN, c.Inf)
			}
			if c.Min == nil {
				continue
			}
			got := []float64{s.Min.Float(), s.Max.Float(), s.Mean, s.Std}
			if diff := cmp.Diff([]float64{*c.Min, *c.Max, *c.Mean, *c.Std}, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
				t.Errorf("case %d, %s: min, max, mean, std (-NumPy +tstore):\n%s", n, how, diff)
			}
			if diff := cmp.Diff(c.Edges, s.Edges, cmpopts.EquateApprox(1e-14, 1e-300)); diff != "" {
				t.Errorf("case %d, %s: edges (-NumPy +tstore):\n%s", n, how, diff)
			}
			if diff := cmp.Diff(c.Counts, s.Counts); diff != "" {
				t.Errorf("case %d, %s: counts (-NumPy +tstore):\n%s", n, how, diff)
			}
		}
	}
	if err := lines.Err(); err != nil || n < 40 {
		t.Fatalf("%d cases, %v", n, err)
	}
}

// variants returns the same values as tensors of several kinds.
func variants(t *testing.T, dt layout.DType, shape []int64, data []byte) map[string]layout.Tensor {
	t.Helper()
	must := func(x layout.Tensor, err error) layout.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	d := must(layout.NewDense(dt, shape, data)).(*layout.Dense)
	moved := append(make([]byte, 1, len(data)+1), data...)[1:]
	all := map[string]layout.Tensor{
		"dense":      d,
		"misaligned": must(layout.NewDense(dt, shape, moved)),
		"coo":        must(layout.Convert(d, layout.LayoutCOO, nil)),
	}
	size := int64(dt.Size())
	n := d.Len()
	if n > 0 {
		backwards := make([]byte, len(data))
		for i := range n {
			copy(backwards[(n-1-i)*size:], data[i*size:][:size])
		}
		r := must(layout.NewDense(dt, []int64{n}, backwards)).(*layout.Dense)
		all["reversed"] = must(r.Slice(0, n-1, -1, -1))
	}
	return all
}

// Numbers that NumPy has no type for, or loses digits of.
func TestWithoutNumPy(t *testing.T) {
	huge := layout.DenseOf([]float64{-math.MaxFloat64, 0, math.MaxFloat64, 1}, 4)
	s, err := Of(t.Context(), huge, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 0, 2, 1}, s.Counts); diff != "" || s.Max.Float() != math.MaxFloat64 {
		t.Errorf("huge values: %v", s)
	}
	s, err = Of(t.Context(), layout.DenseOf([]int64{math.MaxInt64, math.MaxInt64 - 1}, 2), 4, nil)
	if err != nil || s.Min.String() != "9223372036854775806" || s.Max.String() != "9223372036854775807" {
		t.Errorf("int64: %v, %v", s, err)
	}
	s, err = Of(t.Context(), layout.DenseOf([]uint64{math.MaxUint64, 3}, 2), 4, nil)
	if err != nil || s.Max.String() != "18446744073709551615" {
		t.Errorf("uint64: %v, %v", s, err)
	}
	s, err = Of(t.Context(), layout.DenseOf([]layout.BF16{layout.BF16FromFloat32(0.5), layout.BF16FromFloat32(-3)}, 2), 4, nil)
	if err != nil || s.Min.String() != "-3" || s.Max.String() != "0.5" || s.Mean != -1.25 {
		t.Errorf("bfloat16: %v, %v", s, err)
	}
	for _, x := range []layout.Tensor{
		layout.DenseOf([]layout.F8E4M3{layout.F8E4M3FromFloat32(2), layout.F8E4M3FromFloat32(-1)}, 2),
		layout.DenseOf([]layout.F8E5M2{layout.F8E5M2FromFloat32(2), layout.F8E5M2FromFloat32(-1)}, 2),
	} {
		if s, err := Of(t.Context(), x, 4, nil); err != nil || s.Mean != 0.5 || s.Std != 1.5 {
			t.Errorf("%v: %v, %v", x.DType(), s, err)
		}
	}
	ts, err := layout.Timestamp(layout.UnitSecond, "")
	if err != nil {
		t.Fatal(err)
	}
	opaque, err := layout.NewDense(ts, []int64{1}, make([]byte, 8))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Of(t.Context(), opaque, 4, nil); !errors.Is(err, ErrType) {
		t.Errorf("timestamps: %v", err)
	}
}

// A sparse tensor has more zeros than anyone could count.
func TestZerosOfASparseTensor(t *testing.T) {
	c, err := layout.NewCOO(layout.Float32, []int64{1 << 30, 1 << 32}, layout.IndexOf([]int64{5, 7, 9, 9, 9, 9}), layout.BytesOf([]float32{4, -2, -1}), false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Of(t.Context(), c, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Elements != 1<<62 || s.NonZero != 2 || s.Min.Float() != -3 || s.Max.Float() != 4 || s.Counts[0] != 1 || s.Counts[6] != 1 || s.Counts[3] != 1<<62-2 {
		t.Errorf("%+v", s)
	}
}

// The result is the same however many processors there are, and interrupting works.
func TestPieces(t *testing.T) {
	values := make([]float32, 300_000)
	for i := range values {
		values[i] = float32(math.Sin(float64(i)) * 1e3)
	}
	var last int64
	one, err := Of(t.Context(), layout.DenseOf(values, 300, 1000), 10, func(done, total int64) { last = max(last, done) })
	if err != nil {
		t.Fatal(err)
	}
	if last != 2*300_000*4 {
		t.Errorf("progress ended at %d", last)
	}
	two, err := Of(t.Context(), layout.DenseOf(values, 300_000), 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, two, cmp.AllowUnexported(Number{})); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Of(ctx, layout.DenseOf(values, 300_000), 10, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func BenchmarkOf(b *testing.B) {
	values := make([]float32, 16<<20)
	for i := range values {
		values[i] = float32(i%1000) / 7
	}
	x := layout.DenseOf(values, int64(len(values)))
	b.SetBytes(4 * int64(len(values)))
	for b.Loop() {
		if _, err := Of(b.Context(), x, 10, nil); err != nil {
			b.Fatal(err)
		}
	}
}
