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
