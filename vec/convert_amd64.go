package vec

func convertAny(dst, src []byte, to, from int) {
	v := Active()
	n := len(src) / from
	step := 128 / max(to, from)
	if v == AVX2 {
		step /= 2
	}
	if v < AVX2 || to == from || n < step || v == AVX2 && from > to && from != 2*to {
		convertGo(dst, src, to, from)
		return
	}
	for n >= step {
		m := min(n, piece/from) / step * step
		if v >= AVX512 {
			convertAVX512(&dst[0], &src[0], m, to, from)
		} else {
			convertAVX2(&dst[0], &src[0], m, to, from)
		}
		dst, src, n = dst[m*to:], src[m*from:], n-m
	}
	convertGo(dst, src, to, from)
}

func convertAVX512(dst, src *byte, n, to, from int) {
	switch from<<4 | to {
	case 1<<4 | 2:
		ran("convert1to2AVX512")
		convert1to2AVX512(dst, src, n)
	case 1<<4 | 4:
		ran("convert1to4AVX512")
		convert1to4AVX512(dst, src, n)
	case 1<<4 | 8:
		ran("convert1to8AVX512")
		convert1to8AVX512(dst, src, n)
	case 2<<4 | 1:
		ran("convert2to1AVX512")
		convert2to1AVX512(dst, src, n)
	case 2<<4 | 4:
		ran("convert2to4AVX512")
		convert2to4AVX512(dst, src, n)
	case 2<<4 | 8:
		ran("convert2to8AVX512")
		convert2to8AVX512(dst, src, n)
	case 4<<4 | 1:
		ran("convert4to1AVX512")
		convert4to1AVX512(dst, src, n)
	case 4<<4 | 2:
		ran("convert4to2AVX512")
		convert4to2AVX512(dst, src, n)
	case 4<<4 | 8:
		ran("convert4to8AVX512")
		convert4to8AVX512(dst, src, n)
	case 8<<4 | 1:
		ran("convert8to1AVX512")
		convert8to1AVX512(dst, src, n)
	case 8<<4 | 2:
		ran("convert8to2AVX512")
		convert8to2AVX512(dst, src, n)
	default:
		ran("convert8to4AVX512")
		convert8to4AVX512(dst, src, n)
	}
}

func convertAVX2(dst, src *byte, n, to, from int) {
	switch from<<4 | to {
	case 1<<4 | 2:
		ran("convert1to2AVX2")
		convert1to2AVX2(dst, src, n)
	case 1<<4 | 4:
		ran("convert1to4AVX2")
		convert1to4AVX2(dst, src, n)
	case 1<<4 | 8:
		ran("convert1to8AVX2")
		convert1to8AVX2(dst, src, n)
	case 2<<4 | 1:
		ran("convert2to1AVX2")
		convert2to1AVX2(dst, src, n)
	case 2<<4 | 4:
		ran("convert2to4AVX2")
		convert2to4AVX2(dst, src, n)
	case 2<<4 | 8:
		ran("convert2to8AVX2")
		convert2to8AVX2(dst, src, n)
	case 4<<4 | 2:
		ran("convert4to2AVX2")
		convert4to2AVX2(dst, src, n)
	case 4<<4 | 8:
		ran("convert4to8AVX2")
		convert4to8AVX2(dst, src, n)
	default:
		ran("convert8to4AVX2")
		convert8to4AVX2(dst, src, n)
	}
}
