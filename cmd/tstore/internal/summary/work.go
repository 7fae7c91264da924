package summary

import (
	"context"
	"fmt"
	"math/cmplx"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tstore/tstore/layout"
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

// runner returns the function that does the work for the type of the elements.
func (w *work) runner() (func(s *Summary, bins int, zeros int64) error, error) {
	switch dt := w.values.DType(); dt.Kind() {
	case layout.KindBool, layout.KindUint8:
		return integers(w, 'u', same[uint8]), nil
	case layout.KindInt8:
		return integers(w, 'i', same[int8]), nil
	case layout.KindInt16:
		return integers(w, 'i', same[int16]), nil
	case layout.KindInt32:
		return integers(w, 'i', same[int32]), nil
	case layout.KindInt64:
		return integers(w, 'i', same[int64]), nil
	case layout.KindUint16:
		return integers(w, 'u', same[uint16]), nil
	case layout.KindUint32:
		return integers(w, 'u', same[uint32]), nil
	case layout.KindUint64:
		return integers(w, 'u', same[uint64]), nil
	case layout.KindFloat32:
		return floats(w, 'f', same[float32]), nil
	case layout.KindFloat64:
		return floats(w, 'd', same[float64]), nil
	case layout.KindFloat16:
		return floats(w, 'f', converted(layout.F16.Float32)), nil
	case layout.KindBFloat16:
		return floats(w, 'f', converted(layout.BF16.Float32)), nil
	case layout.KindFloat8E4M3FN:
		return floats(w, 'f', converted(layout.F8E4M3.Float32)), nil
	case layout.KindFloat8E5M2:
		return floats(w, 'f', converted(layout.F8E5M2.Float32)), nil
	case layout.KindComplex64:
		return floats(w, 'd', converted(func(c complex64) float64 { return cmplx.Abs(complex128(c)) })), nil
	case layout.KindComplex128:
		return floats(w, 'd', converted(cmplx.Abs)), nil
	default:
		return nil, fmt.Errorf("%w: %v", ErrType, dt)
	}
}

// same returns bytes as the values that they are. If they do not lie where values of their type may,
// they are copied to room, or to new memory if that is too small.
func same[T any](b []byte, room []T) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	n := len(b) / size
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%uintptr(unsafe.Alignof(zero)) == 0 {
		return unsafe.Slice((*T)(p), n)
	}
	if cap(room) < n {
		room = make([]T, n)
	}
	room = room[:n]
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(room))), n*size), b)
	return room
}

// converted returns bytes as other values than they are.
func converted[F, T any](convert func(F) T) func(b []byte, room []T) []T {
	return func(b []byte, room []T) []T {
		from := same[F](b, nil)
		for i, x := range from {
			room[i] = convert(x)
		}
		return room[:len(from)]
	}
}

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

func (w *work) workers() int { return runtime.GOMAXPROCS(0) }

// pieces is how many pieces there are.
func (w *work) pieces() int {
	perPiece := pieceBytes / int64(w.values.DType().Size())
	return int((w.values.Len() + perPiece - 1) / perPiece)
}

// part is what is known of the values of a piece.
type part[T any] struct {
	any    bool
	lo, hi T
	m      moments
	kinds  kinds
}

// merge adds the values of a block.
func mergeBlock[T integer | float](p *part[T], lo, hi T, m moments) {
	if !p.any {
		p.lo, p.hi, p.any = lo, hi, true
	}
	p.lo, p.hi = min(p.lo, lo), max(p.hi, hi)
	p.m.merge(m)
}

func integers[T integer](w *work, kind byte, values func(b []byte, room []T) []T) func(s *Summary, bins int, zeros int64) error {
	return func(s *Summary, bins int, zeros int64) error {
		return describe(w, s, bins, zeros, kind, values,
			func(v []T, p *part[T]) {
				lo, hi, m := integerBlock(v)
				mergeBlock(p, lo, hi, m)
			}, countIntegers[T])
	}
}

func floats[T float](w *work, kind byte, values func(b []byte, room []T) []T) func(s *Summary, bins int, zeros int64) error {
	return func(s *Summary, bins int, zeros int64) error {
		return describe(w, s, bins, zeros, kind, values,
			func(v []T, p *part[T]) {
				if lo, hi, m, ok := floatBlock(v); ok {
					mergeBlock(p, lo, hi, m)
				} else if lo, hi, m, any := mixedBlock(v, &p.kinds); any {
					mergeBlock(p, lo, hi, m)
				}
			}, countFloats[T])
	}
}

// describe goes through the values twice. Beside them there are zeros that are not stored.
func describe[T integer | float](w *work, s *Summary, n int, zeros int64, kind byte,
	values func(b []byte, room []T) []T, block func(v []T, p *part[T]), count func(b *bins, v []T)) error {
	rooms := make([][]T, w.workers())
	for i := range rooms {
		rooms[i] = make([]T, pieceBytes)
	}
	parts := make([]part[T], w.pieces())
	err := w.each(func(worker, piece int, b []byte) {
		v := values(b, rooms[worker])
		for len(v) > 0 {
			k := min(blockSize, len(v))
			block(v[:k], &parts[piece])
			v = v[k:]
		}
	})
	if err != nil {
		return err
	}
	// In the order of the pieces, so that the result does not depend on who was quick.
	var all part[T]
	for _, p := range parts {
		if p.any {
			mergeBlock(&all, p.lo, p.hi, p.m)
		}
		all.kinds.nan += p.kinds.nan
		all.kinds.inf += p.kinds.inf
	}
	if zeros > 0 {
		mergeBlock(&all, 0, 0, moments{n: float64(zeros)})
	}
	s.NaN, s.Inf = all.kinds.nan, all.kinds.inf
	if !all.any {
		return nil
	}
	s.Finite, s.Mean, s.Std = true, all.m.mean, all.m.std()
	s.Min, s.Max = number(kind, all.lo), number(kind, all.hi)

	s.Edges = edges(s.Min.Float(), s.Max.Float(), n, kind == 'i' || kind == 'u')
	histograms := make([]bins, w.workers())
	for i := range histograms {
		histograms[i] = newBins(s.Edges)
	}
	if err := w.each(func(worker, _ int, b []byte) { count(&histograms[worker], values(b, rooms[worker])) }); err != nil {
		return err
	}
	s.Counts = make([]int64, len(s.Edges)-1)
	for _, h := range histograms {
		for k, c := range h.counts {
			s.Counts[k] += c
		}
	}
	if zeros > 0 {
		s.Counts[histograms[0].at(0)] += zeros
	}
	return nil
}
