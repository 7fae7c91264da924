package vec

import (
	"math/bits"
	"unsafe"
)

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

// compactGroups goes through src in groups of 64, as long as there is room for a whole group more. How depends on how many nonzeros
// there were before: each way does without branches that are mispredicted at its share of them. Bounds are checked for
// many elements at a time, since a check for each store takes as long as the store.
func compactGroups[T, P uint8 | uint16 | uint32 | uint64](values []T, pos []P, src []T, mask T, base P) (consumed, written int) {
	const group, spare = 64, 3
	ones, shift := lanes[T]()
	c := compaction[T, P]{mask: mask, wide: uint64(mask) * ones, low: ^(ones << shift)}
	i, k := 0, 0
	for n, share := group, 0; ; n = 16 * group { // share is of 256
		n = min(n, len(src)-i, len(values)-k-spare) &^ (group - 1)
		if n <= 0 {
			return i, k
		}
		c.values, c.pos = unsafe.Pointer(unsafe.SliceData(values[k:])), unsafe.Pointer(unsafe.SliceData(pos[k:]))
		var found int
		switch s := src[i : i+n]; {
		case i > 0 && share < 5:
			found = c.few(s, base+P(i))
		case share > 160/int(unsafe.Sizeof(mask)):
			found = c.many(s, base+P(i))
		default:
			found = c.some(s, base+P(i))
		}
		share = found * 256 / n
		i, k = i+n, k+found
	}
}

// compaction is where nonzeros go and which bits make them nonzero, also in each element of a word. The word low has all
// but the top bit of each.
type compaction[T, P uint8 | uint16 | uint32 | uint64] struct {
	values, pos unsafe.Pointer
	mask        T
	wide, low   uint64
}

// few takes 64 bytes at a time, most of which are zero.
func (c *compaction[T, P]) few(src []T, first P) int {
	const line = 64
	n := line / int(unsafe.Sizeof(c.mask))
	values, pos, wide, low, k := c.values, c.pos, c.wide, c.low, uintptr(0)
	for ; len(src) >= n; src = src[n:] {
		p := unsafe.Pointer(unsafe.SliceData(src))
		if (word(p, 0)|word(p, 1)|word(p, 2)|word(p, 3)|word(p, 4)|word(p, 5)|word(p, 6)|word(p, 7))&wide != 0 {
			for m := lineMask[T](p, wide, low); m != 0; m &= m - 1 {
				put[T](values, pos, k, p, bits.TrailingZeros64(m), first)
				k++
			}
		}
		first += P(n)
	}
	return int(k)
}

// some takes the nonzeros of 64 elements from a mask, four at a time.
func (c *compaction[T, P]) some(src []T, first P) int {
	values, pos, wide, low, k := c.values, c.pos, c.wide, c.low, uintptr(0)
	for ; len(src) >= 64; src = src[64:] {
		p := unsafe.Pointer(unsafe.SliceData(src))
		var m uint64
		for i := range unsafe.Sizeof(c.mask) {
			m |= lineMask[T](unsafe.Add(p, 64*i), wide, low) << (64 / unsafe.Sizeof(c.mask) * i)
		}
		n := uintptr(bits.OnesCount64(m))
		for at := k; at < k+n; at += 4 {
			// What the last ones of these store beyond the nonzeros is overwritten.
			put[T](values, pos, at, p, bits.TrailingZeros64(m)&63, first)
			m &= m - 1
			put[T](values, pos, at+1, p, bits.TrailingZeros64(m)&63, first)
			m &= m - 1
			put[T](values, pos, at+2, p, bits.TrailingZeros64(m)&63, first)
			m &= m - 1
			put[T](values, pos, at+3, p, bits.TrailingZeros64(m)&63, first)
			m &= m - 1
		}
		k += n
		first += 64
	}
	return int(k)
}

// put stores element i from p, and its position, as nonzero number k.
func put[T, P uint8 | uint16 | uint32 | uint64](values, pos unsafe.Pointer, k uintptr, p unsafe.Pointer, i int, first P) {
	var x T
	*(*T)(unsafe.Add(values, k*unsafe.Sizeof(x))) = *(*T)(unsafe.Add(p, uintptr(i)*unsafe.Sizeof(x)))
	*(*P)(unsafe.Add(pos, k*unsafe.Sizeof(first))) = first + P(i)
}

// many stores every element; what is zero is overwritten by the next.
func (c *compaction[T, P]) many(src []T, first P) int {
	values, pos, mask, k := c.values, c.pos, c.mask, uint64(0)
	for len(src) >= 8 {
		s := (*[8]T)(src)
		k = step(values, pos, k, s[0], first, mask)
		k = step(values, pos, k, s[1], first+1, mask)
		k = step(values, pos, k, s[2], first+2, mask)
		k = step(values, pos, k, s[3], first+3, mask)
		k = step(values, pos, k, s[4], first+4, mask)
		k = step(values, pos, k, s[5], first+5, mask)
		k = step(values, pos, k, s[6], first+6, mask)
		k = step(values, pos, k, s[7], first+7, mask)
		src, first = src[8:], first+8
	}
	return int(k)
}

// step stores x and its position p at place k, and returns the place of the next, which is the same if x is zero.
func step[T, P uint8 | uint16 | uint32 | uint64](values, pos unsafe.Pointer, k uint64, x T, p P, mask T) uint64 {
	*(*T)(unsafe.Add(values, uintptr(k)*unsafe.Sizeof(x))) = x
	*(*P)(unsafe.Add(pos, uintptr(k)*unsafe.Sizeof(p))) = p
	_, carry := bits.Add64(uint64(x&mask), ^uint64(0), 0)
	k, _ = bits.Add64(k, 0, carry)
	return k
}

// lineMask returns a bit for each T of 64 bytes that says whether it is nonzero: for the bits y that matter, (y & low) + low
// carries into the top bit of its lane if one of the low bits is set.
func lineMask[T uint8 | uint16 | uint32 | uint64](p unsafe.Pointer, wide, low uint64) uint64 {
	var zero T
	switch unsafe.Sizeof(zero) {
	case 1:
		const gather = 0x0102040810204080
		return tops(p, 0, wide, low)>>7*gather>>56 | tops(p, 1, wide, low)>>7*gather>>56<<8 |
			tops(p, 2, wide, low)>>7*gather>>56<<16 | tops(p, 3, wide, low)>>7*gather>>56<<24 |
			tops(p, 4, wide, low)>>7*gather>>56<<32 | tops(p, 5, wide, low)>>7*gather>>56<<40 |
			tops(p, 6, wide, low)>>7*gather>>56<<48 | tops(p, 7, wide, low)>>7*gather>>56<<56
	case 2:
		const gather = 0x0001000200040008
		return tops(p, 0, wide, low)>>15*gather>>48 | tops(p, 1, wide, low)>>15*gather>>48<<4 |
			tops(p, 2, wide, low)>>15*gather>>48<<8 | tops(p, 3, wide, low)>>15*gather>>48<<12 |
			tops(p, 4, wide, low)>>15*gather>>48<<16 | tops(p, 5, wide, low)>>15*gather>>48<<20 |
			tops(p, 6, wide, low)>>15*gather>>48<<24 | tops(p, 7, wide, low)>>15*gather>>48<<28
	case 4:
		if wide == low { // floating point: two steps less for each word
			m := carries(p, 0, low)>>31 | carries(p, 1, low)>>29 | carries(p, 2, low)>>27 | carries(p, 3, low)>>25 |
				carries(p, 4, low)>>23 | carries(p, 5, low)>>21 | carries(p, 6, low)>>19 | carries(p, 7, low)>>17
			return (m | m>>31) & 0xffff
		}
		// First elements of a word in the even bits of the lower half, second ones in those of the upper.
		m := tops(p, 0, wide, low)>>31 | tops(p, 1, wide, low)>>29 | tops(p, 2, wide, low)>>27 | tops(p, 3, wide, low)>>25 |
			tops(p, 4, wide, low)>>23 | tops(p, 5, wide, low)>>21 | tops(p, 6, wide, low)>>19 | tops(p, 7, wide, low)>>17
		return (m | m>>31) & 0xffff
	}
	return tops(p, 0, wide, low)>>63 | tops(p, 1, wide, low)>>62 | tops(p, 2, wide, low)>>61 | tops(p, 3, wide, low)>>60 |
		tops(p, 4, wide, low)>>59 | tops(p, 5, wide, low)>>58 | tops(p, 6, wide, low)>>57 | tops(p, 7, wide, low)>>56
}

// tops returns the word number i from p with only the top bit of each lane left, which is set if the lane is nonzero.
func tops(p unsafe.Pointer, i int, wide, low uint64) uint64 {
	w := word(p, i) & wide
	return (w&low + low | w) &^ low
}

// carries is tops for a type whose top bits don't matter.
func carries(p unsafe.Pointer, i int, low uint64) uint64 { return (word(p, i)&low + low) &^ low }

// word returns the word number i from p.
func word(p unsafe.Pointer, i int) uint64 { return *(*uint64)(unsafe.Add(p, 8*i)) }

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
