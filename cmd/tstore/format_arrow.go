package main

import (
	"io"

	"github.com/tstore/tstore/cmd/tstore/internal/arrowfile"
	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// arrowFormat and arrowStreamFormat are tables in Arrow's own files, as pandas, polars and DuckDB read
// them.
var (
	arrowFormat       = arrowTable("arrow", startsWith("ARROW1"), ".arrow", ".feather")
	arrowStreamFormat = arrowTable("arrows", beginsWithSchema, ".arrows")
)

func arrowTable(name string, begins func(b []byte) bool, extensions ...string) *format {
	write := func(w io.Writer, heads []*store.Entry, tensor func(i int) (*layout.Dense, error)) error {
		specs := make([]arrowfile.Spec, len(heads))
		for i, h := range heads {
			specs[i] = arrowfile.Spec{Name: h.Name, DType: h.DType, Shape: h.Shape, DimNames: h.DimNames, Attrs: h.Attrs}
		}
		return arrowfile.Write(w, name == "arrows", specs, tensor)
	}
	return &format{
		name:       name,
		extensions: extensions,
		begins:     begins,
		dense:      always,
		read: func(in *input, _ readOptions) (*archive, error) {
			f, err := arrowfile.Open(in.bytes)
			if err != nil {
				return nil, err
			}
			a := &archive{}
			for _, s := range f.Skipped {
				a.skipped = append(a.skipped, skipped{s.Column, s.Why})
			}
			for _, m := range f.Members {
				a.names = append(a.names, m.Name)
			}
			a.load = func(i int) (content, error) {
				d, attrs, err := f.Members[i].Tensor()
				return content{tensor: d, attrs: attrs}, err
			}
			return a, nil
		},
		write: func(w io.Writer, c content) error {
			d := c.tensor.(*layout.Dense)
			head := &store.Entry{Name: c.name, DType: d.DType(), Shape: d.Shape(), DimNames: d.DimNames(), Attrs: c.attrs}
			return write(w, []*store.Entry{head}, func(int) (*layout.Dense, error) { return d, nil })
		},
		writeAll: write,
	}
}

// beginsWithSchema reports whether a file begins with a schema, as a stream does. A .msg file begins with a
// tensor.
func beginsWithSchema(b []byte) bool {
	return startsWith("\xff\xff\xff\xff")(b) && arrowfile.IsStream(b)
}

// beginsWithTensor reports whether a file begins with a message that is a tensor.
func beginsWithTensor(b []byte) bool {
	_, err := codec.HeadSize(b[:min(len(b), codec.PrefixLen)])
	return err == nil && startsWith("\xff\xff\xff\xff")(b) && !arrowfile.IsStream(b)
}
