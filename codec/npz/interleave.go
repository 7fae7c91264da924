package npz

import (
	"io"

	"github.com/tstore/tstore/layout"
)

// interleaveBytes is about how much an interleaver puts together at a time.
const interleaveBytes = 64 << 10

// interleaver gives the bytes of an index matrix in row-major order, whose columns are arrays of
// integers of one type and length.
type interleaver struct {
	axes []layout.Index
	next int64  // row
	made []byte // rows that were put together, or what is left of them
	buf  []byte
}

func (r *interleaver) Read(b []byte) (int, error) {
	if len(r.made) == 0 {
		r.fill()
		if len(r.made) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(b, r.made)
	r.made = r.made[n:]
	return n, nil
}

func (r *interleaver) fill() {
	width := r.axes[0].Type().Size()
	row := width * len(r.axes)
	count := min(int64(interleaveBytes/row), r.axes[0].Len()-r.next)
	if r.buf == nil {
		r.buf = make([]byte, interleaveBytes/row*row)
	}
	r.made = r.buf[:count*int64(row)]
	for column, x := range r.axes {
		from := x.Slice(r.next, r.next+count).Bytes()
		for at := column * width; at < len(r.made); at += row {
			copy(r.made[at:at+width], from[:width])
			from = from[width:]
		}
	}
	r.next += count
}
