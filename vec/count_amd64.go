package vec

func count(src []byte, e Elem) int {
	v := Active()
	if v < AVX2 || len(src) < 32 {
		return countGo(src, e)
	}
	mask := e.mask()
	total := 0
	for len(src) >= 32 {
		n := min(len(src), piece)
		p := &src[0]
		if v >= AVX512 {
			if trace != nil {
				trace("count/" + e.String())
			}
			switch e.Size() {
			case 1:
				total += count1AVX512(p, n, mask)
			case 2:
				total += count2AVX512(p, n, mask)
			case 4:
				total += count4AVX512(p, n, mask)
			case 8:
				total += count8AVX512(p, n, mask)
			default:
				total += count16AVX512(p, n, mask)
			}
		} else {
			n &^= 31
			if trace != nil {
				trace("count/" + e.String())
			}
			switch e.Size() {
			case 1:
				total += count1AVX2(p, n, mask)
			case 2:
				total += count2AVX2(p, n, mask)
			case 4:
				total += count4AVX2(p, n, mask)
			case 8:
				total += count8AVX2(p, n, mask)
			default:
				total += count16AVX2(p, n, mask)
			}
		}
		src = src[n:]
	}
	return total + countGo(src, e)
}
