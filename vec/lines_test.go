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
		if only := LinesInOrder(Bytes(m.pointers), U32, indices, ix, n); only != ok {
			t.Fatalf("%v: %d lines of %d of %v: %v, want %v", v, m.count, n, ix, only, ok)
		}
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
					if !LinesInOrder(Bytes(m.pointers), U32, indices, ix, 60000) {
						t.Errorf("%v: lines of %v are not in order", v, ix)
					}
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
		if LinesInOrder(Bytes(pointers), I32, Bytes([]int32{0, 1, 2}), I32, 9) {
			t.Errorf("the pointers %d are taken to be in order", pointers)
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

// compareCoordLines lets CoordLines take the coordinates of a matrix apart, in some parts, with its indices as they are.
func compareCoordLines(t *testing.T, rows, columns []uint64, ix, ct Index, strides [2]int, parts int, n [2]uint64) {
	t.Helper()
	count, size := len(rows), ix.Size()
	length := 0
	if count > 0 {
		length = (count-1)*strides[0] + strides[1] + size
	}
	coords := make([]byte, length)
	ok, ends := true, make([]uint64, n[0]+1)
	var wantColumns []byte
	line := uint64(0)
	for k := range rows {
		putIndex(coords[k*strides[0]:], ix, rows[k])
		putIndex(coords[k*strides[0]+strides[1]:], ix, columns[k])
		ok = ok && rows[k] < n[0] && columns[k] < n[1] && (k == 0 || rows[k] > rows[k-1] || rows[k] == rows[k-1] && columns[k] > columns[k-1])
		wantColumns = appendIndex(wantColumns, ct, columns[k])
		for ; ok && line < rows[k]; line++ {
			ends[line+1] = uint64(k)
		}
	}
	eachVersion(func(v Version) {
		pointers, got := make([]uint32, n[0]+1), make([]byte, count*ct.Size())
		good := true
		for i := range parts {
			good = CoordLines(Bytes(pointers), U32, got, ct, coords, ix, strides, count*i/parts, count*(i+1)/parts, n[0], n[1]) && good
		}
		if good != ok {
			t.Fatalf("%v: %d coordinates of %v within %d in %d parts: %v, want %v", v, count, ix, n, parts, good, ok)
		}
		if !ok {
			return
		}
		for r := range line + 1 {
			if uint64(pointers[r]) != ends[r] {
				t.Fatalf("%v: %d coordinates of %v in %d parts: row %d begins at %d, want %d", v, count, ix, parts, r, pointers[r], ends[r])
			}
		}
		if !bytes.Equal(got, wantColumns) {
			t.Fatalf("%v: %d coordinates of %v to %v: wrong columns", v, count, ix, ct)
		}
	})
}

// rowsOf returns the row of each element, and the columns.
func rowsOf(m *lines) (rows, columns []uint64) {
	for line := range m.count {
		for at := m.pointers[line]; at < m.pointers[line+1]; at++ {
			rows, columns = append(rows, uint64(line)), append(columns, m.indices[at])
		}
	}
	return rows, columns
}

func TestCoordLines(t *testing.T) {
	for i, k := range []struct{ count, width, nnz int }{
		{0, 5, 0}, {5, 1, 0}, {1, 1, 1}, {3, 7, 9}, {1, 100, 40}, {100, 90, 900}, {90, 3000, 5000}, {250, 17, 100}, {2, 100000, 20000}, {1, 40000, 17000}, {3000, 200, 20000},
	} {
		for _, ix := range allIndexes {
			rng := rand.New(rand.NewPCG(93, uint64(i)))
			rows, columns := rowsOf(ascendingLines(rng, k.count, k.width, k.nnz))
			n := [2]uint64{uint64(k.count), uint64(k.width)}
			if len(columns) > 0 {
				n[1] = max(n[1], slices.Max(columns)+1)
			}
			if max(n[0], n[1])-1 > ix.Max() {
				continue
			}
			size := ix.Size()
			for c, ct := range allIndexes {
				strides := [][2]int{{2 * size, size}, {size, max(len(rows), 1) * size}, {3*size + 1, size}}[c%3]
				if c < 6 {
					strides = [2]int{2 * size, size}
				}
				compareCoordLines(t, rows, columns, ix, ct, strides, 1+c%4, n)
			}
			// Something wrong somewhere.
			for range 8 {
				if len(rows) == 0 {
					break
				}
				some := rows
				if rng.IntN(2) == 0 {
					some = columns
				}
				at := rng.IntN(len(rows))
				was := some[at]
				some[at] = ix.At(appendIndex(nil, ix, []uint64{was + 1, was - 1, n[0], n[1], 0, ix.Max()}[rng.IntN(6)]), 0)
				compareCoordLines(t, rows, columns, ix, I32, [2]int{2 * size, size}, 1+rng.IntN(3), n)
				some[at] = was
			}
			if len(rows) > 0 {
				compareCoordLines(t, rows, columns, ix, I64, [2]int{2 * size, size}, 1, [2]uint64{n[0], columns[rng.IntN(len(rows))]})
				compareCoordLines(t, rows, columns, ix, I64, [2]int{2 * size, size}, 2, [2]uint64{rows[rng.IntN(len(rows))], n[1]})
			}
		}
	}
}

// TestCoordLinesLarge makes so much that it is copied out past the caches.
func TestCoordLinesLarge(t *testing.T) {
	var rows, columns []uint64
	for k := range 2_200_000 {
		rows, columns = append(rows, uint64(k/2000+k/1_000_000*3)), append(columns, uint64(k%2000*3))
	}
	for _, ix := range []Index{I32, I64} {
		for _, parts := range []int{1, 2} {
			compareCoordLines(t, rows, columns, ix, I32, [2]int{2 * ix.Size(), ix.Size()}, parts, [2]uint64{2000, 6000})
		}
	}
	compareCoordLines(t, rows, columns, U16, I64, [2]int{2, 2 * len(rows)}, 1, [2]uint64{2000, 6000})
}

func FuzzCoordLines(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 1, 0, 1, 1, 3, 7, 3, 8, 4, 0, 4, 1, 4, 2, 9, 0}, uint8(4), uint8(4), uint8(2), uint8(20), uint8(20), uint8(1))
	f.Add([]byte{0, 0, 1, 1, 1, 1}, uint8(6), uint8(3), uint8(1), uint8(3), uint8(3), uint8(30))
	f.Fuzz(func(t *testing.T, pairs []byte, index, column, parts, rows, cols, times uint8) {
		ix := allIndexes[index%8]
		var r, c []uint64
		for round := range uint64(times%40) + 1 {
			for i := 0; i+1 < len(pairs); i += 2 {
				r = append(r, ix.At(appendIndex(nil, ix, uint64(pairs[i])+round*10), 0))
				c = append(c, ix.At(appendIndex(nil, ix, uint64(pairs[i+1])), 0))
			}
		}
		compareCoordLines(t, r, c, ix, allIndexes[column%8], [2]int{2 * ix.Size(), ix.Size()}, int(parts%4)+1, [2]uint64{uint64(rows) * 2, uint64(cols)})
	})
}

func ExampleCoordLines() {
	pointers, columns := make([]int64, 4), make([]int32, 3)
	ok := CoordLines(Bytes(pointers), I64, Bytes(columns), I32, Bytes([]int32{0, 1, 0, 4, 2, 0}), I32, [2]int{8, 4}, 0, 3, 3, 5)
	pointers[3] = 3 // the end of the last row
	fmt.Println(pointers, columns, ok)
	// Output: [0 2 2 3] [1 4 0] true
}
