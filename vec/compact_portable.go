package vec

import "unsafe"

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
	room := min(len(values), len(pos))
	i, k := compactGroups(values[:room], pos[:room], src, mask, base)
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

// compactGroups goes through src in groups of eight, as long as there is room for a whole group more. Mostly zero
// input is skipped by one test. Otherwise all eight are stored without a branch, which would be mispredicted: what is
// zero is overwritten by the next. Bounds are checked for a group at a time, since a check for each store takes as
// long as the store.
func compactGroups[T, P uint8 | uint16 | uint32 | uint64](values []T, pos []P, src []T, mask T, base P) (consumed, written int) {
	const group = 8
	v, at := unsafe.Pointer(unsafe.SliceData(values)), unsafe.Pointer(unsafe.SliceData(pos))
	k := uintptr(0)
	i := 0
	wide := uint64(mask) * (^uint64(0) / uint64(^T(0))) // the mask over all of 8 bytes
	for ; len(src)-i >= group && len(values)-int(k) >= group; i += group {
		s := (*[group]T)(src[i:])
		w := unsafe.Pointer(s) // of words there are as many as a T has bytes
		some := word(w, 0)
		switch unsafe.Sizeof(mask) {
		case 2:
			some |= word(w, 1)
		case 4:
			some |= word(w, 1) | word(w, 2) | word(w, 3)
		case 8:
			some |= word(w, 1) | word(w, 2) | word(w, 3) | word(w, 4) | word(w, 5) | word(w, 6) | word(w, 7)
		}
		if some&wide == 0 {
			continue
		}
		first := base + P(i)
		k = put(v, at, k, s[0], first, mask)
		k = put(v, at, k, s[1], first+1, mask)
		k = put(v, at, k, s[2], first+2, mask)
		k = put(v, at, k, s[3], first+3, mask)
		k = put(v, at, k, s[4], first+4, mask)
		k = put(v, at, k, s[5], first+5, mask)
		k = put(v, at, k, s[6], first+6, mask)
		k = put(v, at, k, s[7], first+7, mask)
	}
	return i, int(k)
}

// word returns the word number i from p.
func word(p unsafe.Pointer, i int) uint64 { return *(*uint64)(unsafe.Add(p, 8*i)) }

// put stores x and its position p at place k, and returns the place of the next, which is the same if x is zero.
func put[T, P uint8 | uint16 | uint32 | uint64](values, pos unsafe.Pointer, k uintptr, x T, p P, mask T) uintptr {
	*(*T)(unsafe.Add(values, k*unsafe.Sizeof(x))) = x
	*(*P)(unsafe.Add(pos, k*unsafe.Sizeof(p))) = p
	y := x & mask
	return k + uintptr((y|-y)>>(8*unsafe.Sizeof(x)-1)) // 1 if y is not zero
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
