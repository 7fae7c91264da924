package codec_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

const (
	goldenDir = "../testdata/golden/arrow"
	corpusDir = "../testdata/corpus"
)

// A golden is a line of manifest.jsonl: what Arrow C++ read from a message.
type golden struct {
	File           string
	Layout         string
	DType          string
	Shape          []int64
	Strides        []int64
	DimNames       []string      `json:"dim_names"`
	RowMajorValues []json.Number `json:"row_major_values"`

	// Sparse layouts only, each what it has.
	NonZeroLength int64   `json:"non_zero_length"`
	IndexType     string  `json:"index_type"`
	IndptrType    string  `json:"indptr_type"`
	IndexStrides  []int64 `json:"index_strides"`
	IsCanonical   bool    `json:"is_canonical"`
	AxisOrder     []int   `json:"axis_order"`
	LevelSizes    []int64 `json:"level_sizes"`
}

// values returns the elements as text.
func (g golden) values() []string {
	values := make([]string, len(g.RowMajorValues))
	for i, v := range g.RowMajorValues {
		values[i] = v.String()
	}
	return values
}

// goldens returns the lines of the manifest that are about the given layouts.
func goldens(t testing.TB, layouts string) []golden {
	t.Helper()
	var all []golden
	for _, g := range lines[golden](t, goldenDir+"/manifest.jsonl") {
		if strings.Contains(layouts, g.Layout) {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no golden message of layout %s", layouts)
	}
	return all
}

// arrowName is Arrow's name of an element type.
func arrowName(dt layout.DType) string {
	switch dt {
	case layout.Float16:
		return "halffloat"
	case layout.Float32:
		return "float"
	case layout.Float64:
		return "double"
	}
	return dt.String()
}

// arrowNames is how Arrow shows the dimension names of a tensor: empty ones
// where there are none.
func arrowNames(t layout.Tensor) []string {
	if names := t.DimNames(); names != nil {
		return names
	}
	return make([]string, len(t.Shape()))
}

// printed returns the elements of t in row-major order as the manifest has
// them.
func printed(t testing.TB, d *layout.Dense) []string {
	t.Helper()
	d = d.Contiguous()
	switch d.DType() {
	case layout.Int8:
		return format(t, d, func(v int8) string { return strconv.Itoa(int(v)) })
	case layout.Int16:
		return format(t, d, func(v int16) string { return strconv.Itoa(int(v)) })
	case layout.Int32:
		return format(t, d, func(v int32) string { return strconv.Itoa(int(v)) })
	case layout.Int64:
		return format(t, d, func(v int64) string { return strconv.Itoa(int(v)) })
	case layout.Uint8:
		return format(t, d, func(v uint8) string { return strconv.Itoa(int(v)) })
	case layout.Uint16:
		return format(t, d, func(v uint16) string { return strconv.Itoa(int(v)) })
	case layout.Uint32:
		return format(t, d, func(v uint32) string { return strconv.Itoa(int(v)) })
	case layout.Uint64:
		return format(t, d, func(v uint64) string { return strconv.FormatUint(v, 10) })
	case layout.Float16:
		return format(t, d, func(v layout.F16) string { return strconv.FormatFloat(float64(v.Float32()), 'g', 9, 64) })
	case layout.Float32:
		return format(t, d, func(v float32) string { return strconv.FormatFloat(float64(v), 'g', 9, 64) })
	case layout.Float64:
		return format(t, d, func(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) })
	}
	t.Fatalf("no golden message has elements of %v", d.DType())
	return nil
}

func format[T layout.Element](t testing.TB, d *layout.Dense, f func(T) string) []string {
	t.Helper()
	values, err := layout.Values[T](d)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

func TestGoldenDense(t *testing.T) {
	for _, g := range goldens(t, "dense") {
		t.Run(g.File, func(t *testing.T) {
			msg := readFile(t, goldenDir, g.File)
			got, err := codec.Decode(msg)
			if err != nil {
				t.Fatal(err)
			}
			d := got.(*layout.Dense)
			want := []any{g.DType, g.Shape, g.Strides, g.DimNames}
			have := []any{arrowName(d.DType()), d.Shape(), d.Strides(), arrowNames(d)}
			if diff := cmp.Diff(want, have, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("manifest (-) and decoded (+) differ:\n%s", diff)
			}
			if diff := cmp.Diff(g.values(), printed(t, d), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("values of the manifest (-) and decoded (+) differ:\n%s", diff)
			}

			checkDescribed(t, msg, d)
		})
	}
}

func TestGoldenSparse(t *testing.T) {
	for _, g := range goldens(t, "coo csr csc csf") {
		t.Run(g.File, func(t *testing.T) {
			msg := readFile(t, goldenDir, g.File)
			got, err := codec.Decode(msg)
			if err != nil {
				t.Fatal(err)
			}
			if err := codec.Validate(got); err != nil {
				t.Error(err)
			}
			have := golden{
				File:           g.File,
				RowMajorValues: g.RowMajorValues, // compared below
				Layout:         got.Layout().String(),
				DType:          arrowName(got.DType()),
				Shape:          got.Shape(),
				DimNames:       arrowNames(got),
				NonZeroLength:  got.NNZ(),
			}
			indptr, indices := layout.IndexTypes(got)
			have.IndexType = indices.String()
			switch got := got.(type) {
			case *layout.COO:
				row, column := got.IndexStrides()
				have.IndexStrides = []int64{row, column}
				have.IsCanonical = got.IsCanonical()
			case *layout.CSR, *layout.CSC:
				have.IndptrType = indptr.String()
			case *layout.CSF:
				have.AxisOrder = got.AxisOrder()
				for level := range got.Shape() {
					have.LevelSizes = append(have.LevelSizes, got.Indices(level).Len())
				}
			}
			if diff := cmp.Diff(g, have, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("manifest (-) and decoded (+) differ:\n%s", diff)
			}
			dense, err := layout.ToDense(got, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(g.values(), printed(t, dense)); diff != "" {
				t.Errorf("values of the manifest (-) and decoded (+) differ:\n%s", diff)
			}
			checkDescribed(t, msg, got)
		})
	}
}
