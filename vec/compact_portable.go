package vec

func compactGo(values, positions []byte, t Index, src []byte, e Elem, base uint64) (consumed, written int) {
	switch t.Size() {
	case 1:
		return compactTo(values, positions, src, e, uint8(base))
	case 2:
		return compactTo(values, positions, src, e, uint16(base))
	case 4:
		return compactTo(values, positions, src, e, uint32(base))
	}
	return compactTo(values, positions, src, e, base)
}

func compactTo[P uint8 | uint16 | uint32 | uint64](values, positions, src []byte, e Elem, base P) (consumed, written int) {
	mask, pos := e.mask(), view[P](positions)
	switch e.Size() {
	case 1:
		return compact(view[uint8](values), pos, view[uint8](src), uint8(mask), base)
	case 2:
		return compact(view[uint16](values), pos, view[uint16](src), uint16(mask), base)
	case 4:
		return compact(view[uint32](values), pos, view[uint32](src), uint32(mask), base)
	case 8:
		return compact(view[uint64](values), pos, view[uint64](src), mask, base)
	}
	return compact128(view[word128](values), pos, view[word128](src), mask, base)
}

func compact[T, P uint8 | uint16 | uint32 | uint64](values []T, pos []P, src []T, mask T, base P) (consumed, written int) {
	i, k, room := 0, 0, min(len(values), len(pos))
	// Eight at a time: mostly zero input is skipped by one test, and the others are stored without a
	// branch on each element, which would be mispredicted.
	for len(src)-i >= 8 && room-k >= 8 {
		s := src[i : i+8 : i+8]
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&mask == 0 {
			i += 8
			continue
		}
		for j, x := range s {
			values[k], pos[k] = x, base+P(i+j)
			if x&mask != 0 {
				k++
			}
		}
		i += 8
	}
	for ; i < len(src); i++ {
		x := src[i]
		if x&mask == 0 {
			continue
		}
		if k == room {
			break
		}
		values[k], pos[k] = x, base+P(i)
		k++
	}
	return i, k
}

func compact128[P uint8 | uint16 | uint32 | uint64](values []word128, pos []P, src []word128, mask uint64, base P) (consumed, written int) {
	k, room := 0, min(len(values), len(pos))
	for i, x := range src {
		if (x.lo|x.hi)&mask == 0 {
			continue
		}
		if k == room {
			return i, k
		}
		values[k], pos[k] = x, base+P(i)
		k++
	}
	return len(src), k
}
