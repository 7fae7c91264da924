package summary

import (
	"math"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/vec"
)

// blockSize is the number of values whose sums are taken together. They are counted from the first
// value of the block, so that little is lost where all are large.
const blockSize = 4096

// value is a type that the smallest and the largest value are kept in.
type value interface{ int64 | uint64 | float64 }

// part is what is known of some values.
type part[T value] struct {
	any     bool // finite ones
	lo, hi  T
	m       moments
	nan     int64
	inf     int64
	nonzero int64
}

// merge adds finite values from lo to hi.
func (p *part[T]) merge(lo, hi T, m moments) {
	if !p.any {
		p.lo, p.hi, p.any = lo, hi, true
	}
	p.lo, p.hi = min(p.lo, lo), max(p.hi, hi)
	p.m.merge(m)
}

// add adds what another part knows.
func (p *part[T]) add(o *part[T]) {
	if o.any {
		p.merge(o.lo, o.hi, o.m)
	}
	p.nan += o.nan
	p.inf += o.inf
	p.nonzero += o.nonzero
}

// fromSums are the moments of n values, given the sums of their distances from pivot and of the
// squares of those.
func fromSums(n int, pivot float64, m vec.Moments) moments {
	mean := m.Sum / float64(n)
	return moments{n: float64(n), mean: pivot + mean, squares: m.Squares - m.Sum*mean}
}

// block is room to work on the values of a block.
type block struct {
	floats  [blockSize]float64
	aligned [blockSize]uint64
}

// floatBlock goes through at most blockSize values, at least one.
func (r *block) floatBlock(p *part[float64], b []byte, e vec.Elem) {
	pivot := first(b, e)
	if pivot-pivot != 0 {
		pivot = 0
	}
	m, finite := vec.FloatMoments(b, e, pivot)
	p.nonzero += int64(m.NonZero)
	if finite {
		p.merge(m.Min+0, m.Max+0, fromSums(len(b)/e.Size(), pivot, m)) // + 0 makes −0 zero
		return
	}
	finites := r.finites(p, b, e)
	if len(finites) == 0 {
		return
	}
	if m, finite := vec.FloatMoments(layout.BytesOf(finites), vec.Float64, finites[0]); finite {
		p.merge(m.Min+0, m.Max+0, fromSums(len(finites), finites[0], m))
		return
	}
	// Their squares are too large. Those of float64s may be, but not those of float32s.
	for _, x := range finites {
		p.merge(x+0, x+0, moments{n: 1, mean: x})
	}
}

// first returns the first value of a block.
func first(b []byte, e vec.Elem) float64 {
	if e == vec.Float32 {
		return float64(math.Float32frombits(uint32(vec.U32.At(b, 0))))
	}
	return math.Float64frombits(vec.U64.At(b, 0))
}

// finites returns the values of a block that are finite, and counts the others.
func (r *block) finites(p *part[float64], b []byte, e vec.Elem) []float64 {
	n := 0
	for size := e.Size(); len(b) > 0; b = b[size:] {
		x := first(b, e)
		r.floats[n] = x
		switch {
		case x-x == 0:
			n++
		case x != x:
			p.nan++
		default:
			p.inf++
		}
	}
	return r.floats[:n]
}

type integer interface {
	int32 | int64 | uint32 | uint64
}

// integerBlock goes through at most blockSize values, at least one. T holds all values of type I.
func integerBlock[I integer, T int64 | uint64](r *block, p *part[T], b []byte) {
	values := aligned[I](r, b)
	lo, hi := values[0], values[0]
	floats := r.floats[:len(values)]
	for i, x := range values {
		lo, hi = min(lo, x), max(hi, x)
		floats[i] = float64(x)
	}
	m, _ := vec.FloatMoments(layout.BytesOf(floats), vec.Float64, floats[0]) // finite: no integer is that large
	p.nonzero += int64(m.NonZero)
	p.merge(T(lo), T(hi), fromSums(len(values), floats[0], m))
}

// integerFloats returns the values of a block as float64s.
func integerFloats[I integer](r *block, b []byte) []byte {
	values := aligned[I](r, b)
	floats := r.floats[:len(values)]
	for i, x := range values {
		floats[i] = float64(x)
	}
	return layout.BytesOf(floats)
}

// absolutes returns the absolute values of a block of complex numbers as float64s.
func absolutes(r *block, b []byte, size int) []byte {
	n := len(b) / size
	for i := range n {
		x := b[i*size : (i+1)*size]
		if size == 8 {
			r.floats[i] = math.Hypot(first(x, vec.Float32), first(x[4:], vec.Float32))
		} else {
			r.floats[i] = math.Hypot(first(x, vec.Float64), first(x[8:], vec.Float64))
		}
	}
	return layout.BytesOf(r.floats[:n])
}
