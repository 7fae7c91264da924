package vec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestScatterRows(t *testing.T) {
	cases := []struct {
		rows, cols, size, nnz int
	}{
		{0, 5, 4, 0}, {5, 0, 4, 0}, {1, 1, 1, 1}, {3, 7, 3, 10}, {100, 90, 4, 900}, {1000, 17, 16, 300},
		// Written past the caches: rows of whole lines and of others, long and short, few and many values.
		{1100, 2048, 4, 20000}, {1100, 2048, 4, 200000}, {513, 4097, 4, 9000}, {300000, 30, 1, 50000}, {4000, 2100, 1, 300000},
		{33, 32768, 8, 5000}, {3, 700000, 4, 1000}, {70000, 15, 8, 200000}, {5000, 111, 16, 60000}, {3000, 1000, 3, 1000},
	}
	for _, c := range cases {
		for _, ix := range []Index{I64, U32, I16} {
			if uint64(max(c.cols-1, 0)) > ix.Max() {
				continue
			}
			rng := rand.New(rand.NewPCG(41, uint64(c.rows*c.cols)))
			count := make([]int, c.rows+1)
			for range c.nnz {
				count[rng.IntN(c.rows)]++
			}
			skip := rng.IntN(5) // elements of lines before these
			var pointers, indices []byte
			want := make([]byte, c.rows*c.cols*c.size)
			values := make([]byte, (skip+c.nnz+3)*c.size)
			for i := range values {
				values[i] = byte(i*7+i>>8) | 1
			}
			for range skip {
				indices = appendIndex(indices, ix, ix.Max())
			}
			k := skip
			pointers = appendIndex(pointers, U32, uint64(k))
			for r := range c.rows {
				for range count[r] {
					col := rng.IntN(c.cols)
					indices = appendIndex(indices, ix, uint64(col))
					copy(want[(r*c.cols+col)*c.size:][:c.size], values[k*c.size:])
					k++
				}
				pointers = appendIndex(pointers, U32, uint64(k))
			}
			for range 3 {
				indices = appendIndex(indices, ix, ix.Max())
			}
			got := make([]byte, len(want))
			eachVersion(func(v Version) {
				for i := range got {
					got[i] = 0x55
				}
				if err := ScatterRows(got, false, c.size, c.cols, pointers, U32, indices, ix, values); err != nil {
					t.Fatalf("%v: %+v: %v", v, c, err)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%v: %+v with %v indices: wrong bytes", v, c, ix)
				}
			})
		}
	}
}

func TestScatterAscending(t *testing.T) {
	cases := []struct {
		rows, cols, size int
		density          float64
	}{
		{5, 0, 4, 0}, {0, 5, 4, 0}, {3, 7, 3, .5}, {90, 100, 4, .3}, {1100, 2048, 4, .01}, {3000, 1000, 3, .1}, {600, 1000, 16, .2},
		// Many values, in rows of whole cache lines.
		{1100, 2048, 4, .1}, {1100, 2048, 4, .5}, {5, 1 << 19, 4, .3}, {1100, 1024, 8, .1}, {1100, 1024, 8, .6}, {2100, 4096, 1, .1}, {2100, 4096, 1, .7},
		{1100, 4096, 2, .1}, {1100, 4096, 2, .9}, {140000, 16, 4, .2}, {3, 1 << 20, 4, 1},
	}
	for i, c := range cases {
		for _, ix := range []Index{I64, U32, I16} {
			if uint64(max(c.cols-1, 0)) > ix.Max() {
				continue
			}
			rng := rand.New(rand.NewPCG(43, uint64(i)))
			want := make([]byte, c.rows*c.cols*c.size)
			indices := bytes.Repeat([]byte{0xff}, 3*ix.Size())
			values := make([]byte, 3*c.size)
			pointers := []uint32{3}
			k := 3
			for r := range c.rows {
				for col := range c.cols {
					if rng.Float64() >= c.density*2*float64(r%2) && c.density < 1 {
						continue
					}
					indices = appendIndex(indices, ix, uint64(col))
					for range c.size {
						values = append(values, byte(rng.Uint32())|1)
					}
					copy(want[(r*c.cols+col)*c.size:][:c.size], values[k*c.size:])
					k++
				}
				pointers = append(pointers, uint32(k))
			}
			got := make([]byte, len(want))
			eachVersion(func(v Version) {
				for i, f := range []func([]byte, bool, int, int, []byte, Index, []byte, Index, []byte) error{ScatterRows, ScatterAscending, ScatterRows, ScatterAscending} {
					name, zeroed := []string{"rows", "ascending"}[i%2], i >= 2
					for i := range got {
						got[i] = 0x55
					}
					if zeroed {
						clear(got)
					}
					if err := f(got, zeroed, c.size, c.cols, Bytes(pointers), U32, indices, ix, values); err != nil {
						t.Fatalf("%v: %s: %+v: %v", v, name, c, err)
					}
					if !bytes.Equal(got, want) {
						t.Fatalf("%v: %s: %+v with %v indices: wrong bytes", v, name, c, ix)
					}
				}
				if c.cols < 2 || k < 200 {
					return
				}
				// Two indices of a row that is not the first are exchanged, or one is wrong.
				r := c.rows - 1
				for pointers[r+1]-pointers[r] < 2 {
					r--
				}
				at := int(pointers[r+1]) - 1
				last := ix.At(indices, at)
				putIndex(indices[at*ix.Size():], ix, ix.At(indices, at-1))
				var oe *OrderError
				if err := ScatterAscending(got, false, c.size, c.cols, Bytes(pointers), U32, indices, ix, values); !errors.As(err, &oe) || oe.At != at {
					t.Errorf("%v: %+v with %v indices: error %v, want one at %d", v, c, ix, err, at)
				}
				for _, wrong := range []uint64{uint64(c.cols), ix.Max(), ^uint64(0)} {
					if wrong > ix.Max() {
						wrong = ^uint64(0)
					}
					putIndex(indices[at*ix.Size():], ix, wrong)
					var ie *IndexError
					if err := ScatterAscending(got, false, c.size, c.cols, Bytes(pointers), U32, indices, ix, values); !errors.As(err, &ie) || ie.At != at {
						t.Errorf("%v: %+v with %v indices: error %v, want one at %d", v, c, ix, err, at)
					}
				}
				putIndex(indices[at*ix.Size():], ix, last)
			})
		}
	}
}

func TestScatterRowsChecksBeforeItWrites(t *testing.T) {
	cases := []struct {
		name     string
		pointers []int32
		indices  []int8
		want     string
	}{
		{"index too large", []int32{0, 1, 3}, []int8{0, 2, 4}, "index 4 at position 2 is outside [0, 4)"},
		{"negative index", []int32{0, 1, 3}, []int8{0, -2, 3}, "index -2 at position 1 is outside [0, 4)"},
		{"falling pointer", []int32{0, 3, 2}, []int8{0, 1, 2}, "pointer 2 at position 2 is less than the one before it, or more than the 3 elements"},
		{"negative pointer", []int32{-1, 0, 3}, []int8{0, 1, 2}, "pointer -1 at position 0 is less than the one before it, or more than the 3 elements"},
		{"pointer too large", []int32{0, 1, 4}, []int8{0, 1, 2}, "pointer 4 at position 2 is less than the one before it, or more than the 3 elements"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dst := bytes.Repeat([]byte{7}, 2*4*8)
			err := ScatterRows(dst, false, 8, 4, Bytes(c.pointers), I32, Bytes(c.indices), I8, make([]byte, 8*len(c.indices)))
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
			var pe *PointerError
			var ie *IndexError
			if !errors.As(err, &pe) && !errors.As(err, &ie) {
				t.Errorf("error of type %T", err)
			}
			if !bytes.Equal(dst, bytes.Repeat([]byte{7}, 64)) {
				t.Error("dst was written")
			}
		})
	}
}

func TestCheckPointers(t *testing.T) {
	for _, ix := range allIndexes {
		var good []byte
		for i := range 100 {
			good = appendIndex(good, ix, uint64(i/3*3))
		}
		cases := map[string]struct {
			pointers []byte
			n        uint64
			at       int
		}{
			"good":          {good, 99, -1},
			"none":          {nil, 0, -1},
			"last too high": {good, 98, 99},
			"from 60 on":    {good, 59, 60},
			"all zero":      {make([]byte, 80*ix.Size()), 0, -1},
			"falls":         {append(bytes.Clone(good), make([]byte, ix.Size())...), 1000, 100},
		}
		for name, c := range cases {
			eachVersion(func(v Version) {
				err := CheckPointers(c.pointers, ix, c.n)
				var pe *PointerError
				if at := -1; errors.As(err, &pe) {
					at = pe.At
					if at != c.at {
						t.Errorf("%v: %v, %s: error %v, want one at %d", v, ix, name, err, c.at)
					}
				} else if c.at >= 0 {
					t.Errorf("%v: %v, %s: error %v, want one at %d", v, ix, name, err, c.at)
				}
			})
		}
	}
}

func ExampleScatterRows() {
	dst := make([]float32, 2*3)
	err := ScatterRows(Bytes(dst), false, 4, 3, Bytes([]int64{0, 1, 3}), I64, Bytes([]int32{2, 0, 1}), I32, Bytes([]float32{7, 8, 9}))
	fmt.Println(dst, err)
	// Output: [0 0 7 8 9 0] <nil>
}
