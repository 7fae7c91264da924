package safetensors_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

// FuzzParse makes sure that no input panics or gives a tensor that can't be read, and that what is
// accepted can be written and read again.
func FuzzParse(f *testing.F) {
	for _, m := range manifest(f) {
		f.Add(read(f, m.File))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parsed, err := safetensors.Parse(b)
		if err != nil {
			if !errors.Is(err, safetensors.ErrInvalid) && !errors.Is(err, safetensors.ErrTruncated) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		var tensors []safetensors.Named
		var size int64
		for _, e := range parsed.Entries {
			size += e.Size()
			d, err := e.Tensor()
			if errors.Is(err, safetensors.ErrUnsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			tensors = append(tensors, safetensors.Named{Name: e.Name, Tensor: d})
		}
		if size > int64(len(b)) {
			t.Fatalf("tensors of %d bytes in a file of %d", size, len(b))
		}
		var out bytes.Buffer
		if err := safetensors.Encode(&out, tensors, parsed.Metadata); err != nil {
			t.Fatalf("what can be read can't be written: %v", err)
		}
		again, err := safetensors.Parse(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Entries) != len(tensors) || len(again.Metadata) != len(parsed.Metadata) {
			t.Fatalf("%d tensors came back as %d", len(tensors), len(again.Entries))
		}
		found := make(map[string]*layout.Dense)
		for _, e := range again.Entries {
			if found[e.Name], err = e.View(); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range tensors {
			if d := found[n.Name]; d == nil || !layout.Equal(d, n.Tensor) {
				t.Fatalf("tensor %q came back as something else", n.Name)
			}
		}
	})
}

// FuzzParseIndex makes sure that no index panics, and that none leads out of its directory.
func FuzzParseIndex(f *testing.F) {
	for _, c := range indexes {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := safetensors.ParseIndex(b)
		if err != nil {
			if !errors.Is(err, safetensors.ErrInvalid) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		for _, shard := range x.Shards {
			if shard == "" || shard == "." || shard == ".." || bytes.ContainsAny([]byte(shard), "/\\:\x00") {
				t.Fatalf("shard %q", shard)
			}
		}
		for _, p := range x.Tensors {
			if p.Shard < 0 || p.Shard >= len(x.Shards) {
				t.Fatalf("tensor %q in shard %d of %d", p.Name, p.Shard, len(x.Shards))
			}
		}
	})
}
