package codec_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

var encoderTypes = []layout.DType{
	layout.Int8, layout.Int16, layout.Int32, layout.Int64, layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
	layout.Float16, layout.Float32, layout.Float64, layout.Bool, layout.BFloat16, layout.Complex64, layout.Complex128,
	must(layout.Timestamp(layout.UnitSecond, "UTC")), must(layout.Timestamp(layout.UnitSecond, "Europe/Rome")),
}

// Whatever it encoded before, an Encoder makes the bytes that Encode makes.
func TestEncoderMakesWhatEncodeMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e codec.Encoder
		// Few kinds, so that they meet again.
		types := rapid.SliceOfN(rapid.SampledFrom(encoderTypes), 1, 2).Draw(t, "types")
		for range rapid.IntRange(1, 12).Draw(t, "tensors") {
			dt := rapid.SampledFrom(types).Draw(t, "type")
			shape := rapid.SliceOfN(rapid.Int64Range(0, 3), 0, 3).Draw(t, "shape")
			if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
				shape = []int64{1, 2, 1, 1, 2, 1, 1, 1, 3}[:rapid.IntRange(7, 9).Draw(t, "dims")]
			}
			n := int64(dt.Size())
			for _, s := range shape {
				n *= s
			}
			d := must(layout.NewDense(dt, shape, rapid.SliceOfN(rapid.Byte(), int(n), int(n)).Draw(t, "data")))
			if len(shape) > 1 && rapid.Bool().Draw(t, "turned") {
				d = must(d.Transpose())
			}
			if len(shape) > 0 && rapid.IntRange(0, 4).Draw(t, "named") == 0 {
				names := make([]string, len(shape))
				names[0] = "row"
				d = must(d.WithDimNames(names...))
			}
			meta := []layout.Attr{{Key: "tstore.name", Value: rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "name")}}
			switch rapid.IntRange(0, 9).Draw(t, "pairs") {
			case 0:
				meta = nil
			case 1:
				meta = append(meta, layout.Attr{Key: "unit", Value: "m"})
			case 2:
				meta[0].Key = "other"
			}
			checkEncoder(t, &e, d, meta)
		}
	})
}

// An Encoder does not keep ever more heads, and knows what is not for it.
func TestEncoderOfManyKinds(t *testing.T) {
	var e codec.Encoder
	x := layout.DenseOf([]int32{1, 2, 3, 4}, 2, 2)
	for range 2 {
		for n := range 600 {
			checkEncoder(t, &e, x, []layout.Attr{{Key: "tstore.name", Value: fmt.Sprintf("%0*d", n, 7)}})
		}
	}
	coo := must(layout.Convert(x, layout.LayoutCOO, nil))
	checkEncoder(t, &e, coo, []layout.Attr{{Key: "tstore.name", Value: "x"}})
	if _, err := e.Encode(x, []layout.Attr{{Key: "tstore.dtype", Value: "bool"}}); err == nil {
		t.Error("metadata that lies about the type is encoded")
	}
	if _, err := e.Encode(new(layout.Dense), []layout.Attr{{Key: "a", Value: "b"}}); err == nil {
		t.Error("a tensor without a type is encoded")
	}
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := e.Encode(x, []layout.Attr{{Key: "tstore.name", Value: "same"}}); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations for a tensor like one before", allocs)
	}
}

func checkEncoder(t rapid.TB, e *codec.Encoder, x layout.Tensor, meta []layout.Attr) {
	t.Helper()
	got, err := e.Encode(x, meta)
	if err != nil {
		t.Fatal(err)
	}
	want, err := codec.Encode(x, meta)
	if err != nil {
		t.Fatal(err)
	}
	g, w := got.AppendTo(nil), want.AppendTo(nil)
	if !bytes.Equal(g, w) || got.Len() != want.Len() {
		t.Errorf("%v of shape %v with metadata %q:\n%x\nwant\n%x", x.DType(), x.Shape(), meta, g, w)
	}
	if !got.Equal(w) || !want.Equal(g) || got.Equal(w[:len(w)-1]) || got.Equal(append(w, 0)) {
		t.Errorf("%v of shape %v: the message does not equal itself, or another one", x.DType(), x.Shape())
	}
	w[len(w)-1]++
	if got.Equal(w) {
		t.Errorf("%v of shape %v: the message equals one with another last byte", x.DType(), x.Shape())
	}
}
