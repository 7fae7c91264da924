package codec_test

import (
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
	for _, l := range sparseLayouts {
		for _, indices := range []layout.IndexType{layout.IndexAuto, layout.IndexUint16, layout.IndexInt64} {
			f.Add(encode(f, example(f, l, indices)))
		}
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
		if diff := cmp.Diff(infoOf(got), info, cmpopts.EquateEmpty(), sameDType); diff != "" {
			t.Fatalf("decoded (-) and described (+) differ:\n%s", diff)
		}
		if info.Bytes > int64(len(b)) {
			t.Fatalf("%d bytes of elements and indices in %d", info.Bytes, len(b))
		}
		again, err := codec.Decode(encode(t, got))
		if err != nil {
			t.Fatalf("after a round trip: %v", err)
		}
		if !layout.Equal(got, again) || !layout.SameDimNames(got, again) {
			t.Fatal("a round trip makes another tensor")
		}
	})
}

// FuzzSparse reads sparse tensors and uses them as a program would that does
// not know where they come from: Validate, then convert, with little memory.
func FuzzSparse(f *testing.F) {
	addSeeds(f)
	limited := layout.ConvertOptions{MaxBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := codec.Decode(b)
		if err != nil || got.Layout() == layout.LayoutDense {
			return
		}
		invalid := codec.Validate(got)
		dense, err := layout.ToDense(got, &limited)
		if err != nil {
			// What conversion sorts or sums, Validate refuses; the other way
			// round it is memory alone that is missing, or opaque elements
			// that can't be summed.
			if invalid == nil && !errors.Is(err, layout.ErrTooLarge) && !errors.Is(err, layout.ErrShape) && !errors.Is(err, layout.ErrDuplicate) {
				t.Fatalf("valid, but %v", err)
			}
			return
		}
		if _, err := layout.CountNonZero(got); err != nil {
			t.Fatalf("converted, but not counted: %v", err)
		}
		back, err := layout.Convert(dense, got.Layout(), &limited)
		if err != nil {
			if errors.Is(err, layout.ErrTooLarge) {
				return
			}
			t.Fatalf("not back to %v: %v", got.Layout(), err)
		}
		if err := codec.Validate(back); err != nil {
			t.Fatalf("converted to something invalid: %v", err)
		}
		again, err := layout.ToDense(back, &limited)
		if err != nil {
			if errors.Is(err, layout.ErrTooLarge) {
				return
			}
			t.Fatal(err)
		}
		sparser, err := layout.Convert(again, got.Layout(), &limited)
		if err != nil || !layout.Equal(back, sparser) {
			t.Fatalf("from dense to %v twice is not the same: %v", got.Layout(), err)
		}
	})
}
