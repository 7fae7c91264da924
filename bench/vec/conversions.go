package main

import (
	"fmt"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/vec"
)

// conversions measures what package layout makes of the kernels, on the same array: every conversion between dense
// and the sparse layouts, and among these. Outputs are fresh.
func (b *bench) conversions(e vec.Elem, density float64) {
	dt, ok := dtypes[e]
	if !ok {
		return
	}
	layouts := []layout.Layout{layout.LayoutDense, layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF}
	for _, dims := range [][]uint64{{uint64(b.matrix), uint64(b.matrix)}, b.four} {
		dense := must(layout.NewDense(dt, signed(dims), b.arrays.dense[:product(dims)*e.Size()]))
		for _, index := range []layout.IndexType{layout.IndexInt32, layout.IndexInt64} {
			options := &layout.ConvertOptions{Indptr: index, Indices: index}
			for _, from := range layouts {
				var source layout.Tensor // made when it is needed
				for _, to := range layouts {
					name := fmt.Sprintf("%v to %v", from, to)
					if from == to || len(dims) != 2 && (isMatrix(from) || isMatrix(to)) || !b.names.MatchString(name) {
						continue
					}
					if source == nil {
						source = must(layout.Convert(dense, from, options))
					}
					b.measure(e, density, measurement{name: name, index: vec.Index(index), shape: dims, alone: true, allocates: true,
						run: func(int, bool) { must(layout.Convert(source, to, options)) }})
				}
			}
		}
	}
}

var dtypes = map[vec.Elem]layout.DType{
	vec.Bits8: layout.Int8, vec.Bits16: layout.Int16, vec.Bits32: layout.Int32, vec.Bits64: layout.Int64,
	vec.Float16: layout.Float16, vec.Float32: layout.Float32, vec.Float64: layout.Float64,
	vec.Complex64: layout.Complex64, vec.Complex128: layout.Complex128,
}

// isMatrix reports whether a layout takes matrices only.
func isMatrix(l layout.Layout) bool { return l == layout.LayoutCSR || l == layout.LayoutCSC }

func signed(dims []uint64) []int64 {
	shape := make([]int64, len(dims))
	for i, d := range dims {
		shape[i] = int64(d)
	}
	return shape
}

// must returns a result that can't fail on the arrays that are measured.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
