package vec

import (
	"fmt"
	"sync"
	"unsafe"
)

// A PointerError says that an array of pointers, which begins with the start of the first line and has the
// end of each, does not rise within the elements that there are.
type PointerError struct {
	At    int    // position in the array
	Value uint64 // the pointer; a negative one has its sign extended
	Type  Index
	N     uint64 // the elements that there are
}

// Error describes the pointer and its range.
func (e *PointerError) Error() string {
	v := fmt.Sprint(e.Value)
	if e.Type.Valid() && e.Type.Signed() {
		v = fmt.Sprint(int64(e.Value))
	}
	return fmt.Sprintf("pointer %s at position %d is less than the one before it, or more than the %d elements", v, e.At, e.N)
}

// CheckPointers returns nil if the pointers rise, no two need differ, and none is negative or greater than
// n; otherwise a [*PointerError].
func CheckPointers(pointers []byte, t Index, n uint64) error {
	count := t.len(pointers)
	if count == 0 {
		return nil
	}
	at := firstDisorderAny(pointers, t, false)
	if at < 0 {
		// In order, so that the ends have the extremes; a negative one is huge as an unsigned one.
		if first := t.At(pointers, 0); first > n {
			at = 0
		} else if last := t.At(pointers, count-1); last > n {
			at = firstAboveAny(pointers, t, min(n, t.Max()))
		} else {
			return nil
		}
	}
	return &PointerError{At: at, Value: t.At(pointers, at), Type: t, N: n}
}

// ScatterRows writes a row-major dst of rows of cols elements of size bytes, all zeros but for the given
// values: those of row i are numbers pointers[i] to pointers[i+1]−1 of values, and indices has the column of
// each; the last of several for one element stays. There is one pointer more than rows. Pointers and indices
// are checked before anything is written: the error is a [*PointerError] or an [*IndexError] then, and dst is as
// it was. dst must not overlap the others.
func ScatterRows(dst []byte, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte) error {
	rows, n := pt.len(pointers)-1, t.len(indices)
	if size < 1 || cols < 0 || rows < 0 || len(values) != n*size {
		panic(fmt.Sprintf("vec: scatter of %d bytes of values to %d indices in rows of %d elements of %d bytes does not fit", len(values), n, cols, size))
	}
	if cols == 0 && len(dst) != 0 || cols > 0 && (len(dst)%(cols*size) != 0 || len(dst)/(cols*size) != rows) {
		panic(fmt.Sprintf("vec: %d bytes are not %d rows of %d elements of %d bytes", len(dst), rows, cols, size))
	}
	if err := CheckPointers(pointers, pt, uint64(n)); err != nil {
		return err
	}
	from, to := int(pt.At(pointers, 0)), int(pt.At(pointers, rows))
	if err := checkRange(indices, t, from, to, uint64(cols)); err != nil {
		return err
	}
	if len(dst) == 0 {
		return nil
	}
	switch size {
	case 1:
		scatterRows[uint8](dst, cols, pointers, pt, indices, t, values, to-from)
	case 2:
		scatterRows[uint16](dst, cols, pointers, pt, indices, t, values, to-from)
	case 4:
		scatterRows[uint32](dst, cols, pointers, pt, indices, t, values, to-from)
	case 8:
		scatterRows[uint64](dst, cols, pointers, pt, indices, t, values, to-from)
	case 16:
		scatterRows[word128](dst, cols, pointers, pt, indices, t, values, to-from)
	default:
		clear(dst)
		for i := range rows {
			from, to = int(pt.At(pointers, i)), int(pt.At(pointers, i+1))
			scatterGo(dst[i*cols*size:(i+1)*cols*size], size, indices[from*t.Size():to*t.Size()], t, values[from*size:to*size])
		}
	}
	return nil
}

func scatterRows[T any](dst []byte, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte, n int) {
	d, v := view[T](dst), view[T](values)
	switch t.Size() {
	case 1:
		s := rowScatter[T, uint8]{cols, indices, v}
		s.run(d, pointers, pt, n)
	case 2:
		s := rowScatter[T, uint16]{cols, view[uint16](indices), v}
		s.run(d, pointers, pt, n)
	case 4:
		s := rowScatter[T, uint32]{cols, view[uint32](indices), v}
		s.run(d, pointers, pt, n)
	default:
		s := rowScatter[T, uint64]{cols, view[uint64](indices), v}
		s.run(d, pointers, pt, n)
	}
}

// rowScatter scatters row after row. A large dst is made in a buffer that stays in the cache and copied out
// past it: writing to dst itself would first read every line from memory, and later write it back.
type rowScatter[T any, I uint8 | uint16 | uint32 | uint64] struct {
	cols    int
	indices []I
	values  []T
}

const (
	// streamFrom is the size of an output that is written past the caches. Less may be wanted from them soon.
	streamFrom = 8 << 20
	// rowBuffer is how much is made at a time; it leaves half of a common first-level cache to the inputs.
	rowBuffer = 16 << 10
	// rowBufferMost is how much it may be for long rows: less than a common second-level cache.
	rowBufferMost = 512 << 10
)

var rowBuffers = sync.Pool{New: func() any { return new([rowBufferMost + 64]byte) }}

// aligned64 returns the part of b that begins at a multiple of 64.
func aligned64(b []byte) []byte {
	return b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))&63:]
}

func (s *rowScatter[T, I]) run(dst []T, pointers []byte, pt Index, n int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	row := s.cols * size
	// Whole rows that take whole cache lines.
	group := 1
	for group*row%64 != 0 {
		group *= 2
	}
	for group*2*row <= rowBuffer {
		group *= 2
	}
	bytes := memory(dst)
	var buffer []byte
	var rows []T
	if len(bytes) >= streamFrom && group*row <= rowBufferMost && canStream() && uintptr(unsafe.Pointer(&bytes[0]))&63 == 0 {
		b := rowBuffers.Get().(*[rowBufferMost + 64]byte)
		defer rowBuffers.Put(b)
		buffer = aligned64(b[:])[:group*row]
		clear(buffer)
		rows = view[T](buffer)
		defer streamDone()
	}
	// Few values are taken out of the buffer one by one; else it is cleared while it is copied.
	few := n < len(bytes)/64

	var ends [256]uint64
	start := int(pt.At(pointers, 0))
	next := 1 // of pointers
	lines := pt.len(pointers) - 1
	for next <= lines {
		block := ends[:min(len(ends), lines+1-next)]
		widenPointers(block, pointers[next*pt.Size():], pt)
		next += len(block)
		for len(block) > 0 {
			m := min(group, len(block))
			first, stop := start, int(block[m-1])
			if buffer == nil || m*row%64 != 0 {
				clear(dst[:m*s.cols])
				s.scatter(dst[:m*s.cols], first, block[:m])
			} else {
				s.scatter(rows[:m*s.cols], first, block[:m])
				// What the next rows take is taken to be as much as these took.
				step := (stop - first) * 64 / (m * row)
				var soon [4]uintptr
				if stop < len(s.values) {
					soon = [4]uintptr{
						uintptr(unsafe.Pointer(&s.values[stop])), uintptr(step * size),
						uintptr(unsafe.Pointer(&s.indices[stop])), uintptr(step) * unsafe.Sizeof(s.indices[0]),
					}
				}
				if few {
					streamCopy(bytes[:m*row], buffer, &soon)
					s.erase(rows[:m*s.cols], first, block[:m])
				} else {
					streamMove(bytes[:m*row], buffer, &soon)
				}
			}
			dst, bytes, block, start = dst[m*s.cols:], bytes[m*row:], block[m:], stop
		}
	}
}

// scatter puts the values of rows that end with the given numbers in place.
func (s *rowScatter[T, I]) scatter(dst []T, start int, ends []uint64) {
	for _, end := range ends {
		scatter(dst[:s.cols], s.indices[start:end], s.values[start:end])
		dst, start = dst[s.cols:], int(end)
	}
}

// erase puts zeros where scatter has put values.
func (s *rowScatter[T, I]) erase(dst []T, start int, ends []uint64) {
	for _, end := range ends {
		erase(dst[:s.cols], s.indices[start:end])
		dst, start = dst[s.cols:], int(end)
	}
}

// widenPointers reads as many pointers as dst has room for.
func widenPointers(dst []uint64, src []byte, t Index) {
	convertAny(Bytes(dst), src[:len(dst)*t.Size()], 8, t.Size())
}
