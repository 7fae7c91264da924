package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/store/internal/segment"
)

// TestSealBeforeTrailer watches logs being sealed: the trailer, which makes the index
// count, is written when the index is on disk.
func TestSealBeforeTrailer(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	disk := &testDisk{}
	st := open(t, dir, store.WithFS(*store.WithSealing(tiny, 3, 12), disk))
	for i := range 60 {
		must(t, st.Put(fmt.Sprint("n", i), stamped(uint64(i), i*7%50)))
	}
	closeStore(t, st)

	h := newDiskHistory(disk.recorded())
	sealed := 0
	for path, valid := range liveLogs(t, dir) {
		f, err := segment.Open(segment.OS, path, false)
		must(t, err)
		defer f.Retire()
		seal, err := f.FindSeal(valid)
		must(t, err)
		if seal == nil {
			continue
		}
		sealed++
		trailer := seal.End() - segment.Alignment
		begin, _ := h.written(path, trailer, seal.End())
		if on := h.durable(path, 0, trailer); on > begin {
			t.Errorf("%s: its trailer was written at %d, its index was on disk at %d", path, begin, on)
		}
		if h.durable(path, trailer, seal.End()) == never {
			t.Errorf("%s: its trailer was never synced", path)
		}
	}
	if sealed < 3 {
		t.Errorf("%d logs were sealed", sealed)
	}
}

// liveLogs are the paths of the logs that the newest one lists, with their valid lengths.
func liveLogs(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	var newest *segment.Header
	for _, path := range segmentFiles(t, dir) {
		f, err := segment.Open(segment.OS, path, false)
		must(t, err)
		if h := f.Header; h.Kind == segment.KindLog && (newest == nil || h.Number > newest.Number) {
			newest = h
		}
		must(t, f.Retire())
	}
	logs := map[string]int64{}
	for _, l := range newest.Live {
		if l.Kind == segment.KindLog {
			logs[filepath.Join(dir, "segments", segment.FileName(l.Number))] = l.Valid
		}
	}
	return logs
}

// TestExchangeBeforeUnlink watches packages being attached and segments being replaced:
// what comes is in place before the commit record that names it is written, and what
// goes is removed after that is on disk.
func TestExchangeBeforeUnlink(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	disk := &testDisk{}
	st := open(t, dir, store.WithFS(*store.WithSealing(tiny, 3, 12), disk))
	for i := range 100 {
		must(t, st.Put(fmt.Sprint("n", i%40), stamped(uint64(i), i*7%50)))
	}
	for i := range 10 {
		must(t, st.Delete(fmt.Sprint("n", i)))
	}
	_, err := st.Compact(context.Background(), nil)
	must(t, err)
	path := filepath.Join(quickDir(t), "p.tstore")
	w, err := store.CreatePackage(path)
	must(t, err)
	for i := range 5 {
		must(t, w.Add(fmt.Sprint("p", i), stamped(uint64(i), 10)))
	}
	_, err = w.Close()
	must(t, err)
	_, err = st.Attach(context.Background(), path, nil)
	must(t, err)
	closeStore(t, st)

	ops := disk.recorded()
	h := newDiskHistory(ops)
	removed := map[string]int{}
	for _, op := range ops {
		if op.kind == opRemove {
			removed[op.path] = op.begin
		}
	}
	segmentPath := func(n uint64) string { return filepath.Join(dir, "segments", segment.FileName(n)) }
	batches, _ := logBatches(t, dir)
	came, went := 0, 0
	for seq, b := range batches {
		commit, _ := h.written(b.path, b.Commit.Offset, b.End)
		durable := h.durable(b.path, b.Start, b.End)
		for _, op := range b.Commit.Ops {
			for _, l := range op.New {
				came++
				placed, err := h.placed(segmentPath(l.Number), l.Valid)
				must(t, err)
				if placed > commit {
					t.Errorf("batch %d, written at %d, names segment %d, which was in place at %d", seq, commit, l.Number, placed)
				}
			}
			for _, n := range op.Old {
				went++
				if at, ok := removed[segmentPath(n)]; !ok || at < durable {
					t.Errorf("segment %d was removed at %d (%v), the batch %d that replaces it was on disk at %d", n, at, ok, seq, durable)
				}
			}
		}
	}
	if came < 2 || went < 5 {
		t.Errorf("%d segments came and %d went: too little for the test to mean anything", came, went)
	}
}
