package vec

func count(src []byte, e Elem) int { return countMasked(src, e.Size(), e.mask()) }

// countMasked counts the elements of so many bytes that have a bit of the mask set, which repeats every 8 bytes.
func countMasked(src []byte, size int, mask uint64) int {
	v, total := Active(), 0
	for v >= AVX2 && len(src) >= 32 {
		n := min(len(src), piece)
		if v >= AVX512 {
			total += countAVX512(&src[0], n, size, mask)
		} else {
			n &^= 31
			total += countAVX2(&src[0], n, size, mask)
		}
		src = src[n:]
	}
	return total + countMaskedGo(src, size, mask)
}

func countAVX512(src *byte, n, size int, mask uint64) int {
	switch size {
	case 1:
		ran("count1AVX512")
		return count1AVX512(src, n, mask)
	case 2:
		ran("count2AVX512")
		return count2AVX512(src, n, mask)
	case 4:
		ran("count4AVX512")
		return count4AVX512(src, n, mask)
	case 8:
		ran("count8AVX512")
		return count8AVX512(src, n, mask)
	}
	ran("count16AVX512")
	return count16AVX512(src, n, mask)
}

func countAVX2(src *byte, n, size int, mask uint64) int {
	switch size {
	case 1:
		ran("count1AVX2")
		return count1AVX2(src, n, mask)
	case 2:
		ran("count2AVX2")
		return count2AVX2(src, n, mask)
	case 4:
		ran("count4AVX2")
		return count4AVX2(src, n, mask)
	case 8:
		ran("count8AVX2")
		return count8AVX2(src, n, mask)
	}
	ran("count16AVX2")
	return count16AVX2(src, n, mask)
}

// countStrides counts elements whose stride is not their size. If it is less than a cache line, whole vectors are looked at,
// with masks that leave out what lies between the elements.
func countStrides(src []byte, e Elem, n, stride int) int {
	size := e.Size()
	total := 0
	if Active() >= AVX512 && size <= 8 && stride > size && stride < 64 && stride%size == 0 && n*stride >= piece {
		var masks [128 * 63]byte
		period := 128 // bytes after which the masks repeat, in pairs of vectors
		for period%stride != 0 {
			period += 128
		}
		for at := 0; at < period; at += stride {
			putIndex(masks[at:], unsignedIndex(size), e.mask())
		}
		step := piece / period * period
		for len(src) >= step && n >= step/stride {
			total += countMasks(src[:step], masks[:], size, period)
			src, n = src[step:], n-step/stride
		}
		if n == 0 {
			return total
		}
	}
	return total + countStridedGo(src, e, n, stride)
}

func countMasks(src, masks []byte, size, period int) int {
	switch size {
	case 1:
		ran("countMasks1AVX512")
		return countMasks1AVX512(&src[0], len(src), &masks[0], period)
	case 2:
		ran("countMasks2AVX512")
		return countMasks2AVX512(&src[0], len(src), &masks[0], period)
	case 4:
		ran("countMasks4AVX512")
		return countMasks4AVX512(&src[0], len(src), &masks[0], period)
	}
	ran("countMasks8AVX512")
	return countMasks8AVX512(&src[0], len(src), &masks[0], period)
}
