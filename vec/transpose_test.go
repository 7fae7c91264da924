package vec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines is a compressed matrix with some elements before and after those of its lines.
type lines struct {
	count, width, size  int
	pointers            []uint32
	indices             []uint64
	values              []byte
	firstValue, endLast int
}

// randomLines makes a matrix of so many lines and so many values. Indices repeat and are in no order, unless
// sorted.
func randomLines(rng *rand.Rand, count, width, size, nnz int, sorted bool) *lines {
	m := &lines{count: count, width: width, size: size}
	skip := rng.IntN(4)
	for range skip {
		m.indices = append(m.indices, 0)
	}
	m.pointers = []uint32{uint32(skip)}
	lengths := make([]int, count)
	for range nnz {
		lengths[rng.IntN(count)]++
	}
	for _, n := range lengths {
		first := len(m.indices)
		for range n {
			m.indices = append(m.indices, uint64(rng.IntN(width)))
		}
		if sorted {
			sortIndices(m.indices[first:])
		}
		m.pointers = append(m.pointers, uint32(len(m.indices)))
	}
	m.firstValue, m.endLast = skip, len(m.indices)
	m.indices = append(m.indices, 0, 0, 0)
	m.values = make([]byte, len(m.indices)*size)
	for i := range m.values {
		m.values[i] = byte(i*13+i>>8) | 1
	}
	return m
}

func sortIndices(x []uint64) {
	for i := range x {
		for j := i; j > 0 && x[j] < x[j-1]; j-- {
			x[j], x[j-1] = x[j-1], x[j]
		}
	}
}

func (m *lines) index(t Index) []byte {
	var b []byte
	for _, x := range m.indices {
		b = appendIndex(b, t, x)
	}
	return b
}

var lineCases = []struct {
	count, width, size, nnz int
}{
	{0, 5, 4, 0}, {5, 0, 4, 0}, {1, 1, 1, 1}, {3, 7, 3, 10}, {100, 90, 4, 900}, {90, 3000, 8, 5000}, {1000, 17, 16, 300},
	{127, 100, 4, 700}, {127, 100, 8, 700}, {127, 120, 4, 500}, {127, 120, 8, 500}, {127, 110, 4, 400}, {127, 110, 8, 400}, {127, 115, 4, 300}, {127, 115, 8, 300},
	{2, 100000, 2, 20000}, {3000, 2500, 4, 30000}, {700, 70000, 12, 10000}, {20, 5000, 1, 9000}, {1, 1500, 8, 20000},
}

func TestStartLines(t *testing.T) {
	defer func(n int) { recordBytes = n }(recordBytes)
	for _, recordBytes = range []int{recordBytes, 0} {
		testStartLines(t)
	}
}

func testStartLines(t *testing.T) {
	var c Columns
	for i, k := range lineCases {
		for x, ix := range []Index{I64, U32, U16, I8} {
			if uint64(max(k.width-1, 0)) > ix.Max() {
				continue
			}
			out := []Index{U8, I16, U32, I64}[(i+x)%4]
			if uint64(k.count) > out.Max() {
				out = U32
			}
			rng := rand.New(rand.NewPCG(71, uint64(i)))
			m := randomLines(rng, k.count, max(k.width, 1), k.size, k.nnz, false)
			type entry struct {
				row int
				at  int
			}
			columns := make([][]entry, k.width)
			for r := range m.count {
				for at := m.pointers[r]; at < m.pointers[r+1]; at++ {
					columns[m.indices[at]] = append(columns[m.indices[at]], entry{r, int(at)})
				}
			}
			var wantValues, wantRows, wantPointers []byte
			n := 3
			for _, column := range columns {
				for _, e := range column {
					wantValues = append(wantValues, m.values[e.at*k.size:][:k.size]...)
					wantRows = appendIndex(wantRows, out, uint64(e.row))
				}
				n += len(column)
				wantPointers = appendIndex(wantPointers, I32, uint64(n))
			}
			eachVersion(func(v Version) {
				what := fmt.Sprintf("%v: %+v, %v to %v", v, k, ix, out)
				count, err := c.StartLines(Bytes(m.pointers), U32, m.index(ix), ix, m.values, k.size, k.width)
				if err != nil || count != k.nnz {
					t.Fatalf("%s: %d values, error %v", what, count, err)
				}
				values, rows, pointers := make([]byte, k.nnz*k.size), make([]byte, k.nnz*out.Size()), make([]byte, k.width*4)
				n := 0
				for c.Next() {
					from, _ := c.Columns()
					c.Write(values[n*k.size:], rows[n*out.Size():], out, pointers[from*4:], I32, uint64(3+n))
					n += c.Len()
				}
				if !bytes.Equal(values, wantValues) {
					t.Fatalf("%s: wrong values", what)
				}
				if !bytes.Equal(rows, wantRows) {
					t.Fatalf("%s: rows (-want +got):\n%s", what, cmp.Diff(wantRows, rows))
				}
				if !bytes.Equal(pointers, wantPointers) {
					t.Fatalf("%s: pointers (-want +got):\n%s", what, cmp.Diff(wantPointers, pointers))
				}
			})
		}
	}
}

// denseLines makes a matrix whose lines have their indices in order, each with some probability.
func denseLines(rng *rand.Rand, count, width, size int, share float64) *lines {
	m := &lines{count: count, width: width, size: size, indices: []uint64{7}, pointers: []uint32{1}}
	for line := range count {
		for j := range width {
			if rng.Float64() < share && line%10 != 3 {
				m.indices = append(m.indices, uint64(j))
			}
		}
		m.pointers = append(m.pointers, uint32(len(m.indices)))
	}
	m.values = make([]byte, len(m.indices)*size)
	for i := range m.values {
		m.values[i] = byte(i*13+i>>8) | 1
	}
	return m
}

// transposed returns the columns of a matrix.
func (m *lines) transposed(out Index) (values, rows, pointers []byte) {
	columns := make([][2][]byte, m.width)
	for r := range m.count {
		for at := m.pointers[r]; at < m.pointers[r+1]; at++ {
			c := &columns[m.indices[at]]
			c[0] = append(c[0], m.values[int(at)*m.size:][:m.size]...)
			c[1] = appendIndex(c[1], out, uint64(r))
		}
	}
	for _, c := range columns {
		values, rows = append(values, c[0]...), append(rows, c[1]...)
		pointers = appendIndex(pointers, I32, uint64(len(rows)/out.Size()))
	}
	return values, rows, pointers
}

// TestStartLinesRuns has lines whose values are taken in runs.
func TestStartLinesRuns(t *testing.T) {
	defer func(n int) { recordBytes = n }(recordBytes)
	recordBytes = 0
	var c Columns
	for i, k := range []struct {
		count, width int
		share        float64
	}{
		{1, 1, 1}, {3, 130, .9}, {200, 128, .1}, {70, 1000, .5}, {64, 129, 1}, {65, 300, .07}, {300, 700, .2}, {2000, 40, .3},
	} {
		for _, size := range []int{4, 8} {
			for x, ix := range []Index{I16, U32, I64} {
				out := []Index{U16, I32, I64}[(i+x)%3]
				m := denseLines(rand.New(rand.NewPCG(73, uint64(i))), k.count, k.width, size, k.share)
				wantValues, wantRows, wantPointers := m.transposed(out)
				eachVersion(func(v Version) {
					what := fmt.Sprintf("%v: %+v of %d bytes, %v to %v", v, k, size, ix, out)
					n, err := c.StartLines(Bytes(m.pointers), U32, m.index(ix), ix, m.values, size, k.width)
					if err != nil || n*size != len(wantValues) {
						t.Fatalf("%s: %d values, error %v", what, n, err)
					}
					values, rows, pointers := make([]byte, len(wantValues)), make([]byte, len(wantRows)), make([]byte, len(wantPointers))
					n = 0
					for c.Next() {
						from, to := c.Columns()
						end := n + c.Len()
						c.Write(values[n*size:end*size], rows[n*out.Size():end*out.Size()], out, pointers[from*4:to*4], I32, uint64(n))
						n = end
					}
					if !bytes.Equal(values, wantValues) || !bytes.Equal(rows, wantRows) || !bytes.Equal(pointers, wantPointers) {
						t.Fatalf("%s: wrong values, rows or pointers", what)
					}
				})
			}
		}
	}
}

func TestStartLinesManyLines(t *testing.T) {
	// So many lines that the number of one and an index don't fit 4 bytes together.
	const count = 1<<22 + 5
	pointers := make([]uint32, count+1)
	for i := range pointers {
		switch {
		case i > 1<<22:
			pointers[i] = 3
		case i > 1<<21:
			pointers[i] = 2
		case i > 5:
			pointers[i] = 1
		}
	}
	var c Columns
	eachVersion(func(v Version) {
		if n, err := c.StartLines(Bytes(pointers), U32, Bytes([]uint16{1999, 3, 1999}), U16, []byte{7, 8, 9}, 1, 2000); n != 3 || err != nil {
			t.Fatalf("%v: %d values, error %v", v, n, err)
		}
		var rows []uint32
		var values []byte
		for c.Next() {
			r, b, p := make([]uint32, c.Len()), make([]byte, c.Len()), make([]byte, 8*1024)
			c.Write(b, Bytes(r), U32, p, U64, 0)
			rows, values = append(rows, r...), append(values, b...)
		}
		if diff := cmp.Diff([]uint32{1 << 21, 5, 1 << 22}, rows); diff != "" {
			t.Errorf("%v: rows (-want +got):\n%s", v, diff)
		}
		if diff := cmp.Diff([]byte{8, 7, 9}, values); diff != "" {
			t.Errorf("%v: values (-want +got):\n%s", v, diff)
		}
	})
}

func TestStartLinesChecks(t *testing.T) {
	var c Columns
	_, err := c.StartLines(Bytes([]int32{0, 2, 3}), I32, Bytes([]int8{0, 1, -1}), I8, []byte{1, 2, 3}, 1, 2)
	var ie *IndexError
	if !errors.As(err, &ie) || ie.At != 2 {
		t.Errorf("error %v, want one for the index at 2", err)
	}
	_, err = c.StartLines(Bytes([]int32{0, 2, 4}), I32, Bytes([]int8{0, 1, 1}), I8, []byte{1, 2, 3}, 1, 2)
	var pe *PointerError
	if !errors.As(err, &pe) || pe.At != 2 {
		t.Errorf("error %v, want one for the pointer at 2", err)
	}
}
