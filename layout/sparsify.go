package layout

import (
	"unsafe"

	"github.com/tstore/tstore/vec"
)

// manyNonzeros is the number of elements per nonzero below which it is cheaper to gather a dense
// tensor in the wanted order than to sort its nonzeros.
const manyNonzeros = 8

// found is room for the nonzeros of a dense tensor: their values, and for each of them some bytes that say
// where it lies.
type found struct {
	values, places []byte
	width, per     int64 // bytes of a value and of a place
	n, room        int64 // nonzeros that are there, and that there is room for
	aside          bool  // places lie in spaceIndices, on the way to something else; all else is the result's
	level          int   // of the index array of the result in which places lie
}

// find makes room for the nonzeros of d, whose places take per bytes. If there is some memory already, that may do.
func (c *conversion) find(f *found, d *Dense, per int64) error {
	f.width, f.per = int64(d.dtype.width), per
	room := min(int64(cap(c.oldData))/f.width, d.len)
	if per > 0 && !f.aside {
		room = min(room, int64(cap(c.oldIndices[f.level]))/per)
	}
	if room == 0 {
		var err error
		if room, err = c.expect(d, 0, d.len); err != nil {
			return err
		}
	}
	return c.makeRoom(f, room, d, 0, 0)
}

// grow makes room for the nonzeros of elements first and on of d.
func (c *conversion) grow(f *found, d *Dense, first int64) error {
	n, err := c.countRange(d, first, d.len)
	if err != nil {
		return err
	}
	return c.makeRoom(f, f.n+n, d, first, f.n)
}

// makeRoom makes room for a number of nonzeros, or if that is too much, for as many as d really has: so many before
// element first, and those from there on.
func (c *conversion) makeRoom(f *found, room int64, d *Dense, first, before int64) error {
	if bytes, ok := CheckedMul(room, f.width+f.per); !ok || bytes > c.left {
		n, err := c.countRange(d, first, d.len)
		if err != nil {
			return err
		}
		room = before + n
	}
	values, err := c.room(c.oldData, room, f.width)
	if err != nil {
		return err
	}
	var places []byte
	if f.aside {
		places, err = c.spaceFor(spaceIndices, room, f.per)
	} else {
		places, err = c.room(c.oldIndices[f.level], room, f.per)
	}
	if err != nil {
		return err
	}
	copy(values, f.values[:f.n*f.width])
	copy(places, f.places[:f.n*f.per])
	c.free(f.room * (f.width + f.per))
	f.values, f.places, f.room = values, places, room
	return nil
}

// done returns the values and the places of what was found.
func (c *conversion) done(f *found) (values, places []byte) {
	c.free((f.room - f.n) * (f.width + f.per))
	values, places = c.trim(f.values[:f.n*f.width], c.oldData), f.places[:f.n*f.per]
	if !f.aside {
		places = c.trim(places, c.oldIndices[f.level])
	}
	return values, places
}

// indexTypeFor returns the type in which indices are gathered that have not been counted: see workType. If any type
// will do, those that the result had before are likely to do again.
func (c *conversion) indexTypeFor(bound uint64, d *Dense) (IndexType, error) {
	want := c.opts.Indices
	if want == IndexAuto && c.oldType != IndexAuto && c.oldType.Max() >= bound {
		want = c.oldType
	}
	if want != IndexAuto && want.Max() >= bound {
		return want, nil
	}
	n, err := c.expect(d, 0, d.len)
	return NarrowestIndexType(max(bound, uint64(n))), err
}

// walkThrough sets out to go through d in row-major order.
func (c *conversion) walkThrough(w *walk, d *Dense) error {
	buffer, err := c.spaceFor(spaceGather, bufferBytes(d), 1)
	if err != nil {
		return err
	}
	stop := d.len
	if stop > 0 && d.repeatsZeros() {
		stop = 0
	}
	w.begin(d, 0, stop, d.dtype.pieceElements(), buffer)
	return nil
}

// dimensions returns a shape as the kernels take it.
func dimensions(shape []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(shape))), len(shape))
}

// denseToCOO returns the nonzeros of d as a canonical COO.
func (c *conversion) denseToCOO(d *Dense) (r COO, err error) {
	ndim := int64(len(d.shape))
	if !d.lastAxisIsFastest() {
		if ndim == 2 {
			if x := c.across(d, 0); x != nil {
				return c.acrossToCOO(d, x)
			}
		}
		if sorts, err := c.worthSorting(d); err != nil {
			return r, err
		} else if sorts {
			e, err := c.denseEntries(d, naturalOrder(len(d.shape)))
			if err != nil {
				return r, err
			}
			return e.coo(c, d.dtype, d.shape)
		}
	}
	typ, err := c.indexTypeFor(largestCoordinate(d.shape), d)
	if err != nil {
		return r, err
	}
	f, g := &c.found, &c.gathering
	*f = found{per: ndim * int64(typ.Size())}
	*g = gathering{view: d, typ: typ}
	if err := c.gather(f, g); err != nil {
		return r, err
	}
	r.indices.typ, r.canonical = typ, true
	r.data, r.indices.data = c.done(f)
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, uint64(max(f.n, ndim)))
	return r, err
}

// worthSorting reports whether d has so few nonzeros that they are better sorted than gathered in another order
// than that in which they lie.
func (c *conversion) worthSorting(d *Dense) (bool, error) {
	n, err := c.expect(d, 0, d.len)
	return n <= d.len/manyNonzeros, err
}

// denseToLines returns the nonzeros of a matrix line by line, lines along the given axis.
func (c *conversion) denseToLines(d *Dense, axis int) (r compressed, err error) {
	order := [2]int{axis, 1 - axis}
	view := c.permuted(0, d, order[:])
	across := !view.lastAxisIsFastest()
	if across {
		if x := c.across(d, axis); x != nil {
			c.found = found{}
			if err := c.acrossToLines(&c.made, &c.found, x); err != nil {
				return r, err
			}
			return c.finishLines(c.made, x.shape[1])
		}
		if sorts, err := c.worthSorting(d); err != nil {
			return r, err
		} else if sorts {
			e, err := c.denseEntries(d, order[:])
			if err != nil {
				return r, err
			}
			return e.lines(c, d.dtype, d.shape, axis)
		}
	}
	if r.indices.typ, err = c.indexTypeFor(uint64(max(view.shape[1], 1)-1), d); err != nil {
		return r, err
	}
	if r.indptr, err = c.newIndptr(c.oldIndptr[0], view.shape[0], uint64(d.len)); err != nil {
		return r, err
	}
	f, g := &c.found, &c.gathering
	*f = found{per: int64(r.indices.typ.Size())}
	*g = gathering{view: view, typ: r.indices.typ, minor: view.shape[1], indptr: r.indptr}
	if err := c.gather(f, g); err != nil {
		return r, err
	}
	r.data, r.indices.data = c.done(f)
	return c.finishLines(r, view.shape[0])
}

// denseEntries returns the nonzeros of d in row-major order of its axes in the given order.
func (c *conversion) denseEntries(d *Dense, order []int) (entries, error) {
	nnz, err := c.countRange(d, 0, d.len)
	if err != nil {
		return entries{}, err
	}
	keys, err := spaceOf[uint64](c, spaceKeys, nnz)
	if err != nil {
		return entries{}, err
	}
	data, err := c.spaceFor(spaceFound, nnz, int64(d.dtype.width))
	if err != nil {
		return entries{}, err
	}
	view := c.permuted(0, d, order)
	if view.lastAxisIsFastest() || nnz > d.len/manyNonzeros {
		return entries{keys: keys, data: data}, c.denseKeys(view, keys, data)
	}
	inMemory := c.orders[2][:len(order)]
	d.memoryOrder(inMemory)
	view = c.permuted(0, d, inMemory)
	if err := c.denseKeys(view, keys, data); err != nil {
		return entries{}, err
	}
	rekey(keys, d.shape, inMemory, order)
	return c.settle(d.dtype, data, keys, sharedBlock(d.shape, inMemory, order))
}

// denseKeys writes the row-major numbers and the values of the nonzeros of d.
func (c *conversion) denseKeys(d *Dense, keys []uint64, data []byte) error {
	var w walk
	if err := c.walkThrough(&w, d); err != nil {
		return err
	}
	width := int64(d.dtype.width)
	positions := Index{IndexUint64, vec.Bytes(keys)}
	for src, first := w.piece(); src != nil; src, first = w.piece() {
		_, n := compact(d.dtype, data, positions, src, first)
		data, positions.data = data[n*width:], positions.data[n*8:]
	}
	return nil
}
