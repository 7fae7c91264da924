package safetensors_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

// types are the element types that both a file and a tensor have.
var types = []layout.DType{
	layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
	layout.Int8, layout.Int16, layout.Int32, layout.Int64,
	layout.Float16, layout.Float32, layout.Float64, layout.BFloat16,
	layout.Float8E4M3FN, layout.Float8E5M2, layout.Bool, layout.Complex64,
}

func encode(t testing.TB, tensors []safetensors.Named, metadata ...layout.Attr) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Encode(&b, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parse(t testing.TB, b []byte) *safetensors.File {
	t.Helper()
	f, err := safetensors.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tensorGen draws dense tensors of every type, row-major or not.
func tensorGen(t *rapid.T) *layout.Dense {
	dtype := rapid.SampledFrom(types).Draw(t, "dtype")
	shape := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 4).Draw(t, "shape")
	n, _ := layout.CheckedProduct(shape, int64(dtype.Size()))
	data := rapid.SliceOfN(rapid.Byte(), int(n), int(n)).Draw(t, "data")
	if dtype == layout.Bool {
		for i := range data {
			data[i] &= 1
		}
	}
	make := layout.NewDense
	if rapid.Bool().Draw(t, "fortran") {
		make = layout.NewColumnMajor
	}
	d, err := make(dtype, shape, data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What is written is read again, and every tensor lies where its elements may lie.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tensors := map[string]*layout.Dense{}
		var named []safetensors.Named
		for _, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 12, rapid.ID).Draw(t, "names") {
			tensors[name] = tensorGen(t)
			named = append(named, safetensors.Named{Name: name, Tensor: tensors[name]})
		}
		var metadata []layout.Attr
		for _, key := range rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID).Draw(t, "keys") {
			metadata = append(metadata, layout.Attr{Key: key, Value: rapid.String().Draw(t, "value")})
		}
		var out bytes.Buffer
		if err := safetensors.Encode(&out, named, metadata); err != nil {
			t.Fatal(err)
		}
		b := layout.BytesOf(make([]uint64, (out.Len()+7)/8))[:out.Len()] // aligned, as a map is
		copy(b, out.Bytes())
		f, err := safetensors.Parse(b)
		if err != nil {
			t.Fatalf("%v\n%q", err, b)
		}
		if diff := cmp.Diff(metadata, f.Metadata); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
		if len(f.Entries) != len(tensors) {
			t.Fatalf("%d tensors, want %d", len(f.Entries), len(tensors))
		}
		for _, e := range f.Entries {
			d, err := e.View()
			if err != nil {
				t.Fatal(err)
			}
			want := tensors[e.Name]
			if want == nil || !layout.Equal(want, d) {
				t.Errorf("tensor %q came back as something else", e.Name)
			}
			offset := int(uintptr(unsafe.Pointer(unsafe.SliceData(d.Data()))) - uintptr(unsafe.Pointer(&b[0])))
			align := d.DType().Size()
			if d.NumBytes() == 0 {
				align = 1
			} else if d.NumBytes()%64 == 0 {
				align = 64
			}
			if offset%align != 0 {
				t.Errorf("tensor %q, %v of %v, lies at byte %d", e.Name, d.DType(), d.Shape(), offset)
			}
		}
	})
}

// The bytes depend on the names and tensors alone, not on the order in which they are given.
func TestEncodeIsDeterministic(t *testing.T) {
	a := safetensors.Named{Name: "a", Tensor: layout.DenseOf([]uint8{1, 2, 3}, 3)}
	b := safetensors.Named{Name: "b", Tensor: layout.DenseOf([]float64{1}, 1)}
	c := safetensors.Named{Name: "c", Tensor: layout.DenseOf(make([]float32, 16), 16)}
	want := encode(t, []safetensors.Named{a, b, c})
	if got := encode(t, []safetensors.Named{c, b, a}); !bytes.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	var order []string
	for _, e := range parse(t, want).Entries {
		order = append(order, e.Name)
	}
	if got := strings.Join(order, " "); got != "c b a" {
		t.Errorf("tensors come as %s, want the one of 64 bytes first and then the larger elements", got)
	}
}

func TestWriteAsksForTensorsInTheirOrder(t *testing.T) {
	specs := []safetensors.Spec{
		{Name: "bytes", DType: layout.Uint8, Shape: []int64{3}},
		{Name: "number", DType: layout.Float64},
	}
	tensors := []*layout.Dense{layout.DenseOf([]uint8{1, 2, 3}, 3), layout.DenseOf([]float64{2.5})}
	var asked []int
	var out bytes.Buffer
	err := safetensors.Write(&out, specs, nil, func(i int) (*layout.Dense, error) {
		asked = append(asked, i)
		return tensors[i], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 0}, asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	for _, e := range parse(t, out.Bytes()).Entries {
		d, err := e.Tensor()
		if err != nil || !layout.Equal(d, tensors[map[string]int{"bytes": 0, "number": 1}[e.Name]]) {
			t.Errorf("%s came back as %v, %v", e.Name, d, err)
		}
	}

	failure := errors.New("the disk is on fire")
	if err := safetensors.Write(&out, specs, nil, func(int) (*layout.Dense, error) { return nil, failure }); err != failure {
		t.Errorf("error %v, want that of the function", err)
	}
	err = safetensors.Write(&out, specs, nil, func(int) (*layout.Dense, error) { return tensors[0], nil })
	if !errors.Is(err, safetensors.ErrUnsupported) || !strings.Contains(err.Error(), `"number"`) {
		t.Errorf("error %v, want one that says that number is something else", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	one := layout.DenseOf([]uint8{1})
	date, err := layout.Date(layout.UnitDay)
	if err != nil {
		t.Fatal(err)
	}
	dates, err := layout.NewDense(date, []int64{1}, make([]byte, 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tensors  []safetensors.Named
		metadata []layout.Attr
		reason   string
	}{
		{[]safetensors.Named{{Name: "x", Tensor: dates}}, nil, `tensor "x" has elements of type date[day]`},
		{[]safetensors.Named{{Name: "x", Tensor: layout.DenseOf([]complex128{1})}}, nil, `tensor "x" has elements of type complex128`},
		{[]safetensors.Named{{Name: "x", Tensor: one}, {Name: "x", Tensor: one}}, nil, `two tensors are called "x"`},
		{[]safetensors.Named{{Name: "__metadata__", Tensor: one}}, nil, "__metadata__"},
		{[]safetensors.Named{{Name: "\xff", Tensor: one}}, nil, "UTF-8"},
		{nil, []layout.Attr{{Key: "k", Value: "\xff"}}, "UTF-8"},
		{nil, []layout.Attr{{Key: "k"}, {Key: "k"}}, "twice"},
		{nil, []layout.Attr{{Key: "k", Value: strings.Repeat("v", 100_000_000)}}, "100000000 bytes"},
	} {
		var out bytes.Buffer
		err := safetensors.Encode(&out, c.tensors, c.metadata)
		if !errors.Is(err, safetensors.ErrUnsupported) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("error %v, want ErrUnsupported … %s", err, c.reason)
		}
		if out.Len() > 0 {
			t.Errorf("%s: %d bytes were written", c.reason, out.Len())
		}
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		return w.left, errFull
	}
	w.left -= len(b)
	return len(b), nil
}

func TestErrorsOfTheWriter(t *testing.T) {
	tensors := []safetensors.Named{{Name: "x", Tensor: layout.DenseOf([]uint8{1, 2, 3}, 3)}}
	whole := len(encode(t, tensors))
	for n := range whole {
		if err := safetensors.Encode(&failingWriter{n}, tensors, nil); err != errFull {
			t.Fatalf("after %d bytes: error %v, want that of the writer", n, err)
		}
	}
}
