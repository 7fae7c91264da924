package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/tstore/tstore/codec"
)

// Suffix ends the name of a segment file; TempSuffix follows it until the file
// is whole.
const (
	Suffix     = ".seg"
	TempSuffix = ".tmp"
)

// FileName is the name of segment number in its directory.
func FileName(number uint64) string { return fmt.Sprintf("%010d%s", number, Suffix) }

// ParseFileName is the inverse of FileName. Names of other files give false.
func ParseFileName(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, Suffix)
	if !ok || len(digits) < 10 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && n > 0 && FileName(n) == name
}

// IsTemp reports whether name is that of a segment which was never finished.
func IsTemp(name string) bool { return strings.HasSuffix(name, Suffix+TempSuffix) }

// File is an open segment, mapped for reading. Its methods may be called by many
// goroutines; writing to it is Log's business.
type File struct {
	Header    *Header
	HeaderLen int64
	Path      string

	// Number and UUID are those of the header. A package has none there: in a store
	// it has those that the attach operation gives it.
	Number uint64
	UUID   ID

	raw      RawFile
	unmapped bool
	size     atomic.Int64 // bytes that may be read: the file's size, or the log's tail
	current  atomic.Pointer[Mapping]

	mu       sync.Mutex // guards the growth of the map
	mappings []*Mapping // all that were ever made, the current one last
}

// Open opens and maps the segment at path and checks its header. An unreadable
// header is ErrCorrupt: a file gets its final name only when it is whole.
func Open(fs FS, path string, writable bool) (*File, error) {
	flag := os.O_RDONLY
	if writable {
		flag = os.O_RDWR
	}
	raw, err := fs.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, raw: raw}
	if err := f.init(); err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// OpenReaderAt opens a segment that is no file of its own: size bytes, of which
// offset 0 of r is the first. Bytes gives copies then. name stands for a path in
// errors. r must not change, and stay usable until Retire, which does not close it.
func OpenReaderAt(r io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{Path: name, raw: readerAt{r, size}, unmapped: true}
	if err := f.init(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func (f *File) init() error {
	size, err := f.raw.Size()
	if err != nil {
		return err
	}
	if f.Header, f.HeaderLen, err = ReadHeader(f.raw, size); err != nil {
		return err
	}
	f.Number, f.UUID = f.Header.Number, f.Header.UUID
	if n, ok := ParseFileName(filepath.Base(f.Path)); ok && f.Header.Kind != KindPackage && n != f.Header.Number {
		return fmt.Errorf("%w: the header is that of segment %d", ErrCorrupt, f.Header.Number)
	}
	return f.grow(size)
}

// Mapped reports whether Bytes gives views of a map.
func (f *File) Mapped() bool { return !f.unmapped }

// Size is the number of bytes that may be read.
func (f *File) Size() int64 { return f.size.Load() }

// RefreshSize takes note of what another process has appended.
func (f *File) RefreshSize() error {
	size, err := f.raw.Size()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	if size == f.Size() {
		return nil
	}
	return f.grow(size)
}

// grow makes size the number of readable bytes, and the map long enough.
func (f *File) grow(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cur := f.current.Load(); !f.unmapped && (cur == nil || int64(len(cur.bytes)) < size) {
		length := size
		if mapBeyondEnd && f.Header.Kind == KindLog {
			// Room to grow, so that a log is mapped a few times in its life.
			// Addresses cost nothing.
			length = max(2*size, 64<<20)
		}
		m, err := mapFile(f.raw.File(), length)
		if err != nil {
			return err
		}
		f.mappings = append(f.mappings, m)
		f.current.Store(m)
	}
	f.size.Store(size)
	return nil
}

// AtPath reports whether the file's path still names it.
func (f *File) AtPath() (bool, error) { return IsFileAt(f.raw.File(), f.Path) }

// IsFileAt reports whether path names the open file f.
func IsFileAt(f *os.File, path string) (bool, error) {
	here, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(here, there), err
}

// EndsAt reports whether nothing has been written at off, the end of the last
// batch, yet. It is a cheap look, not a proof: damage is Walk's business.
func (f *File) EndsAt(off int64) bool {
	var b [8]byte
	n, err := f.raw.ReadAt(b[:], off)
	return (err == nil || err == io.EOF) && isZero(b[:n])
}

// Bytes is the range [off, off+n) of the map. It is valid until Retire. Of a
// segment that is not mapped it is a copy, at a multiple of Alignment in memory.
func (f *File) Bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > f.Size()-n {
		return nil, f.beyondEnd(off, n)
	}
	if f.unmapped {
		b := AlignedBytes(n)
		return b, f.ReadRange(b, off)
	}
	return f.current.Load().bytes[off : off+n : off+n], nil
}

// ReadAt fills b from offset off by pread, so that a bad sector or a file that
// was cut is an error and not a fault.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	return f.raw.ReadAt(b, off)
}

// ReadRange is ReadAt of the whole of b, with an error that names file and offset. What
// the disk can't read is ErrCorrupt, as it would be through the map.
func (f *File) ReadRange(b []byte, off int64) error {
	if off < 0 || off > f.Size()-int64(len(b)) {
		return f.beyondEnd(off, int64(len(b)))
	}
	return f.wrap(unreadable(readFull(f.raw, b, off)))
}

// unreadable makes ErrCorrupt of an error of the disk.
func unreadable(err error) error {
	if errors.Is(err, syscall.EIO) {
		return fmt.Errorf("%w: the disk can't read it: %w", ErrCorrupt, err)
	}
	return err
}

func (f *File) beyondEnd(off, n int64) error {
	return fmt.Errorf("%s: %w: a record of %d bytes at offset %d ends behind the file's %d bytes", f.Path, ErrCorrupt, n, off, f.Size())
}

// Contains reports whether addr lies in one of the maps of f.
func (f *File) Contains(addr uintptr) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.mappings {
		if m.Contains(addr) {
			return true
		}
	}
	return false
}

// AlignedBytes returns n zero bytes that start at a multiple of Alignment, so that
// a record read into them can be used as it lies.
func AlignedBytes(n int64) []byte {
	return AlignedPart(make([]byte, n+Alignment))[:n:n]
}

// AlignedPart is b from the first multiple of Alignment in memory on. b has at least
// Alignment bytes.
func AlignedPart(b []byte) []byte { return b[-addressOf(b)&(Alignment-1):] }

// Retire closes the file and retires its maps: every slice of them faults from
// now on.
func (f *File) Retire() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, m := range f.mappings {
		errs = append(errs, m.Retire())
	}
	f.mappings = nil
	errs = append(errs, f.raw.Close())
	return errors.Join(errs...)
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Head reads the head of the message at off by pread.
func (f *File) Head(off int64) (*codec.Head, error) {
	w := newWindow(f.raw, f.Size())
	first, err := w.peek(off, Alignment)
	if err == nil && first == nil {
		err = f.beyondEnd(off, Alignment)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: offset %d: %w", f.Path, off, err)
	}
	n, err := codec.HeadSize(first)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: offset %d: %w", f.Path, ErrCorrupt, off, err)
	}
	b, err := w.peek(off, n)
	if err == nil && b == nil {
		err = f.beyondEnd(off, n)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: offset %d: %w", f.Path, off, err)
	}
	head, err := codec.ParseHead(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: offset %d: %w", f.Path, ErrCorrupt, off, err)
	}
	return &head, nil
}

// Commit reads the commit record of f that lies at [off, end) and returns it with
// the CRC that it ends in.
func (f *File) Commit(off, end int64) (*Commit, uint32, error) {
	record, err := readRecord(f.raw, off, f.Size(), end-off)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: offset %d: %w", f.Path, off, err)
	}
	c, err := parseCommit(record, f.Header.UUID, off)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: offset %d: %w", f.Path, off, err)
	}
	return c, RecordCRC(record), nil
}
