package codec_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// addSeeds gives a fuzz target messages of Arrow C++, of our own, and those of
// the corpus.
func addSeeds(f *testing.F) {
	for _, pattern := range []string{goldenDir + "/*.msg", corpusDir + "/accept/*.msg", corpusDir + "/reject/*.msg"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, file := range files {
			msg, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(msg)
		}
	}
	for _, dt := range dtypes() {
		d := must(layout.NewDense(dt, []int64{2, 3}, counting(dt, 6*int64(dt.Size()))))
		d = must(d.WithDimNames("row", "column"))
		f.Add(encode(f, d, layout.Attr{Key: "tstore.name", Value: "x"}, layout.Attr{Key: "unit", Value: "m"}))
	}
	f.Add(codec.ControlHead("tstore.commit", "1", 64))
	f.Add(codec.EndOfStream())
}

// checkError fails unless err is one that a reader may return.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *codec.Error
	if !errors.As(err, &e) && !errors.Is(err, codec.ErrEndOfStream) {
		t.Fatalf("error %v is of no known kind", err)
	}
	if e != nil && (e.Offset < 0 || e.Detail == "" || e.Unwrap() == nil) {
		t.Fatalf("error %#v says too little", e)
	}
}

// FuzzParseHead reads heads: no panic, no promise that is not kept, and no
// more memory than a small multiple of the input.
func FuzzParseHead(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := codec.ParseHead(b)
		if err != nil {
			checkError(t, err)
			return
		}
		if size, err := codec.HeadSize(b); err != nil || size != h.HeaderLen {
			t.Fatalf("HeadSize %d, %v; ParseHead %d", size, err, h.HeaderLen)
		}
		if h.HeaderLen > int64(len(b)) || h.BodyLen < 0 || h.Len() < h.HeaderLen {
			t.Fatalf("head of %d, body of %d, input of %d", h.HeaderLen, h.BodyLen, len(b))
		}
		n := 0
		for _, a := range codec.DecodeAttrs(&h) {
			n += len(a.Key) + len(a.Value)
		}
		if n > 8*len(b) {
			t.Fatalf("attributes of %d bytes in a head of %d", n, h.HeaderLen)
		}
		info, err := h.Describe()
		if err != nil {
			checkError(t, err)
			return
		}
		if info.Bytes > h.BodyLen || info.NNZ < 0 || !info.DType.Valid() {
			t.Fatalf("a body of %d with %+v", h.BodyLen, info)
		}
		again, err := codec.ParseHead(b[:h.HeaderLen])
		if err != nil || again.Kind != h.Kind || again.BodyLen != h.BodyLen {
			t.Fatalf("without what follows: %+v, %v", again, err)
		}
	})
}

// FuzzDecode reads tensors: what is accepted lies inside the message, is what
// Describe says, and survives a round trip.
func FuzzDecode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := codec.Decode(b)
		if err != nil {
			checkError(t, err)
			return
		}
		h, err := codec.ParseHead(b)
		if err != nil {
			t.Fatal(err)
		}
		info, err := h.Describe()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(
			[]any{info.DType, info.Layout, info.Shape, info.DimNames, info.NNZ},
			[]any{got.DType(), got.Layout(), got.Shape(), got.DimNames(), got.NNZ()}, sameDType, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("described (-) and decoded (+) differ:\n%s", diff)
		}
		switch got := got.(type) {
		case *layout.Dense:
			checkDense(t, got, b)
		}
	})
}

func checkDense(t *testing.T, d *layout.Dense, b []byte) {
	if d.NumBytes() > int64(len(b)) {
		t.Fatalf("%d bytes of elements in %d", d.NumBytes(), len(b))
	}
	elements := d.AppendRowMajor(nil)
	again := decodeDense(t, encode(t, d))
	if !bytes.Equal(again.AppendRowMajor(nil), elements) {
		t.Fatal("elements differ after a round trip")
	}
	if diff := cmp.Diff([]any{d.DType(), d.Shape(), d.DimNames()}, []any{again.DType(), again.Shape(), again.DimNames()}, sameDType, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("round trip: before (-), after (+):\n%s", diff)
	}
}
