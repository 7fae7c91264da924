package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/codec/internal/peers"
	"github.com/tstore/tstore/layout"
)

// tensorCase is what a reader must see of a tensor of a file: a line of ours.jsonl or theirs.jsonl.
type tensorCase struct {
	File     string  `json:"file"`
	Name     string  `json:"name"`
	DType    string  `json:"dtype"` // as a tensor calls it
	Shape    []int64 `json:"shape"`
	Elements string  `json:"elements"` // row-major, little-endian, hex

	Fortran bool   `json:"fortran"` // the file keeps the first axis contiguous
	Layout  string `json:"layout"`  // of a sparse tensor
	NNZ     int64  `json:"nnz"`

	Metadata map[string]string `json:"metadata"` // of the file
}

// description collects cases in a file.
type description struct {
	file *os.File
	json *json.Encoder
}

func describe(dir string) (*description, error) {
	f, err := os.Create(filepath.Join(dir, "ours.jsonl"))
	if err != nil {
		return nil, err
	}
	return &description{f, json.NewEncoder(f)}, nil
}

// add describes a dense tensor, or what a sparse one is as a dense one.
func (d *description) add(file, name string, t layout.Tensor, metadata map[string]string) error {
	dense, err := layout.ToDense(t, nil)
	if err != nil {
		return err
	}
	c := tensorCase{
		File: file, Name: name, DType: t.DType().String(), Shape: append([]int64{}, t.Shape()...),
		Elements: hex.EncodeToString(dense.AppendRowMajor(nil)), NNZ: t.NNZ(), Metadata: metadata,
	}
	switch t := t.(type) {
	case *layout.Dense:
		c.Fortran = t.IsColumnMajor() && !t.IsContiguous()
	case *layout.CSF:
		c.Layout = layout.LayoutCOO.String() // as which it is written
	default:
		c.Layout = t.Layout().String()
	}
	return d.json.Encode(c)
}

func (d *description) close() error { return d.file.Close() }

// differs says how a tensor that was read is not what another program says, or nil.
func (c *tensorCase) differs(t layout.Tensor) error {
	dense, err := layout.ToDense(t, nil)
	if err != nil {
		return err
	}
	var all []error
	check := func(what string, got, want any) {
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			all = append(all, fmt.Errorf("%s: tstore reads %.200s, they wrote %.200s", what, g, w))
		}
	}
	check("element type", t.DType(), c.DType)
	check("shape", t.Shape(), c.Shape)
	check("elements", hex.EncodeToString(dense.AppendRowMajor(nil)), c.Elements)
	if d, ok := t.(*layout.Dense); ok {
		check("Fortran order", d.IsColumnMajor() && !d.IsContiguous(), c.Fortran)
	} else {
		check("layout", t.Layout(), c.Layout)
		check("stored elements", t.NNZ(), c.NNZ)
	}
	return errors.Join(all...)
}

// numpyTypes are the element types that NumPy has too.
func numpyTypes() []layout.DType {
	types := []layout.DType{
		layout.Int8, layout.Int16, layout.Int32, layout.Int64,
		layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
		layout.Float16, layout.Float32, layout.Float64,
		layout.Bool, layout.Complex64, layout.Complex128,
	}
	day, err := layout.Date(layout.UnitDay)
	types = append(types, must(day, err))
	for _, unit := range []layout.Unit{layout.UnitSecond, layout.UnitMillisecond, layout.UnitMicrosecond, layout.UnitNanosecond} {
		types = append(types, must(layout.Timestamp(unit, "")), must(layout.Duration(unit)))
	}
	return types
}

// must is for what is right by its making.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// denseTensors are tensors of a type in many shapes and orders.
func denseTensors(random *rand.Rand, dt layout.DType) []*layout.Dense {
	var all []*layout.Dense
	for _, shape := range [][]int64{{}, {0}, {5}, {1}, {0, 3}, {3, 0, 2}, {1, 4, 1}, {3, 4}, {2, 3, 4}} {
		d := must(layout.NewDense(dt, shape, peers.RandomElements(random, dt, shape)))
		all = append(all, d, must(layout.NewColumnMajor(dt, shape, peers.RandomElements(random, dt, shape))))
		if len(shape) > 0 {
			all = append(all, must(d.Slice(0, shape[0]-1, -1, -1)))
		}
		if len(shape) == 3 {
			all = append(all, must(d.Transpose(1, 2, 0)))
		}
	}
	return all
}

// randomSparse returns a dense tensor of which a third of the elements is not zero.
func randomSparse(random *rand.Rand, dt layout.DType, shape []int64) *layout.Dense {
	b := peers.RandomElements(random, dt, shape)
	for element := range slices.Chunk(b, dt.Size()) {
		if random.IntN(3) > 0 {
			clear(element)
		}
	}
	return must(layout.NewDense(dt, shape, b))
}
