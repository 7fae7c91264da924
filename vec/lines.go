package vec

import (
	"fmt"
	"unsafe"
)

// linePiece is how many bytes of indices or of coordinates are made or looked at in one go.
const linePiece = 16 << 10

// LineCoords writes the coordinates of the elements of a matrix that is compressed row by row: the row and column of element
// k are numbers 2·k and 2·k+1 of coords, cut to the width of ct. pointers has the start of the first of some rows, which is
// number first, and the end of each; indices has a column for each element. It reports whether the pointers rise and lie
// inside the indices, as [CheckPointers] finds out, and every column of these rows is less than n and greater than the one before
// it in its row. If not, what has been written is of no use. coords must not overlap the others.
func LineCoords(coords []byte, ct Index, pointers []byte, pt Index, indices []byte, t Index, first, n uint64) bool {
	rows, count := pt.len(pointers)-1, t.len(indices)
	if rows < 0 || ct.len(coords) != 2*count {
		panic(fmt.Sprintf("vec: %d coordinates and %d pointers do not fit %d indices", ct.len(coords), rows+1, count))
	}
	if CheckPointers(pointers, pt, uint64(count)) != nil {
		return false
	}
	at, to := pt.At(pointers, 0), pt.At(pointers, rows)
	if at == to {
		return true
	}
	if n == 0 {
		return false
	}
	// Read as unsigned, a negative index lies above the largest of its signed type.
	last := min(n-1, t.Max())
	size, pair := t.Size(), uint64(2*ct.Size())
	// Much is made in a buffer and copied out past the caches.
	var stage []byte
	if (to-at)*pair >= streamFrom && canStream() {
		b := rowBuffers.Get().(*[rowBufferMost + 64]byte)
		defer rowBuffers.Put(b)
		stage = aligned64(b[:])[:2*linePiece]
		defer streamDone()
	}
	var l lineWalk
	l.begin(pointers, pt)
	for {
		most := linePiece / pair
		if stop := l.at + most; stage != nil && stop < to {
			// Whole cache lines.
			most -= uint64(uintptr(unsafe.Pointer(&coords[stop*pair]))&63) / pair
		}
		at, line, ends, ok := l.next(most)
		if !ok {
			return true
		}
		if l.cut && !lessAt(indices, size, l.at-1) {
			return false
		}
		out := coords[at*pair:]
		if stage != nil {
			out = stage
		}
		// Behind these, what belongs to other lines of this call may be read and written.
		if !coordsAny(out, ct.Size(), indices[at*uint64(size):], size, ends, at, first+line, last, to-l.at) {
			return false
		}
		if stage != nil {
			var soon [4]uintptr
			if l.at < to {
				soon = [4]uintptr{uintptr(unsafe.Pointer(&indices[l.at*uint64(size)])), uintptr(64 * uint64(size) / pair)}
			}
			copyPastAhead(coords[at*pair:l.at*pair], stage, &soon)
		}
	}
}

// LinesInOrder reports whether LineCoords would.
func LinesInOrder(pointers []byte, pt Index, indices []byte, t Index, n uint64) bool {
	rows, count := pt.len(pointers)-1, t.len(indices)
	if rows < 0 {
		panic("vec: lines without pointers")
	}
	if CheckPointers(pointers, pt, uint64(count)) != nil {
		return false
	}
	at, to := pt.At(pointers, 0), pt.At(pointers, rows)
	if at == to {
		return true
	}
	if n == 0 {
		return false
	}
	last, size := min(n-1, t.Max()), t.Size()
	var l lineWalk
	l.begin(pointers, pt)
	for {
		at, _, ends, ok := l.next(linePiece / uint64(size))
		if !ok {
			return true
		}
		if l.cut && !lessAt(indices, size, l.at-1) || !orderAny(indices[at*uint64(size):], size, ends, at, last, to-l.at) {
			return false
		}
	}
}

// checkLines makes sure that the indices of lines from first to last−1 are less than n and ascend, none twice. The error says
// where the first is that does not: an [*IndexError], or an [*OrderError].
func checkLines(pointers []byte, pt Index, first, last int, indices []byte, t Index, n int) error {
	pointers = pointers[first*pt.Size() : (last+1)*pt.Size()]
	if LinesInOrder(pointers, pt, indices, t, uint64(n)) {
		return nil
	}
	start := int(pt.At(pointers, 0))
	for j := range last - first {
		stop := int(pt.At(pointers, j+1))
		if err := checkRange(indices, t, start, stop, uint64(n)); err != nil {
			return err
		}
		if at := FirstNotIncreasing(indices[start*t.Size():stop*t.Size()], t); at >= 0 {
			return &OrderError{start + at}
		}
		start = stop
	}
	return nil
}

// lineWalk goes through lines piece by piece. Their pointers must have been checked.
type lineWalk struct {
	pointers []byte // the ends that are not in block
	pt       Index
	at       uint64 // the element that comes next
	line     uint64 // and its line
	block    [256]uint64
	from, to int    // the ends in block of this line and of some behind it
	cut      bool   // the last line of the last piece goes on
	end      uint64 // there
}

func (l *lineWalk) begin(pointers []byte, pt Index) {
	l.at, l.pointers, l.pt = pt.At(pointers, 0), pointers[pt.Size():], pt
}

// next returns the number of the first of some elements that follow, at most so many, the number of its line, and the ends
// of this line and of those behind it, up to the last element. It is not ok if there are no more lines.
func (l *lineWalk) next(most uint64) (at, line uint64, ends []uint64, ok bool) {
	if l.cut {
		l.block[l.from], l.cut = l.end, false
	}
	if l.from == l.to {
		n := min(len(l.block), len(l.pointers)/l.pt.Size())
		if n == 0 {
			return 0, 0, nil, false
		}
		l.from, l.to = 0, n
		widenPointers(l.block[:n], l.pointers, l.pt)
		l.pointers = l.pointers[n*l.pt.Size():]
	}
	at, line = l.at, l.line
	block := l.block[l.from:l.to]
	stop := min(block[len(block)-1], at+most)
	m := 0
	for m < len(block) && block[m] <= stop {
		m++
	}
	l.line += uint64(m)
	l.from += m
	if m == 0 || block[m-1] < stop {
		// Part of a line.
		l.cut, l.end, block[m] = true, block[m], stop
		m++
	}
	l.at = stop
	return at, line, block[:m], true
}

// lessAt reports whether an index is less than the one behind it.
func lessAt(indices []byte, size int, at uint64) bool {
	t := unsignedIndex(size)
	return t.At(indices, int(at)) < t.At(indices, int(at)+1)
}

// coordsGo writes the coordinates of lines whose indices begin at src, with number at, and which end with the given numbers.
// It reports whether all are at most last and each less than the one behind it.
func coordsGo(dst []byte, osize int, src []byte, isize int, ends []uint64, at, line, last uint64) bool {
	switch osize {
	case 1:
		return coordsInto(view[[2]uint8](dst), src, isize, ends, at, line, last)
	case 2:
		return coordsInto(view[[2]uint16](dst), src, isize, ends, at, line, last)
	case 4:
		return coordsInto(view[[2]uint32](dst), src, isize, ends, at, line, last)
	}
	return coordsInto(view[[2]uint64](dst), src, isize, ends, at, line, last)
}

func coordsInto[O uint8 | uint16 | uint32 | uint64](dst [][2]O, src []byte, isize int, ends []uint64, at, line, last uint64) bool {
	switch isize {
	case 1:
		return coords(dst, src, ends, at, line, last)
	case 2:
		return coords(dst, view[uint16](src), ends, at, line, last)
	case 4:
		return coords(dst, view[uint32](src), ends, at, line, last)
	}
	return coords(dst, view[uint64](src), ends, at, line, last)
}

func coords[O, I uint8 | uint16 | uint32 | uint64](dst [][2]O, src []I, ends []uint64, at, line, last uint64) bool {
	for _, end := range ends {
		n := end - at
		out, least := dst[:n], uint64(0)
		for k, x := range src[:n] {
			j := uint64(x)
			if j < least || j > last {
				return false
			}
			least = j + 1
			out[k] = [2]O{O(line), O(x)}
		}
		dst, src, at, line = dst[n:], src[n:], end, line+1
	}
	return true
}

// CoordLines is the way back of [LineCoords], for elements from to to−1 of a matrix. The row and the column of element k, of type t,
// lie k·strides[0] and k·strides[0]+strides[1] bytes after the begin of coords. It writes the column to element k of columns, cut to the width of
// ct, and k to the pointer of each row that begins with it, or begins and ends before it and behind element k−1. It reports whether each
// element comes after the one before it in the order of rows and of columns in a row, element from, too, and all rows are less than rows and columns less than cols.
// If not, what has been written is of no use. coords must not overlap the others.
func CoordLines(pointers []byte, pt Index, columns []byte, ct Index, coords []byte, t Index, strides [2]int, from, to int, rows, cols uint64) bool {
	size := t.Size()
	if from < 0 || to > ct.len(columns) || strides[1] < 0 || strides[0] < 0 && to > 1 || from < to && (to-1)*strides[0]+strides[1]+size > len(coords) ||
		uint64(pt.len(pointers)) <= rows {
		panic(fmt.Sprintf("vec: elements %d to %d with strides %d, %d columns and %d pointers of %d rows do not fit", from, to, strides, ct.len(columns), pt.len(pointers), rows))
	}
	if from >= to {
		return true
	}
	if rows == 0 || cols == 0 {
		return false
	}
	last := [2]uint64{min(rows-1, t.Max()), min(cols-1, t.Max())}
	ux, csize, psize := unsignedIndex(size), ct.Size(), pt.Size()
	line := uint64(0) // of the element before
	k := from
	if from > 0 {
		line = ux.At(coords[(from-1)*strides[0]:], 0)
	} else {
		// The first has none before it.
		line = ux.At(coords, 0)
		column := ux.At(coords[strides[1]:], 0)
		if column > last[1] {
			return false
		}
		putIndex(columns, ct, column)
		k++
	}
	if line > last[0] {
		return false
	}
	if from == 0 {
		Fill(pointers[:int(line+1)*psize], pt, 0)
	}
	var stage []byte
	if (to-from)*csize >= streamFrom && canStream() {
		b := rowBuffers.Get().(*[rowBufferMost + 64]byte)
		defer rowBuffers.Put(b)
		stage = aligned64(b[:])[:coordPiece*8]
		defer streamDone()
	}
	var starts [coordPiece + 8]uint32
	var lines [coordPiece]uint64
	for k < to {
		n := min(to-k, coordPiece)
		if stage != nil && n == coordPiece && k+n < to {
			// Whole cache lines.
			n -= int(uintptr(unsafe.Pointer(&columns[(k+n)*csize]))&63) / csize
		}
		out := columns[k*csize : (k+n)*csize]
		found, ok := 0, false
		if stage == nil {
			found, ok = splitCoordsAny(out, csize, starts[:], coords, size, strides, k, last)
		} else if found, ok = splitCoordsAny(stage[:n*csize], csize, starts[:], coords, size, strides, k, last); ok {
			var soon [4]uintptr
			if k+n < to {
				ahead, step := uintptr(unsafe.Pointer(&coords[(k+n)*strides[0]])), uintptr(64/csize*strides[0])
				soon = [4]uintptr{ahead, step, ahead + step/2, step}
			}
			copyPastAhead(out, stage, &soon)
		}
		if !ok {
			return false
		}
		begun := lines[:found]
		switch size {
		case 1:
			begunLines[uint8](begun, starts[:], coords, strides[0], k)
		case 2:
			begunLines[uint16](begun, starts[:], coords, strides[0], k)
		case 4:
			begunLines[uint32](begun, starts[:], coords, strides[0], k)
		default:
			begunLines[uint64](begun, starts[:], coords, strides[0], k)
		}
		switch psize {
		case 1:
			line = endLines(pointers, begun, starts[:], line, k)
		case 2:
			line = endLines(view[uint16](pointers), begun, starts[:], line, k)
		case 4:
			line = endLines(view[uint32](pointers), begun, starts[:], line, k)
		default:
			line = endLines(view[uint64](pointers), begun, starts[:], line, k)
		}
		k += n
	}
	return true
}

// begunLines sets lines to the rows that begin with elements first+starts[i].
func begunLines[I uint8 | uint16 | uint32 | uint64](lines []uint64, starts []uint32, coords []byte, step, first int) {
	starts = starts[:len(lines)]
	base := unsafe.Pointer(unsafe.SliceData(coords))
	for i, at := range starts {
		lines[i] = uint64(*(*I)(unsafe.Add(base, (first+int(at))*step)))
	}
}

// endLines sets the ends of lines up to those that begin with elements first+starts[i], and returns the last of these.
func endLines[P uint8 | uint16 | uint32 | uint64](pointers []P, begun []uint64, starts []uint32, line uint64, first int) uint64 {
	starts = starts[:len(begun)]
	for i, next := range begun {
		for end := P(first + int(starts[i])); line < next; {
			line++
			pointers[line] = end
		}
	}
	return line
}

// orderGo is coordsGo that writes nothing.
func orderGo(src []byte, isize int, ends []uint64, at, last uint64) bool {
	switch isize {
	case 1:
		return inOrder(src, ends, at, last)
	case 2:
		return inOrder(view[uint16](src), ends, at, last)
	case 4:
		return inOrder(view[uint32](src), ends, at, last)
	}
	return inOrder(view[uint64](src), ends, at, last)
}

func inOrder[I uint8 | uint16 | uint32 | uint64](src []I, ends []uint64, at, last uint64) bool {
	for _, end := range ends {
		n, least := end-at, uint64(0)
		for _, x := range src[:n] {
			j := uint64(x)
			if j < least || j > last {
				return false
			}
			least = j + 1
		}
		src, at = src[n:], end
	}
	return true
}

// coordPiece is how many coordinates are looked at in one go.
const coordPiece = 1024

// splitCoordsGo takes the columns of as many elements as columns has room for, from number k on, which have an element
// before them, and writes to starts which of them begin a row. It reports whether they are in order, and inside.
func splitCoordsGo(columns []byte, csize int, starts []uint32, coords []byte, size int, strides [2]int, k int, last [2]uint64) (found int, ok bool) {
	switch size {
	case 1:
		return splitCoordsFrom[uint8](columns, csize, starts, coords, strides, k, last)
	case 2:
		return splitCoordsFrom[uint16](columns, csize, starts, coords, strides, k, last)
	case 4:
		return splitCoordsFrom[uint32](columns, csize, starts, coords, strides, k, last)
	}
	return splitCoordsFrom[uint64](columns, csize, starts, coords, strides, k, last)
}

func splitCoordsFrom[I uint8 | uint16 | uint32 | uint64](columns []byte, csize int, starts []uint32, coords []byte, strides [2]int, k int, last [2]uint64) (found int, ok bool) {
	switch csize {
	case 1:
		return splitCoords[I](columns, starts, coords, strides, k, last)
	case 2:
		return splitCoords[I](view[uint16](columns), starts, coords, strides, k, last)
	case 4:
		return splitCoords[I](view[uint32](columns), starts, coords, strides, k, last)
	}
	return splitCoords[I](view[uint64](columns), starts, coords, strides, k, last)
}

func splitCoords[I, O uint8 | uint16 | uint32 | uint64](columns []O, starts []uint32, coords []byte, strides [2]int, k int, last [2]uint64) (found int, ok bool) {
	// The caller has made sure of the range.
	base := unsafe.Pointer(unsafe.SliceData(coords))
	lastRow, lastColumn := I(last[0]), I(last[1])
	step, aside := strides[0], strides[1]
	off := (k - 1) * step
	row, column := *(*I)(unsafe.Add(base, off)), *(*I)(unsafe.Add(base, off+aside))
	for i := range columns {
		off += step
		r, c := *(*I)(unsafe.Add(base, off)), *(*I)(unsafe.Add(base, off+aside))
		if r != row {
			if r < row {
				return 0, false
			}
			starts[found] = uint32(i)
			found++
			row = r
		} else if c <= column {
			return 0, false
		}
		if c > lastColumn {
			return 0, false
		}
		column = c
		columns[i] = O(c)
	}
	return found, row <= lastRow
}
