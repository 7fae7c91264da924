package layout

// lineCoordinates writes the coordinates of the elements of a matrix that is kept by lines along axis to an index matrix,
// row by row.
func lineCoordinates(dst, indptr, indices Index, axis int) {
	switch indices.typ.Size() {
	case 1:
		lineCoordinatesFrom(dst, indptr, indices.data, axis)
	case 2:
		lineCoordinatesFrom(dst, indptr, words[uint16](indices.data), axis)
	case 4:
		lineCoordinatesFrom(dst, indptr, words[uint32](indices.data), axis)
	default:
		lineCoordinatesFrom(dst, indptr, words[uint64](indices.data), axis)
	}
}

func lineCoordinatesFrom[I indexWord](dst, indptr Index, indices []I, axis int) {
	switch dst.typ.Size() {
	case 1:
		linePairs(dst.data, indptr, indices, axis)
	case 2:
		linePairs(words[uint16](dst.data), indptr, indices, axis)
	case 4:
		linePairs(words[uint32](dst.data), indptr, indices, axis)
	default:
		linePairs(words[uint64](dst.data), indptr, indices, axis)
	}
}

func linePairs[O, I indexWord](dst []O, indptr Index, indices []I, axis int) {
	var buf lineBuffer
	start, line := uint64(0), O(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:], first) {
			pairs := dst[2*start : 2*stop]
			for k, x := range indices[start:stop] {
				p := pairs[2*k : 2*k+2 : 2*k+2]
				p[axis&1], p[^axis&1] = line, O(x)
			}
			start = stop
			line++
		}
	}
}
