package main

import (
	"fmt"

	"github.com/tstore/tstore/vec"
)

// measurement is something that is timed for each version, alone and on all processors, with reused and with
// fresh outputs.
type measurement struct {
	name  string
	index vec.Index // 0 if there are no indices
	shape []uint64
	run   func(threads int, fresh bool)
	alone bool // it has no parts that several goroutines could do, and outputs that are reused
}

// kernels measures the kernels on an array.
func (b *bench) kernels(e element, density float64) {
	a, n, size := b.arrays, b.matrix, e.size()
	matrix := []uint64{uint64(n), uint64(n)}
	dense := a.dense[:n*n*size]
	four := a.dense[:product(b.four)*size]

	// Rows of the matrix, for each of some goroutines.
	rows := func(threads, part int) (from, to int) { return n * part / threads, n * (part + 1) / threads }
	output := func(fresh bool, reused []byte, n int) []byte {
		if !fresh {
			return reused[:min(n, len(reused))]
		}
		out := make([]byte, n)
		vec.AdviseHuge(out)
		return out
	}

	b.measure(e, density, measurement{name: "count", shape: matrix, run: func(threads int, fresh bool) {
		parallel(threads, func(part int) {
			from, to := rows(threads, part)
			vec.CountNonZero(dense[from*n*size:to*n*size], e.vec)
		})
	}})
	b.measure(e, density, measurement{name: "count strided", shape: []uint64{uint64(n), uint64(n)}, run: func(threads int, fresh bool) {
		parallel(threads, func(part int) {
			from, to := rows(threads, part)
			vec.CountNonZeroStrided(dense[from*n*size:to*n*size], e.vec, (to-from)*n/3, 3*size)
		})
	}})
	if e.vec == vec.Float32 || e.vec == vec.Float64 {
		b.describe(e, density, dense)
	}
	nnz := vec.CountNonZero(dense, e.vec)
	for _, t := range []vec.Index{vec.I32, vec.I64} {
		isize := t.Size()
		b.measure(e, density, measurement{name: "compact", index: t, shape: matrix, run: func(threads int, fresh bool) {
			parallel(threads, func(part int) {
				// Each goroutine has its part of the outputs, with some room to spare.
				from, to := rows(threads, part)
				room := min(nnz/threads+nnz/50+4096, (to-from)*n)
				if !fresh {
					room = len(a.values) / size / threads
				}
				values := output(fresh, a.values[room*size*part:], room*size)
				indices := output(fresh, a.indices[min(room*isize*part, len(a.indices)):], min(room*isize, len(a.indices)/threads/isize*isize))
				k := 0
				for r := from; r < to; r++ {
					_, found := vec.Compact(values[k*size:], indices[k*isize:], t, dense[r*n*size:(r+1)*n*size], e.vec, 0)
					k += found
				}
			})
		}})
		if density <= 0.2 || size > 1 {
			coords := a.indices[:len(a.indices)/(2*isize)*(2*isize)]
			b.measure(e, density, measurement{name: "coords 2-D", index: t, shape: matrix, alone: true, run: func(int, bool) {
				vec.CompactCoords(a.values, coords, t, dense, e.vec, matrix, 0)
			}})
			coords4 := a.indices[:len(a.indices)/(4*isize)*(4*isize)]
			if int(float64(product(b.four))*density)*4*isize < len(coords4) {
				b.measure(e, density, measurement{name: "coords 4-D", index: t, shape: b.four, alone: true, run: func(int, bool) {
					vec.CompactCoords(a.values, coords4, t, four, e.vec, b.four, 0)
				}})
			}
		}
		b.tree(e, density, t, "tree natural", []int{0, 1, 2, 3}, four)
		b.tree(e, density, t, "tree ascending", []int{0, 1, 3, 2}, four)
		b.columns(e, density, t, dense)
		b.scatter(e, density, t, dense)
	}
}

func (b *bench) tree(e element, density float64, t vec.Index, name string, order []int, src []byte) {
	a := b.arrays
	tree := &vec.Tree{Indices: t, Pointers: t, Levels: make([]vec.Level, 4)}
	b.measure(e, density, measurement{name: name, index: t, shape: b.four, alone: true, run: func(int, bool) {
		*tree = vec.Tree{Values: a.values, Indices: t, Pointers: t, Levels: tree.Levels}
		for l := range tree.Levels {
			tree.Levels[l] = vec.Level{Indices: a.more[l].indices, Pointers: a.more[l].pointers}
		}
		tree.Levels[3].Indices = a.indices
		if _, short := tree.AppendOrder(src, e.vec, b.four, order, 0); short >= 0 {
			panic(fmt.Sprintf("level %d has too little room", short))
		}
	}})
}

func (b *bench) columns(e element, density float64, t vec.Index, src []byte) {
	a, n := b.arrays, b.matrix
	var c vec.Columns
	pointers := make([]byte, n*8)
	b.measure(e, density, measurement{name: "columns", index: t, shape: []uint64{uint64(n), uint64(n)}, alone: true, run: func(int, bool) {
		c.Start(src, e.vec, n, n, n*e.size())
		k := 0
		for c.Next() {
			from, _ := c.Columns()
			c.Write(a.values[k*e.size():], a.indices[k*t.Size():], t, pointers[from*8:], vec.I64, uint64(k))
			k += c.Len()
		}
	}})
}

func (b *bench) scatter(e element, density float64, t vec.Index, src []byte) {
	a, n, size := b.arrays, b.matrix, e.size()
	matrix := []uint64{uint64(n), uint64(n)}
	dst := a.back[:n*n*size]
	pointers := make([]int64, n+1)
	k := 0
	for r := range n {
		_, found := vec.Compact(a.values[k*size:], a.indices[k*t.Size():], t, src[r*n*size:(r+1)*n*size], e.vec, 0)
		k += found
		pointers[r+1] = int64(k)
	}
	values, indices := a.values[:k*size], a.indices[:k*t.Size()]
	for _, rows := range []struct {
		name    string
		scatter func(dst []byte, zeroed bool, size, cols int, pointers []byte, pt vec.Index, indices []byte, t vec.Index, values []byte) error
	}{{"scatter rows", vec.ScatterRows}, {"scatter ascending rows", vec.ScatterAscending}} {
		b.measure(e, density, measurement{name: rows.name, index: t, shape: matrix, run: func(threads int, fresh bool) {
			out := dst
			if fresh {
				out = make([]byte, len(dst))
				vec.AdviseHuge(out)
			}
			parallel(threads, func(part int) {
				from, to := n*part/threads, n*(part+1)/threads
				no(rows.scatter(out[from*n*size:to*n*size], false, size, n, vec.Bytes(pointers[from:to+1]), vec.I64, indices, t, values))
			})
		}})
	}
	// The same matrix transposed, column by column.
	for _, columns := range []struct {
		name    string
		scatter func(dst []byte, zeroed bool, size, cols int, pointers []byte, pt vec.Index, indices []byte, t vec.Index, values []byte) error
	}{{"scatter columns", vec.ScatterColumns}, {"scatter ascending columns", vec.ScatterAscendingColumns}} {
		b.measure(e, density, measurement{name: columns.name, index: t, shape: matrix, alone: true, run: func(int, bool) {
			no(columns.scatter(dst, false, size, n, vec.Bytes(pointers), vec.I64, indices, t, values))
		}})
	}
	var c vec.Columns
	outValues, outIndices, outPointers := a.back, a.more[0].indices, make([]byte, n*8)
	if k*size <= len(outValues) && k*t.Size() <= len(outIndices) {
		b.measure(e, density, measurement{name: "transpose lines", index: t, shape: matrix, alone: true, run: func(int, bool) {
			if _, err := c.StartLines(vec.Bytes(pointers), vec.I64, indices, t, values, size, n); err != nil {
				panic(err)
			}
			at := 0
			for c.Next() {
				from, _ := c.Columns()
				c.Write(outValues[at*size:], outIndices[at*t.Size():], t, outPointers[from*8:], vec.I64, uint64(at))
				at += c.Len()
			}
		}})
	}
}

// describe measures what describes floating-point numbers, block by block.
func (b *bench) describe(e element, density float64, dense []byte) {
	const block = 4096
	shape := []uint64{uint64(b.matrix), uint64(b.matrix)}
	b.measure(e, density, measurement{name: "moments", shape: shape, alone: true, run: func(int, bool) {
		for from := 0; from < len(dense); from += block * e.size() {
			vec.FloatMoments(dense[from:min(from+block*e.size(), len(dense))], e.vec, 1)
		}
	}})
	m, _ := vec.FloatMoments(dense, e.vec, 1)
	for _, bins := range []int{10, 100} {
		edges := make([]float64, bins+1)
		for k := range edges {
			edges[k] = m.Min + (m.Max-m.Min)*float64(k)/float64(bins)
		}
		b.measure(e, density, measurement{name: fmt.Sprintf("histogram %d", bins), shape: shape, alone: true, run: func(int, bool) {
			vec.Histogram(make([]int64, bins), edges, dense, e.vec, true)
		}})
	}
}

// indices measures the checks and conversions of arrays of indices. A speed counts the bytes that are read.
func (b *bench) indices() {
	if !b.names.MatchString("indices in range") && !b.names.MatchString("indices in order") && !b.names.MatchString("indices converted") {
		return
	}
	n := b.matrix * b.matrix
	wide, narrow := hugeBuffer(n*8), hugeBuffer(n*4)
	vec.Iota(wide, vec.I64, 0)
	vec.Iota(narrow, vec.I32, 0)
	for _, x := range []struct {
		e    element
		t    vec.Index
		data []byte
		to   vec.Index
		out  []byte
	}{{elements[2], vec.I32, narrow, vec.I64, wide}, {elements[3], vec.I64, wide, vec.I32, narrow}} {
		shape := []uint64{uint64(n)}
		b.measure(x.e, 1, measurement{name: "indices in range", index: x.t, shape: shape, alone: true, run: func(int, bool) {
			no(vec.CheckIndices(x.data, x.t, uint64(n)))
		}})
		b.measure(x.e, 1, measurement{name: "indices in order", index: x.t, shape: shape, alone: true, run: func(int, bool) {
			if vec.FirstNotIncreasing(x.data, x.t) >= 0 {
				panic("out of order")
			}
		}})
		b.measure(x.e, 1, measurement{name: "indices converted", index: x.t, shape: shape, alone: true, run: func(int, bool) {
			no(vec.ConvertIndices(x.out, x.to, x.data, x.t))
		}})
	}
}

// no stops if there is an error.
func no(err error) {
	if err != nil {
		panic(err)
	}
}
