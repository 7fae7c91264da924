package arrowfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/cmd/tstore/internal/arrowfile"
	"github.com/tstore/tstore/layout"
)

// item is a tensor in a table.
type item struct {
	name  string
	d     *layout.Dense
	attrs []layout.Attr
}

func write(t testing.TB, stream bool, items []item) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tryWrite(&b, stream, items); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tryWrite(b *bytes.Buffer, stream bool, items []item) error {
	specs := make([]arrowfile.Spec, len(items))
	for i, x := range items {
		specs[i] = arrowfile.Spec{Name: x.name, DType: x.d.DType(), Shape: x.d.Shape(), DimNames: x.d.DimNames(), Attrs: x.attrs}
	}
	return arrowfile.Write(b, stream, specs, func(i int) (*layout.Dense, error) { return items[i].d, nil })
}

func readAll(f *arrowfile.File) ([]item, error) {
	var items []item
	for _, m := range f.Members {
		d, attrs, err := m.Tensor()
		if err != nil {
			return nil, err
		}
		items = append(items, item{m.Name, d, attrs})
	}
	return items, nil
}

func comesBack(t testing.TB, b []byte, want []item) {
	t.Helper()
	f, err := arrowfile.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(f.Skipped) > 0 {
		t.Fatalf("%d tensors came back, %d were written; skipped: %v", len(got), len(want), f.Skipped)
	}
	for i, w := range want {
		g := got[i]
		if g.name != w.name || !layout.Equal(g.d, w.d) || !layout.SameDimNames(g.d, w.d) {
			t.Errorf("%q %v %v %q came back as %q %v %v %q", w.name, w.d.DType(), w.d.Shape(), w.d.DimNames(), g.name, g.d.DType(), g.d.Shape(), g.d.DimNames())
		}
		if diff := cmp.Diff(w.attrs, g.attrs); diff != "" {
			t.Errorf("%q: attributes (-want +got):\n%s", w.name, diff)
		}
	}
}

// allTypes are the types that Arrow has.
func allTypes(t testing.TB) []layout.DType {
	t.Helper()
	var all []layout.DType
	for _, name := range []string{
		"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool",
		"date[day]", "date[ms]", "time32[s]", "time32[ms]", "time64[us]", "time64[ns]",
		"timestamp[s]", "timestamp[ms, UTC]", "timestamp[us]", "timestamp[ns, Europe/Berlin]", "duration[s]", "duration[ns]",
		"interval[year_month]", "interval[day_time]", "interval[month_day_nano]",
		"decimal32[9, 2]", "decimal64[18, 2]", "decimal128[38, 2]", "decimal256[76, -1]", "fixed_size_binary[3]",
	} {
		dt, err := layout.ParseDType(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, dt)
	}
	return all
}

func random(t testing.TB, r *rand.Rand, dt layout.DType, shape ...int64) *layout.Dense {
	t.Helper()
	n, _ := layout.CheckedProduct(shape, int64(dt.Size()))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
		if dt == layout.Bool {
			data[i] &= 1
		}
	}
	d, err := layout.NewDense(dt, shape, data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func named(t testing.TB, d *layout.Dense, names ...string) *layout.Dense {
	t.Helper()
	d, err := d.WithDimNames(names...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cases := map[string][]item{
		"nothing":       nil,
		"no dimensions": {{"a", random(t, r, layout.Float32), nil}, {"b", random(t, r, layout.Float32), nil}},
		"of one shape":  {{"a", random(t, r, layout.Float32, 2, 3), nil}, {"b", random(t, r, layout.Float32, 2, 3), nil}},
		"of several shapes": {
			{"a", random(t, r, layout.Int64, 2, 3), nil}, {"b", random(t, r, layout.Int64, 3, 1), nil}, {"empty", random(t, r, layout.Int64, 3, 0), nil}},
		"no elements":   {{"a", random(t, r, layout.Int64, 0, 3), nil}, {"b", random(t, r, layout.Int64, 0, 3), nil}},
		"strided":       {{"a", transposed(t, random(t, r, layout.Int16, 2, 3)), nil}},
		"names of axes": {{"a", named(t, random(t, r, layout.Int16, 2, 3), "x", "größe"), nil}},
		"names of axes, several shapes": {
			{"a", named(t, random(t, r, layout.Int16, 2, 3), "x", "y"), nil}, {"b", named(t, random(t, r, layout.Int16, 1, 3), "x", "y"), nil}},
		"attributes": {
			{"a", random(t, r, layout.Int8, 2), []layout.Attr{{Key: "unit", Value: "m"}, {Key: "größe", Value: ""}}}, {"b", random(t, r, layout.Int8, 2), nil}},
		"large": {{"a", random(t, r, layout.Int8, 7<<20), nil}, {"b", random(t, r, layout.Int8, 3), nil}, {"c", random(t, r, layout.Int8, 5<<20), nil}},
	}
	var mixed, fixed []item
	for _, dt := range allTypes(t) {
		for _, shape := range [][]int64{{}, {3}, {2, 4}, {5, 1}, {0, 2}} {
			mixed = append(mixed, item{fmt.Sprintf("%v/%v", dt, shape), random(t, r, dt, shape...), nil})
		}
		fixed = []item{{"x", random(t, r, dt, 3, 5), nil}, {"y", random(t, r, dt, 3, 5), nil}}
		cases[dt.String()] = fixed
	}
	mixed = append(mixed, item{"named", named(t, random(t, r, layout.Int8, 3), "n"), nil})
	r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	cases["everything at once"] = mixed
	var many []item
	for i := range 70_000 {
		many = append(many, item{fmt.Sprint(i), layout.DenseOf([]int32{int32(i)}, 1), nil})
	}
	cases["many rows"] = many
	for name, items := range cases {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", name, stream), func(t *testing.T) {
				comesBack(t, write(t, stream, items), items)
			})
		}
	}
}

func transposed(t testing.TB, d *layout.Dense) *layout.Dense {
	t.Helper()
	d, err := d.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWriteRefuses(t *testing.T) {
	huge, err := layout.NewStrided(layout.Int8, []int64{1 << 31}, []int64{0}, 0, []byte{1})
	if err != nil {
		t.Fatal(err)
	}
	long, err := layout.NewDense(layout.Int8, []int64{0, 1 << 31}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d      *layout.Dense
		reason string
	}{
		{layout.DenseOf([]layout.BF16{1}, 1), `"x": Arrow has no bfloat16`},
		{layout.DenseOf([]complex64{1}, 1), "complex64; --raw"},
		{huge, "more than 2^31-1 elements"},
		{long, "Arrow has at most"},
	} {
		var b bytes.Buffer
		err := tryWrite(&b, false, []item{{"x", c.d, nil}})
		if !errors.Is(err, arrowfile.ErrUnsupported) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("error %v, want one that says %s", err, c.reason)
		}
		if b.Len() > 0 {
			t.Errorf("%d bytes were written", b.Len())
		}
	}
	broken := errors.New("broken")
	specs := []arrowfile.Spec{{Name: "x", DType: layout.Int8, Shape: []int64{1}}}
	if err := arrowfile.Write(new(bytes.Buffer), false, specs, func(int) (*layout.Dense, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if err := arrowfile.Write(new(bytes.Buffer), false, specs, func(int) (*layout.Dense, error) { return layout.DenseOf([]int8{1, 2}, 2), nil }); err == nil || !strings.Contains(err.Error(), "in place of") {
		t.Errorf("error %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		text   string
		is     error
		reason string
	}{
		{"", arrowfile.ErrTruncated, "no schema"},
		{"\xff\xff\xff\xff", arrowfile.ErrTruncated, "in the prefix of a message"},
		{"\xff\xff\xff\xff\x00\x00\x00\x00", arrowfile.ErrTruncated, "no schema"},
		{"\xff\xff\xff\xff\xff\xff\xff\x7f", arrowfile.ErrTruncated, "a message takes 2147483647 bytes, 0 are there"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff", arrowfile.ErrInvalid, "a message of -1 bytes"},
		{"ARROW1\x00\x00", arrowfile.ErrTruncated, "does not end with ARROW1"},
		{"ARROW1\x00\x00\xff\xff\xff\x7fARROW1", arrowfile.ErrInvalid, "a footer of 2147483647 bytes"},
		{"FEA1", arrowfile.ErrUnsupported, "version 1"},
		{"not an arrow file", arrowfile.ErrTruncated, "a message takes"},
	} {
		_, err := arrowfile.Open([]byte(c.text))
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: error %v, want one that says %s", c.text, err, c.reason)
		}
	}
}

// Elements lie over the file where they can.
func TestElementsLieInTheFile(t *testing.T) {
	d := layout.DenseOf([]float64{1, math.Inf(1), -3}, 3)
	for _, stream := range []bool{false, true} {
		b := write(t, stream, []item{{"x", d, nil}})
		f, err := arrowfile.Open(b)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := f.Members[0].Tensor()
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(b, d.Data())
		b[at] = 7
		if got.Data()[0] != 7 {
			t.Errorf("stream %v: the elements were copied", stream)
		}
	}
}

// Wherever a file ends, and whichever byte of it is another, nothing worse happens than an error, and no
// tensor is larger than the file. (There are no checksums in the format: some changes go unnoticed.)
func TestHostileFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	items := []item{
		{"a", random(t, r, layout.Float32, 2, 3), []layout.Attr{{Key: "k", Value: "v"}}}, {"b", random(t, r, layout.Bool, 5), nil}, {"c", random(t, r, layout.Float32, 1, 3), nil}}
	for _, stream := range []bool{false, true} {
		b := write(t, stream, items)
		end := len(b)
		if stream {
			end -= 8 // the mark of the end, which need not be there
		}
		for n := range end {
			cut := b[:n]
			f, err := arrowfile.Open(cut)
			if err == nil && stream {
				// A stream may end behind each batch.
				if len(f.Members) == len(items) {
					t.Errorf("%d of %d bytes: all is there", n, len(b))
				}
				continue
			}
			checkKind(t, err)
			if err == nil {
				t.Errorf("%d of %d bytes: no error", n, len(b))
			}
		}
		for i := range b {
			for _, mask := range []byte{0x01, 0x10, 0x80, 0xff} {
				flipped := slices.Clone(b)
				flipped[i] ^= mask
				use(t, flipped)
			}
		}
	}
}

// Whatever happens to several bytes of a file, it is read or refused, in time and with memory for the bytes
// that are there.
func TestManglesFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var seeds [][]byte
	for _, stream := range []bool{false, true} {
		seeds = append(seeds,
			write(t, stream, []item{{"a", random(t, r, layout.Float32, 2, 3), []layout.Attr{{Key: "k", Value: "v"}}}, {"b", random(t, r, layout.Bool, 5), nil}}),
			write(t, stream, []item{{"a", named(t, random(t, r, layout.Int16, 2, 3), "x", "y"), nil}}))
	}
	for _, m := range manifest(t) {
		seeds = append(seeds, readFile(t, m.File))
	}
	for range 10_000 {
		b := slices.Clone(seeds[r.IntN(len(seeds))])
		for range 1 + r.IntN(6) {
			i := r.IntN(len(b) - 4)
			switch r.IntN(4) {
			case 0:
				b[i] = byte(r.Uint32())
			case 1:
				b[i] ^= 1 << r.IntN(8)
			case 2:
				b[i] = 0xff
			case 3:
				binary.LittleEndian.PutUint32(b[i:], r.Uint32())
			}
		}
		use(t, b)
	}
}

func checkKind(t testing.TB, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, arrowfile.ErrInvalid) && !errors.Is(err, arrowfile.ErrTruncated) && !errors.Is(err, arrowfile.ErrUnsupported) {
		t.Errorf("error of no kind: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "runtime error") {
		t.Errorf("an error about the program, not about the file: %v", err)
	}
}

// use opens a file and reads all its tensors.
func use(t testing.TB, b []byte) {
	t.Helper()
	f, err := arrowfile.Open(b)
	if err != nil {
		checkKind(t, err)
		return
	}
	if len(f.Members) > len(b) {
		t.Errorf("%d tensors in %d bytes", len(f.Members), len(b))
	}
	for _, m := range f.Members {
		d, _, err := m.Tensor()
		if err != nil {
			checkKind(t, err)
			continue
		}
		d.AppendRowMajor(nil)
	}
}

func FuzzOpen(f *testing.F) {
	for _, m := range manifest(f) {
		f.Add(readFile(f, m.File))
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, stream := range []bool{false, true} {
		f.Add(write(f, stream, []item{{"a", random(f, r, layout.Float32, 2, 3), []layout.Attr{{Key: "k", Value: "v"}}}, {"b", random(f, r, layout.Bool, 5), nil}}))
		f.Add(write(f, stream, []item{{"a", named(f, random(f, r, layout.Int16, 2, 3), "x", "y"), nil}}))
	}
	f.Fuzz(func(t *testing.T, b []byte) { use(t, b) })
}
