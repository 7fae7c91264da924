package layout

import (
	"unsafe"

	"github.com/tstore/tstore/vec"
)

// look makes sure that every coordinate lies inside the shape, and reports whether the elements are in lexicographic
// order and none is stored twice. It is what firstOutside and firstDisorder find out, in one pass. If w is not nil, it
// takes the elements, as far as they are in order.
func (c *conversion) look(t *COO, w *windows) (ordered bool, err error) {
	inside := true
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		inside, ordered = t.lookTogether(w, workers)
	} else {
		inside, ordered = t.lookAt(0, t.nnz, w)
	}
	if !inside {
		at, axis := t.firstOutside()
		return false, t.outside(at, axis)
	}
	return ordered, nil
}

func (c *COO) lookTogether(w *windows, workers int) (inside, ordered bool) {
	type result struct {
		inside, ordered bool
		windows         windows
	}
	results := make([]result, workers)
	inParallel(workers, func(i int) {
		r := &results[i]
		from, to := c.nnz*int64(i)/int64(workers), c.nnz*int64(i+1)/int64(workers)
		if w == nil {
			r.inside, r.ordered = c.lookAt(from, to, nil)
			return
		}
		part := *w
		r.inside, r.ordered = c.lookAt(from, to, &part)
		r.windows = part
	})
	inside, ordered = true, true
	for i := range results {
		inside = inside && results[i].inside
		ordered = ordered && results[i].ordered
	}
	if w != nil {
		*w = results[workers-1].windows
	}
	return inside, ordered
}

// lookAt is look for elements from to to−1, in their places and after the one before them.
func (c *COO) lookAt(from, to int64, w *windows) (inside, ordered bool) {
	switch c.indices.typ.Size() {
	case 1:
		return cooLook[uint8](c, from, to, w)
	case 2:
		return cooLook[uint16](c, from, to, w)
	case 4:
		return cooLook[uint32](c, from, to, w)
	}
	return cooLook[uint64](c, from, to, w)
}

func cooLook[I indexWord](c *COO, from, to int64, w *windows) (inside, ordered bool) {
	if c.nnz == 0 {
		return true, true
	}
	most := c.indices.typ.Max() // see cooFirstOutside
	var last, factors [MaxDims]uint64
	ndim := len(c.shape)
	f := uint64(1)
	for axis := ndim - 1; axis >= 0; axis-- {
		n := uint64(c.shape[axis])
		if n == 0 {
			return false, false
		}
		last[axis], factors[axis] = min(n-1, most), f
		f *= n
	}
	base := unsafe.Pointer(unsafe.SliceData(c.indices.data))
	row, column := c.strides[0], c.strides[1]
	size := int64(c.indices.typ.Size())
	ordered = true
	before := uint64(0) // one more than the key of the element before
	if from > 0 {
		for axis := range ndim {
			i := uint64(*(*I)(unsafe.Add(base, (from-1)*row+int64(axis)*column)))
			if i > last[axis] {
				return false, false
			}
			before += i * factors[axis]
		}
		if w != nil {
			w.start(from, before)
		}
		before++
	}
	// Axis by axis, some elements at a time: each loop is short enough to be fast.
	var buf [512]uint64
	var twice [1024]uint64
	for first := from; first < to; first += int64(len(buf)) {
		keys := buf[:min(int64(len(buf)), to-first)]
		if ndim == 2 && column == size && row == 2*size {
			pairs := c.indices.data[first*row : (first+int64(len(keys)))*row]
			most := vec.PairKeys(keys, pairs, c.indices.typ.kernel(), [2]uint64{factors[0], factors[0]})
			if max(most[0], most[2]) > last[0] || max(most[1], most[3]) > last[1] {
				return false, false
			}
		} else if ndim == 4 && column == size && row == 4*size {
			// Pairs of pairs.
			quads := c.indices.data[first*row : (first+int64(len(keys)))*row]
			halves := twice[:2*len(keys)]
			most := vec.PairKeys(halves, quads, c.indices.typ.kernel(), [2]uint64{uint64(c.shape[1]), uint64(c.shape[3])})
			for axis, i := range most {
				if i > last[axis] {
					return false, false
				}
			}
			vec.PairKeys(keys, vec.Bytes(halves), vec.U64, [2]uint64{factors[1], factors[1]})
		} else {
			clear(keys)
			for axis := range ndim {
				off := first*row + int64(axis)*column
				factor, largest := factors[axis], uint64(0)
				for k := range keys {
					i := uint64(*(*I)(unsafe.Add(base, off)))
					off += row
					largest = max(largest, i)
					keys[k] += i * factor
				}
				if largest > last[axis] {
					return false, false
				}
			}
		}
		ordered = ordered && keys[0] >= before && vec.FirstNotIncreasing(vec.Bytes(keys), vec.U64) < 0
		before = keys[len(keys)-1] + 1
		if w != nil && ordered {
			w.add(keys)
		}
	}
	return true, ordered
}

// keys writes Σ coordinate·factor over the axes for elements first, first+1, … to dst.
func (c *COO) keys(dst []uint64, first int64, factors []uint64) {
	switch c.indices.typ.Size() {
	case 1:
		cooKeys[uint8](c, dst, first, factors)
	case 2:
		cooKeys[uint16](c, dst, first, factors)
	case 4:
		cooKeys[uint32](c, dst, first, factors)
	default:
		cooKeys[uint64](c, dst, first, factors)
	}
}

func cooKeys[I indexWord](c *COO, dst []uint64, first int64, factors []uint64) {
	base := unsafe.Pointer(unsafe.SliceData(c.indices.data))
	row, column := c.strides[0], c.strides[1]
	if len(factors) == 0 {
		clear(dst)
		return
	}
	if len(factors) == 2 {
		f0, f1 := factors[0], factors[1]
		for k := range dst {
			off := (first + int64(k)) * row
			dst[k] = f0*uint64(*(*I)(unsafe.Add(base, off))) + f1*uint64(*(*I)(unsafe.Add(base, off+column)))
		}
		return
	}
	for len(dst) > 0 {
		some := dst[:min(len(dst), 512)]
		for axis, factor := range factors {
			off := first*row + int64(axis)*column
			if axis == 0 {
				for k := range some {
					some[k] = factor * uint64(*(*I)(unsafe.Add(base, off)))
					off += row
				}
				continue
			}
			for k := range some {
				some[k] += factor * uint64(*(*I)(unsafe.Add(base, off)))
				off += row
			}
		}
		dst, first = dst[len(some):], first+int64(len(some))
	}
}
