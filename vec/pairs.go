package vec

import "fmt"

// PairKeys writes to keys, for each pair of indices of type t in pairs, the first times a factor plus the second. The factor of
// pairs 0, 2, 4 … is factors[0], that of the others factors[1]. It returns the largest first and second index of the former,
// and those of the latter. Indices are taken as unsigned integers, so that a negative one is larger than its type
// allows; keys that are too large for 64 bits are cut to them. There is one key for each pair.
func PairKeys(keys []uint64, pairs []byte, t Index, factors [2]uint64) (most [4]uint64) {
	if n := t.len(pairs); n != 2*len(keys) {
		panic(fmt.Sprintf("vec: %d keys for %d indices", len(keys), n))
	}
	done := pairKeysAny(keys, pairs, t.Size(), factors, &most) // an even number
	keys, pairs = keys[done:], pairs[2*done*t.Size():]
	switch t.Size() {
	case 1:
		pairKeysGo(keys, pairs, factors, &most)
	case 2:
		pairKeysGo(keys, view[uint16](pairs), factors, &most)
	case 4:
		pairKeysGo(keys, view[uint32](pairs), factors, &most)
	default:
		pairKeysGo(keys, view[uint64](pairs), factors, &most)
	}
	return most
}

func pairKeysGo[I uint8 | uint16 | uint32 | uint64](keys []uint64, pairs []I, factors [2]uint64, most *[4]uint64) {
	a, b, c, d := most[0], most[1], most[2], most[3]
	f, g := factors[0], factors[1]
	for len(keys) >= 2 {
		i, j, k, l := uint64(pairs[0]), uint64(pairs[1]), uint64(pairs[2]), uint64(pairs[3])
		a, b, c, d = max(a, i), max(b, j), max(c, k), max(d, l)
		keys[0], keys[1] = i*f+j, k*g+l
		keys, pairs = keys[2:], pairs[4:]
	}
	if len(keys) > 0 {
		i, j := uint64(pairs[0]), uint64(pairs[1])
		a, b = max(a, i), max(b, j)
		keys[0] = i*f + j
	}
	*most = [4]uint64{a, b, c, d}
}
