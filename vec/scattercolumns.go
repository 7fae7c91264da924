package vec

import (
	"fmt"
	"sync"
	"unsafe"
)

// ScatterColumns writes a row-major dst of rows of cols elements of size bytes, all zeros but for the given values:
// those of column j are numbers pointers[j] to pointers[j+1]−1 of values, and indices has the row of each; the last of
// several for one element stays. There is one pointer more than columns. Pointers and indices are checked before
// anything is written: the error is a [*PointerError] or an [*IndexError] then, and dst is as it was. They must not
// change during the call. dst must not overlap the others. If it is zeroed, holding nothing but zeros, few values take
// less time.
func ScatterColumns(dst []byte, zeroed bool, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte) error {
	s, err := newColumnScatter(dst, zeroed, size, cols, pointers, pt, indices, t, values)
	if err != nil {
		return err
	}
	if err := checkRange(indices, t, s.from, s.to, uint64(s.rows)); err != nil {
		return err
	}
	return s.scatter()
}

// ScatterAscendingColumns is [ScatterColumns] for columns whose indices ascend, none twice. It takes less time, since it checks
// the indices of some columns at a time, and then writes these: if there is an [*IndexError], or an [*OrderError]
// because they do not ascend, columns before may have been written.
func ScatterAscendingColumns(dst []byte, zeroed bool, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte) error {
	s, err := newColumnScatter(dst, zeroed, size, cols, pointers, pt, indices, t, values)
	if err != nil {
		return err
	}
	s.ascend = true
	return s.scatter()
}

// newColumnScatter checks all but the indices.
func newColumnScatter(dst []byte, zeroed bool, size, cols int, pointers []byte, pt Index, indices []byte, t Index, values []byte) (s columnScatter, err error) {
	n := t.len(indices)
	if size < 1 || cols < 0 || pt.len(pointers)-1 != cols || len(values) != n*size {
		panic(fmt.Sprintf("vec: scatter of %d bytes of values to %d indices in %d columns of %d with elements of %d bytes does not fit", len(values), n, pt.len(pointers)-1, cols, size))
	}
	rows := 0
	if cols > 0 {
		rows = len(dst) / (cols * size)
	}
	if rows*cols*size != len(dst) {
		panic(fmt.Sprintf("vec: %d bytes are not whole rows of %d elements of %d bytes", len(dst), cols, size))
	}
	if err := CheckPointers(pointers, pt, uint64(n)); err != nil {
		return s, err
	}
	return columnScatter{
		dst: dst, zeroed: zeroed, size: size, rows: rows, cols: cols, pointers: pointers, pt: pt, indices: indices, t: t, values: values,
		from: int(pt.At(pointers, 0)), to: int(pt.At(pointers, cols)),
	}, nil
}

// scatter writes dst.
func (s *columnScatter) scatter() error {
	if len(s.dst) > 0 && s.size <= 8 && kernelSize(s.size) && len(s.dst) >= 1<<20 && float64(s.to-s.from) >= fewScattered*float64(s.rows)*float64(s.cols) {
		return s.tiles()
	}
	if s.ascend {
		if err := checkLines(s.pointers, s.pt, 0, s.cols, s.indices, s.t, s.rows); err != nil {
			return err
		}
	}
	switch {
	case len(s.dst) == 0:
	case s.size <= 8 && kernelSize(s.size) && len(s.dst) >= 1<<20:
		s.byRows()
	default:
		if !s.zeroed {
			clear(s.dst)
		}
		start := s.from
		for j := range s.cols {
			stop := int(s.pt.At(s.pointers, j+1))
			s.direct(j, start, stop)
			start = stop
		}
	}
	return nil
}

const (
	// fewScattered is the share of nonzeros below which sorting them by rows costs less than writing tiles: the
	// rows are written from one end to the other then.
	fewScattered = 0.03
	// A tile has so many rows, and rows of so many bytes. It fits a second-level cache.
	tileRows  = 256
	tileBytes = 1024
	// tilePad keeps rows of a tile from all beginning at the same place of the cache.
	tilePad = 64
)

type columnScatter struct {
	dst              []byte
	zeroed           bool
	size, rows, cols int
	pointers         []byte
	pt               Index
	indices          []byte
	t                Index
	values           []byte
	from, to         int  // the values that there are
	ascend           bool // the indices must ascend, and have not been checked
}

// direct stores values start to stop−1, which are of column j.
func (s *columnScatter) direct(j, start, stop int) {
	column := s.dst[j*s.size:]
	for i := start; i < stop; i++ {
		copy(column[int(s.t.At(s.indices, i))*s.cols*s.size:][:s.size], s.values[i*s.size:])
	}
}

// byRows sorts the values by rows.
func (s *columnScatter) byRows() {
	w := rowSorters.Get().(*rowSorter)
	defer rowSorters.Put(w)
	if _, err := w.columns.StartLines(s.pointers, s.pt, s.indices, s.t, s.values, s.size, s.rows); err != nil {
		panic("vec: indices have changed while they were looked at: " + err.Error())
	}
	ct := U32
	if uint64(s.cols) > U32.Max() {
		ct = U64
	}
	for w.columns.Next() {
		from, to := w.columns.Columns()
		n := w.columns.Len()
		w.values, w.indices = grown(w.values, n*s.size), grown(w.indices, n*ct.Size())
		w.pointers = grown(w.pointers, (to-from+1)*8)
		clear(w.pointers[:8])
		w.columns.Write(w.values, w.indices, ct, w.pointers[8:], U64, 0)
		if err := ScatterRows(s.dst[from*s.cols*s.size:to*s.cols*s.size], s.zeroed, s.size, s.cols, w.pointers, U64, w.indices, ct, w.values); err != nil {
			panic("vec: indices have changed while they were looked at: " + err.Error())
		}
	}
}

type rowSorter struct {
	columns                   Columns
	values, indices, pointers []byte
}

var rowSorters = sync.Pool{New: func() any { return new(rowSorter) }}

// tileAhead is how many columns after the one at hand the kernel fetches from.
const tileAhead = 8

type tileBuffer struct {
	memory        [tileRows*(tileBytes+tilePad) + 64]byte
	cursors, ends [tileBytes + tileAhead]uint64
}

var tileBuffers = sync.Pool{New: func() any { return new(tileBuffer) }}

// tiles makes some columns, and of them some rows, at a time in a buffer.
func (s *columnScatter) tiles() error {
	b := tileBuffers.Get().(*tileBuffer)
	defer tileBuffers.Put(b)
	width := tileBytes / s.size // columns of a tile
	stride := tileBytes + tilePad
	tile := aligned64(b.memory[:])[:tileRows*stride]
	clear(tile)
	row := s.cols * s.size
	stream := canStream()
	whole := stream && row%64 == 0 && uintptr(unsafe.Pointer(&s.dst[0]))&63 == 0
	for left := 0; left < s.cols; left += width {
		n := min(width, s.cols-left)
		if s.ascend {
			if err := checkLines(s.pointers, s.pt, left, left+n, s.indices, s.t, s.rows); err != nil {
				return err
			}
		}
		cursors, ends := b.cursors[:n+tileAhead], b.ends[:n]
		for j := range ends {
			cursors[j], ends[j] = s.pt.At(s.pointers, left+j), s.pt.At(s.pointers, left+j+1)
		}
		clear(cursors[n:])
		for top := 0; top < s.rows; top += tileRows {
			count := min(tileRows, s.rows-top)
			dropAny(tile, stride, cursors, ends, s.indices, s.t.Size(), s.values, s.size, top, count)
			out := s.dst[top*row+left*s.size:]
			if whole {
				streamTile(out, row, tile, stride, count, n*s.size)
				continue
			}
			for i := range count {
				from := tile[i*stride:][:n*s.size]
				if stream {
					copyPast(out[i*row:][:n*s.size], from)
				} else {
					copy(out[i*row:], from)
				}
				clear(from)
			}
		}
		if stream {
			streamDone()
		}
		// Where rows do not ascend, a column has stopped early.
		for j := range ends {
			s.direct(left+j, int(cursors[j]), int(ends[j]))
		}
	}
	return nil
}

// dropGo stores those values of some columns that lie in count rows from first to a tile. It goes through each
// column from its cursor, which it moves on, to its end or to the first row that is not in the tile.
func dropGo(tile []byte, stride int, cursors, ends []uint64, rows []byte, isize int, values []byte, size, first, count int) {
	switch size {
	case 1:
		dropValues(tile, stride, cursors, ends, rows, isize, values, first, count)
	case 2:
		dropValues(view[uint16](tile), stride/2, cursors, ends, rows, isize, view[uint16](values), first, count)
	case 4:
		dropValues(view[uint32](tile), stride/4, cursors, ends, rows, isize, view[uint32](values), first, count)
	default:
		dropValues(view[uint64](tile), stride/8, cursors, ends, rows, isize, view[uint64](values), first, count)
	}
}

func dropValues[T any](tile []T, stride int, cursors, ends []uint64, rows []byte, isize int, values []T, first, count int) {
	switch isize {
	case 1:
		drop(tile, stride, cursors, ends, rows, values, first, count)
	case 2:
		drop(tile, stride, cursors, ends, view[uint16](rows), values, first, count)
	case 4:
		drop(tile, stride, cursors, ends, view[uint32](rows), values, first, count)
	default:
		drop(tile, stride, cursors, ends, view[uint64](rows), values, first, count)
	}
}

func drop[T any, I uint8 | uint16 | uint32 | uint64](tile []T, stride int, cursors, ends []uint64, rows []I, values []T, first, count int) {
	for j, end := range ends {
		p := cursors[j]
		for p < end {
			r := uint64(rows[p]) - uint64(first)
			if r >= uint64(count) {
				break
			}
			tile[int(r)*stride+j] = values[p]
			p++
		}
		cursors[j] = p
	}
}
