package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tstore/tstore/layout"
)

// A want is what a reader must see in a tensor.
type want struct {
	Name       string      `json:"name"`
	DType      string      `json:"dtype"`
	Shape      []int64     `json:"shape"`
	Layout     string      `json:"layout"`
	NNZ        int64       `json:"nnz"`
	IndexTypes [2]string   `json:"index_types"` // of indptr and indices
	Bytes      int64       `json:"bytes"`       // of values and indices
	DimNames   []string    `json:"dim_names"`
	Attributes [][2]string `json:"attributes"`
	SHA256     string      `json:"sha256"` // of all elements in row-major order
	Place      place       `json:"place"`
}

// A place is where a record lies.
type place struct {
	Sequence uint64 `json:"sequence"`
	Segment  uint64 `json:"segment"`
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
	CRC      uint32 `json:"crc"`
}

// expect returns what a reader must see in t. What depends on how it is stored, the
// types of indices and the place, is left out.
func expect(name string, t layout.Tensor, attrs []layout.Attr) (want, error) {
	dense, err := layout.ToDense(t, nil)
	if err != nil {
		return want{}, err
	}
	sum := sha256.Sum256(dense.AppendRowMajor(nil))
	w := want{
		Name:       name,
		DType:      t.DType().String(),
		Shape:      append([]int64{}, t.Shape()...),
		Layout:     t.Layout().String(),
		NNZ:        t.NNZ(),
		Attributes: pairs(attrs),
		SHA256:     hex.EncodeToString(sum[:]),
	}
	if slices.ContainsFunc(t.DimNames(), func(s string) bool { return s != "" }) {
		w.DimNames = slices.Clone(t.DimNames())
	}
	return w, nil
}

func pairs(attrs []layout.Attr) [][2]string {
	p := make([][2]string, 0, len(attrs))
	for _, a := range attrs {
		p = append(p, [2]string{a.Key, a.Value})
	}
	return p
}

// must is for what is right by its making.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// elementTypes are all types that a tensor can have, of those with parameters some.
var elementTypes = []layout.DType{
	layout.Int8, layout.Int16, layout.Int32, layout.Int64,
	layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
	layout.Float16, layout.Float32, layout.Float64,
	layout.Bool, layout.BFloat16, layout.Float8E4M3FN, layout.Float8E5M2,
	layout.Complex64, layout.Complex128,
	must(layout.Date(layout.UnitDay)), must(layout.Date(layout.UnitMillisecond)),
	must(layout.Time(layout.UnitSecond, 32)), must(layout.Time(layout.UnitMillisecond, 32)),
	must(layout.Time(layout.UnitMicrosecond, 64)), must(layout.Time(layout.UnitNanosecond, 64)),
	must(layout.Timestamp(layout.UnitSecond, "")), must(layout.Timestamp(layout.UnitNanosecond, "Europe/Zürich")),
	must(layout.Duration(layout.UnitMillisecond)), must(layout.Duration(layout.UnitMicrosecond)),
	must(layout.Interval(layout.UnitYearMonth)), must(layout.Interval(layout.UnitDayTime)),
	must(layout.Interval(layout.UnitMonthDayNano)),
	must(layout.Decimal(9, 2, 32)), must(layout.Decimal(18, -3, 64)), must(layout.Decimal(38, 0, 128)), must(layout.Decimal(40, 7, 256)),
	must(layout.FixedSizeBinary(1)), must(layout.FixedSizeBinary(3)), must(layout.FixedSizeBinary(16)),
}

var layouts = []layout.Layout{layout.LayoutDense, layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF}

// randomElements returns the bytes of elements of which about one in so many is
// not zero.
func randomElements(random *rand.Rand, dt layout.DType, n int64, oneIn int) []byte {
	size := dt.Size()
	b := make([]byte, n*int64(size))
	for i := range b {
		b[i] = byte(random.Uint32())
		if dt == layout.Bool {
			b[i] &= 1
		}
	}
	for i := 0; i < len(b); i += size {
		if random.IntN(oneIn) > 0 {
			clear(b[i : i+size])
		}
	}
	return b
}

// randomDense returns a dense tensor in any order, with gaps or backwards too.
func randomDense(random *rand.Rand, dt layout.DType, shape []int64, oneIn int) *layout.Dense {
	n, _ := layout.CheckedProduct(shape, 1)
	data := randomElements(random, dt, n, oneIn)
	var d *layout.Dense
	switch random.IntN(4) {
	case 0:
		d = must(layout.NewColumnMajor(dt, shape, data))
	case 1: // every second one of a longer axis, from the end
		if len(shape) == 0 {
			d = must(layout.NewDense(dt, shape, data))
			break
		}
		longer := slices.Clone(shape)
		longer[0] *= 2
		d = must(layout.NewDense(dt, longer, append(data, data...)))
		d = must(d.Slice(0, longer[0]-1, -1, -2))
	default:
		d = must(layout.NewDense(dt, shape, data))
	}
	if random.IntN(2) == 0 && len(shape) > 0 {
		d = must(d.WithDimNames(randomDimNames(random, len(shape))...))
	}
	return d
}

func randomDimNames(random *rand.Rand, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = []string{"", "x", "größe", "時間", "a longer name of an axis"}[random.IntN(5)]
	}
	return names
}

// randomTensor returns a tensor of any type, shape, layout and type of indices.
func randomTensor(random *rand.Rand, dt layout.DType, l layout.Layout) layout.Tensor {
	dims := random.IntN(5)
	switch l {
	case layout.LayoutCSR, layout.LayoutCSC:
		dims = 2
	case layout.LayoutCSF:
		dims = 2 + random.IntN(3)
	}
	shape := make([]int64, dims)
	for i := range shape {
		shape[i] = random.Int64N(7)
	}
	if dims > 0 && random.IntN(8) == 0 {
		shape[random.IntN(dims)] = 150 // more than int8 holds
	}
	d := randomDense(random, dt, shape, 1+random.IntN(6))
	if l == layout.LayoutDense {
		return d
	}
	if l == layout.LayoutCOO && dims > 0 && random.IntN(3) == 0 {
		return duplicates(random, dt, shape)
	}
	for {
		o := &layout.ConvertOptions{
			Indptr:  layout.IndexType(random.IntN(9)),
			Indices: layout.IndexType(random.IntN(9)),
		}
		if l == layout.LayoutCSF && random.IntN(2) == 0 {
			o.AxisOrder = random.Perm(dims)
		}
		t, err := layout.Convert(d, l, o)
		if errors.Is(err, layout.ErrIndexType) {
			continue // these do not hold what is stored
		}
		return must(t, err)
	}
}

// duplicates returns a COO in no order, in which some elements are stored twice.
func duplicates(random *rand.Rand, dt layout.DType, shape []int64) layout.Tensor {
	n, _ := layout.CheckedProduct(shape, 1)
	nnz := min(n, 10)
	indices := make([]int16, 0, nnz*int64(len(shape)))
	seen := map[string]bool{}
	for range nnz {
		row := make([]int16, len(shape))
		for a, length := range shape {
			row[a] = int16(random.Int64N(length))
		}
		if key := fmt.Sprint(row); dt.IsOpaque() && seen[key] {
			nnz-- // there is no sum of these
			continue
		} else {
			seen[key] = true
		}
		indices = append(indices, row...)
	}
	data := randomElements(random, dt, nnz, 1)
	for i := range data { // small numbers: no NaN, whose bits a sum does not determine
		data[i] &= 0x3b
		if dt == layout.Bool {
			data[i] &= 1
		}
	}
	return must(layout.NewCOO(dt, shape, layout.IndexOf(indices), data, false))
}

func randomAttrs(random *rand.Rand) []layout.Attr {
	keys := []string{"unit", "source", "größe", "empty", "a=b", "\"quoted\"", "lines\nof text"}
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	attrs := make([]layout.Attr, 0, 4)
	for _, k := range keys[:random.IntN(4)] {
		attrs = append(attrs, layout.Attr{Key: k, Value: []string{"", "m/s", "測定", "0.1\x00\x01"}[random.IntN(4)]})
	}
	return attrs
}
