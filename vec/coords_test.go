package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testShapes are shapes whose axes are long and short in every order, with what divides badly.
var testShapes = [][]uint64{
	{}, {1}, {7}, {20011}, {130, 90}, {1, 1}, {3, 8192}, {300, 3}, {2, 30000}, {1, 24576}, {2, 24577}, {1, 40000},
	{5, 6, 7}, {3, 80, 90}, {2, 1, 3000}, {4, 2500, 1}, {1, 1, 5000}, {2, 25000, 1}, {1000, 2, 3},
	{3, 8, 20, 9}, {2, 3, 200, 90}, {40, 1, 1, 100}, {2, 2, 2, 2, 2, 2}, {3, 5, 2, 7, 11}, {2, 3, 2, 3, 2, 3, 2, 3, 2},
}

func size(dims []uint64) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// naiveCoords gives the coordinates of an element.
func naiveCoords(dims []uint64, at uint64) []uint64 {
	c := make([]uint64, len(dims))
	for a := len(dims) - 1; a >= 0; a-- {
		c[a] = at
		if a > 0 {
			c[a], at = at%dims[a], at/dims[a]
		}
	}
	return c
}

func TestCompactCoords(t *testing.T) {
	for _, dims := range testShapes {
		for i, p := range slices.Concat(patterns, patterns) {
			if underRace && i%5 != 0 {
				continue
			}
			e := allElems[(i+len(dims))%len(allElems)]
			ix := []Index{I16, U32, I64, U16, I8, I64, I32}[i%7]
			if len(dims) == 2 && dims[1] >= longRow { // the kernels for pairs
				e, ix = []Elem{Bits8, Float16, Float32, Float64}[i%4], []Index{I32, I64}[i/4%2]
			}
			rng := rand.New(rand.NewPCG(31, uint64(i)))
			src := make([]byte, size(dims)*e.Size())
			p.fill(rng, src, e)
			first := uint64(0)
			if len(dims) > 1 && i%2 == 1 { // some lines later, and a start in the middle of a line
				first = uint64(size(dims[1:]))*uint64(rng.IntN(1000)) + uint64(rng.IntN(size(dims)))
			}
			nnz := naiveCount(src, e)
			for _, room := range []int{nnz, nnz + 100, nnz / 2} {
				wantValues, positions, wantConsumed := naiveCompact(src, e, U64, first, room)
				var want []byte
				for _, at := range view[uint64](positions) {
					for _, c := range naiveCoords(dims, at) {
						want = appendIndex(want, ix, c)
					}
				}
				if len(dims) == 1 {
					want = nil
					for _, at := range view[uint64](positions) {
						want = appendIndex(want, ix, at)
					}
				}
				eachVersion(func(v Version) {
					values, coords := make([]byte, room*e.Size()), make([]byte, room*len(dims)*ix.Size())
					consumed, written := CompactCoords(values, coords, ix, src, e, dims, first)
					what := fmt.Sprintf("%v: %v in %v from %d, %s, %v, room for %d", v, e, dims, first, p.name, ix, room)
					if consumed != wantConsumed || written*e.Size() != len(wantValues) {
						t.Fatalf("%s: used up %d and wrote %d, want %d and %d", what, consumed, written, wantConsumed, len(wantValues)/e.Size())
					}
					if !bytes.Equal(values[:len(wantValues)], wantValues) {
						t.Fatalf("%s: wrong values", what)
					}
					if !bytes.Equal(coords[:len(want)], want) {
						t.Fatalf("%s: coordinates (-want +got):\n%s", what, cmp.Diff(want, coords[:len(want)]))
					}
				})
			}
		}
	}
}

func TestMagic(t *testing.T) {
	for d := uint64(2); d <= maxDivisor; d++ {
		m := magicOf(d)
		if m.factor >= 1<<16 || m.shift > 15 {
			t.Fatalf("divisor %d: factor %d, shift %d", d, m.factor, m.shift)
		}
		check := func(x uint64) {
			if q := x * m.factor >> 16 >> m.shift; q != x/d {
				t.Fatalf("%d ÷ %d is %d, not %d", x, d, x/d, q)
			}
		}
		// The quotient can only be wrong around multiples of the divisor.
		for x := uint64(0); x < maxDividend; x += d {
			check(x)
			check(min(x+d-1, maxDividend-1))
		}
		check(maxDividend - 1)
	}
}
