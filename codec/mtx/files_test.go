package mtx_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/mtx"
	"github.com/tstore/tstore/layout"
)

// file is a line of testdata/manifest.jsonl: what SciPy reads from a file.
type file struct {
	File, Layout, DType string
	Shape               []int64
	NNZ                 int64
	Elements            string // row-major, little-endian, hex
}

func manifest(t testing.TB) []file {
	t.Helper()
	return golden.Manifest[file](t, 30)
}

func decode(t testing.TB, b []byte) layout.Tensor {
	t.Helper()
	x, err := mtx.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func encode(t testing.TB, x layout.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := mtx.Encode(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// elements returns all elements in row-major order.
func elements(t testing.TB, x layout.Tensor) []byte {
	t.Helper()
	d, err := layout.ToDense(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d.AppendRowMajor(nil)
}

func TestReadsWhatSciPyReads(t *testing.T) {
	for _, m := range manifest(t) {
		t.Run(m.File, func(t *testing.T) {
			x := decode(t, golden.Read(t, m.File))
			if got := x.Layout().String(); got != m.Layout {
				t.Errorf("layout %s, want %s", got, m.Layout)
			}
			if got := x.DType().String(); got != m.DType {
				t.Errorf("dtype %s, want %s", got, m.DType)
			}
			if diff := cmp.Diff(m.Shape, x.Shape()); diff != "" {
				t.Errorf("shape (-want +got):\n%s", diff)
			}
			if x.NNZ() != m.NNZ {
				t.Errorf("%d stored elements, want %d", x.NNZ(), m.NNZ)
			}
			if got := hex.EncodeToString(elements(t, x)); got != m.Elements {
				t.Errorf("elements %s\nwant %s", got, m.Elements)
			}
			if d, ok := x.(*layout.Dense); ok && !d.IsColumnMajor() {
				t.Errorf("an array is column-major in the file; its strides are %v", d.Strides())
			}
			if c, ok := x.(*layout.COO); ok {
				if err := c.Validate(); err != nil {
					t.Error(err)
				}
				if want := m.File != "duplicates.mtx"; c.IsCanonical() != want {
					t.Errorf("canonical is %v, want %v", c.IsCanonical(), want)
				}
			}

			// Written and read again it is the same.
			again := decode(t, encode(t, x))
			if !layout.Equal(x, again) {
				t.Errorf("came back as something else:\n%s", encode(t, x))
			}
		})
	}
}

// pores_1 is a real matrix; its nonzeros are known from its file alone.
func TestPores1(t *testing.T) {
	b, err := os.ReadFile("../../testdata/matrices/pores_1.mtx")
	if err != nil {
		t.Fatal(err)
	}
	x := decode(t, b)
	c, ok := x.(*layout.COO)
	if !ok || c.NNZ() != 180 || c.DType() != layout.Float64 || !c.IsCanonical() {
		t.Fatalf("%v %v with %d elements", x.DType(), x.Layout(), x.NNZ())
	}
	if indptr, indices := layout.IndexTypes(c); indices != layout.NarrowestIndexType(180) {
		t.Errorf("index types %v, %v", indptr, indices)
	}
	got, err := layout.At[float64](c, 2, 1) // "3 2 -3.0051645960000e+03"
	if err != nil || got != -3005.164596 {
		t.Errorf("element (3, 2) is %v, %v", got, err)
	}
	if again := decode(t, encode(t, x)); !layout.Equal(x, again) {
		t.Error("came back as something else")
	}
}
