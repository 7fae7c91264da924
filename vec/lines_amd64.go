package vec

import "math"

// coordsAny is coordsGo where room more elements may be read and written behind those of the lines.
func coordsAny(dst []byte, osize int, src []byte, isize int, ends []uint64, at, line, last, room uint64) bool {
	v := Active()
	if v < AVX2 || osize < 4 || isize > osize || room < 64/uint64(osize)+1 || len(ends) == 0 ||
		v < AVX512 && (last > math.MaxInt64 || osize == 4 && last > math.MaxInt32) { // which AVX2 takes for negative
		return coordsGo(dst, osize, src, isize, ends, at, line, last)
	}
	return coordsVector(v, dst, osize, src, isize, ends, at, line, last) == 0
}

func coordsVector(v Version, dst []byte, osize int, src []byte, isize int, ends []uint64, at, line, last uint64) uint64 {
	d, s, e, n := &dst[0], &src[0], &ends[0], len(ends)
	if v >= AVX512 {
		switch isize<<4 | osize {
		case 1<<4 | 4:
			ran("lineCoords1to4AVX512")
			return lineCoords1to4AVX512(d, s, e, n, at, line, last)
		case 2<<4 | 4:
			ran("lineCoords2to4AVX512")
			return lineCoords2to4AVX512(d, s, e, n, at, line, last)
		case 4<<4 | 4:
			ran("lineCoords4to4AVX512")
			return lineCoords4to4AVX512(d, s, e, n, at, line, last)
		case 1<<4 | 8:
			ran("lineCoords1to8AVX512")
			return lineCoords1to8AVX512(d, s, e, n, at, line, last)
		case 2<<4 | 8:
			ran("lineCoords2to8AVX512")
			return lineCoords2to8AVX512(d, s, e, n, at, line, last)
		case 4<<4 | 8:
			ran("lineCoords4to8AVX512")
			return lineCoords4to8AVX512(d, s, e, n, at, line, last)
		}
		ran("lineCoords8to8AVX512")
		return lineCoords8to8AVX512(d, s, e, n, at, line, last)
	}
	switch isize<<4 | osize {
	case 1<<4 | 4:
		ran("lineCoords1to4AVX2")
		return lineCoords1to4AVX2(d, s, e, n, at, line, last)
	case 2<<4 | 4:
		ran("lineCoords2to4AVX2")
		return lineCoords2to4AVX2(d, s, e, n, at, line, last)
	case 4<<4 | 4:
		ran("lineCoords4to4AVX2")
		return lineCoords4to4AVX2(d, s, e, n, at, line, last)
	case 1<<4 | 8:
		ran("lineCoords1to8AVX2")
		return lineCoords1to8AVX2(d, s, e, n, at, line, last)
	case 2<<4 | 8:
		ran("lineCoords2to8AVX2")
		return lineCoords2to8AVX2(d, s, e, n, at, line, last)
	case 4<<4 | 8:
		ran("lineCoords4to8AVX2")
		return lineCoords4to8AVX2(d, s, e, n, at, line, last)
	}
	ran("lineCoords8to8AVX2")
	return lineCoords8to8AVX2(d, s, e, n, at, line, last)
}
