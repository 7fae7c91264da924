package layout

// scatterLines is transpose by so many goroutines, each of which has a part of the lines of t and writes its elements
// to their places.
func (c *conversion) scatterLines(t, r *compressed, lines int64, workers int) error {
	all, err := spaceOf[uint64](c, spaceCursors, lines*int64(workers))
	if err != nil {
		return err
	}
	if workers == 1 {
		clear(all)
		countIndices(all, t.indices)
		r.indptr.set(0, 0)
		sum := uint64(0)
		for j, n := range all {
			all[j] = sum
			sum += n
			r.indptr.set(int64(j)+1, sum)
		}
		scatterPart(t, r, all, 0, t.indptr.Len()-1)
		return nil
	}
	cursors := func(worker int) []uint64 { return all[int64(worker)*lines : int64(worker+1)*lines] }
	inParallel(workers, func(worker int) {
		from, to := t.indptr.part(worker, workers)
		mine := cursors(worker)
		clear(mine)
		countIndices(mine, t.indices.Slice(int64(t.indptr.At(from)), int64(t.indptr.At(to))))
	})
	// The elements of a line come part by part.
	r.indptr.set(0, 0)
	sum := uint64(0)
	for j := range lines {
		for worker := range workers {
			at := int64(worker)*lines + j
			all[at], sum = sum, sum+all[at]
		}
		r.indptr.set(j+1, sum)
	}
	inParallel(workers, func(worker int) {
		from, to := t.indptr.part(worker, workers)
		scatterPart(t, r, cursors(worker), from, to)
	})
	return nil
}

// part returns the lines that are part i of n parts with about as many elements each, of an indptr that is in order.
func (x Index) part(i, n int) (from, to int64) {
	lines := x.Len() - 1
	cut := func(i int) int64 {
		switch i {
		case 0:
			return 0
		case n:
			return lines
		}
		want := x.At(lines) / uint64(n) * uint64(i)
		lo, hi := int64(0), lines
		for lo < hi {
			if mid := (lo + hi) / 2; x.At(mid) < want {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
	return cut(i), cut(i + 1)
}

// countIndices adds to counts how often each index occurs.
func countIndices(counts []uint64, indices Index) {
	switch indices.typ.Size() {
	case 1:
		countWords(counts, indices.data)
	case 2:
		countWords(counts, words[uint16](indices.data))
	case 4:
		countWords(counts, words[uint32](indices.data))
	default:
		countWords(counts, words[uint64](indices.data))
	}
}

func countWords[I indexWord](counts []uint64, indices []I) {
	for _, j := range indices {
		counts[j]++
	}
}

// scatterPart writes the elements of lines from to to−1 of t to the places in r that the cursors say.
func scatterPart(t, r *compressed, cursors []uint64, from, to int64) {
	switch t.indices.typ.Size() {
	case 1:
		scatterPartFrom(t, r, cursors, from, to, t.indices.data)
	case 2:
		scatterPartFrom(t, r, cursors, from, to, words[uint16](t.indices.data))
	case 4:
		scatterPartFrom(t, r, cursors, from, to, words[uint32](t.indices.data))
	default:
		scatterPartFrom(t, r, cursors, from, to, words[uint64](t.indices.data))
	}
}

func scatterPartFrom[I indexWord](t, r *compressed, cursors []uint64, from, to int64, in []I) {
	switch r.indices.typ.Size() {
	case 1:
		scatterPartInto(t, r, cursors, from, to, in, r.indices.data)
	case 2:
		scatterPartInto(t, r, cursors, from, to, in, words[uint16](r.indices.data))
	case 4:
		scatterPartInto(t, r, cursors, from, to, in, words[uint32](r.indices.data))
	default:
		scatterPartInto(t, r, cursors, from, to, in, words[uint64](r.indices.data))
	}
}

func scatterPartInto[I, O indexWord](t, r *compressed, cursors []uint64, from, to int64, in []I, out []O) {
	switch t.dtype.width {
	case 1:
		scatterPartWords(t.indptr, cursors, from, to, in, out, t.data, r.data)
	case 2:
		scatterPartWords(t.indptr, cursors, from, to, in, out, words[uint16](t.data), words[uint16](r.data))
	case 4:
		scatterPartWords(t.indptr, cursors, from, to, in, out, words[uint32](t.data), words[uint32](r.data))
	case 8:
		scatterPartWords(t.indptr, cursors, from, to, in, out, words[uint64](t.data), words[uint64](r.data))
	case 16:
		scatterPartWords(t.indptr, cursors, from, to, in, out, words[[2]uint64](t.data), words[[2]uint64](r.data))
	default:
		scatterPartBytes(t.indptr, cursors, from, to, in, out, t.data, r.data, uint64(t.dtype.width))
	}
}

func scatterPartWords[I, O indexWord, V word](indptr Index, cursors []uint64, from, to int64, in []I, out []O, src, dst []V) {
	var buf lineBuffer
	line, start := O(from), indptr.At(from)
	for first := from + 1; first <= to; first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:min(int64(len(buf)), to+1-first)], first) {
			values := src[start:stop]
			for k, j := range in[start:stop] {
				at := cursors[j]
				cursors[j] = at + 1
				out[at] = line
				dst[at] = values[k]
			}
			start = stop
			line++
		}
	}
}

// scatterPartBytes is scatterPartWords for elements of any width.
func scatterPartBytes[I, O indexWord](indptr Index, cursors []uint64, from, to int64, in []I, out []O, src, dst []byte, width uint64) {
	var buf lineBuffer
	line, start := O(from), indptr.At(from)
	for first := from + 1; first <= to; first += int64(len(buf)) {
		for _, stop := range indptr.chunk(buf[:min(int64(len(buf)), to+1-first)], first) {
			for k := start; k < stop; k++ {
				j := in[k]
				at := cursors[j]
				cursors[j] = at + 1
				out[at] = line
				copy(dst[at*width:(at+1)*width], src[k*width:])
			}
			start = stop
			line++
		}
	}
}
