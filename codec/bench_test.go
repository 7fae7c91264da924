package codec_test

import (
	"io"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

func BenchmarkDecodeDense(b *testing.B) {
	d := must(layout.DenseOf(make([]float32, 1024), 32, 32).WithDimNames("row", "column"))
	msg := encode(b, d, layout.Attr{Key: "tstore.name", Value: "train/images/0001"}, layout.Attr{Key: "unit", Value: "m"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.Decode(msg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeDense(b *testing.B) {
	d := must(layout.DenseOf(make([]float32, 1024), 32, 32).WithDimNames("row", "column"))
	meta := []layout.Attr{{Key: "tstore.name", Value: "train/images/0001"}, {Key: "unit", Value: "m"}}
	b.ReportAllocs()
	for b.Loop() {
		r, err := codec.Encode(d, meta)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
