package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tstore/tstore/store"
)

// lost reports whether [from, to) of a file may not be on disk although a later sync
// succeeded: the first sync after the last write into some part of it failed, and
// the kernel tells of that once only.
func (h *diskHistory) lost(path string, from, to int64) bool {
	for at := from; at < to; at += 64 {
		_, end := h.written(path, at, at+64)
		first := diskOp{begin: never}
		for _, s := range h.syncs[path] {
			if s.begin > end && s.begin < first.begin {
				first = s
			}
		}
		if first.begin == never || first.failed {
			return true
		}
	}
	return false
}

// TestFailedSyncIsMadeGood fails each sync of a workload in turn, opens the store
// again as often as needed, and closes it in order. Then every byte that counts must
// have been written again since its sync failed.
func TestFailedSyncIsMadeGood(t *testing.T) {
	for n, hit := 0, true; hit; n++ {
		hit = false
		dir := filepath.Join(quickDir(t), "s")
		disk := &testDisk{}
		disk.fail = func(op diskOp, nth int) error {
			if op.kind == opSync && nth == n {
				hit = true
				return syscall.EIO
			}
			return nil
		}
		opts := store.WithFS(tiny, disk)
		for round := range 4 {
			st, err := store.Open(dir, opts)
			if err != nil {
				st, err = store.Open(dir, opts)
			}
			must(t, err)
			for i := range 2 {
				err := st.Put(fmt.Sprint("n", round, i), stamped(uint64(i), 100+i*round*1700))
				if err != nil && !errors.Is(err, syscall.EIO) {
					t.Fatal(err)
				}
			}
			st.Close()
		}
		for range 3 {
			st, err := store.Open(dir, opts)
			if err == nil {
				err = st.Close()
			}
			if err != nil && !errors.Is(err, syscall.EIO) {
				t.Fatal(err)
			}
		}
		h := newDiskHistory(disk.recorded())
		batches, headers := logBatches(t, dir)
		for path, size := range headers {
			if h.lost(path, 0, size) {
				t.Errorf("sync %d fails: the header of %s may be lost", n, filepath.Base(path))
			}
		}
		for seq, b := range batches {
			if h.lost(b.path, b.Start, b.End) {
				t.Errorf("sync %d fails: batch %d at offset %d of %s, close %v, may be lost", n, seq, b.Start, filepath.Base(b.path), b.Commit.IsClose())
			}
		}
		if n > 0 && !hit && n < 15 {
			t.Errorf("the workload has only %d syncs", n)
		}
	}
}
