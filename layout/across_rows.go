package layout

import "github.com/tstore/tstore/vec"

// band is some rows of a dense matrix whose nonzeros one goroutine has found column by column.
type band struct {
	first    int64 // row
	pointers []uint64
	values   []byte
	rows     []byte // counted from the first
	n        int64
}

// acrossByRows finds the nonzeros of a dense matrix, of which there are few, column by column. Each goroutine goes through
// some of the rows, in the order in which they lie; what they found is put together afterwards.
func (c *conversion) acrossByRows(r *compressed, f *found, view *Dense, workers int) error {
	rows, lines := view.shape[0], view.shape[1]
	workers = int(min(int64(workers), rows))
	bands := make([]band, workers)
	errs := make([]error, workers)
	helpers := make([]*conversion, workers)
	for i := range helpers {
		helpers[i] = c.helper()
		defer helpers[i].end()
	}
	typ := r.indices.typ
	each := max(c.left/int64(workers), 0)
	inParallel(workers, func(i int) {
		h := helpers[i]
		h.budget = budget{left: each, limit: c.limit}
		from, to := rows*int64(i)/int64(workers), rows*int64(i+1)/int64(workers)
		errs[i] = h.findBand(&bands[i], view, from, to, typ)
	})
	total := int64(0)
	for i, err := range errs {
		if err != nil {
			return err
		}
		total += bands[i].n
	}
	taken := int64(0)
	for _, h := range helpers {
		taken += each - h.left
	}
	if _, err := c.reserve(taken, 1); err != nil {
		return err
	}
	if err := c.makeRoom(f, total, view, 0, 0); err != nil {
		return err
	}
	f.n = total
	sum := uint64(0)
	for j := range lines {
		for i := range bands {
			sum += bands[i].pointers[j+1] - bands[i].pointers[j]
		}
		r.indptr.set(j+1, sum)
	}
	inParallel(workers, func(i int) {
		from, to := r.indptr.part(i, workers)
		putTogether(r.indptr, Index{typ, f.places}, f.values, f.width, bands, from, to)
	})
	c.free(taken)
	return nil
}

// findBand finds the nonzeros of rows from to to−1.
func (h *conversion) findBand(b *band, view *Dense, from, to int64, typ IndexType) (err error) {
	lines, width, size := view.shape[1], int64(view.dtype.width), int64(typ.Size())
	b.first = from
	if b.pointers, err = spaceOf[uint64](h, spaceIndptr, lines+1); err != nil {
		return err
	}
	b.pointers[0] = 0
	x, e := &h.columns, view.dtype.elem()
	defer x.Start(nil, e, 0, 0, 0)
	stride := view.rowStride()
	room, exact := x.Start(view.data[view.offset+from*stride:], e, int(to-from), int(lines), int(stride))
	if !exact {
		room += room/16 + 1
	}
	if b.values, err = h.spaceFor(spaceFound, int64(room), width); err != nil {
		return err
	}
	if b.rows, err = h.spaceFor(spaceIndices, int64(room), size); err != nil {
		return err
	}
	for x.Next() {
		at, n := b.n, int64(x.Len())
		if (at+n)*width > int64(len(b.values)) {
			values, rows := b.values, b.rows
			if b.values, err = h.spaceFor(spaceFound, 2*(at+n), width); err != nil {
				return err
			}
			if b.rows, err = h.spaceFor(spaceIndices, 2*(at+n), size); err != nil {
				return err
			}
			copy(b.values, values[:at*width])
			copy(b.rows, rows[:at*size])
			h.free(int64(len(values) + len(rows)))
		}
		first, last := x.Columns()
		x.Write(b.values[at*width:], b.rows[at*size:], typ.kernel(), vec.Bytes(b.pointers[first+1:last+1]), vec.U64, uint64(at))
		b.n += n
	}
	return nil
}

// putTogether writes columns from to to−1, each of which has its rows band after band.
func putTogether(indptr, indices Index, values []byte, width int64, bands []band, from, to int64) {
	switch indices.typ.Size() {
	case 1:
		putBands(indptr, indices.data, values, width, bands, from, to)
	case 2:
		putBands(indptr, words[uint16](indices.data), values, width, bands, from, to)
	case 4:
		putBands(indptr, words[uint32](indices.data), values, width, bands, from, to)
	default:
		putBands(indptr, words[uint64](indices.data), values, width, bands, from, to)
	}
}

func putBands[I indexWord](indptr Index, indices []I, values []byte, width int64, bands []band, from, to int64) {
	at := int64(indptr.At(from))
	for j := from; j < to; j++ {
		for i := range bands {
			b := &bands[i]
			start, stop := int64(b.pointers[j]), int64(b.pointers[j+1])
			copy(values[at*width:], b.values[start*width:stop*width])
			first := I(b.first)
			rows := words[I](b.rows)[start:stop]
			out := indices[at : at+stop-start][:len(rows)]
			for k, row := range rows {
				out[k] = first + row
			}
			at += stop - start
		}
	}
}
