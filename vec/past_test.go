package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestPast takes outputs of all sizes to be large, and places them at all distances from a cache line.
func TestPast(t *testing.T) {
	defer func(from int) { pastFrom = from }(pastFrom)
	pastFrom = 0
	shapes := [][]uint64{{9, 9001}, {3, 30000}, {300, 200}, {6, 100, 90}, {5, 8, 30, 40}, {3, 4, 5, 20, 30}, {2, 3, 4, 5, 20, 11}}
	for i, dims := range shapes {
		for j, e := range []Elem{Float32, Bits8, Float64, Bits16} {
			for k, ix := range []Index{I64, U32} {
				n := size(dims)
				rng := rand.New(rand.NewPCG(41, uint64(i)))
				src := make([]byte, n*e.Size())
				pattern{make: sparse(2)}.fill(rng, src, e)
				// Few nonzeros for a while, and none.
				pattern{make: sparse(300)}.fill(rng, src[n/2*e.Size():][:n/8*e.Size()], e)
				clear(src[n/3*e.Size():][:n/16*e.Size()])
				wantValues, positions, _ := naiveCompact(src, e, U64, 5, n)
				var want []byte
				for _, at := range view[uint64](positions) {
					for _, c := range naiveCoords(dims, at) {
						want = appendIndex(want, ix, c)
					}
				}
				nnz, row := len(wantValues)/e.Size(), len(dims)*ix.Size()
				eachVersion(func(v Version) {
					for at := range 64 {
						if at%12 != (i+j+k)%12 && (at%16 != 0 || underRace) {
							continue
						}
						for _, room := range []int{nnz, nnz + 9000, nnz * 3 / 4} {
							what := fmt.Sprintf("%v: %v in %v, %v, room for %d at %d", v, e, dims, ix, room, at)
							values, outside := outputAt(room*e.Size(), at)
							coords, outsideCoords := outputAt(room*row, 63-at)
							found := min(room, nnz)
							consumed, written := CompactCoords(values, coords, ix, src, e, dims, 5)
							if written != found || (consumed == n) != (found == nnz) {
								t.Fatalf("%s: used up %d of %d and wrote %d of %d", what, consumed, n, written, found)
							}
							if !bytes.Equal(values[:found*e.Size()], wantValues[:found*e.Size()]) {
								t.Fatalf("%s: wrong values", what)
							}
							if !bytes.Equal(coords[:found*row], want[:found*row]) {
								t.Fatalf("%s: wrong coordinates", what)
							}
							outside(t, what)
							outsideCoords(t, what)
						}
					}
				})
			}
		}
	}
}

// outputAt returns n bytes so many bytes after a cache line, and what checks that nothing before or after them was
// written.
func outputAt(n, at int) ([]byte, func(*testing.T, string)) {
	const around = 256
	b := aligned64(make([]byte, n+2*around+128))
	for i := range b {
		b[i] = 0xa5
	}
	from, to := around+at, around+at+n
	return b[from:to:to], func(t *testing.T, what string) {
		t.Helper()
		for i, x := range b {
			if (i < from || i >= to) && x != 0xa5 {
				t.Fatalf("%s: byte %d of %d was written", what, i-from, n)
			}
		}
	}
}
