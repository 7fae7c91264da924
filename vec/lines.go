package vec

import (
	"fmt"
	"unsafe"
)

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
	const buffered = 16 << 10
	var stage []byte
	if (to-at)*pair >= streamFrom && canStream() {
		b := rowBuffers.Get().(*[rowBufferMost + 64]byte)
		defer rowBuffers.Put(b)
		stage = aligned64(b[:])[:2*buffered]
		defer streamDone()
	}
	most := buffered / pair
	var ends [256]uint64
	for line := 0; line < rows; {
		block := ends[:min(len(ends), rows-line)]
		widenPointers(block, pointers[(line+1)*pt.Size():], pt)
		for len(block) > 0 {
			stop := min(block[len(block)-1], at+most)
			if stage != nil && stop == at+most && stop < to {
				// Whole cache lines.
				stop -= uint64(uintptr(unsafe.Pointer(&coords[stop*pair]))&63) / pair
			}
			m := 0
			for m < len(block) && block[m] <= stop {
				m++
			}
			some := block[:m]
			if stop > at && (m == 0 || some[m-1] < stop) {
				// Part of a line.
				some = block[:m+1]
				if !lessAt(indices, size, stop-1) {
					return false
				}
				block[m], stop = stop, block[m]
			}
			end := at
			if len(some) > 0 {
				end = some[len(some)-1]
			}
			room := to - end // elements behind these that may be read and written
			if stage == nil {
				if !coordsAny(coords[at*pair:], ct.Size(), indices[at*uint64(size):], size, some, at, first+uint64(line), last, room) {
					return false
				}
			} else {
				if !coordsAny(stage, ct.Size(), indices[at*uint64(size):], size, some, at, first+uint64(line), last, room) {
					return false
				}
				var soon [4]uintptr
				if end < to {
					soon = [4]uintptr{uintptr(unsafe.Pointer(&indices[end*uint64(size)])), uintptr(64 * uint64(size) / pair)}
				}
				copyPastAhead(coords[at*pair:end*pair], stage, &soon)
			}
			if len(some) > m {
				block[m] = stop
			}
			at, block, line = end, block[m:], line+m
		}
	}
	return true
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
		return coordsInto(dst, src, isize, ends, at, line, last)
	case 2:
		return coordsInto(view[uint16](dst), src, isize, ends, at, line, last)
	case 4:
		return coordsInto(view[uint32](dst), src, isize, ends, at, line, last)
	}
	return coordsInto(view[uint64](dst), src, isize, ends, at, line, last)
}

func coordsInto[O uint8 | uint16 | uint32 | uint64](dst []O, src []byte, isize int, ends []uint64, at, line, last uint64) bool {
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

func coords[O, I uint8 | uint16 | uint32 | uint64](dst []O, src []I, ends []uint64, at, line, last uint64) bool {
	for _, end := range ends {
		n := end - at
		out, least := dst[:2*n], uint64(0)
		for _, x := range src[:n] {
			j := uint64(x)
			if j < least || j > last {
				return false
			}
			least = j + 1
			out[0], out[1] = O(line), O(x)
			out = out[2:]
		}
		dst, src, at, line = dst[2*n:], src[n:], end, line+1
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
