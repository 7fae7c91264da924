package vec

// recordsAny is recordsGo where room more values may be read behind those of the lines. It may write recordSlack records behind
// the last.
func recordsAny(dst []byte, src []byte, size int, ends []uint64, at, line, room uint64) {
	if v := Active(); v >= AVX2 && room > recordSlack {
		// They are made as coordinates are, of values in place of indices.
		coordsVector(v, dst, size, src, size, ends, at, line, 0)
		return
	}
	recordsGo(dst, src, size, ends, at, line)
}

// sendAny stores records at the places that the cursors of their indices say, and moves these on. What the indices get in
// all is the length of dst.
func sendAny(dst []byte, cursors []uint32, src []byte, size int, indices []byte, isize int) {
	if n := len(indices) / isize &^ 3; n > 0 && Active() >= AVX2 {
		sendAVX2(&dst[0], &cursors[0], &src[0], size, &indices[0], isize, n)
		src, indices = src[2*size*n:], indices[isize*n:]
	}
	sendGo(dst, cursors, src, size, indices, isize)
}

func sendAVX2(dst *byte, cursors *uint32, src *byte, size int, indices *byte, isize, n int) {
	switch size | isize<<4 {
	case 4 | 1<<4:
		ran("sendRecords4by1AVX2")
		sendRecords4by1AVX2(dst, cursors, src, indices, n)
	case 4 | 2<<4:
		ran("sendRecords4by2AVX2")
		sendRecords4by2AVX2(dst, cursors, src, indices, n)
	case 4 | 4<<4:
		ran("sendRecords4by4AVX2")
		sendRecords4by4AVX2(dst, cursors, src, indices, n)
	case 4 | 8<<4:
		ran("sendRecords4by8AVX2")
		sendRecords4by8AVX2(dst, cursors, src, indices, n)
	case 8 | 1<<4:
		ran("sendRecords8by1AVX2")
		sendRecords8by1AVX2(dst, cursors, src, indices, n)
	case 8 | 2<<4:
		ran("sendRecords8by2AVX2")
		sendRecords8by2AVX2(dst, cursors, src, indices, n)
	case 8 | 4<<4:
		ran("sendRecords8by4AVX2")
		sendRecords8by4AVX2(dst, cursors, src, indices, n)
	default:
		ran("sendRecords8by8AVX2")
		sendRecords8by8AVX2(dst, cursors, src, indices, n)
	}
}

// splitRecordsAny takes n records apart.
func splitRecordsAny(values, lines []byte, psize int, src []byte, size, n int) {
	const most = 1024 // in a call
	for Active() >= AVX512 && n >= 8 {
		m := min(n&^7, most)
		splitRecordsAVX512(&values[0], &lines[0], psize, &src[0], size, m)
		values, lines, src, n = values[m*size:], lines[m*psize:], src[m*2*size:], n-m
	}
	splitRecordsGo(values, lines, psize, src, size, n)
}

func splitRecordsAVX512(values, lines *byte, psize int, src *byte, size, n int) {
	switch size | psize<<4 {
	case 4 | 1<<4:
		ran("splitRecords4to1AVX512")
		splitRecords4to1AVX512(values, lines, src, n)
	case 4 | 2<<4:
		ran("splitRecords4to2AVX512")
		splitRecords4to2AVX512(values, lines, src, n)
	case 4 | 4<<4:
		ran("splitRecords4to4AVX512")
		splitRecords4to4AVX512(values, lines, src, n)
	case 4 | 8<<4:
		ran("splitRecords4to8AVX512")
		splitRecords4to8AVX512(values, lines, src, n)
	case 8 | 1<<4:
		ran("splitRecords8to1AVX512")
		splitRecords8to1AVX512(values, lines, src, n)
	case 8 | 2<<4:
		ran("splitRecords8to2AVX512")
		splitRecords8to2AVX512(values, lines, src, n)
	case 8 | 4<<4:
		ran("splitRecords8to4AVX512")
		splitRecords8to4AVX512(values, lines, src, n)
	default:
		ran("splitRecords8to8AVX512")
		splitRecords8to8AVX512(values, lines, src, n)
	}
}
