package layout

// across returns a view of a matrix whose columns are the wanted lines, those along axis, if a kernel can find the
// nonzeros column by column while it walks through the rows; else nil.
func (c *conversion) across(d *Dense, axis int) *Dense {
	order := [2]int{1 - axis, axis}
	view := c.permuted(1, d, order[:])
	width := int64(d.dtype.width)
	if d.dtype.elem() == 0 || d.len == 0 || d.repeatsZeros() ||
		view.shape[1] != 1 && view.strides[1] != width || view.shape[0] != 1 && view.strides[0] < 0 {
		return nil
	}
	return view
}

// acrossToLines finds the nonzeros of a matrix column by column; the columns are the lines of r, whose indices lie
// aside if f says so.
func (c *conversion) acrossToLines(r *compressed, f *found, view *Dense, indptr IndexType) error {
	rows, lines := view.shape[0], view.shape[1]
	bound := uint64(rows - 1)
	typ := NarrowestIndexType(bound)
	var err error
	if f.aside {
		r.indptr.typ = NarrowestIndexType(uint64(view.len))
		r.indptr.data, err = c.spaceFor(spaceIndptr, lines+1, int64(r.indptr.typ.Size()))
	} else {
		if typ, err = c.indexTypeFor(bound, view); err != nil {
			return err
		}
		r.indptr, err = c.newIndptr(c.oldIndptr[0], lines, uint64(view.len))
	}
	if err != nil {
		return err
	}
	r.indptr.set(0, 0)

	// The kernel keeps what it finds, with keys, until it is written.
	width := int64(view.dtype.width)
	n, err := c.expect(view, 0, view.len)
	if err == nil && n > c.left/(width+8) {
		n, err = c.countRange(view, 0, view.len)
	}
	if err != nil {
		return err
	}
	kept, err := c.reserve(n, width+8)
	if err != nil {
		return err
	}
	defer c.free(kept)
	stride := view.strides[0]
	if rows == 1 {
		stride = 0
	}
	x, e := &c.columns, view.dtype.elem()
	// What the kernel borrows it gives back at the end, and at the latest now.
	defer x.Start(nil, e, 0, 0, 0)
	nnz, exact := x.Start(view.data[view.offset:], e, int(rows), int(lines), int(stride))

	f.width, f.per = width, int64(typ.Size())
	room := int64(nnz)
	if !exact { // by the kernel's sample, or ours, and some more
		room = min(max(room, n)+max(room, n)/64, view.len)
		old := min(int64(cap(c.oldData))/width, view.len)
		if !f.aside {
			old = min(old, int64(cap(c.oldIndices[0]))/f.per)
		}
		room = max(room, old)
	}
	if err := c.makeRoom(f, room, view, 0, 0); err != nil {
		return err
	}
	for x.Next() {
		from, to := x.Columns()
		n := int64(x.Len())
		if f.room-f.n < n {
			// The columns to come are taken to be like those so far.
			likely := int64(float64(f.n+n) * float64(lines) / float64(to) * 1.02)
			if err := c.makeRoom(f, min(max(likely, f.n+n), view.len), view, 0, 0); err != nil {
				return err
			}
		}
		x.Write(f.values[f.n*f.width:], f.places[f.n*f.per:], typ.kernel(),
			r.indptr.data[(from+1)*r.indptr.typ.Size():], r.indptr.typ.kernel(), uint64(f.n))
		f.n += n
	}
	r.indices.typ = typ
	r.data, r.indices.data = c.done(f)
	return nil
}

// acrossToCOO is denseToCOO for a matrix that lies column by column.
func (c *conversion) acrossToCOO(d, view *Dense) (r COO, err error) {
	var lines compressed
	f := found{aside: true}
	if err := c.acrossToLines(&lines, &f, view, IndexAuto); err != nil {
		return r, err
	}
	if r.indices, err = c.roomMatrix(c.oldIndices[0], f.n, 2, workType(c.opts.Indices, largestCoordinate(d.shape), uint64(max(f.n, 2)))); err != nil {
		return r, err
	}
	lineCoordinates(r.indices, lines.indptr, lines.indices, 0)
	r.data, r.canonical = lines.data, true
	r.indices, err = c.finishIndex(r.indices, c.opts.Indices, uint64(max(f.n, 2)))
	return r, err
}
