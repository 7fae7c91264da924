package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

// safetensorsTypes are the element types that a .safetensors file has.
var safetensorsTypes = []layout.DType{
	layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
	layout.Int8, layout.Int16, layout.Int32, layout.Int64,
	layout.Float16, layout.Float32, layout.Float64, layout.BFloat16,
	layout.Float8E4M3FN, layout.Float8E5M2, layout.Bool, layout.Complex64,
}

// writeSafetensors writes a file for each element type, and one with all of them.
func writeSafetensors(dir string) error {
	random := rand.New(rand.NewPCG(7, 8))
	index, err := describe(dir)
	if err != nil {
		return err
	}
	defer index.close()
	write := func(file string, types ...layout.DType) error {
		metadata := map[string]string{"format": "np", "größe": file, "empty": "", "odd": "\"\\\n\x01\u2028\U0001f600"}
		var attrs []layout.Attr
		for k, v := range metadata {
			attrs = append(attrs, layout.Attr{Key: k, Value: v})
		}
		var tensors []safetensors.Named
		for _, dt := range types {
			for _, d := range denseTensors(random, dt) {
				name := fmt.Sprintf("größe.%v.%d \"\n", dt, len(tensors))
				tensors = append(tensors, safetensors.Named{Name: name, Tensor: d})
				// The order of the axes is not kept.
				if err := index.add(file, name, d.Contiguous(), metadata); err != nil {
					return err
				}
			}
		}
		f, err := os.Create(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		if err := safetensors.Encode(f, tensors, attrs); err != nil {
			return err
		}
		return f.Close()
	}
	for _, dt := range safetensorsTypes {
		if err := write(fmt.Sprintf("ours-%v.safetensors", dt), dt); err != nil {
			return err
		}
	}
	if err := write("ours-all.safetensors", safetensorsTypes...); err != nil {
		return err
	}
	return index.close()
}

// readSafetensors compares a tensor of a file that the library wrote, and the file's metadata.
func readSafetensors(dir string, want tensorCase) error {
	b, err := os.ReadFile(filepath.Join(dir, want.File))
	if err != nil {
		return err
	}
	f, err := safetensors.Parse(b)
	if err != nil {
		return err
	}
	if len(f.Metadata) != len(want.Metadata) {
		return fmt.Errorf("metadata %q, they wrote %q", f.Metadata, want.Metadata)
	}
	for _, a := range f.Metadata {
		if value, ok := want.Metadata[a.Key]; !ok || value != a.Value {
			return fmt.Errorf("metadata %q, they wrote %q", a, want.Metadata)
		}
	}
	for _, e := range f.Entries {
		if e.Name == want.Name {
			d, err := e.Tensor()
			if err != nil {
				return err
			}
			return want.differs(d)
		}
	}
	return fmt.Errorf("there is no such tensor")
}
