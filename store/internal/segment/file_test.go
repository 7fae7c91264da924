package segment

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestFileNames(t *testing.T) {
	for n, want := range map[uint64]string{1: "0000000001.seg", 42: "0000000042.seg", 9_999_999_999: "9999999999.seg", 10_000_000_000: "10000000000.seg", 1<<64 - 1: "18446744073709551615.seg"} {
		if got := FileName(n); got != want {
			t.Errorf("FileName(%d) is %q, want %q", n, got, want)
		}
		if got, ok := ParseFileName(want); !ok || got != n {
			t.Errorf("ParseFileName(%q) is %d, %v, want %d", want, got, ok, n)
		}
	}
	for _, name := range []string{"", ".seg", "0000000000.seg", "1.seg", "00000000001.seg", "0000000001", "0000000001.seg.tmp", "0000000001.SEG", "+000000001.seg", "-000000001.seg", "000000000a.seg", "18446744073709551616.seg", "0000000001.seg "} {
		if n, ok := ParseFileName(name); ok {
			t.Errorf("ParseFileName(%q) is %d, want none", name, n)
		}
	}
	if !IsTemp("0000000001.seg.tmp") || IsTemp("0000000001.seg") || IsTemp("x.tmp") {
		t.Error("IsTemp does not tell which names are those of unfinished segments")
	}
}

// TestFileGrowth grows a file out of its map several times: what was seen in an old
// map stays there, what is new is in the new one, and nothing is read beyond the end.
func TestFileGrowth(t *testing.T) {
	l := newTestLog(t)
	start := l.Tail()
	first, second := bytes.Repeat([]byte{1}, 64), bytes.Repeat([]byte{2}, 64)
	appendRecord(t, l, false, first)
	seen, err := l.Bytes(start, 64)
	if err != nil {
		t.Fatal(err)
	}
	maps := len(l.mappings)
	for range 30 {
		appendRecord(t, l, false, make([]byte, 5<<20))
	}
	at := l.Tail()
	appendRecord(t, l, false, second)
	again, err := l.Bytes(at, 64)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(seen, first) || !bytes.Equal(again, second) {
		t.Error("the maps do not show what was written")
	}
	if mapBeyondEnd && (len(l.mappings) == maps || len(l.mappings) > maps+3) {
		t.Errorf("%d maps after %d, while the file grew to %d bytes: they should double", len(l.mappings), maps, l.Size())
	}
	for _, m := range l.mappings {
		if addr := addressOf(m.bytes); !l.Contains(addr) || !l.Contains(addr+uintptr(len(m.bytes))-1) || l.Contains(addr+uintptr(len(m.bytes))) && len(l.mappings) == 1 {
			t.Error("Contains does not know the addresses of a map")
		}
	}
	if l.Contains(addressOf(first)) {
		t.Error("Contains knows an address that is none of a map")
	}
	for _, r := range [][2]int64{{-64, 64}, {0, -1}, {l.Size() - 63, 64}, {l.Size(), 1}, {1 << 62, 1 << 62}, {64, 1<<63 - 1}} {
		if _, err := l.Bytes(r[0], r[1]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Bytes(%d, %d): %v, want ErrCorrupt", r[0], r[1], err)
		}
		if r[1] >= 0 && r[1] <= 64 {
			if err := l.ReadRange(make([]byte, r[1]), r[0]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("ReadRange(%d, %d): %v, want ErrCorrupt", r[0], r[1], err)
			}
		}
	}
}

// TestRefreshSize follows a file that another process makes longer and shorter.
func TestRefreshSize(t *testing.T) {
	w := newTestLog(t)
	r, err := Open(OS, w.Path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Retire()
	at := w.Tail()
	appendRecord(t, w, false, bytes.Repeat([]byte{7}, 100<<10))
	if _, err := r.Bytes(at+90<<10, 64); !errors.Is(err, ErrCorrupt) {
		t.Errorf("bytes that were not there when the file was opened: %v", err)
	}
	if err := r.RefreshSize(); err != nil {
		t.Fatal(err)
	}
	b, err := r.Bytes(at+90<<10, 64)
	if err != nil || b[0] != 7 {
		t.Errorf("%v, %v after RefreshSize", b, err)
	}
	if r.EndsAt(at) || !r.EndsAt(w.Tail()) || !r.EndsAt(w.Tail()+1<<30) {
		t.Error("EndsAt does not tell where something was written")
	}
	if err := w.Trim(0); err != nil {
		t.Fatal(err)
	}
	if err := r.RefreshSize(); err != nil || r.Size() != w.Size() {
		t.Errorf("size is %d after the writer has cut the file to %d: %v", r.Size(), w.Size(), err)
	}
}

// TestOpenRefuses opens what is no segment.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	h := Header{Kind: KindLog, StoreID: ID{1}, UUID: ID{2}, Number: 5}
	sound := AppendHeader(nil, &h)
	for name, b := range map[string][]byte{
		"empty":         nil,
		"text":          []byte("something else"),
		"zeros":         make([]byte, 4096),
		"cut":           sound[:len(sound)-1],
		"other number":  AppendHeader(nil, &Header{Kind: KindLog, StoreID: ID{1}, UUID: ID{2}, Number: 6}),
		"commit record": AppendCommit(nil, &Commit{UUID: ID{2}}),
	} {
		path := filepath.Join(dir, FileName(5))
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if f, err := Open(OS, path, true); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, %v, want ErrCorrupt", name, f, err)
		}
	}
	if _, err := Open(OS, filepath.Join(dir, FileName(6)), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

// TestAlignedBytes looks at addresses.
func TestAlignedBytes(t *testing.T) {
	for n := int64(0); n < 300; n++ {
		b := AlignedBytes(n)
		if int64(len(b)) != n || int64(cap(b)) != n || (n > 0 && addressOf(b)%Alignment != 0) {
			t.Fatalf("%d bytes: length %d, capacity %d, address %#x", n, len(b), cap(b), addressOf(b))
		}
	}
}

// TestCreate makes segments, and fails to in every way.
func TestCreate(t *testing.T) {
	boom := errors.New("boom")
	body := func(w io.Writer) error { _, err := w.Write(make([]byte, 640)); return err }
	h := &Header{Kind: KindData, StoreID: ID{1}, UUID: ID{2}, Number: 3}
	left := func(dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	dir := t.TempDir()
	f, err := Create(OS, dir, h, body)
	if err != nil {
		t.Fatal(err)
	}
	if f.Size() != f.HeaderLen+640 || len(left(dir)) != 1 {
		t.Errorf("%d bytes behind a header of %d; the directory has %q", f.Size(), f.HeaderLen, left(dir))
	}
	f.Retire()

	for n, c := range []struct {
		body  func(w io.Writer) error
		fs    brokenFS
		maybe bool // the file may be there all the same
	}{
		{body: func(w io.Writer) error { return boom }},
		{body: body, fs: brokenFS{create: boom}},
		{body: body, fs: brokenFS{sync: boom}},
		{body: body, fs: brokenFS{rename: boom}, maybe: true},
		{body: body, fs: brokenFS{syncDir: boom}, maybe: true},
		{body: body, fs: brokenFS{open: boom}, maybe: true},
	} {
		dir := t.TempDir()
		c.fs.FS = OS
		_, err := Create(c.fs, dir, h, c.body)
		if !errors.Is(err, boom) || errors.Is(err, ErrLeftBehind) != c.maybe {
			t.Errorf("case %d: %v; may be there: %v", n, err, c.maybe)
		}
		if names := left(dir); names != nil {
			t.Errorf("case %d leaves %q", n, names)
		}
	}
}

// brokenFS fails in some of its calls.
type brokenFS struct {
	FS
	create, open, sync, rename, syncDir error
}

func (b brokenFS) OpenFile(name string, flag int, perm os.FileMode) (RawFile, error) {
	err := b.open
	if flag&os.O_CREATE != 0 {
		err = b.create
	}
	if err != nil {
		return nil, err
	}
	raw, err := b.FS.OpenFile(name, flag, perm)
	if err != nil || b.sync == nil {
		return raw, err
	}
	return brokenFile{raw, b.sync}, nil
}

func (b brokenFS) Rename(from, to string) error {
	if b.rename != nil {
		return b.rename
	}
	return b.FS.Rename(from, to)
}

func (b brokenFS) SyncDir(name string) error {
	if b.syncDir != nil {
		return b.syncDir
	}
	return b.FS.SyncDir(name)
}

type brokenFile struct {
	RawFile
	sync error
}

func (f brokenFile) Datasync() error { return f.sync }
