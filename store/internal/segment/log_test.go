package segment

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// newTestLog makes an empty log.
func newTestLog(t *testing.T) *Log {
	t.Helper()
	f, err := Create(OS, t.TempDir(), &Header{Kind: KindLog, Number: 1, StoreID: ID{1}, UUID: ID{2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Retire() })
	return NewLog(f, f.HeaderLen)
}

// record is a batch of n equal bytes.
func record(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }

func appendRecord(t *testing.T, l *Log, hold bool, r []byte) {
	t.Helper()
	err := l.Append(int64(len(r)), true, hold, func(w io.Writer) error {
		_, err := w.Write(r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inFile is what the file has from start on.
func inFile(t *testing.T, l *Log, start int64, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if err := l.ReadRange(b, start); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLogHoldsBatchesBack(t *testing.T) {
	type step struct {
		hold bool
		size int
	}
	for _, c := range []struct {
		name  string
		steps []step
		held  int64 // bytes at the end that only Flush brings into the file
	}{
		{"one that may not be held", []step{{false, 4096}}, 0},
		{"small ones", []step{{true, 4096}, {true, 640}, {true, 64}}, 4800},
		{"one that may not be held behind some that may", []step{{true, 4096}, {false, 640}}, 0},
		{"a large one behind a small one", []step{{true, 4096}, {true, maxHeld}}, 0},
		{"more than is held at most", []step{{true, maxHeld / 4}, {true, maxHeld / 4}, {true, maxHeld / 4}, {true, maxHeld / 4}, {true, 64}}, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newTestLog(t)
			start := l.Tail()
			var want []byte
			for i, s := range c.steps {
				r := record(byte(i+1), s.size)
				appendRecord(t, l, s.hold, r)
				want = append(want, r...)
			}
			if got := l.Tail() - start; got != int64(len(want)) {
				t.Fatalf("the tail is %d bytes on, want %d", got, len(want))
			}
			written := bytes.Clone(want)
			clear(written[int64(len(want))-c.held:])
			if got := inFile(t, l, start, len(want)); !bytes.Equal(got, written) {
				t.Errorf("before Flush the file has other bytes than those that can't be held back")
			}
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
			if got := inFile(t, l, start, len(want)); !bytes.Equal(got, want) {
				t.Errorf("after Sync the file has other bytes than were appended")
			}
		})
	}
}

func TestLogDropsABatchThatFails(t *testing.T) {
	wrong := errors.New("wrong")
	for _, hold := range []bool{false, true} {
		for _, c := range []struct {
			name  string
			write func(w io.Writer) error
		}{
			{"an error", func(w io.Writer) error {
				w.Write(record(9, 100))
				return wrong
			}},
			{"too short", func(w io.Writer) error {
				_, err := w.Write(record(9, 64))
				return err
			}},
			{"too long", func(w io.Writer) error {
				_, err := w.Write(record(9, 192))
				return err
			}},
		} {
			l := newTestLog(t)
			start := l.Tail()
			appendRecord(t, l, hold, record(1, 64))
			if err := l.Append(128, true, hold, c.write); err == nil || errors.Is(err, ErrLogBroken) {
				t.Errorf("hold %v, %s: %v, want an error that leaves the log as it was", hold, c.name, err)
			}
			appendRecord(t, l, hold, record(2, 64))
			if err := l.Flush(); err != nil {
				t.Fatal(err)
			}
			want := append(append(record(1, 64), record(2, 64)...), make([]byte, 128)...)
			if got := inFile(t, l, start, len(want)); !bytes.Equal(got, want) {
				t.Errorf("hold %v, %s: the file has bytes of the batch that failed, or lacks others", hold, c.name)
			}
		}
	}
}

// fullDisk is a file on a disk with room for so many pages, counting what was written to it.
type fullDisk struct {
	RawFile
	room    int
	pages   map[int64]bool
	written int64
}

var errFull = errors.New("no space left")

func (d *fullDisk) WriteAt(b []byte, off int64) (int, error) {
	n := 0
	for n < len(b) {
		page := (off + int64(n)) / 4096
		if !d.pages[page] && len(d.pages) >= d.room {
			return n, errFull
		}
		d.pages[page] = true
		step := min(int(4096-(off+int64(n))%4096), len(b)-n)
		if _, err := d.RawFile.WriteAt(b[n:n+step], off+int64(n)); err != nil {
			return n, err
		}
		n += step
	}
	d.written += int64(n)
	return n, nil
}

func (d *fullDisk) Truncate(size int64) error {
	for page := range d.pages {
		if page >= (size+4095)/4096 {
			delete(d.pages, page)
		}
	}
	return d.RawFile.Truncate(size)
}

func TestLogWritesLargeBatchesOnce(t *testing.T) {
	if !truncateMapped {
		t.Skip("where a mapped file can't be made shorter, zeros come first")
	}
	l := newTestLog(t)
	d := &fullDisk{RawFile: l.raw, room: 1 << 20, pages: map[int64]bool{}}
	l.raw = d
	const n = 5*chunkSize + 640
	for i := range 3 {
		before := d.written
		appendRecord(t, l, false, record(byte(i+1), n))
		if got, most := d.written-before, int64(n+3*chunkSize); got > most {
			t.Errorf("batch %d of %d bytes: %d bytes were written, want at most %d", i, n, got, most)
		}
	}
	if l.Size()%chunkSize != 0 || l.Size() <= l.Tail() {
		t.Errorf("the log is %d bytes long and ends at %d, want zeros up to a whole chunk", l.Size(), l.Tail())
	}
	for i := range 3 {
		if got := inFile(t, l, l.HeaderLen+int64(i)*n, n); !bytes.Equal(got, record(byte(i+1), n)) {
			t.Errorf("batch %d is not in the file as it was appended", i)
		}
	}
}

func TestLogOnAFullDisk(t *testing.T) {
	const large = 2*chunkSize + 640
	for _, c := range []struct {
		name string
		room int64 // bytes behind the tail
		ok   bool
	}{
		{"no room for a chunk", chunkSize / 2, false},
		{"no room for all of it", large - 4096, false},
		{"no room for the reserve", large + Reserve/2, false},
		{"no room for zeros ahead", large + 2*Reserve, true},
		{"room", large + 3*chunkSize, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newTestLog(t)
			d := &fullDisk{RawFile: l.raw, room: 1 << 20, pages: map[int64]bool{}}
			l.raw = d
			start := l.Tail()
			appendRecord(t, l, false, record(1, 640))
			d.room = int((l.Tail() + c.room) / 4096)
			err := l.Append(large, true, false, func(w io.Writer) error {
				_, err := w.Write(record(2, large))
				return err
			})
			want := append(record(1, 640), record(2, large)...)
			if c.ok && err != nil {
				t.Fatalf("a batch for which there is room: %v", err)
			}
			if !c.ok {
				if !errors.Is(err, errFull) || errors.Is(err, ErrLogBroken) {
					t.Fatalf("a batch for which there is no room: %v, want an error that leaves the log as it was", err)
				}
				want = want[:640]
				// What is small still finds room, in the reserve.
				if err := l.Append(64, false, false, func(w io.Writer) error {
					_, err := w.Write(record(3, 64))
					return err
				}); err != nil {
					t.Fatalf("a small batch on a full disk: %v", err)
				}
				want = append(want, record(3, 64)...)
			}
			if got := inFile(t, l, start, len(want)); !bytes.Equal(got, want) {
				t.Error("the file has other bytes than were appended")
			}
			rest := inFile(t, l, l.Tail(), int(l.Size()-l.Tail()))
			if i := bytes.IndexFunc(rest, func(r rune) bool { return r != 0 }); i >= 0 {
				t.Errorf("there is something other than zero %d bytes behind the tail", i)
			}
		})
	}
}
