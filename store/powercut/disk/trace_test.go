package disk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// someOps is a small run with an operation of each kind.
func someOps() []Op {
	return []Op{
		{Kind: OpMkdir, Dir: RootIno, Name: "d", Ino: 2, Mode: 0o755},
		{Kind: OpCreate, Dir: 2, Name: "ä", Ino: 3, Mode: 0o640},
		{Kind: OpWrite, Ino: 3, Size: 3, Data: []byte{1, 2, 3}},
		{Kind: OpWrite, Ino: 3, Off: 5000, Size: 10000},
		{Kind: OpSync, Ino: 3, Only: "data"},
		{Kind: OpMark, Text: "one"},
		{Kind: OpSynced, Ino: 3, Begin: 4},
		{Kind: OpTruncate, Ino: 3, Size: 4000},
		{Kind: OpLink, Ino: 3, Dir: RootIno, Name: "l"},
		{Kind: OpRename, Dir: 2, Name: "ä", ToDir: RootIno, ToName: "m"},
		{Kind: OpUnlink, Dir: RootIno, Name: "l"},
		{Kind: OpSync, Ino: 3},
		{Kind: OpSynced, Ino: 3, Begin: 11, Err: "EIO", Seed: 4},
		{Kind: OpFail, Text: "write", Err: "ENOSPC", Path: "m"},
		{Kind: OpDropCache},
		{Kind: OpChmod, Ino: 3, Mode: 0o600},
		{Kind: OpCut, Seed: 4, Policy: &Policy{Entries: "keep", Tear: 0.5}},
		{Kind: OpSettle},
		{Kind: OpRmdir, Dir: RootIno, Name: "d"},
	}
}

func encode(t testing.TB, ops []Op) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewTraceWriter(&buf)
	for i := range ops {
		if err := w.Write(&ops[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestTraceRoundTrip(t *testing.T) {
	want := someOps()
	file := encode(t, want)
	got, err := ReadTrace(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, want %+v", got, want)
	}
	for _, n := range []int{len(file) - 1, len(file) - 20, len(traceMagic) + 3} {
		got, err := ReadTrace(bytes.NewReader(file[:n]))
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) >= len(want) {
			t.Errorf("cut to %d bytes: %d operations and error %v, want fewer and an unexpected end", n, len(got), err)
		}
	}
	if _, err := ReadTrace(bytes.NewReader([]byte("something else, long enough"))); err == nil {
		t.Error("a file that is no trace was read")
	}
}

func TestReplayAtAnyPoint(t *testing.T) {
	ops := someOps()
	r := NewReplay(Options{})
	for _, n := range []uint64{0, 3, 7, 19, 2, 16, 16, 1} {
		got, err := r.At(ops, n)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := NewReplay(Options{}).At(ops, n)
		if err != nil {
			t.Fatal(err)
		}
		if got.Next() != n || names(got) != names(fresh) {
			t.Errorf("at %d: %s after %d, want %s", n, names(got), got.Next(), names(fresh))
		}
	}
	if _, err := r.At(ops, 20); err == nil {
		t.Error("replayed further than the trace reaches")
	}
}

func TestDumpAndLoad(t *testing.T) {
	s := NewState(Options{})
	run(t, s, someOps()...)
	run(t, s,
		Op{Kind: OpMkdir, Dir: RootIno, Name: "sub", Ino: 10, Mode: 0o755}, Op{Kind: OpCreate, Dir: 10, Name: "big", Ino: 11, Mode: 0o600},
		Op{Kind: OpWrite, Ino: 11, Off: 3 * BlockSize, Data: filled(300*BlockSize+5, 'x')}, Op{Kind: OpTruncate, Ino: 11, Size: 400 * BlockSize},
		Op{Kind: OpLink, Ino: 11, Dir: RootIno, Name: "same"}, Op{Kind: OpCreate, Dir: RootIno, Name: "empty", Ino: 12, Mode: 0o644})
	dir := filepath.Join(t.TempDir(), "image")
	if err := s.Dump(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Dump(dir); err == nil {
		t.Error("dumped into a directory that is not empty")
	}
	again := NewState(Options{})
	if err := Load(dir, 2, func(op Op) error { return again.Apply(&op) }); err != nil {
		t.Fatal(err)
	}
	if names(again) != names(s) {
		t.Errorf("loaded %s, want %s", names(again), names(s))
	}
	for _, name := range []string{"m", "same", "empty"} {
		want, _ := contents(s, name)
		got, ok := contents(again, name)
		if !ok || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes differ from the %d dumped", name, len(got), len(want))
		}
		real, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(real, want) {
			t.Errorf("%s as a real file: %d bytes, error %v", name, len(real), err)
		}
	}
	sub := again.Lookup(RootIno, "sub")
	if again.Lookup(sub, "big") != again.Lookup(RootIno, "same") {
		t.Error("the hard link became two files")
	}
	if info, _ := again.Stat(again.Lookup(sub, "big")); info.Mode != 0o600 || info.Nlink != 2 {
		t.Errorf("loaded with mode %o and %d links, want 600 and 2", info.Mode, info.Nlink)
	}
	wantOutcomes(t, outcomes(t, again, Policy{}, names), names(s)) // all of it durable
}

// FuzzTrace feeds damaged traces: they must be refused or replayed, without a panic.
func FuzzTrace(f *testing.F) {
	f.Add(encode(f, someOps()))
	f.Add(encode(f, nil))
	f.Fuzz(func(t *testing.T, file []byte) {
		ops, _ := ReadTrace(bytes.NewReader(file))
		var size int64
		for _, op := range ops {
			if size += op.Size; size > 64<<20 { // a write of zeros costs time by its length alone
				return
			}
		}
		s := NewState(Options{FsyncEntry: true})
		for i := range ops {
			if s.Apply(&ops[i]) != nil {
				break
			}
		}
		after, _, err := s.Crash(1, Policy{Garbage: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		if err := after.Apply(&Op{Kind: OpSettle}); err != nil {
			t.Fatal(err)
		}
	})
}
