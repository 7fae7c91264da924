package segment

import (
	"fmt"
	"io"
)

// window reads a file forward in large pieces. It never maps: what it looks at
// may be growing, torn or cut by another process, and then pread gives an error
// where a map would give a fault.
type window struct {
	r    io.ReaderAt
	size int64 // bytes that may be looked at
	buf  []byte
	off  int64 // file offset of buf
}

const (
	// windowSmall is read when the last look was elsewhere, windowLarge when it
	// was close by: a log of small records is read in few calls, one of large
	// records without reading their bodies.
	windowSmall = 16 << 10
	windowLarge = 512 << 10
)

func newWindow(r io.ReaderAt, size int64) *window { return &window{r: r, size: size} }

// forget makes the next look read from the file again.
func (w *window) forget() { w.buf = w.buf[:0] }

// peek returns n bytes at off, or nil if the file has not that many: fewer than
// size said, perhaps, because the writer has cut off the zeros behind the log. They
// are valid until the next call.
func (w *window) peek(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > w.size-n {
		return nil, nil
	}
	if off >= w.off && off+n <= w.off+int64(len(w.buf)) {
		return w.buf[off-w.off:][:n], nil
	}
	want := int64(windowSmall)
	if near := w.off + int64(len(w.buf)); off >= w.off && off <= near {
		want = windowLarge
	}
	want = min(max(want, n), w.size-off)
	if int64(cap(w.buf)) < want {
		w.buf = make([]byte, want)
	}
	got, err := w.r.ReadAt(w.buf[:want], off)
	w.buf, w.off = w.buf[:got], off
	switch {
	case int64(got) == want:
	case err != io.EOF:
		w.forget()
		return nil, fmt.Errorf("reading %d bytes at offset %d: %w", want, off, err)
	default:
		w.size = off + int64(got)
		if int64(got) < n {
			return nil, nil
		}
	}
	return w.buf[:n], nil
}
