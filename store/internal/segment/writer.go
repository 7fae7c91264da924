package segment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// chunkSize is the unit in which files are written, in bytes. Writes of at least
// 2 MiB at multiples of 2 MiB let the kernel keep the file in huge pages, which
// makes the first read through a map several times faster than small writes do
// (docs/DESIGN.md has the figures).
const chunkSize = 4 << 20

// writer writes a file forward, so that all but the first and the last write
// are whole chunks at multiples of chunkSize. Large slices are written from
// where they lie.
//
// If it is eager, what is written begins to go to the disk while more is written, so
// that a sync at the end has less left to wait for. A steady file does that by itself.
type writer struct {
	raw    RawFile
	off    int64 // file offset of the next byte to go out
	buf    []byte
	pieces *pieces // by which chunks are written; nil stands for &writing

	eager   bool
	waiting int64 // bytes written that have not begun to go to the disk
}

// beginBytes is how much is written before it is told to go to the disk.
const beginBytes = 16 << 20

func (w *writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		room := chunkSize - (w.off+int64(len(w.buf)))%chunkSize
		if len(w.buf) == 0 && room == chunkSize && len(p) >= chunkSize {
			whole := len(p) &^ (chunkSize - 1)
			if err := w.put(p[:whole]); err != nil {
				return 0, err
			}
			p = p[whole:]
			continue
		}
		take := min(room, int64(len(p)))
		w.buf = append(w.buf, p[:take]...)
		p = p[take:]
		if take == room {
			if err := w.Flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// Flush writes what is buffered.
func (w *writer) Flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.put(w.buf)
	w.buf = w.buf[:0]
	return err
}

// put writes p chunk by chunk, so that a signal gets its turn in between.
func (w *writer) put(p []byte) error {
	pieces := cmp.Or(w.pieces, &writing)
	for len(p) >= chunkSize {
		size, start := pieces.next(), time.Now()
		if err := w.cut(p[:chunkSize], size); err != nil {
			return err
		}
		pieces.took(size, time.Since(start))
		p = p[chunkSize:]
	}
	return w.cut(p, chunkSize)
}

// cut writes p by writes of size bytes.
func (w *writer) cut(p []byte, size int) error {
	for len(p) > 0 {
		piece := p[:min(len(p), size)]
		n, err := w.raw.WriteAt(piece, w.off)
		w.off += int64(n)
		if errors.Is(err, syscall.EFBIG) {
			err = fmt.Errorf("%w: the file system, or the limit of this process (ulimit -f), allows no file of that size", err)
		}
		if err != nil {
			return fmt.Errorf("writing %d bytes at offset %d: %w", len(piece), w.off, err)
		}
		p = p[n:]
		if w.waiting += int64(n); w.eager && w.waiting >= beginBytes {
			beginWriteBack(w.raw.File(), w.off-w.waiting, w.waiting)
			w.waiting = 0
		}
	}
	return nil
}

// ErrLeftBehind says that the file which could not be created may be there all the
// same when the store is opened again.
var ErrLeftBehind = errors.New("the file may have been left behind")

// Create writes a new segment with header h into dir and opens it: the header,
// then what body writes, which may be nil. The file carries a temporary name
// until all of it is on disk; when Create returns, its final name is durable
// too. If it fails it leaves nothing behind, or the error is ErrLeftBehind.
func Create(fs FS, dir string, h *Header, body func(w io.Writer) error) (*File, error) {
	final := filepath.Join(dir, FileName(h.Number))
	temp := final + TempSuffix
	raw, err := fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	err = fill(raw, h, body)
	if cerr := raw.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		fs.Remove(temp)
		return nil, fmt.Errorf("creating %s: %w", final, err)
	}
	if err := fs.Rename(temp, final); err != nil {
		fs.Remove(temp)
		return nil, fmt.Errorf("%w: %w", ErrLeftBehind, err)
	}
	if err := fs.SyncDir(dir); err != nil {
		fs.Remove(final)
		return nil, fmt.Errorf("syncing %s: %w: %w", dir, ErrLeftBehind, err)
	}
	f, err := Open(fs, final, true)
	if err != nil {
		fs.Remove(final)
		return nil, fmt.Errorf("%w: %w", ErrLeftBehind, err)
	}
	return f, nil
}

func fill(raw RawFile, h *Header, body func(w io.Writer) error) error {
	w := &writer{raw: raw, eager: true}
	if _, err := w.Write(AppendHeader(nil, h)); err != nil {
		return err
	}
	if body != nil {
		if err := body(w); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return raw.Datasync()
}
