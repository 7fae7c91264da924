package vec

import (
	"errors"
	"testing"
)

// TestNegativeIndices has matrices with more rows and columns than a signed index type has positive values: a negative
// index, read as unsigned, would lie inside of them.
func TestNegativeIndices(t *testing.T) {
	for _, c := range []struct {
		t Index
		n int
	}{{I8, 1 << 8}, {I8, 1 << 14}, {I16, 1 << 16}, {I16, 1 << 20}} {
		for _, lines := range []int{1, 3, 40} {
			for _, before := range []int{0, 1, 100} { // indices before the negative one
				indices := make([]byte, 0, (before+1)*c.t.Size())
				for i := range before {
					indices = append(indices, make([]byte, c.t.Size())...)
					putIndex(indices[i*c.t.Size():], c.t, uint64(i))
				}
				indices = append(indices, make([]byte, c.t.Size())...)
				putIndex(indices[before*c.t.Size():], c.t, c.t.Max()+1) // its most negative value
				if got := int64(c.t.At(indices, before)); got >= 0 {
					t.Fatalf("%v: %d is not negative", c.t, got)
				}
				// All of them in the last line.
				pointers := make([]byte, (lines+1)*8)
				putIndex(pointers[lines*8:], U64, uint64(before+1))
				if LinesInOrder(pointers, U64, indices, c.t, uint64(c.n)) {
					t.Errorf("%v, %d: LinesInOrder takes a negative index", c.t, c.n)
				}
				if LineCoords(make([]byte, (before+1)*16), U64, pointers, U64, indices, c.t, 0, uint64(c.n)) {
					t.Errorf("%v, %d: LineCoords takes a negative index", c.t, c.n)
				}
				for _, size := range []int{1, 2, 4, 8, 3} {
					for name, scatter := range map[string]func(dst []byte, values []byte) error{
						"rows": func(dst, values []byte) error {
							return ScatterRows(dst, false, size, c.n, pointers, U64, indices, c.t, values)
						},
						"ascending rows": func(dst, values []byte) error {
							return ScatterAscending(dst, false, size, c.n, pointers, U64, indices, c.t, values)
						},
						"columns": func(dst, values []byte) error {
							return ScatterColumns(dst, false, size, lines, pointers, U64, indices, c.t, values)
						},
						"ascending columns": func(dst, values []byte) error {
							return ScatterAscendingColumns(dst, false, size, lines, pointers, U64, indices, c.t, values)
						},
					} {
						err := scatter(make([]byte, c.n*lines*size), make([]byte, (before+1)*size))
						var bad *IndexError
						if !errors.As(err, &bad) || bad.At != before {
							t.Errorf("%s of %d bytes, %v, %d, %d before: %v", name, size, c.t, c.n, before, err)
						}
					}
				}
				// As the coordinates of a matrix.
				pairs := make([]byte, 0, (before+1)*2*c.t.Size())
				for i := range before + 1 {
					pairs = append(append(pairs, make([]byte, c.t.Size())...), indices[i*c.t.Size():(i+1)*c.t.Size()]...)
				}
				if CoordLines(make([]byte, 2*8), U64, make([]byte, (before+1)*8), U64, pairs, c.t, [2]int{2 * c.t.Size(), c.t.Size()}, 0, before+1, 1, uint64(c.n)) {
					t.Errorf("%v, %d: CoordLines takes a negative index", c.t, c.n)
				}
			}
		}
	}
}
