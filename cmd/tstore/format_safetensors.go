package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// safetensorsFormat is the form in which model weights are passed on. What a file says of itself becomes
// attributes of each of its tensors; the other way, what all tensors say alike is said of the file.
var safetensorsFormat = &format{
	name:       "safetensors",
	extensions: []string{".safetensors"},
	begins: func(b []byte) bool {
		return len(b) > 8 && b[8] == '{' && binary.LittleEndian.Uint64(b) <= 100_000_000
	},
	dense: always,
	read: func(in *input, o readOptions) (*archive, error) {
		f, err := safetensors.Parse(in.bytes)
		if err != nil {
			return nil, err
		}
		return safetensorsArchive(f, o), nil
	},
	write: func(w io.Writer, c content) error {
		d, ok := c.tensor.(*layout.Dense)
		if !ok {
			return fmt.Errorf("%w: a .safetensors file holds dense tensors, this one is %v", safetensors.ErrUnsupported, c.tensor.Layout())
		}
		return safetensors.Encode(w, []safetensors.Named{{Name: c.name, Tensor: d}}, c.attrs)
	},
	writeAll: func(w io.Writer, heads []*store.Entry, tensor func(i int) (*layout.Dense, error)) error {
		specs := make([]safetensors.Spec, len(heads))
		for i, h := range heads {
			specs[i] = safetensors.Spec{Name: h.Name, DType: h.DType, Shape: h.Shape}
		}
		return safetensors.Write(w, specs, sharedAttrs(heads), tensor)
	},
}

// indexFormat is a set of .safetensors files that an index holds together.
var indexFormat = &format{
	extensions: []string{".safetensors.index.json"},
	read: func(in *input, o readOptions) (*archive, error) {
		f, err := safetensors.ParseSet(in.bytes, func(shard string) ([]byte, error) {
			part, err := in.beside(shard)
			if err != nil {
				return nil, err
			}
			return part.bytes, nil
		})
		if err != nil {
			return nil, err
		}
		return safetensorsArchive(f, o), nil
	},
}

func safetensorsArchive(f *safetensors.File, o readOptions) *archive {
	a := &archive{names: make([]string, len(f.Entries))}
	for i, e := range f.Entries {
		a.names[i] = e.Name
	}
	a.load = func(i int) (content, error) {
		read := f.Entries[i].Tensor
		if o.inPlace {
			read = f.Entries[i].View
		}
		d, err := read()
		return content{tensor: d, attrs: f.Metadata}, err
	}
	return a
}

// sharedAttrs returns the attributes that all tensors have alike.
func sharedAttrs(heads []*store.Entry) []layout.Attr {
	if len(heads) == 0 {
		return nil
	}
	var shared []layout.Attr
	for i, a := range heads[0].Attrs {
		everywhere := func(h *store.Entry) bool { return slices.Contains(h.Attrs, a) }
		again := slices.ContainsFunc(heads[0].Attrs[:i], func(b layout.Attr) bool { return a.Key == b.Key })
		if !again && !slices.ContainsFunc(heads, func(h *store.Entry) bool { return !everywhere(h) }) {
			shared = append(shared, a)
		}
	}
	return shared
}

// shardsOf returns the paths of the files of a set, by its index.
func shardsOf(path string, index []byte) ([]string, error) {
	x, err := safetensors.ParseIndex(index)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	shards := make([]string, len(x.Shards))
	for i, name := range x.Shards {
		shards[i] = filepath.Join(filepath.Dir(path), name)
	}
	return shards, nil
}
