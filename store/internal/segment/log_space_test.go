package segment

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// recordingFile notes writes and syncs of a file.
type recordingFile struct {
	RawFile
	writes [][2]int64 // offset and length
	syncs  int
}

func (f *recordingFile) WriteAt(b []byte, off int64) (int, error) {
	f.writes = append(f.writes, [2]int64{off, int64(len(b))})
	return f.RawFile.WriteAt(b, off)
}

func (f *recordingFile) Datasync() error {
	f.syncs++
	return f.RawFile.Datasync()
}

// TestLogSpaceAhead appends batches of all sizes: behind each there is the reserve at
// least, a small log stays small, and a large one grows by whole chunks.
func TestLogSpaceAhead(t *testing.T) {
	l := newTestLog(t)
	for _, n := range []int{64, 640, 20 << 10, 64 << 10, 64, 200 << 10, 1 << 20, 64, 6 << 20, 64, 4<<20 - 64} {
		appendRecord(t, l, false, record(1, n))
		ahead := l.Size() - l.Tail()
		if ahead < Reserve || ahead > max(4*l.Tail(), 4*Reserve) || ahead > 3*chunkSize {
			t.Errorf("after %d bytes, the last %d: %d bytes ahead", l.Tail(), n, ahead)
		}
		if l.Size() > chunkSize && l.Size()%chunkSize != 0 {
			t.Errorf("the file has %d bytes, no multiple of a chunk", l.Size())
		}
		info, err := os.Stat(l.Path)
		if err != nil || info.Size() != l.Size() {
			t.Errorf("the file has %d bytes, the log says %d; %v", info.Size(), l.Size(), err)
		}
	}
	// What takes no reserve uses it up before the file grows.
	before := l.Size()
	for l.Tail()+64 <= before {
		err := l.Append(64, false, false, func(w io.Writer) error { _, err := w.Write(record(2, 64)); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	if l.Size() != before {
		t.Errorf("the file grew from %d to %d bytes with room in it", before, l.Size())
	}
}

// TestLogTrim cuts the zeros off and goes on.
func TestLogTrim(t *testing.T) {
	l := newTestLog(t)
	start := l.Tail()
	appendRecord(t, l, false, record(1, 640))
	if err := l.Trim(0); err != nil {
		t.Fatal(err)
	}
	if truncateMapped && l.Size() != l.Tail() {
		t.Errorf("%d bytes are left of a log of %d", l.Size(), l.Tail())
	}
	appendRecord(t, l, false, record(2, 640))
	want := append(record(1, 640), record(2, 640)...)
	if got := inFile(t, l, start, len(want)); !bytes.Equal(got, want) {
		t.Error("the file has other bytes than were appended")
	}
}

// TestLogRewrite writes the end of a log again: every byte of it once, the same, and
// then a sync.
func TestLogRewrite(t *testing.T) {
	l := newTestLog(t)
	appendRecord(t, l, false, record(1, 5<<20))
	appendRecord(t, l, false, record(2, 640))
	before := inFile(t, l, 0, int(l.Size()))
	for _, from := range []int64{0, l.HeaderLen, chunkSize, l.Tail() - 640, l.Tail(), l.Size()} {
		f := &recordingFile{RawFile: l.raw}
		l.raw = f
		if err := l.Rewrite(from); err != nil {
			t.Fatal(err)
		}
		l.raw = f.RawFile
		at := from
		for _, w := range f.writes {
			if w[0] != at {
				t.Errorf("from %d: write of %d bytes at %d, the last one ended at %d", from, w[1], w[0], at)
			}
			at = w[0] + w[1]
		}
		if at != l.Size() || f.syncs != 1 {
			t.Errorf("from %d: written up to %d of %d, %d syncs", from, at, l.Size(), f.syncs)
		}
	}
	if !bytes.Equal(before, inFile(t, l, 0, int(l.Size()))) {
		t.Error("the file is not as it was")
	}
}
