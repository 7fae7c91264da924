package layout

import (
	"fmt"

	"github.com/tstore/tstore/vec"
)

// rowScatter is a dense matrix that is to be written, all of it, row by row.
type rowScatter struct {
	dst      []byte
	zeroed   bool // it holds nothing but zeros
	width    int64
	cols     int64
	pointers Index // where the elements of each row begin, and where those of the last end
	places   Index // the column of each element
	values   []byte
	ascend   bool // the columns of each row must ascend
}

// scatterRows writes all rows.
func (c *conversion) scatterRows(s rowScatter) error {
	rows := s.pointers.Len() - 1
	parts := min(int64(len(s.dst))/grain.stream, rows)
	if workers := min(c.workers(int64(len(s.dst))), int(parts)); workers > 1 {
		return s.together(rows, parts, workers)
	}
	return s.rows(0, rows)
}

func (s rowScatter) together(rows, parts int64, workers int) error {
	var t turns
	t.begin(parts)
	errs := make([]error, workers)
	inParallel(workers, func(i int) {
		for {
			k, ok := t.take()
			if !ok {
				return
			}
			if errs[i] = s.rows(rows*k/parts, rows*(k+1)/parts); errs[i] != nil {
				t.giveUp()
			}
		}
	})
	return firstError(errs)
}

// rows writes rows from to to−1.
func (s rowScatter) rows(from, to int64) error {
	row := s.cols * s.width
	scatter := vec.ScatterRows
	if s.ascend {
		scatter = vec.ScatterAscending
	}
	return scatterError(scatter(s.dst[from*row:to*row], s.zeroed, int(s.width), int(s.cols), s.pointers.Slice(from, to+1).data, s.pointers.typ.kernel(),
		s.places.data, s.places.typ.kernel(), s.values))
}

// scatterError makes an error of the kernels one of this package.
func scatterError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*vec.OrderError); ok {
		return fmt.Errorf("%w: %w", ErrOrder, err)
	}
	return fmt.Errorf("%w: %w", ErrIndex, err)
}

// scatterColumns writes a dense matrix, all of it, of the elements of t, which is kept column by column and must be in order.
func (c *conversion) scatterColumns(dst []byte, zeroed bool, t *compressed) error {
	rows := t.shape[0]
	workers := int(min(int64(c.workers(int64(len(dst)))), int64(len(dst))/grain.stream, rows))
	if workers > 1 {
		if err := c.validateLines(t, 1); err != nil {
			return err
		}
		// Each goroutine has a copy of what belongs to its rows.
		need, err := c.reserve(t.nnz, int64(t.dtype.width)+int64(t.indices.typ.Size()))
		if err != nil {
			return err
		}
		pointers, err := c.reserve((t.shape[1]+1)*int64(workers), 16)
		if err != nil {
			return err
		}
		defer c.free(need + pointers)
		return c.scatterColumnsTogether(dst, zeroed, t, workers)
	}
	return scatterColumns(dst, zeroed, t)
}

func scatterColumns(dst []byte, zeroed bool, t *compressed) error {
	return scatterError(vec.ScatterAscendingColumns(dst, zeroed, int(t.dtype.width), int(t.shape[1]), t.indptr.data, t.indptr.typ.kernel(),
		t.indices.data, t.indices.typ.kernel(), t.data))
}

func (c *conversion) scatterColumnsTogether(dst []byte, zeroed bool, t *compressed, workers int) error {
	rows, row := t.shape[0], t.shape[1]*int64(t.dtype.width)
	errs := make([]error, workers)
	inParallel(workers, func(i int) {
		h := c.helper()
		defer h.end()
		from, to := rows*int64(i)/int64(workers), rows*int64(i+1)/int64(workers)
		if errs[i] = h.cutRows(t, from, to); errs[i] == nil {
			errs[i] = scatterColumns(dst[from*row:to*row], zeroed, &h.turned)
		}
	})
	return firstError(errs)
}

// cutRows makes h.turned the rows from to to−1 of t, which is kept column by column and in order.
func (h *conversion) cutRows(t *compressed, from, to int64) error {
	columns := t.shape[1]
	pointers, err := spaceOf[uint64](h, spaceIndptr, columns+1)
	if err != nil {
		return err
	}
	starts, err := spaceOf[uint64](h, spaceCursors, columns)
	if err != nil {
		return err
	}
	switch t.indices.typ.Size() {
	case 1:
		findRows(t.indptr, t.indices.data, starts, pointers, uint64(from), uint64(to))
	case 2:
		findRows(t.indptr, words[uint16](t.indices.data), starts, pointers, uint64(from), uint64(to))
	case 4:
		findRows(t.indptr, words[uint32](t.indices.data), starts, pointers, uint64(from), uint64(to))
	default:
		findRows(t.indptr, words[uint64](t.indices.data), starts, pointers, uint64(from), uint64(to))
	}
	n := int64(pointers[columns])
	cut, size, width := &h.turned, int64(t.indices.typ.Size()), int64(t.dtype.width)
	cut.sparse = sparse{dtype: t.dtype, shape: t.shape, nnz: n}
	cut.indptr, cut.indices.typ = Index{IndexUint64, vec.Bytes(pointers)}, t.indices.typ
	if cut.indices.data, err = h.spaceFor(spaceIndices, n, size); err != nil {
		return err
	}
	if cut.data, err = h.spaceFor(spaceFound, n, width); err != nil {
		return err
	}
	for j, start := range starts {
		at, stop := int64(pointers[j]), int64(pointers[j+1])
		start := int64(start)
		copy(cut.data[at*width:stop*width], t.data[start*width:])
		copyAdded(cut.indices.Slice(at, stop), t.indices.data[start*size:(start+stop-at)*size], -uint64(from))
	}
	return nil
}

// findRows finds which elements of each column, whose rows ascend, lie in rows from to to−1: where they start, and how
// many there are up to the end of the column.
func findRows[I indexWord](indptr Index, indices []I, starts, pointers []uint64, from, to uint64) {
	var buf lineBuffer
	start, n := uint64(0), uint64(0)
	pointers[0] = 0
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for i, stop := range indptr.chunk(buf[:], first) {
			column := indices[start:stop]
			lo := lowerBound(column, from)
			n += uint64(lowerBound(column[lo:], to))
			starts[first-1+int64(i)] = start + uint64(lo)
			pointers[first+int64(i)] = n
			start = stop
		}
	}
}

// lowerBound returns the number of integers less than v, in ascending order.
func lowerBound[I indexWord](x []I, v uint64) int {
	lo, hi := 0, len(x)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); uint64(x[mid]) < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
