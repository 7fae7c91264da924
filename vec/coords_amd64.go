package vec

import "unsafe"

func splitAny(q, r *lane16, n int, start uint64, m magic) {
	switch v := Active(); {
	case v >= AVX512:
		ran("splitAVX512")
		splitAVX512(&q[slack], &r[slack], n, start, m.divisor, m.factor, m.shift)
	case v >= AVX2:
		ran("splitAVX2")
		splitAVX2(&q[slack], &r[slack], n, start, m.divisor, m.factor, m.shift)
	default:
		splitGo(q, r, n, start, m)
	}
}

// rowsLen is how many rows of coordinates are made at a time in 2-byte integers, and then widened.
const rowsLen = 512

// hasRows reports whether there is a kernel for rows of so many coordinates, which can write past the caches if they have 4 or
// 8 bytes.
func hasRows(ndim, psize int) bool { return Active() >= AVX512 && psize > 1 && ndim <= 6 }

// rowsAny writes rows of coordinates if there is a kernel for it, and says so. What is past the caches begins at a cache line.
func rowsAny(w *workspace, dst []byte, psize, from, to int, past bool) bool {
	ndim := len(w.shape.dims)
	if !hasRows(ndim, psize) || to-from < 8 {
		return false
	}
	if len(w.rows) < rowsLen*ndim {
		w.rows = make([]uint16, rowsLen*ndim)
	}
	w.axes = w.axes[:0]
	for a := range ndim {
		changes, _ := w.axis(a)
		w.axes = append(w.axes, &changes[slack+from])
	}
	w.setPattern(psize)
	for done := 0; done < to-from; done += rowsLen {
		m := min(to-from-done, rowsLen)
		interleaveAVX512(&w.rows[0], &w.axes[0], ndim, m)
		for a := range w.axes {
			w.axes[a] = (*uint16)(unsafe.Add(unsafe.Pointer(w.axes[a]), 2*m))
		}
		if past {
			widenPastAVX512(&dst[done*ndim*psize], &w.rows[0], m*ndim, psize, w.pattern, w.ahead, w.aheadStep)
			w.ahead += w.aheadStep * uintptr(m*ndim*psize/64)
		} else {
			widenAddAVX512(&dst[done*ndim*psize], &w.rows[0], m*ndim, psize, w.pattern)
		}
	}
	return true
}

// setPattern makes the vectors that are added to rows of coordinates, until the rows and the vectors begin
// at the same place again.
func (w *workspace) setPattern(psize int) {
	ndim := len(w.shape.dims)
	lanes := 64 / psize
	period := ndim
	for period%2 == 0 && lanes*period/2%ndim == 0 {
		period /= 2
	}
	if cap(w.pattern) < 64*ndim {
		w.pattern = make([]byte, 64*ndim)
	}
	w.pattern = w.pattern[:64*period]
	for a := range ndim {
		_, start := w.axis(a)
		for i := a; i < lanes*period; i += ndim {
			switch psize {
			case 2:
				view[uint16](w.pattern)[i] = uint16(start)
			case 4:
				view[uint32](w.pattern)[i] = uint32(start)
			default:
				view[uint64](w.pattern)[i] = start
			}
		}
	}
}

func interleaveAVX512(dst *uint16, src **uint16, ndim, n int) {
	switch ndim {
	case 2:
		ran("interleave2AVX512")
		interleave2AVX512(dst, src, n)
	case 3:
		ran("interleave3AVX512")
		interleave3AVX512(dst, src, n)
	case 4:
		ran("interleave4AVX512")
		interleave4AVX512(dst, src, n)
	case 5:
		ran("interleave5AVX512")
		interleave5AVX512(dst, src, n)
	default:
		ran("interleave6AVX512")
		interleave6AVX512(dst, src, n)
	}
}

func widenAddAVX512(dst *byte, src *uint16, n, size int, pattern []byte) {
	switch size {
	case 2:
		ran("widenAdd2to2AVX512")
		widenAdd2to2AVX512(dst, src, n, &pattern[0], len(pattern))
	case 4:
		ran("widenAdd2to4AVX512")
		widenAdd2to4AVX512(dst, src, n, &pattern[0], len(pattern))
	default:
		ran("widenAdd2to8AVX512")
		widenAdd2to8AVX512(dst, src, n, &pattern[0], len(pattern))
	}
}

func widenPastAVX512(dst *byte, src *uint16, n, size int, pattern []byte, next, step uintptr) {
	if size == 4 {
		ran("widenPast2to4AVX512")
		widenPast2to4AVX512(dst, src, n, &pattern[0], len(pattern), next, step)
		return
	}
	ran("widenPast2to8AVX512")
	widenPast2to8AVX512(dst, src, n, &pattern[0], len(pattern), next, step)
}

// pairsAny is CompactCoords for a matrix, row by row, as far as there is a kernel for it and room for what
// it may need; the rest is left.
func pairsAny(values, coords []byte, psize, room int, src []byte, e Elem, cols, first uint64) (consumed, written int) {
	size := e.Size()
	if Active() < AVX512VBMI2 || psize < 4 || size > 8 {
		return 0, 0
	}
	n := len(src) / size
	var p *past
	for m := probeLen; consumed < n; m = piece / size {
		at := first + uint64(consumed)
		row, col := at/cols, at%cols
		m = int(min(uint64(m), uint64(n-consumed), cols-col))
		var c, k int
		if p == nil {
			c, k = compactPairs(e, ptr(values, written*size), ptr(coords, 2*written*psize), psize, room-written,
				&src[consumed*size], m, row, col)
		} else {
			m = min(m, p.len)
			c, k = compactPairs(e, &p.values.next()[0], &p.places.next()[0], psize, m+pastSlack, &src[consumed*size], m, row, col)
			p.values.put(k*size, fetch{})
			p.places.put(2*k*psize, fetchNext(src, (consumed+m)*size, m*size))
		}
		consumed, written = consumed+c, written+k
		if c < m {
			break
		}
		p = p.after(m, k, values[written*size:], size, coords[2*written*psize:], 2*psize, false)
	}
	p.end()
	return consumed, written
}

func compactPairs(e Elem, values, coords *byte, psize, room int, src *byte, n int, row, col uint64) (consumed, written int) {
	mask := e.mask()
	switch e.Size() | psize<<4 {
	case 1 | 4<<4:
		ran("compactPairs1to4VBMI2")
		return compactPairs1to4VBMI2(values, coords, room, src, n, mask, row, col)
	case 2 | 4<<4:
		ran("compactPairs2to4VBMI2")
		return compactPairs2to4VBMI2(values, coords, room, src, n, mask, row, col)
	case 4 | 4<<4:
		ran("compactPairs4to4VBMI2")
		return compactPairs4to4VBMI2(values, coords, room, src, n, mask, row, col)
	case 8 | 4<<4:
		ran("compactPairs8to4VBMI2")
		return compactPairs8to4VBMI2(values, coords, room, src, n, mask, row, col)
	case 1 | 8<<4:
		ran("compactPairs1to8VBMI2")
		return compactPairs1to8VBMI2(values, coords, room, src, n, mask, row, col)
	case 2 | 8<<4:
		ran("compactPairs2to8VBMI2")
		return compactPairs2to8VBMI2(values, coords, room, src, n, mask, row, col)
	case 4 | 8<<4:
		ran("compactPairs4to8VBMI2")
		return compactPairs4to8VBMI2(values, coords, room, src, n, mask, row, col)
	}
	ran("compactPairs8to8VBMI2")
	return compactPairs8to8VBMI2(values, coords, room, src, n, mask, row, col)
}
