package store_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/store"
)

// TestSnapshots keeps one snapshot after every batch while everything it sees is
// overwritten, renamed and deleted, logs are rotated and maps grow.
func TestSnapshots(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &store.Options{SegmentSize: store.MinSegmentSize})
	type kept struct {
		*store.Snapshot
		want contents
	}
	var snaps []kept
	now := contents{}
	keep := func() {
		t.Helper()
		sn, err := st.Snapshot()
		must(t, err)
		if n := len(snaps); n > 0 && sn.Seq() <= snaps[n-1].Seq() {
			t.Errorf("sequence number %d after %d", sn.Seq(), snaps[n-1].Seq())
		}
		snaps = append(snaps, kept{sn, maps.Clone(now)})
	}
	keep()
	for i := range 60 {
		name := fmt.Sprint("n", i%7)
		x := stamped(uint64(i), 100+i%5*1000) // the largest ones get a segment of their own
		must(t, st.Put(name, x))
		now[name] = stored{tensor: x}
		keep()
		switch i % 6 {
		case 2:
			must(t, st.Delete(name))
			delete(now, name)
			keep()
		case 4:
			to := fmt.Sprint("r", i)
			must(t, st.Rename(name, to))
			now[to] = now[name]
			delete(now, name)
			keep()
		}
	}
	if n := len(segmentFiles(t, dir)); n < 10 {
		t.Fatalf("only %d segments: the test should make more", n)
	}
	for i, s := range snaps {
		if err := compare(s, s.want); err != nil {
			t.Errorf("snapshot %d of %d: %v", i, len(snaps), err)
		}
	}
	wantError(t, st.Close(), store.ErrInUse, fmt.Sprint(len(snaps)))
	for _, s := range snaps {
		must(t, s.Close())
	}
	must(t, compare(st, now))
}

// TestSnapshotOfReader does not follow a Refresh.
func TestSnapshotOfReader(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &store.Options{SegmentSize: store.MinSegmentSize})
	must(t, st.Put("a", one))
	ro := open(t, dir, &store.Options{ReadOnly: true})
	sn, err := ro.Snapshot()
	must(t, err)
	defer sn.Close()
	old := contents{"a": {tensor: one}}
	for i := range 20 {
		must(t, st.Put("a", stamped(uint64(i), 1500)))
		must(t, st.Put(fmt.Sprint("b", i), stamped(uint64(i), 6000)))
		must(t, compare(sn, old))
		must(t, ro.Refresh())
		must(t, compare(sn, old))
		got, err := ro.Get("a")
		must(t, err)
		must(t, compareTensor(got, stamped(uint64(i), 1500)))
	}
}
