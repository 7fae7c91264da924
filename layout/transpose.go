package layout

import (
	"fmt"
	"math"
)

// transposeLines returns the elements of t, whose lines run along axis, in lines along the other axis.
// t's structure must have been checked. It is a counting sort: stable, and in time linear in elements
// and lines.
func (c *conversion) transposeLines(t *compressed, axis int) (compressed, error) {
	r, err := c.newLines(t.dtype, t.shape, 1-axis, t.nnz)
	if err != nil {
		return r, err
	}
	if err := c.transpose(t, &r, t.shape[1-axis]); err != nil {
		return r, err
	}
	return c.finishLines(r, t.shape[1-axis])
}

// turn is transposeLines on the way to something else: what it makes lies in spaces, and is c.turned.
func (c *conversion) turn(t *compressed, axis int) error {
	lines := t.shape[1-axis]
	if lines == math.MaxInt64 {
		return fmt.Errorf("%w: an indptr for %d lines", ErrTooLarge, lines)
	}
	r := &c.turned
	r.sparse = sparse{dtype: t.dtype, shape: t.shape, nnz: t.nnz}
	r.indptr.typ = NarrowestIndexType(uint64(t.nnz))
	r.indices.typ = NarrowestIndexType(uint64(max(t.shape[axis], 1) - 1))
	var err error
	if r.indptr.data, err = c.spaceFor(spaceIndptr, lines+1, int64(r.indptr.typ.Size())); err != nil {
		return err
	}
	if r.indices.data, err = c.spaceFor(spaceIndices, t.nnz, int64(r.indices.typ.Size())); err != nil {
		return err
	}
	if r.data, err = c.spaceFor(spaceTurned, t.nnz, int64(t.dtype.width)); err != nil {
		return err
	}
	return c.transpose(t, r, lines)
}

// transpose fills r, whose lines run across those of t.
func (c *conversion) transpose(t, r *compressed, lines int64) error {
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
	w, size, ptr := int64(len(r.data)), int64(r.indices.typ.Size()), int64(r.indptr.typ.Size())
	_ = w
	width := int64(0)
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
