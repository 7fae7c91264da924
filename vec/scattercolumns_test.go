package vec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestScatterColumns(t *testing.T) {
	cases := []struct {
		rows, cols, size, nnz int
		sorted                bool
	}{
		{5, 0, 4, 0, true}, {0, 5, 4, 0, true}, {1, 1, 1, 1, true}, {7, 3, 3, 10, false}, {90, 100, 4, 900, true}, {17, 1000, 16, 300, false},
		// Large ones, with few and many values, whole cache lines in a row or not, sorted or not.
		{900, 1024, 4, 5000, true}, {900, 1024, 4, 90000, true}, {901, 1001, 2, 90000, true}, {900, 1024, 8, 90000, false}, {1100, 1001, 1, 8000, false},
		{2100, 512, 1, 90000, true}, {700, 800, 4, 50000, true}, {30, 40000, 4, 60000, true}, {50000, 6, 8, 40000, true}, {257, 2000, 12, 3000, true},
	}
	for i, k := range cases {
		for _, ix := range []Index{I64, U32, U16, U8} {
			if uint64(max(k.rows-1, 0)) > ix.Max() || ix == I64 && i%3 != 0 {
				continue
			}
			rng := rand.New(rand.NewPCG(81, uint64(i)))
			m := randomLines(rng, max(k.cols, 1), max(k.rows, 1), k.size, k.nnz, k.sorted)
			if k.cols == 0 {
				m.pointers = m.pointers[:1]
			}
			want := make([]byte, k.rows*k.cols*k.size)
			for j := range k.cols {
				for at := m.pointers[j]; at < m.pointers[j+1]; at++ {
					copy(want[(int(m.indices[at])*k.cols+j)*k.size:][:k.size], m.values[int(at)*k.size:])
				}
			}
			indices := m.index(ix)
			got := make([]byte, len(want))
			eachVersion(func(v Version) {
				for i := range got {
					got[i] = 0x55
				}
				for _, zeroed := range []bool{false, true} {
					if zeroed {
						clear(got)
					}
					if err := ScatterColumns(got, zeroed, k.size, k.cols, Bytes(m.pointers), U32, indices, ix, m.values); err != nil {
						t.Fatalf("%v: %+v: %v", v, k, err)
					}
					if !bytes.Equal(got, want) {
						t.Fatalf("%v: %+v with %v indices, zeroed %v: wrong bytes", v, k, ix, zeroed)
					}
				}
			})
		}
	}
}

func TestScatterAscendingColumns(t *testing.T) {
	cases := []struct {
		rows, cols, size int
		density          float64
	}{
		{5, 0, 4, 0}, {0, 5, 4, 0}, {7, 3, 3, .5}, {100, 90, 4, .3}, {2100, 1024, 4, .01}, {901, 1001, 2, .1}, {600, 1000, 16, .2},
		// Many values, in rows of whole cache lines, the last of which don't fill a tile.
		{2100, 1024, 4, .1}, {2077, 1040, 4, .5}, {1029, 1024, 8, .1}, {1029, 1064, 8, .7}, {2048, 1024, 4, 1}, {70, 32768, 4, .3},
	}
	for i, c := range cases {
		for _, ix := range []Index{I64, U32, I16} {
			rng := rand.New(rand.NewPCG(83, uint64(i)))
			want := make([]byte, c.rows*c.cols*c.size)
			indices := bytes.Repeat([]byte{0xff}, 3*ix.Size())
			values := make([]byte, 3*c.size)
			pointers := []uint32{3}
			k := 3
			for j := range c.cols {
				for r := range c.rows {
					if rng.Float64() >= c.density*2*float64(j%2) && c.density < 1 {
						continue
					}
					indices = appendIndex(indices, ix, uint64(r))
					for range c.size {
						values = append(values, byte(rng.Uint32())|1)
					}
					copy(want[(r*c.cols+j)*c.size:][:c.size], values[k*c.size:])
					k++
				}
				pointers = append(pointers, uint32(k))
			}
			got := make([]byte, len(want))
			eachVersion(func(v Version) {
				for i, f := range []func([]byte, bool, int, int, []byte, Index, []byte, Index, []byte) error{ScatterColumns, ScatterAscendingColumns, ScatterColumns, ScatterAscendingColumns} {
					name, zeroed := []string{"columns", "ascending"}[i%2], i >= 2
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
				if c.rows < 3 || k < 200 {
					return
				}
				// An index is stored twice, or wrong.
				j := c.cols - 1
				for pointers[j+1]-pointers[j] < 2 {
					j--
				}
				at := int(pointers[j+1]) - 1
				last := ix.At(indices, at)
				putIndex(indices[at*ix.Size():], ix, ix.At(indices, at-1))
				var oe *OrderError
				if err := ScatterAscendingColumns(got, false, c.size, c.cols, Bytes(pointers), U32, indices, ix, values); !errors.As(err, &oe) || oe.At != at {
					t.Errorf("%v: %+v with %v indices: error %v, want one at %d", v, c, ix, err, at)
				}
				// Any order is right for the other, and the last of a place stays.
				if err := ScatterColumns(got, false, c.size, c.cols, Bytes(pointers), U32, indices, ix, values); err != nil {
					t.Errorf("%v: %+v with %v indices: %v", v, c, ix, err)
				}
				element := func(b []byte, r int) []byte { return b[(r*c.cols+j)*c.size:][:c.size] }
				changed := bytes.Clone(want)
				clear(element(changed, int(last)))
				copy(element(changed, int(ix.At(indices, at-1))), values[at*c.size:])
				if !bytes.Equal(got, changed) {
					t.Errorf("%v: %+v with %v indices: wrong bytes if one is stored twice", v, c, ix)
				}
				for _, wrong := range []uint64{uint64(c.rows), ix.Max(), ^uint64(0), last + 1<<32} {
					if wrong > ix.Max() {
						wrong = ^uint64(0)
					}
					putIndex(indices[at*ix.Size():], ix, wrong)
					var ie *IndexError
					if err := ScatterAscendingColumns(got, false, c.size, c.cols, Bytes(pointers), U32, indices, ix, values); !errors.As(err, &ie) || ie.At != at {
						t.Errorf("%v: %+v with %v indices: error %v, want one at %d", v, c, ix, err, at)
					}
				}
				putIndex(indices[at*ix.Size():], ix, last)
			})
		}
	}
}

func TestScatterColumnsChecksBeforeItWrites(t *testing.T) {
	for _, c := range []struct {
		pointers, indices []int32
		want              string
	}{
		{[]int32{0, 1, 3}, []int32{0, 2, 4}, "index 4 at position 2 is outside [0, 4)"},
		{[]int32{0, 3, 2}, []int32{0, 1, 2}, "pointer 2 at position 2 is less than the one before it, or more than the 3 elements"},
	} {
		dst := bytes.Repeat([]byte{7}, 4*2*8)
		err := ScatterColumns(dst, false, 8, 2, Bytes(c.pointers), I32, Bytes(c.indices), I32, make([]byte, 8*len(c.indices)))
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
	}
}

func ExampleScatterColumns() {
	dst := make([]float32, 2*3)
	err := ScatterColumns(Bytes(dst), false, 4, 3, Bytes([]int64{0, 0, 1, 3}), I64, Bytes([]int32{1, 0, 1}), I32, Bytes([]float32{7, 8, 9}))
	fmt.Println(dst, err)
	// Output: [0 0 8 0 7 9] <nil>
}
