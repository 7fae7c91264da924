package vec

import (
	"encoding/binary"
	"math"
)

const (
	// comparedEdges is the number of edges up to which all elements of a piece are compared with three edges after the other.
	// That is faster than finding the bin of each, which is one step but can't be done for several elements at a time.
	comparedEdges = 40
	// histogramStep is how many bytes a kernel takes at a time.
	histogramStep = 256
	// histogramPiece is how much is compared with three edges after the other. It stays in the first-level cache, as the piece
	// that is prefetched meanwhile does.
	histogramPiece = 8 << 10
)

// histogramAny counts the first elements of src, and returns how many bytes they take.
func histogramAny(counts []int64, edges []float64, src []byte, e Elem, inside bool) int {
	if Active() < AVX2 || len(edges) > comparedEdges || len(src) < histogramStep {
		return 0
	}
	size, last := e.Size(), len(edges)-1
	// The kernel takes three thresholds at a time. It may get some that count for nothing.
	var thresholds [(comparedEdges + 2) * 8]byte
	for k, edge := range edges {
		if size == 4 {
			binary.LittleEndian.PutUint32(thresholds[4*k:], math.Float32bits(atLeast32(edge, k == last)))
			continue
		}
		if k == last {
			edge = math.Nextafter(edge, math.Inf(1))
		}
		binary.LittleEndian.PutUint64(thresholds[8*k:], math.Float64bits(edge))
	}
	// How many elements are at least the first threshold, and the last, is known if all are inside.
	from, to := 0, last+1
	if inside {
		from, to = 1, last
	}
	var above [comparedEdges + 2]int64 // elements that are at least a threshold
	done := 0
	for len(src)-done >= histogramStep {
		n := min(len(src)-done, histogramPiece) &^ (histogramStep - 1)
		p, next := &src[done], src[done:done+n] // nothing new
		if rest := src[done+n:]; len(rest) >= n {
			next = rest[:n]
		}
		for k := from; k < to; k += 3 {
			// Each of two calls prefetches a half of the next piece.
			some, ahead := (*[3]int64)(above[k:]), &next[(k-from)/3%2*(n/2)]
			if size == 4 {
				ran("atLeast4AVX2")
				atLeast4AVX2(p, n, &thresholds[4*k], ahead, some)
			} else {
				ran("atLeast8AVX2")
				atLeast8AVX2(p, n, &thresholds[8*k], ahead, some)
			}
		}
		done += n
	}
	if inside {
		above[0], above[last] = int64(done/size), 0
	}
	for k := range counts {
		counts[k] += above[k] - above[k+1]
	}
	return done
}

// atLeast32 returns the smallest float32 that is at least x, or that is more.
func atLeast32(x float64, more bool) float32 {
	f := float32(x)
	if float64(f) < x || more && float64(f) == x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}
