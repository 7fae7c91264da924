package vec

// streamTile moves a tile of count rows of n bytes to rows of dst, and leaves zeros. All of them take whole cache
// lines.
func streamTile(dst []byte, dstStride int, src []byte, srcStride, count, n int) {
	for count > 0 {
		m := max(min(count, piece/n), 1)
		if Active() >= AVX512 {
			ran("streamTileAVX512")
			streamTileAVX512(&dst[0], dstStride, &src[0], srcStride, m, n)
		} else {
			ran("streamTileAVX2")
			streamTileAVX2(&dst[0], dstStride, &src[0], srcStride, m, n)
		}
		if count -= m; count > 0 {
			dst, src = dst[m*dstStride:], src[m*srcStride:]
		}
	}
}

// dropAny stores those values of some columns that lie in count rows from first to a tile. It goes through each
// column from its cursor, which it moves on, to its end or to the first row that is not in the tile. There are
// tileAhead more cursors than ends.
func dropAny(tile []byte, stride int, cursors, ends []uint64, rows []byte, isize int, values []byte, size, first, count int) {
	if Active() < AVX2 || len(values) == 0 {
		dropGo(tile, stride, cursors, ends, rows, isize, values, size, first, count)
		return
	}
	const columns = 64 // in a call
	for j := 0; j < len(ends); j += columns {
		dropAVX2(&tile[j*size], uint64(stride), &cursors[j], &ends[j], min(columns, len(ends)-j), &rows[0], isize, &values[0], size, uint64(first), uint64(count))
	}
}

func dropAVX2(tile *byte, stride uint64, cursors, ends *uint64, n int, rows *byte, isize int, values *byte, size int, first, count uint64) {
	switch size | isize<<4 {
	case 1 | 1<<4:
		ran("drop1by1AVX2")
		drop1by1AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 2 | 1<<4:
		ran("drop2by1AVX2")
		drop2by1AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 4 | 1<<4:
		ran("drop4by1AVX2")
		drop4by1AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 8 | 1<<4:
		ran("drop8by1AVX2")
		drop8by1AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 1 | 2<<4:
		ran("drop1by2AVX2")
		drop1by2AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 2 | 2<<4:
		ran("drop2by2AVX2")
		drop2by2AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 4 | 2<<4:
		ran("drop4by2AVX2")
		drop4by2AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 8 | 2<<4:
		ran("drop8by2AVX2")
		drop8by2AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 1 | 4<<4:
		ran("drop1by4AVX2")
		drop1by4AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 2 | 4<<4:
		ran("drop2by4AVX2")
		drop2by4AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 4 | 4<<4:
		ran("drop4by4AVX2")
		drop4by4AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 8 | 4<<4:
		ran("drop8by4AVX2")
		drop8by4AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 1 | 8<<4:
		ran("drop1by8AVX2")
		drop1by8AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 2 | 8<<4:
		ran("drop2by8AVX2")
		drop2by8AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	case 4 | 8<<4:
		ran("drop4by8AVX2")
		drop4by8AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	default:
		ran("drop8by8AVX2")
		drop8by8AVX2(tile, stride, cursors, ends, n, rows, values, first, count)
	}
}
