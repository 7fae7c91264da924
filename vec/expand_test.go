//go:build unix && amd64

package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
)

// TestExpand calls the kernels on values and indices that end where memory does, also on indices that are wrong: they
// write what they should then, though not what it should be.
func TestExpand(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	out, in, index := newGuard(t, "dst", 10), newGuard(t, "values", 20), newGuard(t, "indices", 12)
	rng := rand.New(rand.NewPCG(61, 62))
	for range 3000 {
		size := 1 << rng.IntN(4)
		lines := rng.IntN(40)
		n := lines * 64 / size // elements
		base := rng.Uint32N(4)*rng.Uint32() + rng.Uint32N(3)
		count := min(rng.IntN(n+1)/(1+rng.IntN(30)), 2500)
		places := rng.Perm(n)[:count]
		slices.Sort(places)
		places = append(places, make([]int, rng.IntN(5))...) // some that lie behind
		for i := count; i < len(places); i++ {
			places[i] = n + 3*i
		}
		values := make([]byte, len(places)*size)
		for i := range values {
			values[i] = byte(i*11+i>>8) | 1
		}
		var indices []uint32
		want := make([]byte, n*size)
		for i, at := range places {
			indices = append(indices, base+uint32(at))
			if i < count {
				copy(want[at*size:], values[i*size:(i+1)*size])
			}
		}
		hostile := rng.IntN(4) == 0
		if hostile {
			for i := range indices {
				switch rng.IntN(4) {
				case 0:
					indices[i] = rng.Uint32()
				case 1:
					indices[i] = base + rng.Uint32N(uint32(n)+1)
				}
			}
		}
		eachVersion(func(v Version) {
			if !canExpand(size) {
				return
			}
			for _, atEnd := range []bool{false, true} {
				what := func() string {
					return fmt.Sprintf("%v: %d of %d elements of %d bytes from %d, hostile %v, at end %v", v, count, n, size, base, hostile, atEnd)
				}
				defer faults(t, what)
				dst, a, b := out.place(n*size, 0, atEnd), in.place(len(values), 0, atEnd), index.place(len(indices)*4, 0, atEnd)
				copy(a, values)
				copy(b, memory(indices))
				used := expandAny(dst, size, a, view[uint32](b), base, 0, 2)
				streamDone()
				if !hostile && (used != count || !bytes.Equal(dst, want)) {
					t.Fatalf("%s: wrong bytes, %d values used", what(), used)
				}
				if used > len(places) {
					t.Fatalf("%s: %d values used", what(), used)
				}
				out.check(t, len(dst), 0, atEnd, what)
				in.check(t, len(a), 0, atEnd, what)
				index.check(t, len(b), 0, atEnd, what)
			}
		})
	}
}
