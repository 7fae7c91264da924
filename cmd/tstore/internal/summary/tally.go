package summary

import (
	"encoding/binary"
	"math"

	"github.com/tstore/tstore/layout"
)

// tally counts how often each value of one or two bytes occurs. Everything else follows from that.
type tally struct {
	size   int
	recent [2][]uint32 // two, so that a value that comes again and again need not wait for itself
	left   int         // values until a count may overflow
	counts []int64
}

func newTally(size int) *tally {
	t := &tally{size: size, counts: make([]int64, 1<<(8*size)), left: tallyMost}
	for i := range t.recent {
		t.recent[i] = make([]uint32, len(t.counts))
	}
	return t
}

// tallyMost is how many values are counted in 4 bytes.
const tallyMost = 1 << 31

// add counts the values of a piece, which has fewer than tallyMost.
func (t *tally) add(b []byte) {
	if t.left < len(b) {
		t.settle()
	}
	t.left -= len(b)
	even, odd := t.recent[0], t.recent[1]
	if t.size == 1 {
		even, odd := (*[1 << 8]uint32)(even), (*[1 << 8]uint32)(odd)
		for ; len(b) >= 8; b = b[8:] {
			w := binary.LittleEndian.Uint64(b)
			even[uint8(w)]++
			odd[uint8(w>>8)]++
			even[uint8(w>>16)]++
			odd[uint8(w>>24)]++
			even[uint8(w>>32)]++
			odd[uint8(w>>40)]++
			even[uint8(w>>48)]++
			odd[uint8(w>>56)]++
		}
		for _, x := range b {
			even[x]++
		}
		return
	}
	wide, wider := (*[1 << 16]uint32)(even), (*[1 << 16]uint32)(odd)
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		wide[uint16(w)]++
		wider[uint16(w>>16)]++
		wide[uint16(w>>32)]++
		wider[uint16(w>>48)]++
	}
	for ; len(b) >= 2; b = b[2:] {
		wide[binary.LittleEndian.Uint16(b)]++
	}
}

func (t *tally) settle() {
	for _, recent := range t.recent {
		for k, n := range recent {
			t.counts[k] += int64(n)
		}
		clear(recent)
	}
	t.left = tallyMost
}

// describe makes a summary of the counts, in which some zeros are added. of returns the value that some bits are.
func (t *tally) describe(s *Summary, bins int, letter byte, of func(bits uint16) float64) {
	p := part[float64]{}
	var sum exactSum
	for k, n := range t.counts {
		v := of(uint16(k))
		switch {
		case n == 0:
		case v-v == 0:
			if v != 0 {
				p.nonzero += n
			}
			p.merge(v+0, v+0, moments{n: float64(n)})
			sum.add(v * float64(n))
		case v != v:
			p.nan += n
			p.nonzero += n
		default:
			p.inf += n
			p.nonzero += n
		}
	}
	s.NonZero, s.NaN, s.Inf = p.nonzero, p.nan, p.inf
	if !p.any {
		return
	}
	mean := sum.value() / p.m.n
	var squares exactSum
	for k, n := range t.counts {
		if v := of(uint16(k)); n > 0 && v-v == 0 {
			squares.add((v - mean) * (v - mean) * float64(n))
		}
	}
	s.Finite, s.Mean = true, mean
	s.Std = (&moments{n: p.m.n, squares: squares.value()}).std()
	if letter == 'f' {
		s.Min, s.Max = number(letter, p.lo), number(letter, p.hi)
	} else {
		s.Min, s.Max = number(letter, int64(p.lo)), number(letter, int64(p.hi))
	}
	s.Edges = edges(p.lo, p.hi, bins, letter != 'f')
	s.Counts = make([]int64, len(s.Edges)-1)
	for k, n := range t.counts {
		if v := of(uint16(k)); n > 0 && v-v == 0 {
			s.Counts[binOf(s.Edges, v)] += n
		}
	}
}

// exactSum is a sum that keeps what rounding takes from it (Neumaier 1974).
type exactSum struct{ sum, lost float64 }

func (s *exactSum) add(v float64) {
	t := s.sum + v
	if math.Abs(s.sum) >= math.Abs(v) {
		s.lost += (s.sum - t) + v
	} else {
		s.lost += (v - t) + s.sum
	}
	s.sum = t
}

func (s *exactSum) value() float64 { return s.sum + s.lost }

// small returns the type of one or two bytes, as the letter of a Number and the value that some bits are; or no function for
// other types.
func small(k layout.Kind) (letter byte, of func(bits uint16) float64) {
	switch k {
	case layout.KindBool, layout.KindUint8, layout.KindUint16:
		return 'u', func(bits uint16) float64 { return float64(bits) }
	case layout.KindInt8:
		return 'i', func(bits uint16) float64 { return float64(int8(bits)) }
	case layout.KindInt16:
		return 'i', func(bits uint16) float64 { return float64(int16(bits)) }
	case layout.KindFloat16:
		return 'f', func(bits uint16) float64 { return float64(layout.F16(bits).Float32()) }
	case layout.KindBFloat16:
		return 'f', func(bits uint16) float64 { return float64(layout.BF16(bits).Float32()) }
	case layout.KindFloat8E4M3FN:
		return 'f', func(bits uint16) float64 { return float64(layout.F8E4M3(bits).Float32()) }
	case layout.KindFloat8E5M2:
		return 'f', func(bits uint16) float64 { return float64(layout.F8E5M2(bits).Float32()) }
	}
	return 0, nil
}
