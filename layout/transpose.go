package layout

import (
	"fmt"
	"math"

	"github.com/tstore/tstore/vec"
)

// transposeLines returns the elements of t, whose lines run along axis, in lines along the other axis.
// t's structure must have been checked. It is a counting sort: stable, and in time linear in elements
// and lines.
func (c *conversion) transposeLines(t *compressed, axis int) (compressed, error) {
	// Not a variable of this function: goroutines get to know it, which would put it into memory of its own.
	r, err := &c.made, error(nil)
	if *r, err = c.newLines(t.dtype, t.shape, 1-axis, t.nnz); err != nil {
		return compressed{}, err
	}
	if err := c.transpose(t, r, t.shape[1-axis]); err != nil {
		return compressed{}, err
	}
	return c.finishLines(*r, t.shape[1-axis])
}

// turn is transposeLines on the way to something else: what it makes lies in spaces, and is c.turned. Elements go to data.
func (c *conversion) turn(t *compressed, axis int, data []byte) (err error) {
	r := &c.turned
	if *r, err = c.newTurned(t.dtype, t.shape, 1-axis, t.nnz); err != nil {
		return err
	}
	r.data = data
	return c.transpose(t, r, t.shape[1-axis])
}

// newTurned returns room in spaces for the index arrays of a matrix with lines along axis.
func (c *conversion) newTurned(dt DType, shape []int64, axis int, nnz int64) (r compressed, err error) {
	lines := shape[axis]
	if lines == math.MaxInt64 {
		return r, fmt.Errorf("%w: an indptr for %d lines", ErrTooLarge, lines)
	}
	r.sparse = sparse{dtype: dt, shape: shape, nnz: nnz}
	r.indptr.typ = NarrowestIndexType(uint64(nnz))
	r.indices.typ = NarrowestIndexType(uint64(max(shape[1-axis], 1) - 1))
	if r.indptr.data, err = c.spaceFor(spaceIndptr, lines+1, int64(r.indptr.typ.Size())); err != nil {
		return r, err
	}
	r.indices.data, err = c.spaceFor(spaceIndices, nnz, int64(r.indices.typ.Size()))
	return r, err
}

const (
	// scatterBytes is the size of the arrays of a matrix up to which it is transposed by writing each element to its
	// place at once: they stay in a cache. Larger ones are sorted by ranges of lines first.
	scatterBytes = 16 << 20
	// scatterLines is the number of lines up to which the places that are written to next stay in a cache.
	scatterLines = 1 << 14
)

// transpose fills r, whose lines run across those of t. The indices of t must have been checked.
func (c *conversion) transpose(t, r *compressed, lines int64) error {
	bytes := t.nnz * (int64(t.dtype.width) + int64(r.indices.typ.Size()))
	workers := min(c.workers(bytes), int(t.nnz/max(lines, 1))+1)
	// The kernel has vectors for elements of 4 and 8 bytes.
	small := lines <= scatterLines && bytes <= scatterBytes && (t.dtype.width != 4 && t.dtype.width != 8 || vec.Active() == vec.Portable)
	if small || workers > 1 && lines <= 4*scatterLines {
		return c.scatterLines(t, r, lines, workers)
	}
	// What the kernel takes: each element with a key, and two counters for each range of lines.
	need, err := c.reserve(t.nnz, int64(t.dtype.width)+8)
	if err != nil {
		return err
	}
	x := &c.columns
	if _, err := x.StartLines(t.indptr.data, t.indptr.typ.kernel(), t.indices.data, t.indices.typ.kernel(), t.data, int(t.dtype.width), int(lines)); err != nil {
		return fmt.Errorf("%w: %w", ErrIndex, err)
	}
	c.writeColumns(r)
	c.free(need)
	return nil
}

// writeColumns writes the columns that c.columns finds to r, which has room for all of them, as lines.
func (c *conversion) writeColumns(r *compressed) (nnz int64) {
	size, ptr, width := int64(r.indices.typ.Size()), int64(r.indptr.typ.Size()), int64(0)
	if n := r.indices.Len(); n > 0 {
		width = int64(len(r.data)) / n
	}
	r.indptr.set(0, 0)
	x := &c.columns
	for x.Next() {
		from, _ := x.Columns()
		x.Write(r.data[nnz*width:], r.indices.data[nnz*size:], r.indices.typ.kernel(), r.indptr.data[(int64(from)+1)*ptr:], r.indptr.typ.kernel(), uint64(nnz))
		nnz += int64(x.Len())
	}
	return nnz
}
