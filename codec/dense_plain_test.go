package codec_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// checkPlain fails if the short way to decode msg gives another tensor than the long one, or one
// where that gives an error. It reports whether the short way gives any.
func checkPlain(t *testing.T, msg []byte) bool {
	t.Helper()
	got := codec.DecodePlain(msg)
	if got == nil {
		return false
	}
	any, err := codec.DecodeAny(msg)
	if err != nil {
		t.Fatalf("decoded a message that is broken: %v", err)
	}
	want, ok := any.(*layout.Dense)
	if !ok {
		t.Fatalf("decoded a %v tensor as a dense one", any.Layout())
	}
	type facts struct {
		DType          string
		Shape, Strides []int64
		Offset         int64
		Names          []string
	}
	of := func(d *layout.Dense) facts {
		return facts{d.DType().String(), d.Shape(), d.Strides(), d.Offset(), d.DimNames()}
	}
	if diff := cmp.Diff(of(want), of(got)); diff != "" {
		t.Fatalf("decoded otherwise (-the long way +the short one):\n%s", diff)
	}
	if !bytes.Equal(got.Data(), want.Data()) {
		t.Fatal("decoded with other elements")
	}
	return true
}

func TestPlainMessagesAreDecodedTheShortWay(t *testing.T) {
	x := layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	for _, c := range []struct {
		name   string
		tensor layout.Tensor
		meta   []layout.Attr
		want   bool
	}{
		{"a matrix", x, nil, true},
		{"with attributes", x, []layout.Attr{{Key: "tstore.name", Value: "x"}, {Key: "", Value: ""}}, true},
		{"with names", must(x.WithDimNames("row", "")), nil, true},
		{"a transposed one", must(x.Transpose()), nil, true},
		{"a scalar", must(layout.FromSlice([]int64{7})), nil, true},
		{"five dimensions", layout.DenseOf([]uint8{1, 2}, 1, 1, 2, 1, 1), nil, true},
		{"eight dimensions", layout.DenseOf([]int8{1, 2}, 1, 1, 1, 1, 1, 1, 1, 2), nil, true},
		{"nine dimensions", layout.DenseOf([]int16{1, 2}, 1, 1, 1, 1, 1, 1, 1, 1, 2), nil, false},
		{"no elements", layout.DenseOf([]float64{}, 0, 3), nil, false},
		{"bools", layout.DenseOf([]bool{true}, 1), nil, false},
		{"complex numbers", layout.DenseOf([]complex64{1}, 1), nil, false},
	} {
		if got := checkPlain(t, encode(t, c.tensor, c.meta...)); got != c.want {
			t.Errorf("%s: decoded the short way: %v, want %v", c.name, got, c.want)
		}
	}
	for _, dt := range []layout.DType{
		layout.Int8, layout.Int16, layout.Int32, layout.Int64, layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
		layout.Float16, layout.Float32, layout.Float64,
	} {
		d := must(layout.NewDense(dt, []int64{3}, counting(dt, 3*int64(dt.Size()))))
		if !checkPlain(t, encode(t, d)) {
			t.Errorf("%v: not decoded the short way", dt)
		}
	}
}

// TestDamagedPlainMessages changes every byte of a few messages to some others: what the short way
// still decodes, the long one decodes to the same.
func TestDamagedPlainMessages(t *testing.T) {
	x := layout.DenseOf([]int16{1, 2, 3, 4, 5, 6}, 2, 3)
	decoded := 0
	for _, msg := range [][]byte{
		encode(t, x, layout.Attr{Key: "tstore.name", Value: "x"}),
		encode(t, must(x.WithDimNames("row", "column"))),
		encode(t, layout.DenseOf([]float64{1}, 1, 1, 1, 1, 1)),
	} {
		for i := range msg {
			old := msg[i]
			for _, b := range []byte{0, 1, 2, 3, 4, 7, 8, 127, 128, 254, 255, old + 1, old - 1, old ^ 0x10} {
				msg[i] = b
				if checkPlain(t, msg) {
					decoded++
				}
			}
			msg[i] = old
		}
		for n := range msg {
			checkPlain(t, msg[:n:n])
		}
	}
	if decoded < 1000 {
		t.Errorf("only %d of the changed messages were decoded the short way", decoded)
	}
}

// FuzzDecodePlain looks for a message that the short way decodes otherwise than the long one.
func FuzzDecodePlain(f *testing.F) {
	addSeeds(f)
	f.Add(encode(f, layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3)))
	f.Fuzz(func(t *testing.T, msg []byte) {
		checkPlain(t, alignedTo(msg, 0))
	})
}
