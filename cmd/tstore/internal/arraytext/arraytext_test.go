package arraytext

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
)

func write(t testing.TB, d *layout.Dense) string {
	t.Helper()
	var s strings.Builder
	if err := Write(&s, d); err != nil {
		t.Fatal(err)
	}
	return s.String()
}

// testdata/prints.jsonl was made with NumPy by testdata/make_prints.py.
func TestAsNumPyPrints(t *testing.T) {
	f, err := os.Open("testdata/prints.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var c struct {
			DType string
			Shape []int64
			Data  string
			Text  string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		dtype, err := layout.ParseDType(c.DType)
		if err != nil {
			t.Fatal(err)
		}
		data, err := hex.DecodeString(c.Data)
		if err != nil {
			t.Fatal(err)
		}
		d, err := layout.NewDense(dtype, c.Shape, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Text, write(t, d)); diff != "" {
			t.Errorf("line %d: %v %v (-NumPy +got):\n%s", n+1, dtype, c.Shape, diff)
		}

		// The order in memory makes no difference.
		back, err := d.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		if back, err = back.Clone().Transpose(); err != nil {
			t.Fatal(err)
		}
		if got := write(t, back); got != c.Text {
			t.Errorf("line %d: column-major %v %v is written as\n%s\nnot\n%s", n+1, dtype, c.Shape, got, c.Text)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if n < 300 {
		t.Errorf("only %d cases", n)
	}
}

func TestWhatNumPyLacks(t *testing.T) {
	of := func(dt layout.DType, err error) layout.DType {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return dt
	}
	for _, c := range []struct {
		dtype layout.DType
		data  []byte
		shape []int64
		want  string
	}{
		{layout.BFloat16, []byte{0xcd, 0x3d, 0x80, 0x3f, 0xc0, 0x7f}, []int64{3}, "[0.1 1.  nan]"},
		{layout.BFloat16, []byte{0xcd, 0x3d}, nil, "0.1"},
		{layout.Float8E4M3FN, []byte{0x38, 0x7e, 0xff}, []int64{3}, "[  1. 448.  nan]"},
		{layout.Float8E5M2, []byte{0x3c, 0x7c, 0xfc}, []int64{3}, "[  1.  inf -inf]"},
		{of(layout.Decimal(9, 2, 32)), []byte{0x39, 0x30, 0, 0, 0xff, 0xff, 0xff, 0xff}, []int64{2}, "[123.45  -0.01]"},
		{of(layout.Decimal(9, 0, 32)), []byte{0x39, 0x30, 0, 0}, nil, "12345"},
		{of(layout.Decimal(9, -3, 32)), []byte{0x39, 0x30, 0, 0}, nil, "12345e3"},
		{of(layout.Decimal(9, 2000000000, 32)), []byte{0x39, 0x30, 0, 0}, nil, "12345e-2000000000"},
		{of(layout.Time(layout.UnitMillisecond, 32)), []byte{0xd2, 0x02, 0x96, 0x49}, nil, "1234567890ms"},
		{of(layout.Time(layout.UnitSecond, 32)), []byte{0x39, 0x30, 0, 0}, nil, "03:25:45"},
		{of(layout.Timestamp(layout.UnitSecond, "Europe/Vienna")), make([]byte, 8), []int64{1}, "['1970-01-01T00:00:00']"},
		{of(layout.Date(layout.UnitMillisecond)), make([]byte, 8), []int64{1}, "['1970-01-01T00:00:00.000']"},
		{of(layout.FixedSizeBinary(3)), []byte{1, 2, 3, 0xff, 0, 0}, []int64{2}, "[0x010203 0xff0000]"},
		{of(layout.Interval(layout.UnitYearMonth)), []byte{1, 0, 0, 0}, []int64{1}, "[0x01000000]"},
	} {
		d, err := layout.NewDense(c.dtype, c.shape, c.data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, write(t, d)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.dtype, diff)
		}
	}
}

// Once nobody reads, a text of millions of rows is not made to its end.
func TestStopsWhenWritingFails(t *testing.T) {
	shape := make([]int64, 24)
	for i := range shape {
		shape[i] = 2
	}
	d := layout.DenseOf(make([]int8, 1<<24), shape...)
	w := &full{}
	if err := Write(w, d); !errors.Is(err, errFull) {
		t.Errorf("error %v, want the writer's", err)
	}
	if w.calls > 1 {
		t.Errorf("%d writes after the first that failed", w.calls-1)
	}
}

var errFull = errors.New("full")

type full struct{ calls int }

func (w *full) Write([]byte) (int, error) {
	w.calls++
	return 0, errFull
}

func TestWriteSparse(t *testing.T) {
	diagonal := func(n int64) []float64 {
		v := make([]float64, n*n)
		for i := range n {
			v[i*n+i] = float64(i) / 2
		}
		v[0] = -1
		return v
	}
	edges := "(0, 0)    -1.\n(1, 1)     0.5\n(2, 2)     1.\n(3, 3)     1.5\n(4, 4)     2.\n(5, 5)     2.5\n(6, 6)     3.\n(7, 7)     3.5\n(8, 8)     4.\n(9, 9)     4.5"
	for _, c := range []struct {
		name string
		d    *layout.Dense
		want string
	}{
		{"none", layout.DenseOf(make([]float32, 6), 2, 3), ""},
		{"few", layout.DenseOf([]int32{0, 7, 0, -12}, 2, 2), "(0, 1)    7\n(1, 1)  -12"},
		{"bools", layout.DenseOf([]bool{false, true}, 2, 1), "(1, 0)   True"},
		{"complex", layout.DenseOf([]complex64{0, 1 + 2i}, 1, 2), "(0, 1)  1.+2.j"},
		{"twenty", layout.DenseOf(diagonal(20), 20, 20), ""}, // all of them: counted below
		{"many", layout.DenseOf(diagonal(30), 30, 30), edges + "\n...\n(20, 20)  10.\n(21, 21)  10.5\n(22, 22)  11.\n(23, 23)  11.5\n(24, 24)  12.\n(25, 25)  12.5\n(26, 26)  13.\n(27, 27)  13.5\n(28, 28)  14.\n(29, 29)  14.5"},
	} {
		for _, to := range []layout.Layout{layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF} {
			x, err := layout.Convert(c.d, to, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if err := WriteSparse(&got, x); err != nil {
				t.Fatal(err)
			}
			if c.name == "twenty" {
				if n := strings.Count(got.String(), "\n") + 1; n != 20 || strings.Contains(got.String(), "...") {
					t.Errorf("%s as %v has %d lines", c.name, to, n)
				}
				continue
			}
			if diff := cmp.Diff(c.want, got.String()); diff != "" {
				t.Errorf("%s as %v (-want +got):\n%s", c.name, to, diff)
			}
		}
	}

	bad, err := layout.NewCOO(layout.Int8, []int64{2, 2}, layout.IndexOf([]int8{5, 0}), []byte{1}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteSparse(new(strings.Builder), bad); !errors.Is(err, layout.ErrIndex) {
		t.Errorf("an index outside the shape: error %v", err)
	}
}
