package vec

import (
	"encoding/binary"
	"math"
	"sort"
)

func histogramFloat32Go(counts []int64, edges []float64, src []byte) {
	first, scale := edges[0], binScale(edges)
	for ; len(src) >= 4; src = src[4:] {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
		if k := int((v - first) * scale); uint(k) < uint(len(counts)) && uint(k+1) < uint(len(edges)) && edges[k] <= v && v < edges[k+1] {
			counts[k]++
		} else {
			countInBin(counts, edges, v)
		}
	}
}

func histogramFloat64Go(counts []int64, edges []float64, src []byte) {
	first, scale := edges[0], binScale(edges)
	for ; len(src) >= 8; src = src[8:] {
		v := math.Float64frombits(binary.LittleEndian.Uint64(src))
		if k := int((v - first) * scale); uint(k) < uint(len(counts)) && uint(k+1) < uint(len(edges)) && edges[k] <= v && v < edges[k+1] {
			counts[k]++
		} else {
			countInBin(counts, edges, v)
		}
	}
}

// binScale returns how many bins there are for a unit, if all have the same width.
func binScale(edges []float64) float64 {
	n := len(edges) - 1
	return float64(n) / (edges[n] - edges[0])
}

// countInBin counts v where it belongs, if it does. Where that is can't always be computed: bins need not have the same width,
// numbers are rounded, and the scale of a range that is huge or tiny says nothing.
func countInBin(counts []int64, edges []float64, v float64) {
	last := len(counts) - 1
	if edges[0] <= v && v <= edges[last+1] {
		// The first edge above v ends its bin.
		counts[sort.Search(last, func(k int) bool { return v < edges[k+1] })]++
	}
}
