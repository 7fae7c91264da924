package vec

// canTakeRuns reports whether there is a kernel for values and indices of these sizes.
func canTakeRuns(size, isize int) bool {
	return Active() >= AVX512 && (size == 4 || size == 8) && isize > 1
}

// takeRunsAny goes through lines from their cursors, of which there are runsAhead more than lines, to their ends or to the first index
// that is not less than limit, and writes these values, and keys of 4 bytes: the number of the line with shift bits behind it
// for the index less first. It returns how many there are.
func takeRunsAny(values, keys []byte, cursors, ends []uint64, indices []byte, isize int, src []byte, size, line, first, limit int, shift uint) int {
	v, k, c, e, x, s, n := &values[0], &keys[0], &cursors[0], &ends[0], &indices[0], &src[0], len(ends)
	switch size | isize<<4 {
	case 4 | 2<<4:
		ran("takeRuns4by2AVX512")
		return takeRuns4by2AVX512(v, k, c, e, x, s, n, uint64(line), uint64(first), uint64(limit), uint64(shift))
	case 4 | 4<<4:
		ran("takeRuns4by4AVX512")
		return takeRuns4by4AVX512(v, k, c, e, x, s, n, uint64(line), uint64(first), uint64(limit), uint64(shift))
	case 4 | 8<<4:
		ran("takeRuns4by8AVX512")
		return takeRuns4by8AVX512(v, k, c, e, x, s, n, uint64(line), uint64(first), uint64(limit), uint64(shift))
	case 8 | 2<<4:
		ran("takeRuns8by2AVX512")
		return takeRuns8by2AVX512(v, k, c, e, x, s, n, uint64(line), uint64(first), uint64(limit), uint64(shift))
	case 8 | 4<<4:
		ran("takeRuns8by4AVX512")
		return takeRuns8by4AVX512(v, k, c, e, x, s, n, uint64(line), uint64(first), uint64(limit), uint64(shift))
	}
	ran("takeRuns8by8AVX512")
	return takeRuns8by8AVX512(v, k, c, e, x, s, n, uint64(line), uint64(first), uint64(limit), uint64(shift))
}
