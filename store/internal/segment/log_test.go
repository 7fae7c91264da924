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
