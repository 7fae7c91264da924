package png

// The filters: what is subtracted from each byte of a row before it is compressed.
const (
	filterNone    = iota
	filterSub     // the byte of the pixel to the left
	filterUp      // the one above
	filterAverage // the mean of both
	filterPaeth   // whichever of left, above and above left is nearest to left + above − above left
	filters
)

// filter returns a row, with the number of the filter before it, filtered by the one that leaves the
// smallest sum of differences: the way that the specification suggests (12.7).
func filter(rows *[filters][]byte, current, above []byte, pixel int) []byte {
	var sums [filters]int
	for i, c := range current {
		a, b, ab := byte(0), above[i], byte(0)
		if i >= pixel {
			a, ab = current[i-pixel], above[i-pixel]
		}
		for f, predicted := range [filters]byte{0, a, b, byte((int(a) + int(b)) / 2), paeth(int(a), int(b), int(ab))} {
			v := c - predicted
			rows[f][1+i] = v
			sums[f] += max(int(int8(v)), -int(int8(v)))
		}
	}
	best := filterNone
	for f, sum := range sums {
		if sum < sums[best] {
			best = f
		}
	}
	return rows[best]
}

func paeth(a, b, ab int) byte {
	pa, pb, pc := b-ab, a-ab, a+b-2*ab
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	switch {
	case pa <= pb && pa <= pc:
		return byte(a)
	case pb <= pc:
		return byte(b)
	}
	return byte(ab)
}
