package vec

import "sort"

func histogramGo[T float32 | float64](counts []int64, edges []float64, src []T) {
	n := len(counts)
	first, scale := edges[0], float64(n)/(edges[n]-edges[0]) // bins for a unit, if all have the same width
	for _, x := range src {
		v := float64(x)
		if k := int((v - first) * scale); uint(k) < uint(len(counts)) && uint(k+1) < uint(len(edges)) && edges[k] <= v && v < edges[k+1] {
			counts[k]++
		} else {
			countInBin(counts, edges, v)
		}
	}
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
