package vec

import (
	"fmt"
	"math/bits"
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

// An OrderError says that an index is not greater than the one before it in its row.
type OrderError struct {
	At int // position in the array
}

// Error describes the position.
func (e *OrderError) Error() string {
	return fmt.Sprintf("index at position %d is not greater than the one before it", e.At)
}

// ScatterRows writes a row-major dst of rows of cols elements of size bytes, all zeros but for the given
// values: those of row i are numbers pointers[i] to pointers[i+1]−1 of values, and indices has the column of
// each; the last of several for one element stays. There is one pointer more than rows. Pointers and indices
// are checked before anything is written: the error is a [*PointerError] or an [*IndexError] then, and dst is as
// it was. They must not change during the call. dst must not overlap the others. If it is zeroed, holding nothing but zeros, few values
// take less time.
func ScatterRows(dst []byte, zeroed bool, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte) error {
	from, to, err := checkRows(dst, size, cols, pointers, pt, indices, t, values)
	if err != nil {
		return err
	}
	if err := checkRange(indices, t, from, to, uint64(cols)); err != nil {
		return err
	}
	return scatterRows(dst, zeroed, size, cols, pointers, pt, indices, t, values, false)
}

// ScatterAscending is [ScatterRows] for rows whose indices ascend, none twice. It takes less time, since it checks the indices
// of some rows at a time, while they are in the cache, and then writes these: if there is an [*IndexError], or an
// [*OrderError] because they do not ascend, rows before may have been written.
func ScatterAscending(dst []byte, zeroed bool, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte) error {
	if _, _, err := checkRows(dst, size, cols, pointers, pt, indices, t, values); err != nil {
		return err
	}
	return scatterRows(dst, zeroed, size, cols, pointers, pt, indices, t, values, true)
}

// checkRows checks all but the indices, and returns which values there are.
func checkRows(dst []byte, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte) (from, to int, err error) {
	rows, n := pt.len(pointers)-1, t.len(indices)
	if size < 1 || cols < 0 || rows < 0 || len(values) != n*size {
		panic(fmt.Sprintf("vec: scatter of %d bytes of values to %d indices in rows of %d elements of %d bytes does not fit", len(values), n, cols, size))
	}
	if cols == 0 && len(dst) != 0 || cols > 0 && (len(dst)%(cols*size) != 0 || len(dst)/(cols*size) != rows) {
		panic(fmt.Sprintf("vec: %d bytes are not %d rows of %d elements of %d bytes", len(dst), rows, cols, size))
	}
	if err := CheckPointers(pointers, pt, uint64(n)); err != nil {
		return 0, 0, err
	}
	return int(pt.At(pointers, 0)), int(pt.At(pointers, rows)), nil
}

// scatterRows writes dst. The indices must ascend, and are checked, or else have been checked.
func scatterRows(dst []byte, zeroed bool, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte, ascend bool) error {
	switch size {
	case 1:
		return scatterElems[uint8](dst, zeroed, cols, pointers, pt, indices, t, values, ascend)
	case 2:
		return scatterElems[uint16](dst, zeroed, cols, pointers, pt, indices, t, values, ascend)
	case 4:
		return scatterElems[uint32](dst, zeroed, cols, pointers, pt, indices, t, values, ascend)
	case 8:
		return scatterElems[uint64](dst, zeroed, cols, pointers, pt, indices, t, values, ascend)
	case 16:
		return scatterElems[word128](dst, zeroed, cols, pointers, pt, indices, t, values, ascend)
	}
	if !zeroed {
		clear(dst)
	}
	from, row := int(pt.At(pointers, 0)), cols*size
	for i := range pt.len(pointers) - 1 {
		to := int(pt.At(pointers, i+1))
		if ascend {
			if err := checkLines(pointers, pt, i, i+1, indices, t, cols); err != nil {
				return err
			}
		}
		scatterGo(dst[i*row:(i+1)*row], size, indices[from*t.Size():to*t.Size()], t, values[from*size:to*size])
		from = to
	}
	return nil
}

func scatterElems[T any](dst []byte, zeroed bool, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte, ascend bool) error {
	d, v := view[T](dst), view[T](values)
	switch t.Size() {
	case 1:
		s := rowScatter[T, uint8]{cols, indices, v, t, ascend}
		return s.run(d, zeroed, pointers, pt)
	case 2:
		s := rowScatter[T, uint16]{cols, view[uint16](indices), v, t, ascend}
		return s.run(d, zeroed, pointers, pt)
	case 4:
		s := rowScatter[T, uint32]{cols, view[uint32](indices), v, t, ascend}
		return s.run(d, zeroed, pointers, pt)
	default:
		s := rowScatter[T, uint64]{cols, view[uint64](indices), v, t, ascend}
		return s.run(d, zeroed, pointers, pt)
	}
}

// rowScatter scatters row after row. A large dst is written past the cache, since writing to dst itself would first read every
// line from memory, and later write it back. Many values whose indices ascend are expanded; else rows are made in a
// buffer that stays in the cache and copied out.
type rowScatter[T any, I uint8 | uint16 | uint32 | uint64] struct {
	cols    int
	indices []I
	values  []T
	t       Index // of the indices
	ascend  bool  // the indices must ascend, and have not been checked
}

const (
	// streamFrom is the size of an output that is written past the caches. Less may be wanted from them soon.
	streamFrom = 8 << 20
	// rowBuffer is how much is made at a time; it leaves half of a common first-level cache to the inputs.
	rowBuffer = 16 << 10
	// rowBufferMost is how much it may be for long rows: less than a common second-level cache.
	rowBufferMost = 512 << 10
	// manyScattered is the share of nonzeros from which they are expanded, times the bytes of one: expanding takes the same time
	// for an element of any size, writing zeros does not.
	manyScattered = 0.1
	// manyZeroed is the share of nonzeros from which an output is written as a whole although it is zeroed.
	manyZeroed = 0.2
	// expandMost is how many indices are made 4 bytes wide at a time.
	expandMost = 4096
)

var rowBuffers = sync.Pool{New: func() any { return new([rowBufferMost + 64]byte) }}

// aligned64 returns the part of b that begins at a multiple of 64.
func aligned64(b []byte) []byte {
	return b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))&63:]
}

func (s *rowScatter[T, I]) run(dst []T, zeroed bool, pointers []byte, pt Index) error {
	var zero T
	size := int(unsafe.Sizeof(zero))
	row := s.cols * size
	lines := pt.len(pointers) - 1
	start := int(pt.At(pointers, 0))
	n := int(pt.At(pointers, lines)) - start
	// Whole rows that take whole cache lines.
	group := 1
	for group*row%64 != 0 {
		group *= 2
	}
	for row > 0 && group*2*row <= rowBuffer {
		group *= 2
	}
	bytes := memory(dst)
	// What is zero already is left alone.
	zeroed = zeroed && float64(n) < manyZeroed*float64(len(dst))
	stream := !zeroed && len(bytes) >= streamFrom && canStream() && uintptr(unsafe.Pointer(&bytes[0]))&63 == 0
	expand := stream && row%64 == 0 && canExpand(size) && uint64(s.cols) <= 1<<31 && float64(n) >= manyScattered*float64(len(dst))/float64(size)
	var buffer []byte
	var rows []T
	if expand || stream && group*row <= rowBufferMost {
		b := rowBuffers.Get().(*[rowBufferMost + 64]byte)
		defer rowBuffers.Put(b)
		defer streamDone()
		buffer = aligned64(b[:])
		if !expand {
			buffer = buffer[:group*row]
			clear(buffer)
			rows = view[T](buffer)
		}
	}
	// Few values are taken out of the buffer one by one; else it is cleared while it is copied.
	few := n < len(bytes)/64

	var ends [256]uint64
	next := 1 // of pointers
	for next <= lines {
		block := ends[:min(len(ends), lines+1-next)]
		widenPointers(block, pointers[next*pt.Size():], pt)
		next += len(block)
		for len(block) > 0 {
			m := min(group, len(block))
			first, stop := start, int(block[m-1])
			if s.ascend {
				if err := s.check(first, block[:m]); err != nil {
					return err
				}
			}
			if expand {
				s.expand(dst[:m*s.cols], first, block[:m], view[uint32](buffer[:expandMost*4]))
			} else if buffer == nil || m*row%64 != 0 {
				if !zeroed {
					clear(dst[:m*s.cols])
				}
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
	return nil
}

// check is checkLines of rows that end with the given numbers. Few rows at a time are checked faster so.
func (s *rowScatter[T, I]) check(start int, ends []uint64) error {
	for _, end := range ends {
		x := s.indices[start:end]
		// Read as unsigned, a negative index lies above the largest of its type.
		if n := len(x); n > 0 && (uint64(x[n-1]) >= uint64(s.cols) || uint64(x[n-1]) > s.t.Max() || !ascends(x)) {
			if err := checkRange(memory(s.indices), s.t, start, int(end), uint64(s.cols)); err != nil {
				return err
			}
			return &OrderError{start + firstDisorderGo(memory(x), s.t, true)}
		}
		start = int(end)
	}
	return nil
}

// ascends reports whether each of some unsigned integers is greater than the one before it.
func ascends[I uint8 | uint16 | uint32 | uint64](x []I) bool {
	const long = 32 // is worth a kernel
	if len(x) >= long {
		return firstDisorderAny(memory(x), unsignedIndex(int(unsafe.Sizeof(x[0]))), true) < 0
	}
	for k := 1; k < len(x); k++ {
		if x[k] <= x[k-1] {
			return false
		}
	}
	return true
}

// expand writes rows that end with the given numbers and take whole cache lines.
func (s *rowScatter[T, I]) expand(dst []T, start int, ends []uint64, wide []uint32) {
	for _, end := range ends {
		x, v, d := s.indices[start:end], s.values[start:end], dst[:s.cols]
		if !s.ascend && !ascends(x) {
			clear(d)
			scatter(d, x, v)
		} else {
			expandRow(d, x, v, wide)
		}
		dst, start = dst[s.cols:], int(end)
	}
}

// expandRow writes the values with some indices, which ascend, to a row that takes whole cache lines.
func expandRow[T any, I uint8 | uint16 | uint32 | uint64](dst []T, indices []I, values []T, wide []uint32) {
	var zero T
	var index I
	size, isize := int(unsafe.Sizeof(zero)), int(unsafe.Sizeof(index))
	// The indices of the next row are fetched meanwhile, as many as these.
	ahead := uintptr(unsafe.Pointer(unsafe.SliceData(indices))) + uintptr(max(len(indices)*isize, 2048)+2048)
	shift := uint64(bits.Len(uint(isize)) - 1)
	for at := 0; at < len(dst); {
		n, some := len(dst)-at, view[uint32](memory(indices))
		if isize != 4 {
			m := min(len(indices), len(wide))
			some = wide[:m]
			convertAny(memory(some), memory(indices[:m]), 4, isize)
			if m < len(indices) {
				// Up to the line of the first one that comes next. They have been found to ascend: it is more than one.
				n = min(max(int(indices[m])*size/64*64/size-at, 64), n)
			}
		}
		used := expandAny(memory(dst[at:at+n]), size, memory(values), some, uint32(at), ahead, shift)
		indices, values = indices[used:], values[used:]
		at += n
		ahead += uintptr(used) << shift
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
