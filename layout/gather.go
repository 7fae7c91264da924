package layout

// gathering gathers the nonzeros of a part of a dense tensor, in row-major order, with their coordinates or, line by
// line, with their last coordinates.
type gathering struct {
	view   *Dense
	typ    IndexType // of the places
	minor  int64     // the length of a line, of which places are indices; 0 if places are coordinates
	indptr Index     // where lines end
	count  int64     // nonzeros since the part began
	out    found

	// Of a part that one of several goroutines gathers, out is a stage that is emptied in the part's turn.
	crew *crew
	mine *stages
	part int64
	held bool  // it is the part's turn
	base int64 // nonzeros before the part, once it is held
}

// run gathers the nonzeros of elements from to stop−1 of the view. Rows that end there have their ends, counted from
// where the part begins, set in indptr. Spaces are those of c.
func (g *gathering) run(c *conversion, from, stop int64) error {
	buffer, err := c.spaceFor(spaceGather, bufferBytes(g.view), 1)
	if err != nil {
		return err
	}
	dt := g.view.dtype
	most := dt.pieceElements()
	if g.minor == 0 {
		most *= largePiece
	}
	var w walk
	w.begin(g.view, from, stop, most, buffer)
	if g.minor == 0 {
		for src, first := w.piece(); src != nil; src, first = w.piece() {
			if err := g.piece(c, src, first); err != nil {
				return err
			}
		}
		return nil
	}
	minor := g.minor
	if minor*g.out.width >= shortRun {
		row := from / minor
		left := (row+1)*minor - from // of the row
		for src, first := w.piece(); src != nil; src, first = w.piece() {
			for len(src) > 0 {
				n := min(int64(len(src))/g.out.width, left)
				if err := g.piece(c, src[:n*g.out.width], first); err != nil {
					return err
				}
				src, first = src[n*g.out.width:], first+n
				if left -= n; left == 0 {
					row++
					left = minor
					g.indptr.set(row, uint64(g.count))
				}
			}
		}
		return nil
	}
	// Lines that are not worth a call each.
	space, err := c.spaceFor(spacePositions, min(most, stop-from), 4)
	if err != nil {
		return err
	}
	positions := Index{IndexUint32, space}
	s := lineSplitter{indptr: g.indptr, minor: uint64(minor), line: from / minor}
	for src, first := w.piece(); src != nil; src, first = w.piece() {
		for {
			f := &g.out
			used, n := compact(dt, f.values[f.n*f.width:], positions, src, 0)
			splitLines(&s, Index{g.typ, f.places[f.n*f.per:]}, words[uint32](positions.data)[:n], uint64(first))
			f.n += n
			g.count += n
			if used*f.width == int64(len(src)) {
				break
			}
			src, first = src[used*f.width:], first+used
			if err := g.full(c, first); err != nil {
				return err
			}
		}
	}
	s.close(stop / minor)
	return nil
}

// piece gathers the nonzeros of src, whose first element has a row-major number. If lines are gathered, it lies in
// one.
func (g *gathering) piece(c *conversion, src []byte, first int64) error {
	f := &g.out
	column := int64(0)
	if g.minor > 0 {
		column = first % g.minor
	}
	for {
		var used, n int64
		if g.minor > 0 {
			used, n = compact(g.view.dtype, f.values[f.n*f.width:], Index{g.typ, f.places[f.n*f.per:]}, src, column)
		} else {
			used, n = compactCoords(g.view.dtype, f.values[f.n*f.width:], f.places[f.n*f.per:], g.typ, src, g.view.shape, first)
		}
		f.n += n
		g.count += n
		if used*f.width == int64(len(src)) {
			return nil
		}
		src, first, column = src[used*f.width:], first+used, column+used
		if err := g.full(c, first); err != nil {
			return err
		}
	}
}

// full makes room for the nonzeros of element next and on.
func (g *gathering) full(c *conversion, next int64) error {
	if g.crew == nil {
		return c.grow(&g.out, g.view, next)
	}
	return g.crew.empty(g, next)
}

// gather gathers all nonzeros of g.view into f.
func (c *conversion) gather(f *found, g *gathering) error {
	if g.view.len == 0 || g.view.repeatsZeros() {
		clear(g.indptr.data)
		return nil
	}
	if err := c.find(f, g.view, f.per); err != nil {
		return err
	}
	if workers := c.workers(g.view.NumBytes()); workers > 1 {
		return c.gatherTogether(f, g, workers)
	}
	g.out = *f
	err := g.run(c, 0, g.view.len)
	*f = g.out
	return err
}
