package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// Log is the active segment: the one that batches are appended to. One
// goroutine at a time may append; Sync may run beside it.
//
// The file is kept longer than what it holds, by zeros that were written and
// not merely allocated: a durable append into such space costs the disk little
// more than half of one that makes the file grow.
type Log struct {
	*File
	start int64 // the tail when the log was taken up
	tail  int64 // just past the last whole batch
	end   int64 // the file's size; all between tail and end is zero
	buf   []byte

	holding sync.Mutex   // guards held, and is held itself while that is written
	held    bytes.Buffer // batches that are still to be written
	heldAt  int64        // where they belong
}

// maxHeld is how many bytes of batches are held back at most.
const maxHeld = 256 << 10

// Reserve is the space that puts leave free, in bytes, so that deletes and the
// closing mark can still be written when the disk is full.
const Reserve = 64 << 10

// WriteReserve is what a new log begins with, behind its header.
func WriteReserve(w io.Writer) error {
	_, err := w.Write(zeroChunk[:Reserve])
	return err
}

// NewLog makes f, whose batches end at tail and are followed by zeros alone,
// the segment to append to.
func NewLog(f *File, tail int64) *Log {
	return &Log{File: f, start: tail, tail: tail, end: f.Size()}
}

// Start is the position from which batches were appended since NewLog.
func (l *Log) Start() int64 { return l.start }

// Tail is the position just past the last batch.
func (l *Log) Tail() int64 { return l.tail }

// Append writes a batch of n bytes, which write hands to the writer it is given,
// at the tail. With reserve it leaves Reserve bytes free behind. If it fails the
// log ends where it did before; an ErrLogBroken means that not even this could be
// brought about, and nothing must be appended any more.
//
// With hold a small batch may be kept in memory until Flush or Sync writes it,
// together with others: one large write costs much less than many small ones.
//
// write may be called a second time, after a failure.
func (l *Log) Append(n int64, reserve, hold bool, write func(w io.Writer) error) error {
	if hold && n <= maxHeld/4 {
		if _, err := l.extend(n, reserve, false); err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
		return l.hold(n, write)
	}
	if err := l.Flush(); err != nil {
		return err
	}
	full, err := l.extend(n, reserve, true)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Path, err)
	}
	left := full < l.end
	err = l.write(n, full, write)
	if err == nil || !left || errors.Is(err, ErrLogBroken) {
		return err
	}
	// Perhaps the zeros ahead have taken the space that the batch needed.
	if full, xerr := l.extend(n, reserve, false); xerr == nil {
		err = l.write(n, full, write)
	}
	return err
}

// write writes a batch of n bytes at the tail, where there is space for it. If it
// fails the file is cut off at end and holds nothing but zeros behind the tail.
func (l *Log) write(n, end int64, write func(w io.Writer) error) error {
	w := &writer{raw: l.raw, off: l.tail, buf: l.buf[:0], eager: true}
	defer func() { l.buf = w.buf }()
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil && w.off != l.tail+n {
		err = fmt.Errorf("batch of %d bytes where %d were announced", w.off-l.tail, n)
	}
	if err != nil {
		// What was written of the batch must not be taken for one later.
		dirty := max(w.off, l.tail+n)
		if errors.Is(err, syscall.EFBIG) {
			// Beyond the largest size nothing was written, nor could be now.
			dirty = w.off
		}
		var undo error
		if end < l.end {
			undo = l.cut(end)
			dirty = min(dirty, end)
		}
		if undo == nil {
			undo = l.zero(l.tail, dirty)
		}
		if undo != nil {
			err = errors.Join(err, ErrLogBroken, undo)
		}
		return fmt.Errorf("%s: %w", l.Path, err)
	}
	l.tail += n
	return nil
}

// hold appends a batch in memory.
func (l *Log) hold(n int64, write func(w io.Writer) error) error {
	l.holding.Lock()
	defer l.holding.Unlock()
	if int64(l.held.Len())+n > maxHeld {
		if err := l.flush(); err != nil {
			return err
		}
	}
	before := l.held.Len()
	if before == 0 {
		l.heldAt = l.tail
	}
	err := write(&l.held)
	if got := int64(l.held.Len() - before); err == nil && got != n {
		err = fmt.Errorf("batch of %d bytes where %d were announced", got, n)
	}
	if err != nil {
		l.held.Truncate(before)
		return fmt.Errorf("%s: %w", l.Path, err)
	}
	l.tail += n
	return nil
}

// Flush writes what Append has held back. It may run beside Append. If it fails
// it is not known how much of it is in the file: ErrLogBroken.
func (l *Log) Flush() error {
	l.holding.Lock()
	defer l.holding.Unlock()
	return l.flush()
}

func (l *Log) flush() error {
	if l.held.Len() == 0 {
		return nil
	}
	w := writer{raw: l.raw, off: l.heldAt}
	if err := w.put(l.held.Bytes()); err != nil {
		return fmt.Errorf("%s: %w: %w", l.Path, ErrLogBroken, err)
	}
	l.held.Reset()
	return nil
}

// ErrLogBroken says that a failed write left bytes in the log which could not be
// taken back.
var ErrLogBroken = errors.New("the log can't be written to until the store is reopened")

// extend makes sure that n bytes, and the reserve, lie between the tail and the
// end of the file. With leaveOut it writes no zeros to whole chunks at the end
// that the batch is going to fill at once. It returns the position up to which
// the file has no such hole.
func (l *Log) extend(n int64, reserve, leaveOut bool) (full int64, err error) {
	need := l.tail + n
	if reserve {
		need += Reserve
	}
	if need <= l.end {
		return l.end, nil
	}
	// As much again as the log holds, between the reserve and a chunk, so that a
	// small store stays small.
	ahead := min(max(l.tail, Reserve), chunkSize)
	target := (need + ahead + ahead - 1) / ahead * ahead
	if target >= chunkSize {
		target = (target + chunkSize - 1) &^ (chunkSize - 1)
	}
	full = target
	from := l.end
	// Only where the file can be cut off again if the batch does not come about.
	if filled := (l.tail + n) &^ (chunkSize - 1); leaveOut && truncateMapped && filled > from {
		full, from = l.end, filled
	}
	if err := l.zero(from, target); err != nil {
		// Perhaps there is room for what is needed, if not for more.
		if terr := l.raw.Truncate(l.end); terr != nil {
			return 0, errors.Join(err, terr)
		}
		full, target = align(need), align(need)
		if err = l.zero(l.end, target); err != nil {
			return 0, errors.Join(err, l.raw.Truncate(l.end))
		}
	}
	l.end = target
	return full, l.grow(target)
}

// cut makes end the end of the file again.
func (l *Log) cut(end int64) error {
	if err := l.raw.Truncate(end); err != nil {
		return err
	}
	l.end = end
	l.size.Store(end)
	return nil
}

var zeroChunk [chunkSize]byte

// zero writes zeros to [from, to) of the file.
func (l *Log) zero(from, to int64) error {
	w := writer{raw: l.raw, off: from}
	for w.off < to {
		n := min(chunkSize-w.off%chunkSize, to-w.off)
		if err := w.put(zeroChunk[:n]); err != nil {
			return err
		}
	}
	return nil
}

// Sync makes durable all that was appended before the call.
func (l *Log) Sync() error {
	if err := l.Flush(); err != nil {
		return err
	}
	if err := l.raw.Datasync(); err != nil {
		return fmt.Errorf("%s: %w", l.Path, err)
	}
	return nil
}

// Rewrite writes every byte of [from, end of file) again as it is and syncs: a
// page that the kernel failed to write in an earlier life may look clean, and
// only a new write brings it to the disk.
func (l *Log) Rewrite(from int64) error {
	buf := make([]byte, chunkSize)
	for off := from; off < l.end; {
		n := min(chunkSize-off%chunkSize, l.end-off)
		if err := readFull(l.raw, buf[:n], off); err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
		w := writer{raw: l.raw, off: off}
		if err := w.put(buf[:n]); err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
		off += n
	}
	return l.Sync()
}

// Trim cuts the zeros off behind the tail, but for the given number of bytes, where a
// mapped file can be cut, and syncs.
func (l *Log) Trim(keep int64) error {
	if end := l.tail + keep; l.end > end && truncateMapped {
		if err := l.cut(end); err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
	}
	return l.Sync()
}
