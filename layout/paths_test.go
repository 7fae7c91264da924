package layout

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tstore/tstore/vec"
)

// place is a stored element as tests of large tensors see it: where it belongs, as a row-major number, and which of
// the stored ones it is.
type place struct{ key, at int64 }

// placesOf lists what t stores by the definition of its layout, in row-major order.
func placesOf(t Tensor) []place {
	list := make([]place, 0, t.NNZ())
	shape := t.Shape()
	switch t := t.(type) {
	case *Dense:
		b, w := t.Clone().data, t.dtype.Size()
		for k := range t.Len() {
			if v := b[int(k)*w : int(k+1)*w]; !naiveIsZero(t.dtype, v) {
				list = append(list, place{k, k})
			}
		}
	case *COO:
		for k := range t.NNZ() {
			key := int64(0)
			for axis, n := range shape {
				key = key*n + int64(t.Coordinate(k, axis))
			}
			list = append(list, place{key, k})
		}
	case *CSR:
		for i := range shape[0] {
			for k := t.Indptr().At(i); k < t.Indptr().At(i+1); k++ {
				list = append(list, place{i*shape[1] + int64(t.Indices().At(int64(k))), int64(k)})
			}
		}
	case *CSC:
		for j := range shape[1] {
			for k := t.Indptr().At(j); k < t.Indptr().At(j+1); k++ {
				list = append(list, place{int64(t.Indices().At(int64(k)))*shape[1] + j, int64(k)})
			}
		}
	case *CSF:
		var steps [MaxDims]int64
		step := int64(1)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			steps[axis] = step
			step *= shape[axis]
		}
		var walk func(level int, node, key int64)
		walk = func(level int, node, key int64) {
			key += int64(t.Indices(level).At(node)) * steps[t.AxisOrder()[level]]
			if level == len(shape)-1 {
				list = append(list, place{key, node})
				return
			}
			for child := t.Indptr(level).At(node); child < t.Indptr(level).At(node+1); child++ {
				walk(level+1, int64(child), key)
			}
		}
		for node := range t.Indices(0).Len() {
			walk(0, node, 0)
		}
	}
	compare := func(a, b place) int { return cmp.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
	return list
}

// sameElements compares what s stores with the nonzeros of d.
func sameElements(s Tensor, d *Dense, want []place) error {
	got := placesOf(s)
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want))
	}
	w := int64(d.dtype.Size())
	b, data := d.data, must(s.storedBytes())
	if d.order&rowMajor == 0 {
		b = d.Clone().data
	}
	for i, p := range got {
		if q := want[i]; p.key != q.key || !bytes.Equal(data[p.at*w:(p.at+1)*w], b[q.at*w:(q.at+1)*w]) {
			return fmt.Errorf("element %d is at %d, want %d", i, p.key, q.key)
		}
	}
	if v, ok := s.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// fills are ways to fill a tensor of n elements, of which each says where nonzeros are.
var fills = map[string]func(r *rand.Rand, i, n int) bool{
	"none":      func(*rand.Rand, int, int) bool { return false },
	"1 in 1000": func(r *rand.Rand, _, _ int) bool { return r.IntN(1000) == 0 },
	"1 in 30":   func(r *rand.Rand, _, _ int) bool { return r.IntN(30) == 0 },
	"1 in 2":    func(r *rand.Rand, _, _ int) bool { return r.IntN(2) == 0 },
	"all":       func(*rand.Rand, int, int) bool { return true },
	"late":      func(_ *rand.Rand, i, n int) bool { return i >= n-n/10 },
	"early":     func(r *rand.Rand, i, n int) bool { return i < n/10 && r.IntN(3) == 0 },
}

func fillDense(dt DType, fill string, columns bool, shape ...int64) *Dense {
	n, _ := CheckedProduct(shape, 1)
	w := int64(dt.Size())
	data := make([]byte, n*w)
	r := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range n {
		if fills[fill](r, int(i), int(n)) {
			data[i*w] = byte(i) | 1
			data[(i+1)*w-1] |= 0x40
		}
	}
	if columns {
		return must(NewColumnMajor(dt, shape, data))
	}
	return must(NewDense(dt, shape, data))
}

// eachVersion runs f with every version of the kernels that the machine has.
func eachVersion(f func(v vec.Version)) {
	before := vec.Active()
	defer func() {
		if err := vec.Use(before); err != nil {
			panic(err)
		}
	}()
	for _, v := range vec.Available() {
		if err := vec.Use(v); err != nil {
			panic(err)
		}
		f(v)
	}
}

// Tensors that are large enough to be sampled, with rows long and short, in every order in memory, with every
// version of the kernels.
func TestConversionsOfLargeTensors(t *testing.T) {
	for i, c := range []struct {
		dt    DType
		shape []int64
		fills string
	}{
		{Float32, []int64{600, 500}, "none, 1 in 1000, 1 in 30, 1 in 2, late"},
		{Float32, []int64{70000, 4}, "1 in 30, early"},
		{Int8, []int64{280, 4000}, "1 in 30, late"},
		{Float64, []int64{11, 20, 31, 20}, "1 in 1000, 1 in 30, 1 in 2"},
		{Float64, []int64{11, 20, 31, 20}, "all, late"},
		{BFloat16, []int64{5, 110000}, "1 in 30, early"},
		{must(FixedSizeBinary(3)), []int64{7, 200, 260}, "1 in 30, late"},
	} {
		for _, fill := range strings.Split(c.fills, ", ") {
			columns := i%2 == 1
			i += 3
			d := fillDense(c.dt, fill, columns, c.shape...)
			want := placesOf(d)
			orders := [][]int{axes(len(c.shape)), {0, 1, 3, 2}, {1, 0}, {2, 0, 1}}
			eachVersion(func(v vec.Version) {
				i++
				for _, to := range allLayouts[1:] {
					if !fits(to, len(c.shape)) {
						continue
					}
					o := &ConvertOptions{Indices: IndexInt32}
					if o.AxisOrder = orders[i%len(orders)]; len(o.AxisOrder) != len(c.shape) {
						o.AxisOrder = nil
					}
					s, err := Convert(d, to, o)
					if err == nil {
						err = sameElements(s, d, want)
					}
					if err != nil {
						t.Errorf("%v: %v%v, %s, columns %v, to %v: %v", v, c.dt, c.shape, fill, columns, to, err)
						continue
					}
					back, err := ToDense(s, nil)
					if err != nil || !Equal(back, d) {
						t.Errorf("%v: %v%v, %s, columns %v, to %v and back: %v", v, c.dt, c.shape, fill, columns, to, err)
					}
				}
			})
		}
	}
}
