package mtx_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/mtx"
	"github.com/tstore/tstore/layout"
)

func TestEncodeText(t *testing.T) {
	coo := func(x layout.Tensor) layout.Tensor {
		t.Helper()
		c, err := layout.ToCOO(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	csc := func(x layout.Tensor) layout.Tensor {
		t.Helper()
		c, err := layout.ToCSC(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	csf := func(x layout.Tensor) layout.Tensor {
		t.Helper()
		c, err := layout.ToCSF(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	storedFalse, err := layout.NewCOO(layout.Bool, []int64{1, 2}, layout.IndexOf([]int8{0, 0, 0, 1}), []byte{0, 1}, true)
	if err != nil {
		t.Fatal(err)
	}
	// Both elements at the same place.
	twice := func(dt layout.DType, data []byte) layout.Tensor {
		t.Helper()
		c, err := layout.NewCOO(dt, []int64{1, 2}, layout.IndexOf([]int8{0, 1, 0, 1}), data, false)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		x    layout.Tensor
		want string
	}{
		{layout.DenseOf([]float64{1, 2.5, -3, 1e300}, 2, 2), "array real general\n2 2\n1\n-3\n2.5\n1e+300\n"},
		{layout.DenseOf([]float32{0.1}, 1, 1), "array real general\n1 1\n0.10000000149011612\n"},
		{layout.DenseOf([]layout.BF16{0x3f80}, 1, 1), "array real general\n1 1\n1\n"},
		{layout.DenseOf([]int8{-128, 127}, 1, 2), "array integer general\n1 2\n-128\n127\n"},
		{layout.DenseOf([]uint64{1 << 63}, 1, 1), "array unsigned-integer general\n1 1\n9223372036854775808\n"},
		{layout.DenseOf([]complex64{1 - 2i}, 1, 1), "array complex general\n1 1\n1 -2\n"},
		{layout.DenseOf([]bool{true, false}, 2, 1), "array integer general\n2 1\n1\n0\n"},
		{layout.DenseOf([]float64{}, 0, 3), "array real general\n0 3\n"},
		{coo(layout.DenseOf([]float64{0, 2, 3, 0}, 2, 2)), "coordinate real general\n2 2 2\n1 2 2\n2 1 3\n"},
		{csc(layout.DenseOf([]int16{0, 2, 3, 0}, 2, 2)), "coordinate integer general\n2 2 2\n2 1 3\n1 2 2\n"},
		{csf(layout.DenseOf([]complex128{0, 2i, 3, 0}, 2, 2)), "coordinate complex general\n2 2 2\n1 2 0 2\n2 1 3 0\n"},
		{coo(layout.DenseOf([]bool{false, true}, 1, 2)), "coordinate pattern general\n1 2 1\n1 2\n"},
		{twice(layout.Int64, layout.BytesOf([]int64{200, 100})), "coordinate integer general\n1 2 2\n1 2 200\n1 2 100\n"},
		{twice(layout.Uint8, []byte{200, 100}), "coordinate integer general\n1 2 1\n1 2 44\n"},
		{twice(layout.Float32, layout.BytesOf([]float32{1 << 24, 1})), "coordinate real general\n1 2 1\n1 2 1.6777216e+07\n"},
		{twice(layout.Bool, []byte{1, 1}), "coordinate pattern general\n1 2 1\n1 2\n"},
		{storedFalse, "coordinate integer general\n1 2 2\n1 1 0\n1 2 1\n"},
	} {
		if diff := cmp.Diff("%%MatrixMarket matrix "+c.want, string(encode(t, c.x))); diff != "" {
			t.Errorf("%v %v (-want +got):\n%s", c.x.Layout(), c.x.DType(), diff)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	days, err := layout.Date(layout.UnitDay)
	if err != nil {
		t.Fatal(err)
	}
	dates, err := layout.NewDense(days, []int64{1, 1}, make([]byte, 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []layout.Tensor{
		layout.DenseOf([]float64{1, 2}, 2),
		layout.DenseOf([]float64{1}),
		layout.DenseOf([]float64{1}, 1, 1, 1),
		dates,
	} {
		var b bytes.Buffer
		if err := mtx.Encode(&b, x); !errors.Is(err, mtx.ErrUnsupported) || b.Len() != 0 {
			t.Errorf("%v %v: error %v after %d bytes", x.DType(), x.Shape(), err, b.Len())
		}
	}
}

func TestEncodeReturnsTheWritersError(t *testing.T) {
	d := layout.DenseOf(make([]float64, 1<<16), 1<<8, 1<<8)
	r, w := io.Pipe()
	r.Close()
	if err := mtx.Encode(w, d); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}
