package layout

import (
	"cmp"
	"math/bits"
	"slices"
)

// keyed is a stored element: where it belongs and where it lies.
type keyed struct {
	key uint64 // row-major number of the element in its tensor, with the axes in some order
	at  uint64 // number of the stored element
}

// sortKeyed sorts by key, elements with equal keys by where they lie. It returns the sorted slice,
// which is either elements or scratch; both have the same length. No key is above most.
func sortKeyed(elements, scratch []keyed, most uint64) []keyed {
	const (
		digitBits = 11 // a histogram of 16 KiB stays in the first-level cache
		few       = 1 << 10
	)
	if len(elements) < few {
		slices.SortFunc(elements, func(a, b keyed) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at))
		})
		return elements
	}
	from, to := elements, scratch
	for shift := 0; shift < bits.Len64(most); shift += digitBits {
		var next [1 << digitBits]int
		for i := range from {
			next[from[i].key>>shift&(1<<digitBits-1)]++
		}
		if next[from[0].key>>shift&(1<<digitBits-1)] == len(from) {
			continue // all have the same digit here
		}
		sum := 0
		for d, n := range next {
			next[d] = sum
			sum += n
		}
		for i := range from {
			d := from[i].key >> shift & (1<<digitBits - 1)
			to[next[d]] = from[i]
			next[d]++
		}
		from, to = to, from
	}
	return from
}
