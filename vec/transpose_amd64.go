package vec

// dealAny puts each value of some lines, and its key, into the bucket of its index. The lines begin with value
// number at and end with the given ones; line is the number of the first. The cursors have been counted from the
// same indices.
func dealAny(values, keys []byte, cursors []uint64, indices []byte, isize int, src []byte, size int, ends []uint64, at, line uint64, wide bool, shift uint) {
	if Active() < AVX2 || wide || size == 16 || len(keys) == 0 {
		dealGo(values, keys, cursors, indices, isize, src, size, ends, at, line, wide, shift)
		return
	}
	const most = 4096 // values in a call
	for len(ends) > 0 {
		n := 1
		for n < len(ends) && ends[n]-at <= most {
			n++
		}
		block := ends[:n]
		last := block[n-1]
		for n == 1 && last-at > most { // a long line
			part := [1]uint64{at + most}
			dealAVX2(&values[0], &keys[0], &cursors[0], &indices[0], isize, &src[0], size, &part[0], 1, at, line, uint64(shift))
			at += most
		}
		dealAVX2(&values[0], &keys[0], &cursors[0], &indices[0], isize, &src[0], size, &block[0], n, at, line, uint64(shift))
		ends, at, line = ends[n:], last, line+uint64(n)
	}
}

func dealAVX2(values, keys *byte, cursors *uint64, indices *byte, isize int, src *byte, size int, ends *uint64, n int, at, line, shift uint64) {
	switch size | isize<<4 {
	case 1 | 1<<4:
		ran("deal1by1AVX2")
		deal1by1AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 2 | 1<<4:
		ran("deal2by1AVX2")
		deal2by1AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 4 | 1<<4:
		ran("deal4by1AVX2")
		deal4by1AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 8 | 1<<4:
		ran("deal8by1AVX2")
		deal8by1AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 1 | 2<<4:
		ran("deal1by2AVX2")
		deal1by2AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 2 | 2<<4:
		ran("deal2by2AVX2")
		deal2by2AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 4 | 2<<4:
		ran("deal4by2AVX2")
		deal4by2AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 8 | 2<<4:
		ran("deal8by2AVX2")
		deal8by2AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 1 | 4<<4:
		ran("deal1by4AVX2")
		deal1by4AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 2 | 4<<4:
		ran("deal2by4AVX2")
		deal2by4AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 4 | 4<<4:
		ran("deal4by4AVX2")
		deal4by4AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 8 | 4<<4:
		ran("deal8by4AVX2")
		deal8by4AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 1 | 8<<4:
		ran("deal1by8AVX2")
		deal1by8AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 2 | 8<<4:
		ran("deal2by8AVX2")
		deal2by8AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	case 4 | 8<<4:
		ran("deal4by8AVX2")
		deal4by8AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	default:
		ran("deal8by8AVX2")
		deal8by8AVX2(values, keys, cursors, indices, src, ends, n, at, line, shift)
	}
}
