package store_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/store/internal/segment"
)

// diskHistory is what was asked of a disk, by file.
type diskHistory struct {
	writes   map[string][]diskOp
	syncs    map[string][]diskOp
	renames  map[string]diskOp // by the name that the file has got
	dirSyncs map[string][]diskOp
}

func newDiskHistory(ops []diskOp) *diskHistory {
	h := &diskHistory{map[string][]diskOp{}, map[string][]diskOp{}, map[string]diskOp{}, map[string][]diskOp{}}
	for _, op := range ops {
		path := finalPath(op.path)
		switch op.kind {
		case opWrite:
			h.writes[path] = append(h.writes[path], op)
		case opSync:
			h.syncs[path] = append(h.syncs[path], op)
		case opRename:
			h.renames[path] = op
		case opSyncDir:
			h.dirSyncs[path] = append(h.dirSyncs[path], op)
		}
	}
	return h
}

const never = math.MaxInt

// after is when the first of ops has ended that began after t.
func after(ops []diskOp, t int) int {
	end := never
	for _, op := range ops {
		if op.begin > t {
			end = min(end, op.end)
		}
	}
	return end
}

// written is when the last write into [from, to) of a file begins and ends. Earlier
// ones have put zeros there.
func (h *diskHistory) written(path string, from, to int64) (begin, end int) {
	for _, w := range h.writes[path] {
		if w.off < to && from < w.off+w.n && w.begin > begin {
			begin, end = w.begin, w.end
		}
	}
	return begin, end
}

// durable is when [from, to) of a file was on disk: after the first sync that began
// when the last write into it had ended.
func (h *diskHistory) durable(path string, from, to int64) int {
	_, end := h.written(path, from, to)
	return after(h.syncs[path], end)
}

// placed is when a new file was durable under its final name with all of its first
// size bytes. It is an error if it was renamed before they were on disk.
func (h *diskHistory) placed(path string, size int64) (int, error) {
	rename, ok := h.renames[path]
	if !ok {
		return never, fmt.Errorf("%s was never renamed", path)
	}
	if d := h.durable(path, 0, size); d > rename.begin {
		return never, fmt.Errorf("%s was on disk at %d, but renamed at %d", path, d, rename.begin)
	}
	return after(h.dirSyncs[filepath.Dir(path)], rename.end), nil
}

// logBatch is a batch as it lies in its log.
type logBatch struct {
	*segment.Batch
	path string
}

// logBatches are the batches of all logs of a store by sequence number, and the
// length of each segment's header.
func logBatches(t *testing.T, dir string) (batches map[uint64]logBatch, headers map[string]int64) {
	t.Helper()
	batches, headers = map[uint64]logBatch{}, map[string]int64{}
	for _, path := range segmentFiles(t, dir) {
		f, err := segment.Open(segment.OS, path, false)
		must(t, err)
		defer f.Retire()
		headers[path] = f.HeaderLen
		if f.Header.Kind != segment.KindLog {
			continue
		}
		_, err = segment.Walk(f, segment.WalkOptions{
			Number: f.Number, UUID: f.UUID, From: f.HeaderLen, Limit: f.Size(), Seq: f.Header.BaseSeq,
		}, func(b *segment.Batch) error {
			batches[b.Commit.Seq] = logBatch{b, path}
			return nil
		})
		must(t, err)
	}
	return batches, headers
}

// TestSyncBeforeAcknowledgement watches the disk while several goroutines put
// tensors of all sizes and logs are rotated. A crash test can't see a sync that is
// missing: the kernel keeps what was written.
func TestSyncBeforeAcknowledgement(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	disk := &testDisk{during: func(diskOp) { time.Sleep(200 * time.Microsecond) }} // so that others gather
	st := open(t, dir, store.WithFS(tiny, disk))
	type acknowledged struct {
		entry *store.Entry
		at    int
	}
	var mu sync.Mutex
	var acks []acknowledged
	var all sync.WaitGroup
	for g := range 6 {
		all.Go(func() {
			for i := range 60 {
				var names []string
				for k := range 1 + i%3 {
					names = append(names, fmt.Sprintf("%d/%d/%d", g, i, k))
				}
				err := st.Update(func(tx *store.Tx) error {
					for k, name := range names {
						if err := tx.Put(name, stamped(uint64(i), (i*7+k*13)%50*20+i%20/19*4500)); err != nil {
							return err
						}
					}
					return nil
				})
				at := disk.now()
				if err != nil {
					t.Error(err)
					return
				}
				for _, name := range names {
					e, err := st.Stat(name)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					acks = append(acks, acknowledged{e, at})
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	closeStore(t, st)

	h := newDiskHistory(disk.recorded())
	batches, headers := logBatches(t, dir)
	own, rotated, shared := 0, 0, map[int]int{}
	first := map[string]int{} // when the first batch in a log was acknowledged
	for _, a := range acks {
		b, ok := batches[a.entry.Seq]
		if !ok {
			t.Fatalf("%q: no batch %d in the logs", a.entry.Name, a.entry.Seq)
		}
		on := h.durable(b.path, b.Start, b.End)
		if on > a.at {
			t.Errorf("%q: its batch was acknowledged at %d and on disk at %d", a.entry.Name, a.at, on)
		}
		shared[on]++
		if at, ok := first[b.path]; !ok || a.at < at {
			first[b.path] = a.at
		}
		data := filepath.Join(dir, "segments", segment.FileName(a.entry.Segment))
		if data == b.path {
			continue
		}
		own++
		placed, err := h.placed(data, a.entry.Offset+a.entry.Length)
		must(t, err)
		if commit, _ := h.written(b.path, b.Commit.Offset, b.End); placed > commit {
			t.Errorf("%q: its segment was in place at %d, the batch that names it was written at %d", a.entry.Name, placed, commit)
		}
	}
	for path, at := range first {
		placed, err := h.placed(path, headers[path])
		must(t, err)
		if placed > at {
			t.Errorf("%s was in place at %d, a batch in it was acknowledged at %d", path, placed, at)
		}
		rotated++
	}
	together := 0
	for _, n := range shared {
		together = max(together, n)
	}
	t.Logf("%d tensors, %d with a segment of their own, in %d logs; up to %d shared a sync", len(acks), own, rotated, together)
	if own < 10 || rotated < 5 || together < 3 {
		t.Errorf("too little happened for the test to mean anything")
	}
	for seq, b := range batches {
		if b.Commit.DurableTo > b.Start && !b.Commit.IsClose() {
			t.Errorf("batch %d at %d calls durable what is up to %d", seq, b.Start, b.Commit.DurableTo)
		}
		begin, _ := h.written(b.path, b.Commit.Offset, b.End)
		if on := h.durable(b.path, 0, b.Commit.DurableTo); on > begin {
			t.Errorf("batch %d was written at %d and calls durable what was on disk at %d", seq, begin, on)
		}
	}
}

// TestCatalogIsBehindTheDisk looks at the catalog all the time: never may it know a
// batch that is not on disk.
func TestCatalogIsBehindTheDisk(t *testing.T) {
	type look struct {
		at       int
		position uint64
	}
	dir := filepath.Join(quickDir(t), "s")
	disk := &testDisk{}
	var mu sync.Mutex
	var looks []look
	var st *store.Store
	glance := func() {
		if p, ok := store.CatalogPosition(st); ok {
			mu.Lock()
			defer mu.Unlock()
			// The time is taken afterwards: what it knew then is on disk by now.
			looks = append(looks, look{disk.now(), p.Seq})
		}
	}
	disk.during = func(op diskOp) {
		if filepath.Ext(op.path) == ".seg" {
			time.Sleep(2 * time.Millisecond)
			glance()
			time.Sleep(2 * time.Millisecond)
		}
	}
	st = open(t, dir, store.WithFS(store.Options{}, disk))
	for i := range 5 {
		must(t, st.Update(func(tx *store.Tx) error {
			for k := range 8200 { // so many that the catalog is written at once
				if err := tx.Put(fmt.Sprintf("%d/%d", i%2, k), scalar); err != nil {
					return err
				}
			}
			return nil
		}))
		for k := range 5 {
			must(t, st.Put(fmt.Sprint("x", k), one))
			glance()
		}
	}
	closeStore(t, st)
	h := newDiskHistory(disk.recorded())
	batches, _ := logBatches(t, dir)
	seen := map[uint64]bool{}
	for _, l := range looks {
		b, ok := batches[l.position]
		if !ok {
			t.Fatalf("the catalog knew batch %d, which is not in the logs", l.position)
		}
		seen[l.position] = true
		if on := h.durable(b.path, b.Start, b.End); on > l.at {
			t.Errorf("at %d the catalog knew batch %d, which was on disk at %d", l.at, l.position, on)
		}
	}
	if len(seen) < 3 {
		t.Errorf("the catalog was seen at %d positions only, in %d looks", len(seen), len(looks))
	}
}

// TestSyncNeverKeepsLittle counts what is kept in memory of batches that wait for a
// sync: each that is kept has a version of the whole table of names.
func TestSyncNeverKeepsLittle(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	disk := &testDisk{during: func(diskOp) { time.Sleep(time.Millisecond) }}
	st := open(t, dir, store.WithFS(store.Options{Sync: store.SyncNever}, disk))
	want := contents{}
	var syncing sync.WaitGroup
	for i := range 3000 {
		if i%500 == 250 {
			syncing.Go(func() {
				if err := st.Sync(); err != nil {
					t.Error(err)
				}
			})
		}
		name := fmt.Sprint("n", i%70)
		want[name] = stored{tensor: stamped(uint64(i), i%5)}
		must(t, st.Put(name, want[name].tensor))
		if i%7 == 0 {
			must(t, st.Delete(name))
			delete(want, name)
		}
		if n := store.PendingBatches(st); n > 3 {
			t.Fatalf("%d batches are kept", n)
		}
	}
	syncing.Wait()
	must(t, compare(st, want))
	killed := copyDir(t, dir)
	must(t, compare(open(t, killed, nil), want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want)) // by the catalog
}

// TestSyncNever makes durable only what it is told to.
func TestSyncNever(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	disk := &testDisk{}
	st := open(t, dir, store.WithFS(store.Options{Sync: store.SyncNever}, disk))
	syncs := func() int {
		return len(slices.DeleteFunc(disk.recorded(), func(op diskOp) bool { return op.kind != opSync }))
	}
	before := syncs()
	want := contents{}
	for i := range 100 {
		name := fmt.Sprint("n", i%10)
		want[name] = stored{tensor: stamped(uint64(i), 100)}
		must(t, st.Put(name, want[name].tensor))
		must(t, compare(st, want)) // it is seen nevertheless
	}
	if n := syncs(); n != before {
		t.Errorf("%d syncs for 100 puts without any", n-before)
	}
	must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
	must(t, compare(open(t, copyDir(t, dir), nil), want))
	must(t, st.Sync())
	if n := syncs(); n != before+1 {
		t.Errorf("%d syncs for one Sync", n-before)
	}
	must(t, st.Sync())
	if n := syncs(); n != before+1 {
		t.Errorf("Sync with nothing new syncs")
	}
	must(t, st.Put("last", one))
	want["last"] = stored{tensor: one}
	closeStore(t, st)
	h := newDiskHistory(disk.recorded())
	batches, _ := logBatches(t, dir)
	for seq, b := range batches {
		if h.durable(b.path, b.Start, b.End) == never {
			t.Errorf("after Close batch %d is not on disk", seq)
		}
	}
	must(t, compare(open(t, dir, nil), want))
}
