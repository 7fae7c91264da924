package segment

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// SealedWriter writes a segment that is sealed from the start: header, records,
// frozen index, trailer. The file has a temporary name until Finish.
type SealedWriter struct {
	fs     FS
	dir    string
	header *Header
	path   string // final
	raw    RawFile
	chunks *writer
	out    *countingWriter
	buf    []byte
}

// NewSealedWriter begins a segment with header h in dir.
func NewSealedWriter(fs FS, dir string, h *Header) (*SealedWriter, error) {
	path := filepath.Join(dir, FileName(h.Number))
	raw, err := fs.OpenFile(path+TempSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	raw = Steady(raw)
	w := &SealedWriter{fs: fs, dir: dir, header: h, path: path, raw: raw, chunks: &writer{raw: raw}}
	w.out = &countingWriter{w: w.chunks}
	if _, err := w.out.Write(AppendHeader(nil, h)); err != nil {
		w.Abort()
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	return w, nil
}

// Offset is the number of bytes written so far.
func (w *SealedWriter) Offset() int64 { return w.out.off }

// InFile is the number of bytes that have reached the file, which is less.
func (w *SealedWriter) InFile() int64 { return w.chunks.off }

// CopyRecord copies n bytes at off of another segment, a record, by pread. It
// returns where the record lies now and the CRC-32C of what was copied.
func (w *SealedWriter) CopyRecord(from *File, off, n int64) (int64, uint32, error) {
	if w.buf == nil {
		w.buf = make([]byte, 1<<20)
	}
	if n < 0 || off < 0 || off > from.Size()-n {
		return 0, 0, from.beyondEnd(off, n)
	}
	at := w.out.off
	w.out.crc = 0
	for n > 0 {
		b := w.buf[:min(n, int64(len(w.buf)))]
		if err := from.ReadRange(b, off); err != nil {
			return 0, 0, err
		}
		if _, err := w.out.Write(b); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", w.path, err)
		}
		off += int64(len(b))
		n -= int64(len(b))
	}
	return at, w.out.crc, nil
}

// Finish ends the segment with a frozen index of size bytes, and opens it. It is
// durable under its name then. After an error nothing is left of it.
func (w *SealedWriter) Finish(minSeq, maxSeq uint64, size int64, writeIndex func(w io.Writer) error) (*File, error) {
	s := &Seal{UUID: w.header.UUID, Kind: w.header.Kind, MinSeq: minSeq, MaxSeq: maxSeq}
	err := writeEnd(w.out, s, size, writeIndex)
	if err == nil {
		err = w.chunks.Flush()
	}
	if err == nil {
		err = w.raw.Datasync()
	}
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("writing %s: %w", w.path, err)
	}
	if err := w.raw.Close(); err != nil {
		w.fs.Remove(w.path + TempSuffix)
		return nil, fmt.Errorf("writing %s: %w", w.path, err)
	}
	if err := w.fs.Rename(w.path+TempSuffix, w.path); err != nil {
		w.fs.Remove(w.path + TempSuffix)
		return nil, err
	}
	if err := w.fs.SyncDir(w.dir); err != nil {
		return nil, fmt.Errorf("syncing %s: %w", w.dir, err)
	}
	return Open(w.fs, w.path, true)
}

// Abort gives the segment up and removes what was written.
func (w *SealedWriter) Abort() {
	w.raw.Close()
	w.fs.Remove(w.path + TempSuffix)
}
