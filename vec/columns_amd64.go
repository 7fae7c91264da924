package vec

import "unsafe"

// hasSquares reports whether there are kernels to find the nonzeros of panels.
func hasSquares(size int) bool { return Active() >= AVX512VBMI2 && size <= 8 }

// transposeSquares transposes 64 bytes of rows, and what is to the right of them, in n squares. The columns are 256 bytes
// apart in dst. Narrow elements are woven first, which takes as many bytes of scratch as the squares have.
func transposeSquares(dst, src, scratch []byte, size, stride, n int, next *byte) {
	switch size {
	case 1:
		ran("weave1VBMI2")
		weave1VBMI2(&scratch[0], &src[0], stride, n*64, 16, next)
		square4AVX512(&dst[0], &scratch[0], n*256, n*4, &scratch[0])
	case 2:
		ran("weave2AVX512")
		weave2AVX512(&scratch[0], &src[0], stride, n*64, 16, next)
		square4AVX512(&dst[0], &scratch[0], n*128, n*2, &scratch[0])
	case 4:
		ran("square4AVX512")
		square4AVX512(&dst[0], &src[0], stride, n, next)
	default:
		ran("square8AVX512")
		square8AVX512(&dst[0], &src[0], stride, n, next)
	}
}

// compactLines compacts len(cursors) lines of 256 bytes each, with positions of 4 bytes.
func compactLines(values, rows []byte, cursors []uint64, lines []byte, e Elem, base uint64) {
	switch e.Size() {
	case 1:
		ran("lines1to4VBMI2")
		lines1to4VBMI2(&values[0], &rows[0], &cursors[0], &lines[0], len(cursors), e.mask(), base)
	case 2:
		ran("lines2to4VBMI2")
		lines2to4VBMI2(&values[0], &rows[0], &cursors[0], &lines[0], len(cursors), e.mask(), base)
	case 4:
		ran("lines4to4VBMI2")
		lines4to4VBMI2(&values[0], &rows[0], &cursors[0], &lines[0], len(cursors), e.mask(), base)
	default:
		ran("lines8to4VBMI2")
		lines8to4VBMI2(&values[0], &rows[0], &cursors[0], &lines[0], len(cursors), e.mask(), base)
	}
}

// copyPast copies to a part of an output that is written from one end to the other: what are whole cache lines of
// it, past the caches.
func copyPast(dst, src []byte) {
	var none [4]uintptr
	copyPastAhead(dst, src, &none)
}

// copyPastAhead is copyPast that prefetches as streamCopy does.
func copyPastAhead(dst, src []byte, next *[4]uintptr) {
	src = src[:len(dst)]
	if len(dst) < 512 {
		copy(dst, src)
		return
	}
	head := int(-uintptr(unsafe.Pointer(&dst[0])) & 63)
	copy(dst[:head], src)
	dst, src = dst[head:], src[head:]
	whole := len(dst) &^ 63
	streamCopy(dst[:whole], src, next)
	copy(dst[whole:], src[whole:])
}

// placeAny stores each value, and the row in its key, at the place that the cursor of the column in its key says,
// and moves the cursor on. The sum of what the columns get is the length of values.
func placeAny(values, rows []byte, cursors *[1 << bucketBits]uint64, keys []byte, ksize int, src []byte, size, psize int, shift uint) {
	if Active() < AVX2 || ksize != 4 || size == 16 {
		placeGo(values, rows, cursors, keys, ksize, src, size, psize, shift)
		return
	}
	const most = 4096 // nonzeros in a call
	for len(keys) > 0 {
		n := min(len(keys)/4, most)
		placeAVX2(&values[0], &rows[0], &cursors[0], (*uint32)(unsafe.Pointer(&keys[0])), &src[0], n, size, psize, uint64(shift))
		keys, src = keys[n*4:], src[n*size:]
	}
}

func placeAVX2(values, rows *byte, cursors *uint64, keys *uint32, src *byte, n, size, psize int, shift uint64) {
	const base = 0
	switch size | psize<<4 {
	case 1 | 1<<4:
		ran("place1to1AVX2")
		place1to1AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 1 | 2<<4:
		ran("place1to2AVX2")
		place1to2AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 1 | 4<<4:
		ran("place1to4AVX2")
		place1to4AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 1 | 8<<4:
		ran("place1to8AVX2")
		place1to8AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 2 | 1<<4:
		ran("place2to1AVX2")
		place2to1AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 2 | 2<<4:
		ran("place2to2AVX2")
		place2to2AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 2 | 4<<4:
		ran("place2to4AVX2")
		place2to4AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 2 | 8<<4:
		ran("place2to8AVX2")
		place2to8AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 4 | 1<<4:
		ran("place4to1AVX2")
		place4to1AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 4 | 2<<4:
		ran("place4to2AVX2")
		place4to2AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 4 | 4<<4:
		ran("place4to4AVX2")
		place4to4AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 4 | 8<<4:
		ran("place4to8AVX2")
		place4to8AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 8 | 1<<4:
		ran("place8to1AVX2")
		place8to1AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 8 | 2<<4:
		ran("place8to2AVX2")
		place8to2AVX2(values, rows, cursors, keys, src, n, shift, base)
	case 8 | 4<<4:
		ran("place8to4AVX2")
		place8to4AVX2(values, rows, cursors, keys, src, n, shift, base)
	default:
		ran("place8to8AVX2")
		place8to8AVX2(values, rows, cursors, keys, src, n, shift, base)
	}
}
