package store_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// allDTypes are the element types of every kind, the parametric ones with several
// parameters.
func allDTypes(t testing.TB) []layout.DType {
	t.Helper()
	types := []layout.DType{
		layout.Int8, layout.Int16, layout.Int32, layout.Int64,
		layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
		layout.Float16, layout.Float32, layout.Float64,
		layout.Bool, layout.BFloat16, layout.Float8E4M3FN, layout.Float8E5M2,
		layout.Complex64, layout.Complex128,
	}
	for _, text := range []string{
		"date[day]", "date[ms]", "time32[s]", "time64[ns]", "timestamp[ns]", "timestamp[us, UTC]", "timestamp[s, Europe/Berlin]",
		"duration[ns]", "duration[s]", "interval[year_month]", "interval[day_time]", "interval[month_day_nano]",
		"decimal32[5, 2]", "decimal64[10, -3]", "decimal128[38, 10]", "decimal256[76, 0]",
		"fixed_size_binary[1]", "fixed_size_binary[3]", "fixed_size_binary[16]",
	} {
		dt, err := layout.ParseDType(text)
		must(t, err)
		types = append(types, dt)
	}
	return types
}

// patterned is a row-major tensor with bytes that follow from seed: every bit
// pattern occurs, NaNs with a payload among them.
func patterned(t testing.TB, dt layout.DType, seed uint64, shape ...int64) *layout.Dense {
	t.Helper()
	n, ok := layout.CheckedProduct(shape, int64(dt.Size()))
	if !ok {
		t.Fatalf("shape %v is too large", shape)
	}
	d, err := layout.NewDense(dt, shape, pattern(seed, int(n)))
	must(t, err)
	return d
}

func pattern(seed uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(stampedValue(seed, i/8) >> (i % 8 * 8))
	}
	return b
}

// putEverywhere stores c one by one and checks it in every way of reading: in the
// writing store, in a reader beside it, after a clean close, and without the
// catalog.
func putEverywhere(t *testing.T, c contents, opts *store.Options) {
	t.Helper()
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, opts)
	for name, w := range c {
		must(t, st.Put(name, w.tensor, w.attrs...))
	}
	everywhere := func(st *store.Store) {
		t.Helper()
		must(t, compare(st, c))
		must(t, st.View(func(tx *store.Tx) error { return compare(tx, c) }))
		sn, err := st.Snapshot()
		must(t, err)
		must(t, compare(sn, c))
		must(t, sn.Close())
	}
	everywhere(st)
	everywhere(open(t, dir, &store.Options{ReadOnly: true}))
	closeStore(t, st)
	everywhere(open(t, dir, &store.Options{ReadOnly: true}))
	st = open(t, dir, opts)
	everywhere(st)
	closeStore(t, st)
	removeCatalog(t, dir)
	everywhere(open(t, dir, opts))
}

func TestEveryDType(t *testing.T) {
	c := contents{}
	for i, dt := range allDTypes(t) {
		c[dt.String()] = stored{tensor: patterned(t, dt, uint64(i), 3, 5)}
		c[dt.String()+" scalar"] = stored{tensor: patterned(t, dt, uint64(i))}
		c[dt.String()+" empty"] = stored{tensor: patterned(t, dt, uint64(i), 3, 0, 5)}
	}
	putEverywhere(t, c, nil)
}

func TestEveryShape(t *testing.T) {
	c := contents{}
	for i, shape := range [][]int64{
		{}, {0}, {1}, {1, 1, 1}, {0, 0}, {math.MaxInt64, 0}, {7}, {64}, {65}, {3, 4}, {2, 3, 4, 5},
		{2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, {1 << 17}, {1<<17 + 1}, {3, 1 << 16},
	} {
		c[fmt.Sprint(shape)] = stored{tensor: patterned(t, layout.Float64, uint64(i), shape...)}
	}
	deep := make([]int64, layout.MaxDims)
	for i := range deep {
		deep[i] = 1
	}
	deep[0], deep[layout.MaxDims-1] = 2, 3
	c["deep"] = stored{tensor: patterned(t, layout.Int16, 99, deep...)}
	putEverywhere(t, c, nil)
}

// TestEveryOrder stores tensors in every order of their elements. Only row-major
// and column-major ones keep it.
func TestEveryOrder(t *testing.T) {
	for _, size := range []struct {
		name  string
		shape []int64
		opts  *store.Options
	}{
		{"in memory", []int64{6, 5, 4}, &tiny},
		{"streamed", []int64{80, 70, 50}, &store.Options{SegmentSize: 4 << 20}},
		{"own segment", []int64{20, 30, 25}, &tiny},
	} {
		t.Run(size.name, func(t *testing.T) {
			base := patterned(t, layout.Int32, 3, size.shape...)
			view := func(d *layout.Dense, err error) *layout.Dense {
				t.Helper()
				must(t, err)
				return d
			}
			columns := view(layout.NewColumnMajor(layout.Int32, size.shape, base.Data()))
			orders := map[string]*layout.Dense{
				"row-major":          base,
				"column-major":       columns,
				"transposed":         view(base.Transpose()),
				"permuted":           view(base.Transpose(1, 0, 2)),
				"every second":       view(base.Slice(0, 0, size.shape[0], 2)),
				"inner part":         view(base.Slice(2, 1, size.shape[2], 1)),
				"reversed":           view(base.Slice(1, size.shape[1]-1, -1, -1)),
				"one of the first":   view(base.Index(0, 2)),
				"one of the last":    view(base.Index(2, 1)),
				"columns, part":      view(columns.Slice(0, 1, 4, 1)),
				"the same row again": view(layout.NewStrided(layout.Int32, size.shape, []int64{0, 4 * size.shape[2], 4}, 0, base.Data())),
				"one element, often": view(layout.NewStrided(layout.Int32, size.shape, []int64{0, 0, 0}, 4, base.Data())),
			}
			c := contents{}
			for name, d := range orders {
				c[name] = stored{tensor: d}
			}
			putEverywhere(t, c, size.opts)

			st := open(t, filepath.Join(quickDir(t), "s"), nil)
			for name, d := range orders {
				must(t, st.Put(name, d))
				got, err := st.Get(name)
				must(t, err)
				g := got.(*layout.Dense)
				if keeps := d.IsColumnMajor() && !d.IsContiguous(); g.IsColumnMajor() != keeps && !(g.IsContiguous() && g.IsColumnMajor()) {
					t.Errorf("%s: came out with strides %v of shape %v, column-major should be %v", name, g.Strides(), g.Shape(), keeps)
				}
			}
		})
	}
}

func TestDimNames(t *testing.T) {
	c := contents{}
	for name, dims := range map[string][]string{
		"all named": {"batch", "row", "column"},
		"some":      {"", "row", ""},
		"repeated":  {"x", "x", "x"},
		"any text":  {"größe\n", "\x00", "\U0001F600"},
	} {
		d, err := patterned(t, layout.Uint8, 1, 2, 3, 4).WithDimNames(dims...)
		must(t, err)
		c[name] = stored{tensor: d}
		tr, err := d.Transpose(2, 0, 1)
		must(t, err)
		c[name+", transposed"] = stored{tensor: tr}
	}
	putEverywhere(t, c, nil)
}

// TestNoTensor gives what is no tensor: an error or, for a nil pointer, a panic
// that leaves the store as it was.
func TestNoTensor(t *testing.T) {
	for name, x := range map[string]layout.Tensor{"nil": nil, "nil dense": (*layout.Dense)(nil), "zero dense": new(layout.Dense)} {
		t.Run(name, func(t *testing.T) {
			st := open(t, filepath.Join(quickDir(t), "s"), nil)
			must(t, st.Put("y", scalar))
			for way, put := range map[string]func() error{
				"Put":    func() error { return st.Put("x", x) },
				"Tx.Put": func() error { return st.Update(func(tx *store.Tx) error { return tx.Put("x", x) }) },
			} {
				if err, panicked := panics(put); err == nil && !panicked {
					t.Errorf("%s succeeds", way)
				} else if panicked && x == nil {
					t.Errorf("%s panics", way)
				}
			}
			must(t, st.Put("z", scalar))
			must(t, compare(st, contents{"y": {tensor: scalar}, "z": {tensor: scalar}}))
			closeStore(t, st)
		})
	}
}

func panics(fn func() error) (err error, panicked bool) {
	defer func() { panicked = recover() != nil }()
	return fn(), false
}
