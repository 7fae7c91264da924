package vec

import (
	"fmt"
	"unsafe"
)

// CompactCoords is [Compact] with coordinates in place of positions: src are the elements first, first+1,
// … of a row-major array with these dimensions, and each nonzero gets a row of len(dims) coordinates. The
// dimensions are 1 or more, if src is not empty, and those of coordinates fit t.
//
// It goes on until src ends or the next nonzero finds no room in either output, and returns how many
// elements of src were used up and how many nonzeros were written. What lies in the outputs behind the
// nonzeros that were written is undefined.
func CompactCoords(values, coords []byte, t Index, src []byte, e Elem, dims []uint64, first uint64) (consumed, written int) {
	size, psize, ndim := e.Size(), t.Size(), len(dims)
	n := e.len(src)
	room := e.len(values)
	if ndim > 0 {
		if len(coords)%(ndim*psize) != 0 {
			panic(fmt.Sprintf("vec: %d bytes are not a whole number of rows of %d %v coordinates", len(coords), ndim, t))
		}
		room = min(room, len(coords)/(ndim*psize))
	}
	if n == 0 {
		return 0, 0
	}
	for _, d := range dims {
		if d == 0 {
			panic(fmt.Sprintf("vec: an array with dimensions %d has no element", append([]uint64(nil), dims...)))
		}
	}
	switch ndim {
	case 0: // a scalar has no coordinates
		var none [8]byte
		return compactAny(values, none[:], U64, src[:size], e, 0)
	case 1:
		return compactAny(values, coords, t, src, e, first)
	}
	if ndim == 2 && dims[1] >= longRow {
		consumed, written = pairsAny(values, coords, psize, room, src, e, dims[1], first)
	}
	if consumed == n {
		return consumed, written
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	w.set(dims)
	var p *past
	row, direct := ndim*psize, psize >= 4 && hasRows(ndim, psize)
	for consumed < n {
		at := first + uint64(consumed)
		m := w.shape.slabAt(at, n-consumed)
		out := values[written*size : room*size]
		if p != nil {
			m, out = min(m, p.len), p.values.next()
		}
		c, k := compactAny(out, Bytes(w.positions[slack:]), U16, src[consumed*size:(consumed+m)*size], e, 0)
		if k > 0 {
			w.shape.coordinates(w.start, at)
			w.divide(k)
			if p != nil {
				p.values.put(k*size, fetch{})
				w.coordsPast(&p.places, psize, k, fetchNext(src, (consumed+m)*size, m*size))
			} else {
				w.coords(coords[written*row:(written+k)*row], psize, 0, k, false)
			}
		}
		consumed, written = consumed+c, written+k
		if c < m {
			break
		}
		if direct {
			p = p.after(m, k, values[written*size:], size, coords[written*row:], row, true)
		}
	}
	p.end()
	return consumed, written
}

// longRow is how long the rows of a matrix must be that each is worth a call.
const longRow = 512

// divide makes of the n positions in w, which are in a slab that begins at w.start, what changes of coordinates.
func (w *workspace) divide(n int) {
	for a := len(w.shape.dims) - 1; a > w.shape.top; a-- {
		w.split(&w.positions, n, a, w.start[a])
	}
}

// coordsPast writes the coordinates of the n nonzeros in w past the caches. Those that share a line with others, which come
// before or later, go through the stage. Meanwhile it prefetches as soon says.
func (w *workspace) coordsPast(o *outlet, psize, n int, soon fetch) {
	row := len(w.shape.dims) * psize
	w.ahead, w.aheadStep = uintptr(unsafe.Pointer(soon.from)), uintptr(min(64, soon.n/max(n*row/64, 1)))
	staged := func(from, to int) {
		for ; from < to; from += 64 {
			m := min(to-from, 64)
			w.coords(o.next()[:m*row], psize, from, from+m, false)
			o.put(m*row, fetch{})
		}
	}
	head, tail := 0, n
	for head < n && (o.held+head*row)%64 != 0 {
		head++
	}
	staged(0, head)
	for tail > head && (tail-head)*row%64 != 0 {
		tail--
	}
	if tail > head {
		bytes := (tail - head) * row
		w.coords(o.out[:bytes], psize, head, tail, true)
		o.out = o.out[bytes:]
	}
	staged(tail, n)
}

// coords writes the coordinates of nonzeros from to to−1 in w.
func (w *workspace) coords(dst []byte, psize, from, to int, past bool) {
	if rowsAny(w, dst, psize, from, to, past) {
		return
	}
	switch psize {
	case 1:
		rowsGo(w, dst, from, to)
	case 2:
		rowsGo(w, view[uint16](dst), from, to)
	case 4:
		rowsGo(w, view[uint32](dst), from, to)
	default:
		rowsGo(w, view[uint64](dst), from, to)
	}
}

// axis returns the coordinate of each nonzero along an axis, as far as it changes within the slab, and
// what is to be added to all of them.
func (w *workspace) axis(a int) (changes *lane16, start uint64) {
	switch {
	case a < w.shape.top:
		return &w.zeros, w.start[a]
	case a == w.shape.top:
		return &w.positions, w.start[a]
	}
	return w.remains[a], 0
}

func rowsGo[P uint8 | uint16 | uint32 | uint64](w *workspace, dst []P, from, to int) {
	ndim, n := len(w.shape.dims), to-from
	axis := func(a int) ([]uint16, P) {
		changes, start := w.axis(a)
		return changes[slack+from:][:n], P(start)
	}
	// Three and four axes row by row, others axis by axis.
	switch ndim {
	case 3:
		c, base := axis(0)
		d, base1 := axis(1)
		e, base2 := axis(2)
		for i := range min(n, len(c), len(d), len(e)) {
			r := (*[3]P)(dst)
			r[0], r[1], r[2] = base+P(c[i]), base1+P(d[i]), base2+P(e[i])
			dst = dst[3:]
		}
		return
	case 4:
		c, base := axis(0)
		d, base1 := axis(1)
		e, base2 := axis(2)
		f, base3 := axis(3)
		for i := range min(n, len(c), len(d), len(e), len(f)) {
			r := (*[4]P)(dst)
			r[0], r[1], r[2], r[3] = base+P(c[i]), base1+P(d[i]), base2+P(e[i]), base3+P(f[i])
			dst = dst[4:]
		}
		return
	}
	for a := range ndim {
		c, base := axis(a)
		out := dst[a:]
		if a < w.shape.top {
			for i := range c {
				out[i*ndim] = base
			}
			continue
		}
		for i, x := range c {
			out[i*ndim] = base + P(x)
		}
	}
}
