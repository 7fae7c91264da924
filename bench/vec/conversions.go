package main

import (
	"fmt"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/vec"
)

var layouts = []layout.Layout{layout.LayoutDense, layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF}

// conversions measures what package layout makes of the kernels, on the same array: every conversion between dense
// and the sparse layouts, and among these.
func (b *bench) conversions(e element, density float64) {
	for _, dims := range [][]uint64{{uint64(b.matrix), uint64(b.matrix)}, b.four} {
		dense := b.dense(e, dims)
		for _, index := range []layout.IndexType{layout.IndexInt32, layout.IndexInt64} {
			for _, from := range layouts {
				var source layout.Tensor // made when it is needed
				for _, to := range layouts {
					name := fmt.Sprintf("%v to %v", from, to)
					if from == to || len(dims) != 2 && (isMatrix(from) || isMatrix(to)) || !b.names.MatchString(name) {
						continue
					}
					if source == nil {
						source = must(layout.Convert(dense, from, &layout.ConvertOptions{Indptr: index, Indices: index}))
					}
					var reused target
					b.measure(e, density, measurement{name: name, index: vec.Index(index), shape: dims, run: func(threads int, fresh bool) {
						o := &layout.ConvertOptions{Indptr: index, Indices: index, Goroutines: threads}
						if fresh {
							must(layout.Convert(source, to, o))
						} else {
							reused.convert(source, to, o)
						}
					}})
				}
			}
		}
	}
}

// dense returns the array as a tensor of a shape.
func (b *bench) dense(e element, dims []uint64) *layout.Dense {
	shape := make([]int64, len(dims))
	for i, d := range dims {
		shape[i] = int64(d)
	}
	return must(layout.NewDense(e.dtype, shape, b.arrays.dense[:product(dims)*e.size()]))
}

// target is what is converted into, again and again.
type target struct {
	dense layout.Dense
	coo   layout.COO
	csr   layout.CSR
	csc   layout.CSC
	csf   layout.CSF
}

func (t *target) convert(source layout.Tensor, to layout.Layout, o *layout.ConvertOptions) {
	var err error
	switch to {
	case layout.LayoutDense:
		err = layout.ToDenseInto(&t.dense, source, o)
	case layout.LayoutCOO:
		err = layout.ToCOOInto(&t.coo, source, o)
	case layout.LayoutCSR:
		err = layout.ToCSRInto(&t.csr, source, o)
	case layout.LayoutCSC:
		err = layout.ToCSCInto(&t.csc, source, o)
	case layout.LayoutCSF:
		err = layout.ToCSFInto(&t.csf, source, o)
	}
	if err != nil {
		panic(err)
	}
}

// isMatrix reports whether a layout takes matrices only.
func isMatrix(l layout.Layout) bool { return l == layout.LayoutCSR || l == layout.LayoutCSC }

// must returns a result that can't fail on the arrays that are measured.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
