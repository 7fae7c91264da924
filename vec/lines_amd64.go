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

// orderAny is orderGo where room more indices may be read behind those of the lines.
func orderAny(src []byte, isize int, ends []uint64, at, last, room uint64) bool {
	v := Active()
	if v < AVX2 || room < 17 || len(ends) == 0 || v < AVX512 && (last > math.MaxInt64 || isize == 4 && last > math.MaxInt32) {
		return orderGo(src, isize, ends, at, last)
	}
	return orderVector(v, &src[0], isize, &ends[0], len(ends), at, last) == 0
}

func orderVector(v Version, src *byte, isize int, ends *uint64, lines int, at, last uint64) uint64 {
	if v >= AVX512 {
		switch isize {
		case 1:
			ran("lineOrder1AVX512")
			return lineOrder1AVX512(src, ends, lines, at, last)
		case 2:
			ran("lineOrder2AVX512")
			return lineOrder2AVX512(src, ends, lines, at, last)
		case 4:
			ran("lineOrder4AVX512")
			return lineOrder4AVX512(src, ends, lines, at, last)
		}
		ran("lineOrder8AVX512")
		return lineOrder8AVX512(src, ends, lines, at, last)
	}
	switch isize {
	case 1:
		ran("lineOrder1AVX2")
		return lineOrder1AVX2(src, ends, lines, at, last)
	case 2:
		ran("lineOrder2AVX2")
		return lineOrder2AVX2(src, ends, lines, at, last)
	case 4:
		ran("lineOrder4AVX2")
		return lineOrder4AVX2(src, ends, lines, at, last)
	}
	ran("lineOrder8AVX2")
	return lineOrder8AVX2(src, ends, lines, at, last)
}

// splitCoordsAny is splitCoordsGo; starts has room for 8 more.
func splitCoordsAny(columns []byte, csize int, starts []uint32, coords []byte, size int, strides [2]int, k int, last [2]uint64) (found int, ok bool) {
	n := len(columns) / csize &^ 7
	if Active() < AVX512 || size < 4 || strides != [2]int{2 * size, size} || n == 0 {
		return splitCoordsGo(columns, csize, starts, coords, size, strides, k, last)
	}
	found, bad := coordLinesAVX512(&columns[0], csize, &coords[k*strides[0]], size, n, &starts[0], &last)
	if bad != 0 {
		return 0, false
	}
	more, ok := splitCoordsGo(columns[n*csize:], csize, starts[found:], coords, size, strides, k+n, last)
	for i := range more {
		starts[found+i] += uint32(n)
	}
	return found + more, ok
}

func coordLinesAVX512(columns *byte, csize int, pairs *byte, size, n int, starts *uint32, last *[2]uint64) (found int, bad uint64) {
	switch size<<4 | csize {
	case 4<<4 | 1:
		ran("coordLines4to1AVX512")
		return coordLines4to1AVX512(columns, pairs, n, starts, last)
	case 4<<4 | 2:
		ran("coordLines4to2AVX512")
		return coordLines4to2AVX512(columns, pairs, n, starts, last)
	case 4<<4 | 4:
		ran("coordLines4to4AVX512")
		return coordLines4to4AVX512(columns, pairs, n, starts, last)
	case 4<<4 | 8:
		ran("coordLines4to8AVX512")
		return coordLines4to8AVX512(columns, pairs, n, starts, last)
	case 8<<4 | 1:
		ran("coordLines8to1AVX512")
		return coordLines8to1AVX512(columns, pairs, n, starts, last)
	case 8<<4 | 2:
		ran("coordLines8to2AVX512")
		return coordLines8to2AVX512(columns, pairs, n, starts, last)
	case 8<<4 | 4:
		ran("coordLines8to4AVX512")
		return coordLines8to4AVX512(columns, pairs, n, starts, last)
	}
	ran("coordLines8to8AVX512")
	return coordLines8to8AVX512(columns, pairs, n, starts, last)
}
