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
// which is either elements or scratch; both have the same length. No key is above most. Elements come in the
// order in which they lie.
func sortKeyed(elements, scratch []keyed, most uint64) []keyed {
	const (
		few   = 48
		short = 1 << 12
	)
	switch {
	case len(elements) < few:
		slices.SortFunc(elements, func(a, b keyed) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at))
		})
		return elements
	case len(elements) < short:
		var next [1 << 8]int
		return sortDigits(elements, scratch, next[:], 8, most)
	}
	var next [1 << 11]int // stays in the first-level cache
	return sortDigits(elements, scratch, next[:], 11, most)
}

// sortDigits sorts by digits of so many bits, of which next has room to count each.
func sortDigits(elements, scratch []keyed, next []int, digit int, most uint64) []keyed {
	from, to := elements, scratch[:len(elements)]
	mask := uint64(len(next) - 1)
	for shift := 0; shift < bits.Len64(most); shift += digit {
		clear(next)
		for i := range from {
			next[from[i].key>>shift&mask]++
		}
		if next[from[0].key>>shift&mask] == len(from) {
			continue // all have the same digit here
		}
		sum := 0
		for d, n := range next {
			next[d] = sum
			sum += n
		}
		for i := range from {
			d := from[i].key >> shift & mask
			to[next[d]] = from[i]
			next[d]++
		}
		from, to = to, from
	}
	return from
}

// sortBlocks sorts the elements with these keys into order, block by block: the elements of a block, those with the same
// key ÷ block, lie together, and blocks are in order. It reports whether that is so.
func sortBlocks(order, scratch []keyed, keys []uint64, block uint64) bool {
	for i := 0; i < len(keys); {
		first := keys[i] - keys[i]%block
		j := i
		for ; j < len(keys) && keys[j]-first < block; j++ {
			order[j] = keyed{keys[j] - first, uint64(j)}
		}
		if j < len(keys) && keys[j] < first {
			return false
		}
		sorted := sortKeyed(order[i:j], scratch[i:j], block-1)
		for k, e := range sorted {
			order[i+k] = keyed{e.key + first, e.at}
		}
		i = j
	}
	return true
}
