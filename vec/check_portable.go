package vec

func firstAboveGo(indices []byte, t Index, last uint64) int {
	switch t.Size() {
	case 1:
		return firstAbove(indices, uint8(last))
	case 2:
		return firstAbove(view[uint16](indices), uint16(last))
	case 4:
		return firstAbove(view[uint32](indices), uint32(last))
	}
	return firstAbove(view[uint64](indices), last)
}

func firstAbove[I uint8 | uint16 | uint32 | uint64](idx []I, last I) int {
	for i, x := range idx {
		if x > last {
			return i
		}
	}
	return -1
}

func firstDisorderGo(indices []byte, t Index, strict bool) int {
	switch t {
	case I8:
		return firstDisorder(view[int8](indices), strict)
	case U8:
		return firstDisorder(indices, strict)
	case I16:
		return firstDisorder(view[int16](indices), strict)
	case U16:
		return firstDisorder(view[uint16](indices), strict)
	case I32:
		return firstDisorder(view[int32](indices), strict)
	case U32:
		return firstDisorder(view[uint32](indices), strict)
	case I64:
		return firstDisorder(view[int64](indices), strict)
	}
	return firstDisorder(view[uint64](indices), strict)
}

// firstDisorder returns the first element that is less than the one before it or, if strict, not greater.
func firstDisorder[I Integer](idx []I, strict bool) int {
	if len(idx) == 0 {
		return -1
	}
	before := idx[0]
	if strict {
		for i, x := range idx[1:] {
			if x <= before {
				return i + 1
			}
			before = x
		}
		return -1
	}
	for i, x := range idx[1:] {
		if x < before {
			return i + 1
		}
		before = x
	}
	return -1
}

// minMaxGo returns the least and greatest element, sign extended.
func minMaxGo(indices []byte, t Index) (first, last uint64) {
	switch t {
	case I8:
		return minMax(view[int8](indices))
	case U8:
		return minMax(indices)
	case I16:
		return minMax(view[int16](indices))
	case U16:
		return minMax(view[uint16](indices))
	case I32:
		return minMax(view[int32](indices))
	case U32:
		return minMax(view[uint32](indices))
	case I64:
		return minMax(view[int64](indices))
	}
	return minMax(view[uint64](indices))
}

func minMax[I Integer](idx []I) (first, last uint64) {
	lo, hi := idx[0], idx[0]
	for _, x := range idx {
		lo, hi = min(lo, x), max(hi, x)
	}
	return uint64(int64(lo)), uint64(int64(hi))
}
