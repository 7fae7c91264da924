//go:build !amd64

package vec

func count(src []byte, e Elem) int { return countGo(src, e) }

func countMasked(src []byte, size int, mask uint64) int { return countMaskedGo(src, size, mask) }

func countStrides(src []byte, e Elem, n, stride int) int { return countStridedGo(src, e, n, stride) }

func compactAny(values, positions []byte, t Index, src []byte, e Elem, base uint64) (consumed, written int) {
	return compactGo(values, positions, t, src, e, base)
}

func firstAboveAny(indices []byte, t Index, last uint64) int { return firstAboveGo(indices, t, last) }

func minMaxAny(indices []byte, t Index) (first, last uint64) { return minMaxGo(indices, t) }

func firstDisorderAny(indices []byte, t Index, strict bool) int {
	return firstDisorderGo(indices, t, strict)
}

func convertAny(dst, src []byte, to, from int) { convertGo(dst, src, to, from) }

func splitAny(q, r *lane16, n int, start uint64, m magic) { splitGo(q, r, n, start, m) }

func hasRows(ndim, psize int) bool { return false }

func rowsAny(w *workspace, dst []byte, psize, from, to int, past bool) bool { return false }

func pairsAny(values, coords []byte, psize, room int, src []byte, e Elem, cols, first uint64) (consumed, written int) {
	return 0, 0
}

func canStream() bool { return false }

func streamCopy(dst, src []byte, next *[4]uintptr) { copy(dst, src) }

func streamMove(dst, src []byte, next *[4]uintptr) {
	copy(dst, src)
	clear(src[:len(dst)])
}

func streamDone() {}

func widenAny(dst []byte, src *lane16, n, size int, add uint64, w *workspace) {
	widenGo(dst, src, n, size, add)
}

func distinctAny(values, places, src *lane16, n int) int {
	return distinctGo(values, places, src, n)
}

func hasSquares(size int) bool { return false }

func transposeSquares(dst, src, scratch []byte, size, stride, n int, next *byte) {}

func compactLines(values, rows []byte, cursors []uint64, lines []byte, e Elem, base uint64) {
}

func copyPast(dst, src []byte) { copy(dst, src) }

func copyPastAhead(dst, src []byte, next *[4]uintptr) { copy(dst, src) }

func placeAny(values, rows []byte, cursors *[1 << bucketBits]uint64, keys []byte, ksize int, src []byte, size, psize int, shift uint) {
	placeGo(values, rows, cursors, keys, ksize, src, size, psize, shift)
}

func dealAny(values, keys []byte, cursors []uint64, indices []byte, isize int, src []byte, size int, ends []uint64, at, line uint64, wide bool, shift uint) {
	dealGo(values, keys, cursors, indices, isize, src, size, ends, at, line, wide, shift)
}

func streamTile(dst []byte, dstStride int, src []byte, srcStride, count, n int) {
	for i := range count {
		copy(dst[i*dstStride:], src[i*srcStride:][:n])
		clear(src[i*srcStride:][:n])
	}
}

func dropAny(tile []byte, stride int, cursors, ends []uint64, rows []byte, isize int, values []byte, size, first, count int) {
	dropGo(tile, stride, cursors, ends, rows, isize, values, size, first, count)
}

func momentsAny(m *Moments, src []byte, e Elem, pivot float64) int { return 0 }

func histogramAny(counts []int64, edges []float64, src []byte, e Elem, inside bool) int { return 0 }

func pairKeysAny(keys []uint64, pairs []byte, size int, factors [2]uint64, most *[4]uint64) (done int) {
	return 0
}

func coordsAny(dst []byte, osize int, src []byte, isize int, ends []uint64, at, line, last, room uint64) bool {
	return coordsGo(dst, osize, src, isize, ends, at, line, last)
}

func splitCoordsAny(columns []byte, csize int, starts []uint32, coords []byte, size int, strides [2]int, k int, last [2]uint64) (found int, ok bool) {
	return splitCoordsGo(columns, csize, starts, coords, size, strides, k, last)
}

func canExpand(size int) bool { return false }

func expandAny(dst []byte, size int, values []byte, indices []uint32, base uint32, next uintptr, shift uint64) (used int) {
	return 0
}

func orderAny(src []byte, isize int, ends []uint64, at, last, room uint64) bool {
	return orderGo(src, isize, ends, at, last)
}

func recordsAny(dst []byte, src []byte, size int, ends []uint64, at, line, room uint64) {
	recordsGo(dst, src, size, ends, at, line)
}

func sendAny(dst []byte, cursors []uint32, src []byte, size int, indices []byte, isize int) {
	sendGo(dst, cursors, src, size, indices, isize)
}

func splitRecordsAny(values, lines []byte, psize int, src []byte, size, n int) {
	splitRecordsGo(values, lines, psize, src, size, n)
}

func canTakeRuns(size, isize int) bool { return false }

func takeRunsAny(values, keys []byte, cursors, ends []uint64, indices []byte, isize int, src []byte, size, line, first, limit int, shift uint) int {
	panic("vec: no kernel for runs")
}
