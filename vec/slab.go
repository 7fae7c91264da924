package vec

import (
	"math/bits"
	"sync"
)

// A slab is a short piece of a row-major array whose nonzeros are gathered at a time, so that what is
// made of their positions stays in the first cache. Positions in it, and the coordinates that change within
// it, have 2 bytes: 32 of them fill a vector, and dividing them takes one multiplication.
const (
	slabLen = 8192
	// maxDividend bounds what is divided, see magicOf.
	maxDividend = 1 << 15
	maxDivisor  = maxDividend - slabLen
)

// slack is how many 2-byte integers the kernels may read or write before and after those in a workspace.
const slack = 64

// lane16 is an array of 2-byte integers for a slab, which begin at slack.
type lane16 [slack + slabLen + slack]uint16

// shape is a row-major shape as the kernels walk it. The axes before top are fixed within a slab, which
// never crosses from one line of axis top to the next. Along axis top it counts on; only the axes behind
// it need a division each.
type shape struct {
	dims  []uint64
	top   int
	block uint64 // elements of one line of axis top
	magic []magic
}

// magic divides integers less than 2^15 by a divisor: x·factor >> 16 >> shift.
type magic struct {
	divisor, factor, shift uint64
}

// magicOf returns the factor ⌈2^s ÷ d⌉ for the s that makes it at least 2^15 and less than 2^16. Times d it
// exceeds 2^s by less than d ≤ 2^(s−15), which changes no quotient of an x < 2^15. d is 2 or more.
func magicOf(d uint64) magic {
	s := 15 + bits.Len64(d-1)
	return magic{divisor: d, factor: (1<<s + d - 1) / d, shift: uint64(s - 16)}
}

// enough is a length of the lines of axis top at which another axis would cost more, by a division of every position, than slabs
// that end with a line.
const enough = slabLen

// set works out how a shape of one or more dimensions is walked. None may be 0.
func (s *shape) set(dims []uint64) {
	s.dims = append(s.dims[:0], dims...)
	s.magic = append(s.magic[:0], make([]magic, len(dims))...)
	s.top = len(dims) - 1
	s.block = dims[s.top]
	for s.top > 0 && s.block < enough && dims[s.top] <= maxDivisor {
		if d := dims[s.top]; d > 1 {
			s.magic[s.top] = magicOf(d)
		}
		s.top--
		s.block *= dims[s.top]
	}
}

// coordinates writes the coordinates of element number at to c.
func (s *shape) coordinates(c []uint64, at uint64) {
	for a := len(s.dims) - 1; a > 0; a-- {
		at, c[a] = at/s.dims[a], at%s.dims[a]
	}
	c[0] = at
}

// slabAt returns how many elements, at most n, the slab that starts with element number at has.
func (s *shape) slabAt(at uint64, n int) int {
	return int(min(uint64(min(n, slabLen)), s.block-at%s.block))
}

// workspace is what a call needs beside its outputs. Workspaces are kept for later calls.
type workspace struct {
	shape     shape
	start     []uint64 // coordinates of the first element of the slab
	positions lane16   // of the nonzeros in the slab
	spare     lane16
	places    lane16
	zeros     lane16
	remains   []*lane16 // the coordinate of each nonzero, for the axes behind top
	rows      []uint16
	pattern   []byte
	axes      []*uint16

	// What is prefetched with the next line that is written past the caches, and how far the one after it is.
	ahead, aheadStep uintptr

	// Of a Tree, for each level.
	numbers, added, newLast []uint64
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

func (w *workspace) set(dims []uint64) {
	w.shape.set(dims)
	n := len(dims)
	w.start = append(w.start[:0], dims...)
	for len(w.remains) < n {
		w.remains = append(w.remains, nil)
	}
	for a := w.shape.top + 1; a < n; a++ {
		if w.remains[a] == nil {
			w.remains[a] = new(lane16)
		}
	}
}

// split divides each of the n integers in q, plus start, by the divisor of the axis, in place, and stores
// the remainders in w.remains. The axis is behind top.
func (w *workspace) split(q *lane16, n, axis int, start uint64) {
	r := w.remains[axis]
	if w.shape.dims[axis] == 1 {
		clear(r[slack : slack+n])
		return
	}
	splitAny(q, r, n, start, w.shape.magic[axis])
}

func splitGo(q, r *lane16, n int, start uint64, m magic) {
	quotients, remains := q[slack:slack+n], r[slack:slack+n]
	for i, x := range quotients {
		x := uint32(x) + uint32(start)
		t := x * uint32(m.factor) >> 16 >> (m.shift & 31)
		quotients[i], remains[i] = uint16(t), uint16(x-t*uint32(m.divisor))
	}
}
