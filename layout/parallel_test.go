package layout

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tstore/tstore/vec"
)

// fineGrain makes tensors of some bytes worth several goroutines for the rest of a test.
func fineGrain(t interface{ Cleanup(func()) }, bytes int64) {
	before := grain
	t.Cleanup(func() { grain = before })
	grain.worker, grain.part, grain.stage, grain.stream = bytes, bytes, bytes, bytes
}

// However many goroutines convert a tensor, the result is the same, and the source too.
func TestGoroutinesMakeNoDifference(t *testing.T) {
	fineGrain(t, 64)
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.Int64Range(0, 7), 0, 4).Draw(t, "shape")
		if rapid.Bool().Draw(t, "matrix") {
			shape = rapid.SliceOfN(rapid.Int64Range(0, 30), 2, 2).Draw(t, "matrix shape")
		}
		d := drawSparseDense(t, shape)
		before := bytes.Clone(d.Data())
		many := rapid.IntRange(2, 5).Draw(t, "goroutines")
		for _, from := range allLayouts {
			if !fits(from, d.NDim()) {
				continue
			}
			s := must(Convert(d, from, &ConvertOptions{Goroutines: 1}))
			for _, to := range allLayouts {
				if !fits(to, d.NDim()) {
					continue
				}
				o := drawOptions(t, d.NDim(), d.Len())
				o.Goroutines = 1
				want := must(Convert(s, to, o))
				o.Goroutines = many
				got, err := Convert(s, to, o)
				if err != nil {
					t.Fatalf("%v to %v by %d goroutines: %v", from, to, many, err)
				}
				if !Equal(got, want) {
					t.Fatalf("%v to %v by %d goroutines:\n got %+v\nwant %+v", from, to, many, got, want)
				}
				// Into too little room, which has to grow while goroutines write to it.
				dst := must(Convert(must(NewCOO(d.dtype, d.shape, Index{typ: IndexInt8}, nil, true)), to, nil))
				if err := convertInto(dst, s, o); err != nil || !Equal(dst, want) {
					t.Fatalf("%v into an empty %v by %d goroutines: %v\n got %+v\nwant %+v", from, to, many, err, dst, want)
				}
			}
		}
		if !bytes.Equal(before, d.Data()) {
			t.Fatal("the source has changed")
		}
	})
}

// The same for tensors of many parts, with every version of the kernels.
func TestGoroutinesOnLargerTensors(t *testing.T) {
	fineGrain(t, 2000)
	for i, c := range []struct {
		dt    DType
		shape []int64
		fills string
	}{
		{Float32, []int64{80, 300}, "none, 1 in 1000, 1 in 30, 1 in 2, late, all"},
		{Float32, []int64{6000, 4}, "1 in 30, early"},
		{Int8, []int64{40, 3000}, "1 in 30, late"},
		{Float64, []int64{5, 10, 21, 12}, "1 in 1000, 1 in 30, all"},
		{Complex128, []int64{70, 60}, "1 in 2"},
		{must(FixedSizeBinary(3)), []int64{7, 20, 60}, "1 in 30, late"},
	} {
		for _, fill := range strings.Split(c.fills, ", ") {
			d := fillDense(c.dt, fill, i%2 == 1, c.shape...)
			i++
			want := placesOf(d)
			eachVersion(func(v vec.Version) {
				i++
				for _, from := range allLayouts {
					if !fits(from, len(c.shape)) {
						continue
					}
					s := must(Convert(d, from, &ConvertOptions{Goroutines: 1}))
					for _, to := range allLayouts {
						if !fits(to, len(c.shape)) {
							continue
						}
						o := &ConvertOptions{Indices: IndexInt32, Goroutines: 2 + i%3}
						if i%2 == 0 {
							o.AxisOrder = axes(len(c.shape))
							slices.Reverse(o.AxisOrder[len(c.shape)-2:])
						}
						u, err := Convert(s, to, o)
						if err == nil {
							err = sameElements(u, d, want)
						}
						if err != nil {
							t.Errorf("%v: %v%v, %s, %v to %v by %d goroutines: %v", v, c.dt, c.shape, fill, from, to, o.Goroutines, err)
						}
					}
				}
			})
		}
	}
}

// What is wrong with a source is found by any number of goroutines, and errors are those of one.
func TestGoroutinesFindErrors(t *testing.T) {
	fineGrain(t, 16)
	d := fillDense(Int32, "1 in 2", false, 30, 40)
	coo, csr, csf := must(ToCOO(d, nil)), must(ToCSR(d, nil)), must(ToCSF(d, nil))
	damaged := func(b []byte, at int, v byte) []byte {
		b = bytes.Clone(b)
		b[at] = v
		return b
	}
	rows, cols := coo.Indices(), csr.Indices()
	for at := 0; at < len(cols.data); at += 1 + len(cols.data)/13 {
		for _, v := range []byte{0, 200, 255} {
			for _, s := range []Tensor{
				must(NewCOO(Int32, d.shape, Index{rows.typ, damaged(rows.data, at, v)}, coo.data, true)),
				must(NewCSR(Int32, d.shape, csr.indptr, Index{cols.typ, damaged(cols.data, at, v)}, csr.data)),
				must(NewCSC(Int32, []int64{40, 30}, csr.indptr, Index{cols.typ, damaged(cols.data, at, v)}, csr.data)),
				must(NewCSF(Int32, d.shape, csf.order, csf.indptr, []Index{csf.indices[0], {csf.indices[1].typ, damaged(csf.indices[1].data, at, v)}}, csf.data)),
			} {
				for _, to := range allLayouts {
					want, err1 := Convert(s, to, &ConvertOptions{Goroutines: 1})
					got, err2 := Convert(s, to, &ConvertOptions{Goroutines: 3})
					if fmt.Sprint(err1) != fmt.Sprint(err2) || err1 == nil && !Equal(got, want) {
						t.Fatalf("byte %d of a %v set to %d, to %v: one goroutine says %v, three %v", at, s.Layout(), v, to, err1, err2)
					}
				}
			}
		}
	}
}

// Memory that is refused to one of several goroutines is refused to all, and nobody waits for ever.
func TestGoroutinesWithLittleMemory(t *testing.T) {
	fineGrain(t, 256)
	for _, columns := range []bool{false, true} {
		d := fillDense(Float32, "1 in 2", columns, 40, 50)
		for _, from := range allLayouts {
			s := must(Convert(d, from, nil))
			for _, to := range allLayouts {
				want := must(Convert(s, to, nil))
				for limit := int64(1); ; limit += 1 + limit/3 {
					got, err := Convert(s, to, &ConvertOptions{MaxBytes: limit, Goroutines: 3})
					if err == nil {
						if !Equal(got, want) {
							t.Errorf("%v to %v within %d bytes is wrong", from, to, limit)
						}
						break
					}
					if limit > 100<<20 {
						t.Fatalf("%v to %v within %d bytes: %v", from, to, limit, err)
					}
				}
			}
		}
	}
}

// Nothing of this package is left running.
func TestNoGoroutineIsLeft(t *testing.T) {
	fineGrain(t, 64)
	d := fillDense(Float32, "1 in 30", false, 90, 90)
	before := runtime.NumGoroutine()
	for range 20 {
		for _, to := range allLayouts {
			must(ToDense(must(Convert(d, to, &ConvertOptions{Goroutines: 8})), &ConvertOptions{Goroutines: 8}))
		}
	}
	n := runtime.NumGoroutine()
	for range 1000 { // they end a moment after they are done
		if n <= before {
			break
		}
		time.Sleep(time.Millisecond)
		n = runtime.NumGoroutine()
	}
	if n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// A panic of one goroutine ends all, and is one of the caller.
func TestPanicOfAGoroutine(t *testing.T) {
	for bad := range 3 {
		func() {
			defer func() {
				if got := recover(); got != "oh" {
					t.Errorf("the goroutine with part %d panics: recovered %v", bad, got)
				}
			}()
			var turns turns
			turns.begin(3)
			turns.together(3, func() error {
				part, _ := turns.take()
				if part == int64(bad) {
					panic("oh")
				}
				if turns.wait(part) {
					turns.pass()
					turns.done()
				}
				return nil
			})
			t.Errorf("the goroutine with part %d panics, and the caller goes on", bad)
		}()
	}
}
