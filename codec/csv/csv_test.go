package csv_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec/csv"
	"github.com/tstore/tstore/layout"
)

var nan = math.Float64frombits(0x7ff8 << 48)

var tsv = &csv.Options{Comma: '\t'}

func TestDecode(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name, text string
		options    *csv.Options
		columns    []string
		want       *layout.Dense
	}{
		{"integers", "1,2\n-3,+4\n", nil, nil, layout.DenseOf([]int64{1, 2, -3, 4}, 2, 2)},
		{"no newline at the end", "1,2\n3,4", nil, nil, layout.DenseOf([]int64{1, 2, 3, 4}, 2, 2)},
		{"CRLF, empty lines, white space", "\r\n1 ,\t2\r\n\r\n3, 4\r\n\r\n", nil, nil, layout.DenseOf([]int64{1, 2, 3, 4}, 2, 2)},
		{"byte order mark", "\xef\xbb\xbfa\n1\n", nil, []string{"a"}, layout.DenseOf([]int64{1}, 1, 1)},
		{"header", "x,\"y, z\"\n1,2\n", nil, []string{"x", "y, z"}, layout.DenseOf([]int64{1, 2}, 1, 2)},
		{"header of pandas with an index", ",a\n0,1\n", nil, []string{"", "a"}, layout.DenseOf([]int64{0, 1}, 1, 2)},
		{"header only", "x,y\n", nil, []string{"x", "y"}, layout.DenseOf([]float64{}, 0, 2)},
		{"header of numbers", "0,1\n5,6\n", &csv.Options{Header: csv.HeaderYes}, []string{"0", "1"}, layout.DenseOf([]int64{5, 6}, 1, 2)},
		{"numbers first", "0,1\n5,6\n", nil, nil, layout.DenseOf([]int64{0, 1, 5, 6}, 2, 2)},
		{"tabs", "a\tb\n1\t2\n", tsv, []string{"a", "b"}, layout.DenseOf([]int64{1, 2}, 1, 2)},
		{"semicolons", "1;2\n", &csv.Options{Comma: ';'}, nil, layout.DenseOf([]int64{1, 2}, 1, 2)},
		{"quoted numbers", "\"1\",\"2\"\n", nil, nil, layout.DenseOf([]int64{1, 2}, 1, 2)},
		{"floats", "1.5,-2e3\n.5,5.\n", nil, nil, layout.DenseOf([]float64{1.5, -2000, .5, 5}, 2, 2)},
		{"a float at the end", "1,2\n3,4.0\n", nil, nil, layout.DenseOf([]float64{1, 2, 3, 4}, 2, 2)},
		{"minus zero among floats", "-0\n0.5\n", nil, nil, layout.DenseOf([]float64{math.Copysign(0, -1), .5}, 2, 1)},
		{"minus zero among integers", "-0\n18446744073709551615\n", nil, nil, layout.DenseOf([]uint64{0, math.MaxUint64}, 2, 1)},
		{"not finite", "nan,NaN,-nan,inf,-Inf,+Infinity,NA\n", nil, nil, layout.DenseOf([]float64{nan, nan, nan, inf, -inf, inf, nan}, 1, 7)},
		{"missing", "1,\n,2\n", nil, nil, layout.DenseOf([]float64{1, nan, nan, 2}, 2, 2)},
		{"missing in the only column", "1\n\"\"\n", nil, nil, layout.DenseOf([]float64{1, nan}, 2, 1)},
		{"int64, the ends", "-9223372036854775808,9223372036854775807\n", nil, nil, layout.DenseOf([]int64{math.MinInt64, math.MaxInt64}, 1, 2)},
		{"uint64", "0\n+9223372036854775808\n", nil, nil, layout.DenseOf([]uint64{0, 1 << 63}, 2, 1)},
		{"rounded, as measurements are", "18446744073709551616,-1\n1.5,0\n", nil, nil, layout.DenseOf([]float64{1 << 64, -1, 1.5, 0}, 2, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := csv.Decode([]byte(c.text), c.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.columns, table.Columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if !layout.Equal(c.want, table.Tensor) {
				t.Errorf("%v %v % x, want %v %v % x", table.Tensor.DType(), table.Tensor.Shape(), table.Tensor.Data(), c.want.DType(), c.want.Shape(), c.want.Data())
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		text   string
		is     error
		reason string
	}{
		{"", csv.ErrInvalid, "it is empty"},
		{"\n\n", csv.ErrInvalid, "it is empty"},
		{"a,b\n1,2\n3,x\n", csv.ErrInvalid, `line 3, cell 2 ("b"): "x" is not a number`},
		{"1,2\n3,x\n", csv.ErrInvalid, `line 2, cell 2: "x" is not a number`},
		{"1,2\n1.5,x\n", csv.ErrInvalid, `line 2, cell 2: "x" is not a number`},
		{"1\n\"x\ny\"\n", csv.ErrInvalid, `line 2, cell 1: "x\ny" is not a number`},
		{"1,2\n\n3\n", csv.ErrInvalid, "line 3 has 1 cells, the first row has 2"},
		{"1,2\n3,4,5\n", csv.ErrInvalid, "line 2 has 3 cells"},
		{"1,2\n3,\"4\n", csv.ErrInvalid, "line 2, column"},
		{"1,2\n3,4\"\n", csv.ErrInvalid, "line 2, column 4: bare \""},
		{"1\ntrue\n", csv.ErrInvalid, "write 1 and 0"},
		{"1\n\"1,000\"\n", csv.ErrInvalid, "without separators"},
		{"1;2\n3;4\n", csv.ErrInvalid, "separate the cells by commas"},
		{"1\n0x10\n", csv.ErrInvalid, `"0x10" is not a number`},
		{"1\n1_000\n", csv.ErrInvalid, `"1_000" is not a number`},
		{"1\n1e999\n", csv.ErrInvalid, `"1e999" is not a number that a float64 holds`},
		{"1\n--1\n", csv.ErrInvalid, "not a number"},
		{"1\n-\n", csv.ErrInvalid, "not a number"},
		{"1\ninfin\n", csv.ErrInvalid, "not a number"},
		{"1\n-NA\n", csv.ErrInvalid, "not a number"},
		{"\xff\xfe1\x00", csv.ErrInvalid, "save it as UTF-8"},
		{"a,\xe9\n1,2\n", csv.ErrInvalid, "the header, cell 2: \"\\xe9\" is no UTF-8 text"},
		{"1\n18446744073709551616\n2\n", csv.ErrUnsupported, "line 2, cell 1: \"18446744073709551616\""},
		{"-1\n9223372036854775808\n", csv.ErrUnsupported, "line 2, cell 1"},
	} {
		_, err := csv.Decode([]byte(c.text), nil)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: error %v, want one that says %s", c.text, err, c.reason)
		}
		if err != nil && strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%q: error has more than one line: %q", c.text, err)
		}
	}
}

func TestEncode(t *testing.T) {
	inf := math.Inf(1)
	wide := layout.DenseOf([]int16{1, 2, 3, 4, 5, 6}, 2, 3)
	column, err := wide.Index(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	across, err := wide.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x       *layout.Dense
		columns []string
		options *csv.Options
		want    string
	}{
		{wide, nil, nil, "1,2,3\n4,5,6\n"},
		{wide, []string{"a", "b,c", ""}, nil, "a,\"b,c\",\n1,2,3\n4,5,6\n"},
		{wide, []string{"a", "b,c", ""}, tsv, "a\tb,c\t\n1\t2\t3\n4\t5\t6\n"},
		{column, nil, nil, "2\n5\n"},
		{across, nil, nil, "1,4\n2,5\n3,6\n"},
		{layout.DenseOf([]uint8{7}), nil, nil, "7\n"},
		{layout.DenseOf([]float64{}, 0, 2), []string{"a", "b"}, nil, "a,b\n"},
		{layout.DenseOf([]float64{1, -0.5, nan, inf, -inf, 1e300, math.Copysign(0, -1), 1e21}, 2, 4), nil, nil, "1.0,-0.5,nan,inf\n-inf,1e+300,-0.0,1e+21\n"},
		{layout.DenseOf([]float32{0.1}, 1), nil, nil, "0.10000000149011612\n"},
		{layout.DenseOf([]layout.BF16{0x3f80}, 1), nil, nil, "1.0\n"},
		{layout.DenseOf([]bool{true, false}, 1, 2), nil, nil, "1,0\n"},
		{layout.DenseOf([]uint64{math.MaxUint64}, 1), []string{""}, nil, "\"\"\n18446744073709551615\n"},
	} {
		var b bytes.Buffer
		if err := csv.Encode(&b, c.x, c.columns, c.options); err != nil {
			t.Errorf("%v: %v", c.x.Shape(), err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%v %v (-want +got):\n%s", c.x.DType(), c.x.Shape(), diff)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	sparse, err := layout.ToCOO(layout.DenseOf([]int64{0, 1}, 1, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x       layout.Tensor
		columns []string
		reason  string
	}{
		{sparse, nil, "convert it to dense first"},
		{layout.DenseOf([]int64{1}, 1, 1, 1), nil, "this tensor has 3"},
		{layout.DenseOf([]complex64{1}, 1), nil, "holds real numbers, not complex64"},
		{layout.DenseOf([]int64{}, 2, 0), nil, "no columns"},
		{layout.DenseOf([]int64{}, 0, 2), nil, "no rows"},
		{layout.DenseOf([]int64{1, 2}, 1, 2), []string{"a"}, "1 names for 2 columns"},
	} {
		var b bytes.Buffer
		if err := csv.Encode(&b, c.x, c.columns, nil); !errors.Is(err, csv.ErrUnsupported) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%v: error %v, want one that says %s", c.x.Shape(), err, c.reason)
		}
		if b.Len() > 0 {
			t.Errorf("%v: %d bytes were written", c.x.Shape(), b.Len())
		}
	}
}

// What is written comes back: values, types of 64 bits, and names of columns.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.Int64Range(1, 5).Draw(t, "rows"), rapid.Int64Range(1, 5).Draw(t, "cols")
		n := int(rows * cols)
		var x *layout.Dense
		switch rapid.IntRange(0, 2).Draw(t, "type") {
		case 0:
			x = layout.DenseOf(rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, "values"), rows, cols)
		case 1:
			v := rapid.SliceOfN(rapid.Uint64(), n, n).Draw(t, "values")
			v[0] |= 1 << 63 // else they are int64 as well
			x = layout.DenseOf(v, rows, cols)
		case 2:
			x = layout.DenseOf(rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "values"), rows, cols)
		}
		o := &csv.Options{Comma: rapid.SampledFrom([]rune{0, '\t', ';'}).Draw(t, "comma"), Header: csv.HeaderNo}
		var columns []string
		if rapid.Bool().Draw(t, "header") {
			o.Header = csv.HeaderYes
			columns = rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("ab,; \t\"\n#é1"))), int(cols), int(cols)).Draw(t, "columns")
		}
		var b bytes.Buffer
		if err := csv.Encode(&b, x, columns, o); err != nil {
			t.Fatal(err)
		}
		table, err := csv.Decode(b.Bytes(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !layout.Equal(x, table.Tensor) {
			t.Fatalf("%v %v came back as %v %v", x.DType(), x.Shape(), table.Tensor.DType(), table.Tensor.Shape())
		}
		if diff := cmp.Diff(columns, table.Columns); diff != "" {
			t.Fatalf("columns (-want +got):\n%s", diff)
		}
		if columns != nil {
			again, err := csv.ParseHeader(csv.FormatHeader(columns))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(columns, again); diff != "" {
				t.Fatalf("header as text (-want +got):\n%s", diff)
			}
		}
	})
}

func TestParseHeaderRefuses(t *testing.T) {
	for _, text := range []string{"", "a\nb", "\"a"} {
		if _, err := csv.ParseHeader(text); !errors.Is(err, csv.ErrInvalid) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// FuzzDecode makes sure that no input panics, and that a table that is accepted can be written and read
// again.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"1,2\n3,4\n", "a,b\n1,2.5\n", "x\ty\n1\t2\n", "\"a\"\"b\",c\n1,\n", "18446744073709551615\n", "-0\n1e5\n", "a;b\n1;2\n", "\xef\xbb\xbf1\n", "nan,inf\n", "a,b\n",
	} {
		f.Add([]byte(text), uint8(0), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, header uint8, tab bool) {
		o := &csv.Options{Header: csv.Header(header % 3)}
		if tab {
			o.Comma = '\t'
		}
		table, err := csv.Decode(b, o)
		if err != nil {
			if !errors.Is(err, csv.ErrInvalid) && !errors.Is(err, csv.ErrUnsupported) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		var out bytes.Buffer
		if err := csv.Encode(&out, table.Tensor, table.Columns, o); err != nil {
			t.Fatalf("%v %v can be read but not written: %v", table.Tensor.DType(), table.Tensor.Shape(), err)
		}
		o.Header = csv.HeaderNo
		if table.Columns != nil {
			o.Header = csv.HeaderYes
		}
		again, err := csv.Decode(out.Bytes(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !layout.Equal(table.Tensor, again.Tensor) || !cmp.Equal(table.Columns, again.Columns) {
			t.Fatalf("%v %q came back as %v %q", table.Tensor.Shape(), table.Columns, again.Tensor.Shape(), again.Columns)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name string
		x    *layout.Dense
	}{
		{"int64", layout.DenseOf(fill(1<<16, func(i int) int64 { return int64(i) * 1234567 }), 1<<13, 8)},
		{"float64", layout.DenseOf(fill(1<<16, func(i int) float64 { return math.Sqrt(float64(i)) }), 1<<13, 8)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var text bytes.Buffer
			if err := csv.Encode(&text, c.x, nil, nil); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := csv.Decode(text.Bytes(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func fill[T any](n int, at func(i int) T) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = at(i)
	}
	return v
}
