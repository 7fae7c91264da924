package main

import (
	"fmt"
	"strings"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// describe says what Arrow C++ sees in a message whose tensor and custom
// metadata are given, in the words of describe() in arrow/messages.cc.
func describe(t layout.Tensor, meta []layout.Attr) (string, error) {
	var s strings.Builder
	line := func(name string, values ...any) {
		s.WriteString(name)
		for _, v := range values {
			fmt.Fprint(&s, " ", v)
		}
		s.WriteByte('\n')
	}
	if d, ok := t.(*layout.Dense); ok {
		c := describeDense(d)
		line("layout", "dense")
		line("dtype", arrowName(c.DType))
		line("shape", list(c.Shape)...)
		line("names", list(hexes(c.DimNames))...)
		line("strides", list(c.Strides)...)
		line("data", hex(d.AppendRowMajor(nil)))
	} else if err := describeSparse(t, line); err != nil {
		return "", err
	}
	for _, a := range meta {
		line("metadata", hex([]byte(a.Key)), hex([]byte(a.Value)))
	}
	return s.String(), nil
}

func describeSparse(t layout.Tensor, line func(name string, values ...any)) error {
	stored := t.DType()
	switch other, ok := storedAs[t.DType()]; {
	case t.DType() == layout.Complex64:
		stored = layout.Uint64
	case ok:
		stored = other
	}
	names := t.DimNames()
	if names == nil {
		names = make([]string, len(t.Shape()))
	}
	line("layout", t.Layout())
	line("dtype", arrowName(stored.String()))
	line("shape", list(t.Shape())...)
	line("names", list(hexes(names))...)
	line("nnz", t.NNZ())
	array := func(name string, x layout.Index) {
		line(name, x.Type(), hex(x.Bytes()))
	}
	var data []byte
	switch t := t.(type) {
	case *layout.COO:
		canonical := 0
		if t.IsCanonical() {
			canonical = 1
		}
		line("canonical", canonical)
		// Neither writes anything but row-major indices.
		array("indices", t.Indices())
		data = t.Data()
	case *layout.CSR:
		array("indptr", t.Indptr())
		array("indices", t.Indices())
		data = t.Data()
	case *layout.CSC:
		array("indptr", t.Indptr())
		array("indices", t.Indices())
		data = t.Data()
	case *layout.CSF:
		line("axis_order", list(t.AxisOrder())...)
		for level := range len(t.Shape()) - 1 {
			array("indptr", t.Indptr(level))
		}
		for level := range t.Shape() {
			array("indices", t.Indices(level))
		}
		data = t.Data()
	}
	line("data", hex(data))
	dense, err := layout.ToDense(t, nil)
	if err != nil {
		return err
	}
	line("dense", hex(dense.AppendRowMajor(nil)))
	return nil
}

// arrowName is Arrow's name of an element type.
func arrowName(dtype string) string {
	switch dtype {
	case "float16":
		return "halffloat"
	case "float32":
		return "float"
	case "float64":
		return "double"
	}
	return dtype
}

func list[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

func hex(b []byte) string { return fmt.Sprintf("x%x", b) }

func hexes(s []string) []string {
	out := make([]string, len(s))
	for i := range s {
		out[i] = hex([]byte(s[i]))
	}
	return out
}

// metadata returns the custom metadata of a message.
func metadata(msg []byte) ([]layout.Attr, error) {
	h, err := codec.ParseHead(msg)
	if err != nil {
		return nil, err
	}
	var meta []layout.Attr
	for k, v := range h.Metadata() {
		meta = append(meta, layout.Attr{Key: k, Value: v})
	}
	return meta, nil
}
