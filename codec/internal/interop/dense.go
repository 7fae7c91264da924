package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/codec/internal/peers"
	"github.com/tstore/tstore/layout"
)

// A denseCase is what a reader must see in a dense message.
type denseCase struct {
	File     string   `json:"file"`
	Elements string   `json:"elements"` // file with their bytes in row-major order
	DType    string   `json:"dtype"`
	Shape    []int64  `json:"shape"`
	Strides  []int64  `json:"strides"`
	DimNames []string `json:"dim_names"`
}

// arrowTypes are the element types that Arrow's own tensors can have.
var arrowTypes = []layout.DType{
	layout.Int8, layout.Int16, layout.Int32, layout.Int64,
	layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
	layout.Float16, layout.Float32, layout.Float64,
}

// storedAs has the element types that Arrow sees as another type, complex
// numbers with one axis more.
var storedAs = map[layout.DType]layout.DType{
	layout.Bool:         layout.Uint8,
	layout.BFloat16:     layout.Uint16,
	layout.Float8E4M3FN: layout.Uint8,
	layout.Float8E5M2:   layout.Uint8,
	layout.Complex64:    layout.Float32,
	layout.Complex128:   layout.Float64,
}

// compareDense writes dense messages for pyarrow to read and reads those that
// pyarrow writes.
func compareDense(python, script, dir string) error {
	if err := writeDense(dir); err != nil {
		return err
	}
	line, err := peers.Output(python, script, "check", dir)
	if err != nil {
		return err
	}
	var checked struct{ Compared, Walked int }
	if err := json.Unmarshal([]byte(line), &checked); err != nil {
		return fmt.Errorf("%s: %q: %w", script, line, err)
	}
	if err := peers.AtLeastOne("dense messages of tstore read by pyarrow", checked.Compared); err != nil {
		return err
	}
	if err := peers.AtLeastOne("messages of tstore walked by pyarrow's MessageReader", checked.Walked); err != nil {
		return err
	}
	if _, err := peers.Output(python, script, "write", dir); err != nil {
		return err
	}
	read, err := readDense(dir)
	if err != nil {
		return err
	}
	return peers.AtLeastOne("dense messages of pyarrow read by tstore", read)
}

// denseTensors yields tensors of every element type in every kind of order,
// and many random ones.
func denseTensors() []*layout.Dense {
	random := rand.New(rand.NewPCG(1, 2))
	var all []*layout.Dense
	add := func(d *layout.Dense, err error) {
		if err != nil {
			panic(err) // the cases are right by their making
		}
		all = append(all, d)
	}
	types := slices.Clone(arrowTypes)
	for dt := range storedAs {
		types = append(types, dt)
	}
	slices.SortFunc(types, func(a, b layout.DType) int { return int(a.Kind()) - int(b.Kind()) })
	shapes := [][]int64{{}, {0}, {5}, {0, 3}, {3, 0, 2}, {1, 4, 1}, {3, 4, 5}}
	for _, dt := range types {
		for _, shape := range shapes {
			d, err := layout.NewDense(dt, shape, peers.RandomElements(random, dt, shape))
			add(d, err)
			add(layout.NewColumnMajor(dt, shape, peers.RandomElements(random, dt, shape)))
			if len(shape) > 0 {
				add(d.WithDimNames([]string{"x", "größe", "z"}[:len(shape)]...))
				add(d.Slice(0, shape[0]-1, -1, -1))
			}
		}
	}
	for range 400 {
		dt := types[random.IntN(len(types))]
		shape := make([]int64, random.IntN(6))
		for i := range shape {
			shape[i] = random.Int64N(6)
		}
		d, err := layout.NewDense(dt, shape, peers.RandomElements(random, dt, shape))
		if err != nil {
			panic(err)
		}
		d, err = d.Transpose(random.Perm(len(shape))...)
		if err != nil {
			panic(err)
		}
		for axis, n := range d.Shape() {
			if d, err = d.Slice(axis, random.Int64N(n+1), n, 1+random.Int64N(2)); err != nil {
				panic(err)
			}
		}
		add(d, nil)
	}
	return all
}

// writeDense writes the messages, one by one and as a stream with control
// messages in between, and their descriptions.
func writeDense(dir string) error {
	index, err := os.Create(filepath.Join(dir, "ours.jsonl"))
	if err != nil {
		return err
	}
	defer index.Close()
	var stream []byte
	var kinds []string
	for i, d := range denseTensors() {
		record, err := codec.Encode(d, []layout.Attr{{Key: "tstore.name", Value: fmt.Sprint("t/", i)}, {Key: "unit", Value: "m"}})
		if err != nil {
			return err
		}
		c := describeDense(d)
		c.File, c.Elements = fmt.Sprintf("ours-%d.msg", i), fmt.Sprintf("ours-%d.raw", i)
		message := record.AppendTo(nil)
		if err := os.WriteFile(filepath.Join(dir, c.File), message, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, c.Elements), d.AppendRowMajor(nil), 0o644); err != nil {
			return err
		}
		if err := appendLine(index, c); err != nil {
			return err
		}
		if i%10 == 0 {
			body := int64(i%3) * codec.Alignment
			stream = append(stream, codec.ControlHead("tstore.commit", "", body)...)
			stream = append(stream, make([]byte, body)...)
			kinds = append(kinds, "unknown") // what pyarrow calls a message without a header
		}
		stream = append(stream, message...)
		kinds = append(kinds, "tensor")
	}
	stream = append(stream, codec.EndOfStream()...)
	if err := os.WriteFile(filepath.Join(dir, "ours.stream"), stream, 0o644); err != nil {
		return err
	}
	names, err := json.Marshal(kinds)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "ours.stream.json"), names, 0o644)
}

// describeDense returns what an Arrow reader sees of d.
func describeDense(d *layout.Dense) denseCase {
	c := denseCase{
		DType:    d.DType().String(),
		Shape:    slices.Clone(d.Shape()),
		Strides:  make([]int64, len(d.Shape())),
		DimNames: append([]string{}, d.DimNames()...),
	}
	size := int64(d.DType().Size())
	if d.IsContiguous() || !d.IsColumnMajor() {
		layout.RowMajorStrides(c.Strides, c.Shape, size)
	} else {
		layout.ColumnMajorStrides(c.Strides, c.Shape, size)
	}
	if stored, ok := storedAs[d.DType()]; ok {
		c.DType = stored.String()
		if d.DType().Size() != stored.Size() {
			c.Shape = append(c.Shape, 2)
			c.Strides = append(c.Strides, int64(stored.Size()))
		}
	}
	for len(c.DimNames) < len(c.Shape) {
		c.DimNames = append(c.DimNames, "")
	}
	return c
}

// readDense reads what pyarrow wrote and returns how many messages agreed.
func readDense(dir string) (int, error) {
	index, err := os.Open(filepath.Join(dir, "theirs.jsonl"))
	if err != nil {
		return 0, err
	}
	defer index.Close()
	n := 0
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		var want denseCase
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			return n, err
		}
		if err := compareWithFile(dir, want); err != nil {
			return n, fmt.Errorf("%s: %w", want.File, err)
		}
		n++
	}
	return n, lines.Err()
}

func compareWithFile(dir string, want denseCase) error {
	message, err := os.ReadFile(filepath.Join(dir, want.File))
	if err != nil {
		return err
	}
	elements, err := os.ReadFile(filepath.Join(dir, want.Elements))
	if err != nil {
		return err
	}
	tensor, err := codec.Decode(message)
	if err != nil {
		return err
	}
	d := tensor.(*layout.Dense)
	names := d.DimNames()
	if names == nil {
		names = make([]string, len(d.Shape()))
	}
	switch {
	case d.DType().String() != want.DType:
		return fmt.Errorf("element type %v, pyarrow wrote %v", d.DType(), want.DType)
	case !slices.Equal(d.Shape(), want.Shape):
		return fmt.Errorf("shape %v, pyarrow wrote %v", d.Shape(), want.Shape)
	case !slices.Equal(d.Strides(), want.Strides):
		return fmt.Errorf("strides %v, pyarrow reads %v", d.Strides(), want.Strides)
	case !slices.Equal(names, want.DimNames):
		return fmt.Errorf("dimension names %q, pyarrow reads %q", names, want.DimNames)
	case !bytes.Equal(d.AppendRowMajor(nil), elements):
		return fmt.Errorf("the elements differ")
	}
	return nil
}
