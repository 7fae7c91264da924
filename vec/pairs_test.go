package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// comparePairKeys compares the keys of pairs with those that are made one by one.
func comparePairKeys(t *testing.T, pairs []byte, ix Index, factors [2]uint64) {
	t.Helper()
	n := len(pairs) / (2 * ix.Size())
	var most [4]uint64
	want, ux := make([]uint64, n), unsignedIndex(ix.Size())
	for k := range want {
		i, j := ux.At(pairs, 2*k), ux.At(pairs, 2*k+1)
		want[k] = i*factors[k%2] + j
		most[k%2*2], most[k%2*2+1] = max(most[k%2*2], i), max(most[k%2*2+1], j)
	}
	eachVersion(func(v Version) {
		got := make([]uint64, n)
		if largest := PairKeys(got, pairs, ix, factors); largest != most || !slices.Equal(got, want) {
			t.Fatalf("%v: %d pairs of %v times %d: largest %d, want %d; keys\n got %v\nwant %v", v, n, ix, factors, largest, most, got, want)
		}
	})
}

func TestPairKeys(t *testing.T) {
	for _, ix := range allIndexes {
		rng := rand.New(rand.NewPCG(41, uint64(ix)))
		for _, n := range lengths() {
			if n > 10_000 {
				continue
			}
			pairs := make([]byte, 2*n*ix.Size())
			for i := range pairs {
				pairs[i] = byte(rng.Uint32()) >> rng.IntN(8)
			}
			for _, factor := range []uint64{1, 90, 1<<32 - 1, 1 << 32, 1<<63 + 5} {
				comparePairKeys(t, pairs, ix, [2]uint64{factor, factor})
				comparePairKeys(t, pairs, ix, [2]uint64{3, factor})
			}
		}
	}
}

func FuzzPairKeys(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 255, 255, 255, 255, 0, 0, 0, 128}, uint8(4), uint64(8192), uint64(1), uint8(30))
	f.Add([]byte{7, 0, 0, 0, 0, 0, 0, 255, 9, 0, 0, 0, 0, 0, 0, 0}, uint8(6), uint64(1<<40), uint64(7), uint8(9))
	f.Fuzz(func(t *testing.T, some []byte, index uint8, even, odd uint64, times uint8) {
		ix := allIndexes[index%8]
		var pairs []byte
		for range times {
			pairs = append(pairs, some...)
		}
		comparePairKeys(t, pairs[:len(pairs)/(2*ix.Size())*2*ix.Size()], ix, [2]uint64{even, odd})
	})
}
