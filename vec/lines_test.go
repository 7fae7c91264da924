package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// ascendingLines makes a matrix whose lines have indices in order, none twice.
func ascendingLines(rng *rand.Rand, count, width, nnz int) *lines {
	m := randomLines(rng, count, max(width, 1), 1, nnz, true)
	for line := range count {
		own := m.indices[m.pointers[line]:m.pointers[line+1]]
		// Too many for the width are left out.
		for k := range own {
			if k > 0 && own[k] <= own[k-1] {
				own[k] = own[k-1] + 1
			}
		}
	}
	return m
}

// naiveLineCoords is LineCoords without anything that is fast.
func naiveLineCoords(m *lines, ct Index, before []byte, first, n uint64) ([]byte, bool) {
	coords := bytes.Clone(before)
	for line := range m.count {
		for at := m.pointers[line]; at < m.pointers[line+1]; at++ {
			if at > m.pointers[line] && m.indices[at] <= m.indices[at-1] || m.indices[at] >= n {
				return nil, false
			}
			putIndex(coords[2*int(at)*ct.Size():], ct, first+uint64(line))
			putIndex(coords[(2*int(at)+1)*ct.Size():], ct, m.indices[at])
		}
	}
	return coords, true
}

func compareLineCoords(t *testing.T, m *lines, ix, ct Index, first, n uint64) {
	t.Helper()
	indices := m.index(ix)
	before := bytes.Repeat([]byte{0x5a}, 2*len(m.indices)*ct.Size())
	want, ok := naiveLineCoords(m, ct, before, first, n)
	eachVersion(func(v Version) {
		coords := bytes.Clone(before)
		got := LineCoords(coords, ct, Bytes(m.pointers), U32, indices, ix, first, n)
		if got != ok || ok && !bytes.Equal(coords, want) {
			t.Fatalf("%v: %d lines of %d of %v to %v: %v, want %v; the coordinates are right: %v", v, m.count, n, ix, ct, got, ok, bytes.Equal(coords, want))
		}
	})
}

func TestLineCoords(t *testing.T) {
	for i, k := range []struct{ count, width, nnz int }{
		{0, 5, 0}, {5, 0, 0}, {1, 1, 1}, {3, 7, 9}, {1, 100, 40}, {100, 90, 900}, {90, 3000, 5000}, {1000, 17, 300}, {2, 100000, 20000},
		{3000, 2500, 30000}, {700, 250, 15000}, {1, 40000, 17000},
	} {
		for _, ix := range allIndexes {
			for _, ct := range allIndexes {
				if uint64(k.width) > ix.Max() {
					continue
				}
				rng := rand.New(rand.NewPCG(91, uint64(i)))
				m := ascendingLines(rng, k.count, k.width, k.nnz)
				n := uint64(k.width)
				if len(m.indices) > 0 {
					n = max(n, slices.Max(m.indices)+1)
				}
				if n-1 > ix.Max() {
					n = uint64(k.width)
				}
				compareLineCoords(t, m, ix, ct, 0, n)
				compareLineCoords(t, m, ix, ct, 77, n)
				compareLineCoords(t, m, ix, ct, 0, ^uint64(0))
				// Something wrong somewhere.
				if from, to := int(m.pointers[0]), int(m.pointers[m.count]); from < to {
					at := from + rng.IntN(to-from)
					was := m.indices[at]
					for _, bad := range []uint64{n, 0, ix.Max(), was + 1, was - 1, ^uint64(0)} {
						m.indices[at] = ix.At(appendIndex(nil, ix, bad), 0) // as it is read
						compareLineCoords(t, m, ix, ct, 0, n)
					}
					m.indices[at] = was
					compareLineCoords(t, m, ix, ct, 0, was)
				}
			}
		}
	}
}

// TestLineCoordsLarge makes so much that it is copied out past the caches, at addresses of all kinds.
func TestLineCoordsLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(92, 1))
	m := &lines{count: 3000, pointers: []uint32{0}}
	for line := range m.count {
		n := rng.IntN(600)
		if line%100 == 7 {
			n = 30000
		}
		for j := range n {
			m.indices = append(m.indices, uint64(2*j+rng.IntN(2)))
		}
		m.pointers = append(m.pointers, uint32(len(m.indices)))
	}
	for _, ct := range []Index{I32, I64} {
		for _, ix := range []Index{I32, U16} {
			indices := m.index(ix)
			want, _ := naiveLineCoords(m, ct, make([]byte, 2*len(m.indices)*ct.Size()), 3, 60000)
			got := make([]byte, len(want)+64)
			eachVersion(func(v Version) {
				for _, off := range []int{0, 4, 24, 63} {
					clear(got)
					if out := got[off : off+len(want)]; !LineCoords(out, ct, Bytes(m.pointers), U32, indices, ix, 3, 60000) || !bytes.Equal(out, want) {
						t.Errorf("%v: %v to %v at %d: wrong coordinates", v, ix, ct, off)
					}
				}
			})
		}
	}
}

func TestLineCoordsChecksPointers(t *testing.T) {
	for _, pointers := range [][]int32{{0, 3, 2}, {-1, 0, 2}, {0, 1, 4}} {
		if LineCoords(make([]byte, 24), I32, Bytes(pointers), I32, Bytes([]int32{0, 1, 2}), I32, 0, 9) {
			t.Errorf("no complaint about the pointers %d", pointers)
		}
	}
}

func FuzzLineCoords(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 9, 40}, uint8(40), uint8(4), uint8(4), uint16(60))
	f.Add([]byte{200, 1, 0, 0, 17}, uint8(2), uint8(2), uint8(6), uint16(300))
	f.Fuzz(func(t *testing.T, counts []byte, times, index, coord uint8, n uint16) {
		m := &lines{pointers: []uint32{0}}
		for range times%8 + 1 {
			for i, c := range counts {
				x := uint64(i)
				for range c {
					m.indices = append(m.indices, x)
					x += 1 + uint64(c)>>5*uint64(i&1)
				}
				m.pointers = append(m.pointers, uint32(len(m.indices)))
			}
		}
		m.count = len(m.pointers) - 1
		ix := allIndexes[index%8]
		for i, x := range m.indices { // as they are read
			m.indices[i] = ix.At(appendIndex(nil, ix, x), 0)
		}
		compareLineCoords(t, m, ix, allIndexes[coord%8], uint64(times), uint64(n))
	})
}

func ExampleLineCoords() {
	coords := make([]int32, 2*3)
	ok := LineCoords(Bytes(coords), I32, Bytes([]int64{0, 2, 2, 3}), I64, Bytes([]int32{1, 4, 0}), I32, 0, 5)
	fmt.Println(coords, ok)
	// Output: [0 1 0 4 2 0] true
}
