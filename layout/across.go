package layout

import "github.com/tstore/tstore/vec"

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

// rowStride returns the distance between rows of a matrix, and 0 if there is one row only, whose stride may be any.
func (d *Dense) rowStride() int64 {
	if d.shape[0] == 1 {
		return 0
	}
	return d.strides[0]
}

// acrossToLines finds the nonzeros of a matrix column by column; the columns are the lines of r, whose indices lie
// aside if f says so.
func (c *conversion) acrossToLines(r *compressed, f *found, view *Dense) error {
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
	f.width, f.per = width, int64(typ.Size())
	r.indices.typ = typ
	density := float64(n) / float64(view.len)
	workers := c.workers(view.NumBytes())
	if workers > 1 && density < vec.PanelDensity(view.dtype.elem()) {
		if err := c.acrossByRows(r, f, view, workers); err != nil {
			return err
		}
		r.data, r.indices.data = c.done(f)
		return nil
	}
	// The sample may be low by some. There may be more room already.
	old := min(int64(cap(c.oldData))/width, view.len)
	if !f.aside {
		old = min(old, int64(cap(c.oldIndices[0]))/f.per)
	}
	if err := c.makeRoom(f, max(min(n+n/64, view.len), old), view, 0, 0); err != nil {
		return err
	}
	s := &c.strips
	*s = strips{c: c, found: f, view: view, typ: typ, indptr: r.indptr, each: lines}
	if workers > 1 {
		s.cut()
		err = s.together(workers)
	} else {
		err = s.strip(&c.columns, 0)
	}
	r.data, r.indices.data = c.done(f)
	return err
}

// strips finds the nonzeros of a dense matrix column by column, in strips of columns that each are gone through row by
// row.
type strips struct {
	turns
	c      *conversion // of the result; used by the goroutine whose turn it is
	found  *found
	view   *Dense
	typ    IndexType
	indptr Index
	each   int64 // columns of a strip
}

// cut cuts the matrix into strips that the kernel keeps in one panel each.
func (s *strips) cut() {
	rows, width := s.view.shape[0], int64(s.view.dtype.width)
	for s.each = max(512/width, 1); s.each > 64/width && s.each*(rows+96)*(width+4) > 16<<20; {
		s.each /= 2
	}
	s.begin((s.view.shape[1]-1)/s.each + 1)
}

// together finds all strips with so many goroutines.
func (s *strips) together(workers int) error {
	errs := make([]error, workers)
	inParallel(workers, func(worker int) {
		done := false
		defer func() {
			if !done {
				s.giveUp()
			}
		}()
		h := s.c.helper()
		defer h.end()
		for {
			k, ok := s.take()
			if !ok {
				break
			}
			if errs[worker] = s.strip(&h.columns, k); errs[worker] != nil {
				s.giveUp()
				break
			}
		}
		done = true
	})
	return firstError(errs)
}

// firstError returns the first error that is not that of a goroutine which gave up because of another.
func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil && err != errGaveUp {
			return err
		}
	}
	return nil
}

// strip finds strip k. If there are others, it writes it in or after its turn.
func (s *strips) strip(x *vec.Columns, k int64) error {
	f, view, e := s.found, s.view, s.view.dtype.elem()
	rows, lines, stride := view.shape[0], view.shape[1], view.rowStride()
	first := k * s.each
	columns := min(s.each, lines-first)
	together := s.parts > 0
	held := false
	// What the kernel borrows it gives back at the end, and at the latest now.
	defer x.Start(nil, e, 0, 0, 0)
	x.Start(view.data[view.offset+first*f.width:], e, int(rows), int(columns), int(stride))
	for x.Next() {
		if together && !held {
			if !s.wait(k) {
				return errGaveUp
			}
			held = true
		}
		from, to := x.Columns()
		n := int64(x.Len())
		if f.room-f.n < n {
			if together && !s.settle() {
				return errGaveUp
			}
			// The columns to come are taken to be like those so far.
			likely := int64(float64(f.n+n) * float64(lines) / float64(first+int64(to)) * 1.02)
			if err := s.c.makeRoom(f, min(max(likely, f.n+n), view.len), view, 0, 0); err != nil {
				return err
			}
		}
		values, places, before := f.values[f.n*f.width:(f.n+n)*f.width], f.places[f.n*f.per:(f.n+n)*f.per], f.n
		f.n += n
		last := together && int64(to) == columns
		if last {
			s.pass()
		}
		ptr := int64(s.indptr.typ.Size())
		x.Write(values, places, s.typ.kernel(), s.indptr.data[(first+int64(from)+1)*ptr:(first+int64(to)+1)*ptr], s.indptr.typ.kernel(), uint64(before))
		if last {
			s.done()
		}
	}
	return nil
}

// acrossToCOO is denseToCOO for a matrix that lies column by column.
func (c *conversion) acrossToCOO(d, view *Dense) (r COO, err error) {
	lines, f := &c.turned, &c.found
	*f = found{aside: true}
	if err := c.acrossToLines(lines, f, view); err != nil {
		return r, err
	}
	lines.shape, lines.nnz = d.shape, f.n
	if r.indices, _, err = c.rowCoordinates(lines); err != nil {
		return r, err
	}
	r.data, r.canonical = lines.data, true
	return r, nil
}
