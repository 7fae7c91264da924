package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tstore/tstore/store"
)

// TestLeftoversAreRemoved opens stores with files that a writer left behind which was
// killed at the wrong moment.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	must(t, st.Put("x", scalar))
	pack := filepath.Join(filepath.Dir(dir), "p.tstore")
	packOf(t, pack, map[string]int64{"a": 1})
	_, err := st.Attach(context.Background(), pack, nil)
	must(t, err)
	closeStore(t, st)
	for _, leftover := range []string{
		"segments/0000000009.seg",     // a package that was about to be attached
		"segments/0000000010.seg.tmp", // a segment that was being written
		".compact-1234",               // the index of a segment that was being compacted
	} {
		must(t, copyFile(pack, filepath.Join(dir, leftover)))
		reader := open(t, dir, &store.Options{ReadOnly: true})
		if n := len(names(t, reader)); n != 2 {
			t.Errorf("with %s there are %d names, want 2", leftover, n)
		}
		closeStore(t, reader)
		st := open(t, dir, nil)
		if n := len(names(t, st)); n != 2 {
			t.Errorf("with %s there are %d names, want 2", leftover, n)
		}
		if _, err := os.Stat(filepath.Join(dir, leftover)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", leftover, err)
		}
		closeStore(t, st)
	}
}

// TestLeftoversThatStay opens a store with leftovers that can't be removed. They count as
// little as before.
func TestLeftoversThatStay(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	fill(t, dir, contents{"x": {tensor: scalar}})
	pack := filepath.Join(filepath.Dir(dir), "p.tstore")
	packOf(t, pack, map[string]int64{"a": 1})
	leftovers := []string{"segments/0000000002.seg", "segments/0000000010.seg.tmp", ".compact-1234"}
	for _, leftover := range leftovers {
		must(t, copyFile(pack, filepath.Join(dir, leftover)))
	}
	disk := &testDisk{fail: func(op diskOp, _ int) error {
		if op.kind == opRemove {
			return syscall.EPERM
		}
		return nil
	}}
	opts := store.WithFS(tiny, disk)
	want := contents{"x": {tensor: scalar}}
	for round := range 3 {
		st := open(t, dir, opts)
		must(t, compare(st, want))
		name := fmt.Sprint("own", round)
		want[name] = stored{tensor: stamped(uint64(round), 10_000)} // in a segment of its own
		must(t, st.Put(name, want[name].tensor))
		closeStore(t, st)
		must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
	}
	for _, leftover := range leftovers {
		if _, err := os.Stat(filepath.Join(dir, leftover)); err != nil {
			t.Errorf("%s was removed after all: %v", leftover, err)
		}
	}
}

func names(t *testing.T, st *store.Store) []string {
	t.Helper()
	var all []string
	for e, err := range st.List("") {
		must(t, err)
		all = append(all, e.Name)
	}
	return all
}

// TestReaderForgetsWhatNeverCounted has a reader see the segment of a batch that comes
// to nothing; a later one gets the same number.
func TestReaderForgetsWhatNeverCounted(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	opts := &store.Options{SegmentSize: store.MinSegmentSize}
	st := open(t, dir, opts)
	must(t, st.Put("x", scalar))
	reader := open(t, dir, &store.Options{ReadOnly: true})
	refused := errors.New("changed my mind")
	err := st.Update(func(tx *store.Tx) error {
		must(t, tx.Put("own", stamped(1, 10000)))
		if n := len(segmentFiles(t, dir)); n != 2 {
			t.Fatalf("%d segments, the tensor should have one of its own", n)
		}
		must(t, reader.Refresh())
		return refused
	})
	wantError(t, err, refused)
	closeStore(t, st)
	st = open(t, dir, opts)
	must(t, st.Put("own", stamped(2, 10000)))
	must(t, reader.Refresh())
	must(t, compare(reader, contents{"x": {tensor: scalar}, "own": {tensor: stamped(2, 10000)}}))
}
