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

func firstDecreaseGo(indices []byte, t Index) int {
	switch t {
	case I8:
		return firstDecrease(view[int8](indices))
	case U8:
		return firstDecrease(indices)
	case I16:
		return firstDecrease(view[int16](indices))
	case U16:
		return firstDecrease(view[uint16](indices))
	case I32:
		return firstDecrease(view[int32](indices))
	case U32:
		return firstDecrease(view[uint32](indices))
	case I64:
		return firstDecrease(view[int64](indices))
	}
	return firstDecrease(view[uint64](indices))
}

func firstDecrease[I Integer](idx []I) int {
	for i := 1; i < len(idx); i++ {
		if idx[i] < idx[i-1] {
			return i
		}
	}
	return -1
}

func firstNotIncreasingGo(indices []byte, t Index) int {
	switch t {
	case I8:
		return firstNotIncreasing(view[int8](indices))
	case U8:
		return firstNotIncreasing(indices)
	case I16:
		return firstNotIncreasing(view[int16](indices))
	case U16:
		return firstNotIncreasing(view[uint16](indices))
	case I32:
		return firstNotIncreasing(view[int32](indices))
	case U32:
		return firstNotIncreasing(view[uint32](indices))
	case I64:
		return firstNotIncreasing(view[int64](indices))
	}
	return firstNotIncreasing(view[uint64](indices))
}

func firstNotIncreasing[I Integer](idx []I) int {
	for i := 1; i < len(idx); i++ {
		if idx[i] <= idx[i-1] {
			return i
		}
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
