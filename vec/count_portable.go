package vec

import "unsafe"

// countGo counts by lanes of a 64-bit word: with y the bits that matter, (y & low) + low carries into
// the top bit of its lane exactly if one of the low bits is set.
func countGo(src []byte, e Elem) int {
	size, mask := e.Size(), e.mask()
	if size == 16 {
		return countPairs(view[pair](src), mask)
	}
	words := view[uint64](src)
	count := 0
	switch size {
	case 1:
		count = countLanes(words, mask, 0x8080808080808080, 7)
	case 2:
		count = countLanes(words, mask, 0x8000800080008000, 15)
	case 4:
		count = countLanes(words, mask, 0x8000000080000000, 31)
	case 8:
		count = countLanes(words, mask, 1<<63, 63)
	}
	var last uint64 // the bytes after the last whole word, filled up with zeros
	for i, b := range src[len(words)*8:] {
		last |= uint64(b) << (8 * i)
	}
	if last != 0 {
		switch size {
		case 1:
			count += countLanes([]uint64{last}, mask, 0x8080808080808080, 7)
		case 2:
			count += countLanes([]uint64{last}, mask, 0x8000800080008000, 15)
		case 4:
			count += countLanes([]uint64{last}, mask, 0x8000000080000000, 31)
		}
	}
	return count
}

// countLanes counts the lanes of words that have a bit of mask set; top has the top bit of each lane,
// which is bit shift of the lane.
func countLanes(words []uint64, mask, top uint64, shift uint) int {
	low := ^top
	ones := top >> (shift & 63) // the lowest bit of each lane
	total := 0
	for len(words) > 0 {
		// No lane may pass 255 before the lanes are added up: 63 steps of four words.
		n := min(len(words), 252)
		block := words[:n]
		words = words[n:]
		var sum uint64
		for len(block) >= 4 {
			a, b, c, d := block[0]&mask, block[1]&mask, block[2]&mask, block[3]&mask
			a = ((a&low + low) | a) & top
			b = ((b&low + low) | b) & top
			c = ((c&low + low) | c) & top
			d = ((d&low + low) | d) & top
			sum += a>>(shift&63) + b>>(shift&63) + c>>(shift&63) + d>>(shift&63)
			block = block[4:]
		}
		for _, a := range block {
			a &= mask
			sum += ((a&low + low) | a) & top >> (shift & 63)
		}
		total += sumLanes(sum, ones)
	}
	return total
}

// sumLanes adds up the lanes of sum, each at most 255; ones has the lowest bit of each lane.
func sumLanes(sum, ones uint64) int {
	if ones == 0x0101010101010101 {
		// Eight lanes may add up to more than a byte holds: make four lanes of 16 bits first.
		sum = sum&0x00ff00ff00ff00ff + sum>>8&0x00ff00ff00ff00ff
		ones = 0x0001000100010001
	}
	switch ones {
	case 0x0001000100010001:
		return int(sum * ones >> 48)
	case 0x0000000100000001:
		return int(sum * ones >> 32)
	}
	return int(sum)
}

func countPairs(src []pair, mask uint64) int {
	count := 0
	for i := range src {
		if (src[i].lo|src[i].hi)&mask != 0 {
			count++
		}
	}
	return count
}

func countStridedGo(src []byte, e Elem, n, stride int) int {
	mask := e.mask()
	switch e.Size() {
	case 1:
		return countStrided(src, uint8(mask), n, stride)
	case 2:
		return countStrided(src, uint16(mask), n, stride)
	case 4:
		return countStrided(src, uint32(mask), n, stride)
	case 8:
		return countStrided(src, mask, n, stride)
	}
	count := 0
	for i := range n {
		p := view[pair](src[i*stride : i*stride+16])
		count += countPairs(p, mask)
	}
	return count
}

// countStrided trusts its caller that element n−1 ends inside src.
func countStrided[T uint8 | uint16 | uint32 | uint64](src []byte, mask T, n, stride int) int {
	base := unsafe.Pointer(unsafe.SliceData(src))
	count := 0
	for i := range n {
		if *(*T)(unsafe.Add(base, i*stride))&mask != 0 {
			count++
		}
	}
	return count
}
