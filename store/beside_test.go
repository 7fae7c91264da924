package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
)

// besideSize is the number of tensors that the writer always replaces together.
const besideSize = 6

func init() { children["beside"] = besideChild }

// besideChild writes batches of besideSize tensors with one stamp, as fast as it can:
// large ones and small ones, some with segments of their own. Now and then it compacts
// the store, and closes it, which cuts the log's file, and opens it again.
func besideChild(args []string) error {
	rng := rand.New(rand.NewPCG(1, 2))
	opts := store.WithSealing(store.Options{SegmentSize: 2 << 20}, 50, 200)
	for stamp := uint64(1); ; {
		st, err := store.Open(args[0], opts)
		if err != nil {
			return err
		}
		for range 1 + rng.IntN(40) {
			err := st.Update(func(tx *store.Tx) error {
				n := []int{0, 10, 1000, 12_000, 35_000}[rng.IntN(5)]
				for i := range besideSize {
					if err := tx.Put(fmt.Sprint("n", i), stamped(stamp, n+i), stampAttr(stamp)); err != nil {
						return err
					}
				}
				if rng.IntN(10) == 0 {
					return tx.Put("own", stamped(stamp, 140_000), stampAttr(stamp))
				}
				return nil
			})
			if err != nil {
				return err
			}
			if _, err := fmt.Println(stamp); err != nil {
				return err
			}
			stamp++
			if rng.IntN(10) == 0 {
				if _, err := st.Compact(context.Background(), nil); err != nil {
					return err
				}
			}
		}
		if err := st.Close(); err != nil {
			return err
		}
	}
}

// oneStamp checks that r shows whole batches, and returns the stamp of the last one,
// 0 if there is none yet.
func oneStamp(r reader) (uint64, error) {
	stamps := map[uint64]int{}
	var last uint64
	for e, err := range r.List("n") {
		if err != nil {
			return 0, err
		}
		x, err := r.Get(e.Name)
		if err != nil {
			return 0, err
		}
		stamp, err := stampOf(x, e.Attrs)
		if err != nil {
			return 0, fmt.Errorf("%q: %w", e.Name, err)
		}
		stamps[stamp]++
		last = stamp
	}
	if last != 0 && (len(stamps) != 1 || stamps[last] != besideSize) {
		return 0, fmt.Errorf("half a batch: so many tensors of each stamp: %v", stamps)
	}
	return last, nil
}

// TestReadersBesideWriter opens the store for reading again and again, and refreshes
// one that stays open, while another process writes to it. That never fails, and
// shows whole batches, none older than what was acknowledged before.
func TestReadersBesideWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	cmd := child(t, "beside", dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	acks := make(chan uint64, 1) // the last one
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var stamp uint64
			fmt.Sscan(lines.Text(), &stamp)
			select {
			case <-acks:
			default:
			}
			acks <- stamp
		}
	}()
	defer func() {
		cmd.Process.Kill()
		<-ended
		cmd.Wait()
	}()
	<-acks
	follower := open(t, dir, &store.Options{ReadOnly: true})
	latest := uint64(0)
	acknowledged := func() uint64 {
		select {
		case latest = <-acks:
		default:
		}
		return latest
	}
	opened, refreshed, slowest := 0, 0, time.Duration(0)
	var before uint64
	enough := func() bool { return before >= 60 && opened >= 30 }
	for start := time.Now(); time.Since(start) < 2*time.Second || (!enough() && time.Since(start) < 20*time.Second); {
		least := acknowledged()
		begin := time.Now()
		st, err := store.Open(dir, &store.Options{ReadOnly: true})
		must(t, err)
		stamp, err := oneStamp(st)
		must(t, err)
		must(t, st.Close())
		slowest = max(slowest, time.Since(begin))
		if stamp < least {
			t.Fatalf("a reader sees stamp %d after %d was acknowledged", stamp, least)
		}
		opened++

		for range 5 {
			least = acknowledged()
			must(t, follower.Refresh())
			sn, err := follower.Snapshot()
			must(t, err)
			stamp, err := oneStamp(sn)
			must(t, err)
			if stamp < least || stamp < before {
				t.Fatalf("the follower sees stamp %d after %d was acknowledged, and %d seen", stamp, least, before)
			}
			before = stamp
			must(t, sn.Close())
			refreshed++
		}
	}
	t.Logf("%d readers were opened and one refreshed %d times beside %d batches; the slowest took %v", opened, refreshed, before, slowest)
	if !enough() {
		t.Errorf("too little happened for the test to mean anything")
	}
}

// TestReaderMeetsCompaction compacts the store, and changes it in between, before each
// single look that a reader takes while it opens or refreshes it: files come and
// go under its eyes.
func TestReaderMeetsCompaction(t *testing.T) {
	for _, what := range []string{"open", "refresh"} {
		t.Run(what, func(t *testing.T) {
			total := int64(1)
			for n := int64(0); n < total; n++ {
				dir := filepath.Join(quickDir(t), "s")
				st := open(t, dir, &tiny)
				now := contents{}
				change := func(stamp uint64) {
					must(t, st.Update(func(tx *store.Tx) error {
						for i := range 5 {
							name := fmt.Sprint("n", i)
							now[name] = stored{tensor: stamped(stamp, 100+i*900)}
							must(t, tx.Put(name, now[name].tensor))
						}
						return nil
					}))
				}
				compact := func() {
					_, err := st.Compact(context.Background(), nil)
					must(t, err)
				}
				change(1)
				compact()
				change(2)
				before := maps.Clone(now)
				disk := &testDisk{}
				var ro *store.Store
				shown := before
				if what == "refresh" {
					ro = open(t, dir, store.WithFS(store.Options{ReadOnly: true}, disk))
					change(3)
					before = maps.Clone(now)
				}
				first := disk.looks.Load()
				inside := false
				disk.looking = func(k int64) {
					if k >= first+n && k <= first+n+12 && (k-first-n)%3 == 0 { // and some more
						compact()
						change(4 + uint64(k))
						compact()
						compact()
					}
					// Whoever looks at the reader meanwhile sees what it showed before.
					if what == "refresh" && !inside {
						inside = true
						must(t, ro.View(func(tx *store.Tx) error { return compare(tx, shown) }))
						inside = false
					}
				}
				if what == "refresh" {
					must(t, ro.Refresh())
				} else {
					ro = open(t, dir, store.WithFS(store.Options{ReadOnly: true}, disk))
				}
				disk.looking = nil
				total = max(total, disk.looks.Load()-first)
				if old := compare(ro, before); old != nil {
					if err := compare(ro, now); err != nil {
						t.Fatalf("at look %d: neither the contents before (%v) nor those after it (%v)", n, old, err)
					}
				}
				must(t, ro.Refresh())
				must(t, compare(ro, now))
				closeStore(t, ro)
				closeStore(t, st)
			}
			if total < 10 {
				t.Errorf("the reader looked %d times only", total)
			}
		})
	}
}

// TestReaderBeforeFirstLog opens a store for reading at every stage of its creation.
func TestReaderBeforeFirstLog(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	must(t, os.MkdirAll(filepath.Join(dir, "segments"), 0o777))
	must(t, os.WriteFile(filepath.Join(dir, "segments", "0000000001.seg.tmp"), []byte("half"), 0o666))
	ro := open(t, dir, &store.Options{ReadOnly: true})
	must(t, compare(ro, contents{}))
	must(t, ro.Refresh())
	st := open(t, dir, nil)
	must(t, ro.Refresh())
	must(t, compare(ro, contents{}))
	must(t, st.Put("a", one))
	must(t, compare(ro, contents{}))
	must(t, ro.Refresh())
	must(t, compare(ro, contents{"a": {tensor: one}}))
}

// TestReaderTouchesNothing opens a store for reading in a directory whose lock and
// catalog it could not take, and compares every file afterwards.
func TestReaderTouchesNothing(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	want := varied(t, dir, &tiny)
	for _, name := range []string{"LOCK", "catalog.db", "catalog.sum"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	before := copyDir(t, dir)
	ro := open(t, dir, &store.Options{ReadOnly: true})
	must(t, compare(ro, want))
	must(t, ro.Refresh())
	closeStore(t, ro)
	sameFiles(t, before, dir)
}

// sameFiles compares two directories, file by file.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	read := func(dir string) map[string]string {
		files := map[string]string{}
		must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			content, err := os.ReadFile(path)
			files[rel] = string(content)
			return err
		}))
		return files
	}
	x, y := read(a), read(b)
	for name := range x {
		if x[name] != y[name] {
			t.Errorf("%s is not as it was", name)
		}
	}
	if len(x) != len(y) {
		t.Errorf("there are %d files, there were %d", len(y), len(x))
	}
}

// TestFollowerOfReusedNumbers lets the writer give up a segment of its own that a
// reader has opened, and use its number again in a later life.
func TestFollowerOfReusedNumbers(t *testing.T) {
	for _, next := range []string{"data", "log"} {
		t.Run(next, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			st := open(t, dir, &tiny)
			must(t, st.Put("a", one))
			ro := open(t, dir, &store.Options{ReadOnly: true})
			err := st.Update(func(tx *store.Tx) error {
				must(t, tx.Put("given up", stamped(1, 5000)))
				must(t, ro.Refresh()) // sees the segment, which no batch names
				return errGivenUp
			})
			wantError(t, err, errGivenUp)
			want := contents{"a": {tensor: one}}
			for i := range 5 {
				closeStore(t, st)
				st = open(t, dir, &tiny)
				name := fmt.Sprint("n", i)
				n := 5000
				if next == "log" {
					n = 3000 // three of them fill a log
				}
				want[name] = stored{tensor: stamped(uint64(i), n)}
				must(t, st.Put(name, want[name].tensor))
				must(t, ro.Refresh())
				must(t, compare(ro, want))
			}
		})
	}
}
