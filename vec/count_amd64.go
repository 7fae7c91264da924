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
