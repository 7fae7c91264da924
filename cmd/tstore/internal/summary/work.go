package summary

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/vec"
)

// work is going through the values, piece by piece.
type work struct {
	ctx      context.Context
	values   *layout.Dense
	progress func(done, total int64)
	total    int64
	reports  sync.Mutex // held while progress is told
	done     int64
}

// report says that more bytes are done.
func (w *work) report(n int64) {
	w.reports.Lock()
	defer w.reports.Unlock()
	w.done += n
	if w.progress != nil {
		w.progress(w.done, w.total)
	}
}

// pieceBytes is the size of the pieces that processors take. It fits in the second level of caches.
const pieceBytes = 256 << 10

// each calls fn for all pieces, on all processors, with a number for the processor and one for the
// piece.
func (w *work) each(fn func(worker, piece int, b []byte)) error {
	size := int64(w.values.DType().Size())
	perPiece := pieceBytes / size
	n := w.values.Len()
	pieces := int((n + perPiece - 1) / perPiece)
	whole, _ := w.values.Bytes() // nil if they do not lie together
	var next atomic.Int64
	var fault atomic.Value
	var group sync.WaitGroup
	for worker := range w.workers() {
		group.Go(func() {
			// The values may lie in a map. Who called has to know of faults.
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if p := recover(); p != nil {
					fault.CompareAndSwap(nil, &p)
				}
			}()
			var room []byte
			for w.ctx.Err() == nil && fault.Load() == nil {
				k := next.Add(1) - 1
				if k >= int64(pieces) {
					return
				}
				first := k * perPiece
				count := min(perPiece, n-first)
				var b []byte
				if whole != nil {
					b = whole[first*size:][:count*size]
				} else {
					if room == nil {
						room = make([]byte, perPiece*size)
					}
					b = room[:count*size]
					w.values.CopyRange(b, first)
				}
				fn(worker, int(k), b)
				w.report(count * size)
			}
		})
	}
	group.Wait()
	if p, ok := fault.Load().(*any); ok {
		panic(*p)
	}
	return w.ctx.Err()
}

// workers is how many processors share the work.
func (w *work) workers() int { return min(runtime.GOMAXPROCS(0), max(w.pieces(), 1)) }

// pieces is how many pieces there are.
func (w *work) pieces() int {
	perPiece := pieceBytes / int64(w.values.DType().Size())
	return int((w.values.Len() + perPiece - 1) / perPiece)
}

// small describes values of one or two bytes: they are gone through once.
func (w *work) small(s *Summary, bins int, zeros int64, kind byte, of func(bits uint16) float64) error {
	w.total = w.values.NumBytes()
	tallies := make([]*tally, w.workers())
	for i := range tallies {
		tallies[i] = newTally(w.values.DType().Size())
	}
	if err := w.each(func(worker, _ int, b []byte) { tallies[worker].add(b) }); err != nil {
		return err
	}
	all := tallies[0]
	for _, t := range tallies {
		t.settle()
		if t == all {
			continue
		}
		for k, n := range t.counts {
			all.counts[k] += n
		}
	}
	all.counts[0] += zeros
	all.describe(s, bins, kind, of)
	return nil
}

// kind is how values of a type are described.
type kind[T value] struct {
	letter byte // see Number
	block  func(r *block, p *part[T], b []byte)
	// floats returns the values of a block as floats of a type, for a histogram.
	floats func(r *block, b []byte) ([]byte, vec.Elem)
	whole  bool // floats takes any number of values
}

// describe describes the values of the tensor, which are gone through twice. Beside them there are zeros that are not
// stored.
func (w *work) describe(s *Summary, bins int, zeros int64) error {
	double := func(to func(r *block, b []byte) []byte) func(r *block, b []byte) ([]byte, vec.Elem) {
		return func(r *block, b []byte) ([]byte, vec.Elem) { return to(r, b), vec.Float64 }
	}
	dt := w.values.DType()
	if letter, of := small(dt.Kind()); of != nil {
		return w.small(s, bins, zeros, letter, of)
	}
	switch dt.Kind() {
	case layout.KindInt32:
		return describe(w, s, bins, zeros, kind[int64]{'i', integerBlock[int32, int64], double(integerFloats[int32]), false})
	case layout.KindInt64:
		return describe(w, s, bins, zeros, kind[int64]{'i', integerBlock[int64, int64], double(integerFloats[int64]), false})
	case layout.KindUint32:
		return describe(w, s, bins, zeros, kind[uint64]{'u', integerBlock[uint32, uint64], double(integerFloats[uint32]), false})
	case layout.KindUint64:
		return describe(w, s, bins, zeros, kind[uint64]{'u', integerBlock[uint64, uint64], double(integerFloats[uint64]), false})
	case layout.KindFloat32:
		return describe(w, s, bins, zeros, asTheyAre('f', vec.Float32))
	case layout.KindFloat64:
		return describe(w, s, bins, zeros, asTheyAre('d', vec.Float64))
	case layout.KindComplex64, layout.KindComplex128:
		size := int(dt.Size())
		floats := double(func(r *block, b []byte) []byte { return absolutes(r, b, size) })
		return describe(w, s, bins, zeros, kind[float64]{'d', func(r *block, p *part[float64], b []byte) {
			b, e := floats(r, b)
			r.floatBlock(p, b, e)
		}, floats, false})
	}
	return fmt.Errorf("%w: %v", ErrType, dt)
}

// asTheyAre is how floats of 4 and 8 bytes are described.
func asTheyAre(letter byte, e vec.Elem) kind[float64] {
	return kind[float64]{letter, func(r *block, p *part[float64], b []byte) { r.floatBlock(p, b, e) },
		func(_ *block, b []byte) ([]byte, vec.Elem) { return b, e }, true}
}

func describe[T value](w *work, s *Summary, bins int, zeros int64, k kind[T]) error {
	blockBytes := blockSize * int(w.values.DType().Size())
	blocks := make([]block, w.workers())
	parts := make([]part[T], w.pieces())
	w.total = 2 * w.values.NumBytes()
	err := w.each(func(worker, piece int, b []byte) {
		for b := range slices.Chunk(b, blockBytes) {
			k.block(&blocks[worker], &parts[piece], b)
		}
	})
	if err != nil {
		return err
	}
	// In the order of the pieces, so that the result does not depend on who was quick.
	var all part[T]
	for i := range parts {
		all.add(&parts[i])
	}
	if zeros > 0 {
		all.merge(0, 0, moments{n: float64(zeros)})
	}
	s.NonZero, s.NaN, s.Inf = all.nonzero, all.nan, all.inf
	if !all.any {
		return nil
	}
	s.Finite, s.Mean, s.Std = true, all.m.mean, all.m.std()
	s.Min, s.Max = number(k.letter, all.lo), number(k.letter, all.hi)
	if s.Std-s.Std != 0 {
		if err := wideStd(w, s, zeros, int64(all.m.n), k); err != nil {
			return err
		}
	}

	s.Edges = edges(s.Min.Float(), s.Max.Float(), bins, k.letter == 'i' || k.letter == 'u')
	histograms := make([][]int64, w.workers())
	for i := range histograms {
		histograms[i] = make([]int64, len(s.Edges)-1)
	}
	inside := all.nan+all.inf == 0
	if k.whole {
		blockBytes = pieceBytes
	}
	err = w.each(func(worker, _ int, b []byte) {
		for b := range slices.Chunk(b, blockBytes) {
			floats, e := k.floats(&blocks[worker], b)
			vec.Histogram(histograms[worker], s.Edges, floats, e, inside)
		}
	})
	if err != nil {
		return err
	}
	s.Counts = make([]int64, len(s.Edges)-1)
	for _, h := range histograms {
		for k, n := range h {
			s.Counts[k] += n
		}
	}
	if zeros > 0 {
		s.Counts[binOf(s.Edges, 0)] += zeros
	}
	return nil
}

// wideStd computes the deviation of values whose distances have squares that no float64 holds. They are gone
// through once more, and scaled by the largest distance.
func wideStd[T value](w *work, s *Summary, zeros, n int64, k kind[T]) error {
	half := s.Mean / 2 // halves, since a distance may be twice the largest number
	scale := max(half-s.Min.Float()/2, s.Max.Float()/2-half)
	blockBytes := blockSize * int(w.values.DType().Size())
	blocks, sums := make([]block, w.workers()), make([]float64, w.pieces())
	w.total += w.values.NumBytes()
	err := w.each(func(worker, piece int, b []byte) {
		for b := range slices.Chunk(b, blockBytes) {
			floats, e := k.floats(&blocks[worker], b)
			for ; len(floats) > 0; floats = floats[e.Size():] {
				if x := first(floats, e); x-x == 0 {
					d := (x/2 - half) / scale
					sums[piece] += d * d
				}
			}
		}
	})
	sum := float64(zeros) * (half / scale) * (half / scale)
	for _, x := range sums {
		sum += x
	}
	s.Std = scale * (2 * math.Sqrt(sum/float64(n)))
	return err
}

// binOf returns the bin of a value in the range.
func binOf(edges []float64, v float64) int {
	last := len(edges) - 2
	return sort.Search(last, func(k int) bool { return v < edges[k+1] })
}

// aligned returns bytes as the values that they are. If they do not lie where values of their type may, they are copied.
func aligned[T integer](r *block, b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(zero) != 0 {
		p = unsafe.Pointer(&r.aligned)
		copy(unsafe.Slice((*byte)(p), unsafe.Sizeof(r.aligned)), b)
	}
	return unsafe.Slice((*T)(p), n)
}
