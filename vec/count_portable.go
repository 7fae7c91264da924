package vec

import (
	"math/bits"
	"unsafe"
)

// countGo counts by lanes of a 64-bit word: with y the bits that matter, (y & low) + low carries into
// the top bit of its lane exactly if one of the low bits is set.
func countGo(src []byte, e Elem) int { return countMaskedGo(src, e.Size(), e.mask()) }

func countMaskedGo(src []byte, size int, mask uint64) int {
	switch size {
	case 1:
		return countLanes[uint8](src, mask)
	case 2:
		return countLanes[uint16](src, mask)
	case 4:
		return countLanes[uint32](src, mask)
	case 8:
		return countLanes[uint64](src, mask)
	}
	return count128(view[word128](src), mask)
}

// countLanes counts the T's of src that have a bit of mask set.
func countLanes[T uint8 | uint16 | uint32 | uint64](src []byte, mask uint64) int {
	words := view[uint64](src)
	rest := src[len(words)*8:]
	ones, shift := lanes[T]()
	low := ^(ones << shift)
	total := 0
	for len(words) > 0 {
		// No lane may pass 255 before the lanes are added up.
		n := min(len(words), 248)
		total += sumLanes[T](countBlock[T](words[:n], mask, low, ones))
		words = words[n:]
	}
	if len(rest) > 0 {
		var last uint64 // the bytes after the last whole word, filled up with zeros
		for i, b := range rest {
			last |= uint64(b) << (8 * i)
		}
		total += sumLanes[T](countBlock[T]([]uint64{last}, mask, low, ones))
	}
	return total
}

// lanes returns a word with the lowest bit of each T set, and the number of the top bit of a T. Both are
// constants once T is known.
func lanes[T uint8 | uint16 | uint32 | uint64]() (ones uint64, shift int) {
	var zero T
	return ^uint64(0) / uint64(^zero), int(unsafe.Sizeof(zero))*8 - 1
}

// countBlock counts in each lane apart. The word low has all but the top bit of each lane set and ones
// the lowest bit: as arguments they stay in registers, as constants they would be made anew each time.
//
//go:noinline
func countBlock[T uint8 | uint16 | uint32 | uint64](words []uint64, mask, low, ones uint64) uint64 {
	_, shift := lanes[T]()
	var sum uint64
	if mask == low {
		// The top bit does not matter: one step less.
		for len(words) >= 4 {
			w := (*[4]uint64)(words)
			sum += (w[0]&low + low) >> shift & ones
			sum += (w[1]&low + low) >> shift & ones
			sum += (w[2]&low + low) >> shift & ones
			sum += (w[3]&low + low) >> shift & ones
			words = words[4:]
		}
	} else if mask == ^uint64(0) {
		for len(words) >= 4 {
			w := (*[4]uint64)(words)
			sum += ((w[0]&low + low) | w[0]) >> shift & ones
			sum += ((w[1]&low + low) | w[1]) >> shift & ones
			sum += ((w[2]&low + low) | w[2]) >> shift & ones
			sum += ((w[3]&low + low) | w[3]) >> shift & ones
			words = words[4:]
		}
	}
	for _, w := range words {
		w &= mask
		sum += ((w&low + low) | w) >> shift & ones
	}
	return sum
}

// sumLanes adds up the lanes of sum, each at most 255.
func sumLanes[T uint8 | uint16 | uint32 | uint64](sum uint64) int {
	ones, shift := lanes[T]()
	if shift == 7 {
		// Eight lanes may add up to more than a byte holds: make four lanes of 16 bits first.
		sum = sum&0x00ff00ff00ff00ff + sum>>8&0x00ff00ff00ff00ff
		return int(sum * 0x0001000100010001 >> 48)
	}
	return int(sum * ones >> (63 - shift))
}

func count128(src []word128, mask uint64) int {
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
		p := view[word128](src[i*stride : i*stride+16])
		count += count128(p, mask)
	}
	return count
}

// countStrided trusts its caller that element n−1 ends inside src. Four sums, since one alone would be waited for.
func countStrided[T uint8 | uint16 | uint32 | uint64](src []byte, mask T, n, stride int) int {
	base := unsafe.Pointer(unsafe.SliceData(src))
	var a, b, c, d uint64
	i := 0
	for ; i <= n-4; i += 4 {
		p := unsafe.Add(base, i*stride)
		a += nonZero(*(*T)(p) & mask)
		b += nonZero(*(*T)(unsafe.Add(p, stride)) & mask)
		c += nonZero(*(*T)(unsafe.Add(p, 2*stride)) & mask)
		d += nonZero(*(*T)(unsafe.Add(p, 3*stride)) & mask)
	}
	for ; i < n; i++ {
		a += nonZero(*(*T)(unsafe.Add(base, i*stride)) & mask)
	}
	return int(a + b + c + d)
}

// nonZero returns 1 if x is not zero, else 0.
func nonZero[T uint8 | uint16 | uint32 | uint64](x T) uint64 {
	_, carry := bits.Add64(uint64(x), ^uint64(0), 0)
	return carry
}
