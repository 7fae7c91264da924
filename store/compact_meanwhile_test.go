package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
)

// garbage puts n tensors and overwrites every other one, so that there is something
// to compact, and returns what is left.
func garbage(t *testing.T, st *store.Store, n int) contents {
	t.Helper()
	want := contents{}
	for i := range n {
		name := fmt.Sprintf("n%02d", i)
		must(t, st.Put(name, stamped(uint64(i), 200)))
		want[name] = stored{tensor: stamped(uint64(i), 200)}
		if i%2 == 0 {
			must(t, st.Put(name, stamped(uint64(1000+i), 200)))
			want[name] = stored{tensor: stamped(uint64(1000+i), 200)}
		}
	}
	return want
}

// TestChangesWhileCompacting renames, deletes and overwrites what is being copied,
// with the log going on in new files meanwhile, which get sealed before the
// compaction ends.
func TestChangesWhileCompacting(t *testing.T) {
	for _, c := range []struct {
		name     string
		min, max int
	}{
		{"in one log", 1000, 1000},
		{"in several logs, not sealed", 1000, 4},
		{"in several logs, sealed", 1, 4},
		{"in a log for each change, sealed", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			opts := store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize}, c.min, c.max)
			st := open(t, dir, opts)
			want := garbage(t, st, 20)
			move := func(from, to string) {
				t.Helper()
				must(t, st.Rename(from, to))
				want[to] = want[from]
				delete(want, from)
			}
			calls := 0
			_, err := st.Compact(context.Background(), &store.CompactOptions{Progress: func(done, total int64) {
				if calls++; calls != 10 {
					return
				}
				move("n00", "copied before")
				move("n19", "still to be copied")
				move("n18", "moved twice")
				move("moved twice", "moved again")
				must(t, st.Delete("n01"))
				must(t, st.Delete("n17"))
				delete(want, "n01")
				delete(want, "n17")
				move("n02", "deleted after")
				must(t, st.Delete("deleted after"))
				delete(want, "deleted after")
				move("n03", "overwritten after")
				must(t, st.Put("overwritten after", stamped(77, 10)))
				want["overwritten after"] = stored{tensor: stamped(77, 10)}
				must(t, st.Put("n16", stamped(78, 10)))
				want["n16"] = stored{tensor: stamped(78, 10)}
				for i := range 8 {
					name := fmt.Sprint("filler", i)
					must(t, st.Put(name, stamped(uint64(i), 5)))
					want[name] = stored{tensor: stamped(uint64(i), 5)}
				}
				if c.min == 1 {
					waitSealed(t, st, 1) // the one that Compact has ended stays as it is
				}
			}})
			must(t, err)
			if calls < 10 {
				t.Fatal("the compaction was over before anything was changed")
			}
			check := func(when string, st *store.Store) {
				t.Helper()
				if err := compare(st, want); err != nil {
					t.Errorf("%s: %v", when, err)
				}
			}
			check("afterwards", st)
			check("to a reader", open(t, dir, &store.Options{ReadOnly: true}))
			copied := copyDir(t, dir)
			killed := open(t, copied, opts)
			check("killed and reopened", killed)
			closeStore(t, killed)
			removeCatalog(t, copied)
			check("without the catalog", open(t, copied, opts))
			closeStore(t, st)
			check("reopened", open(t, dir, opts))
		})
	}
}

// waitSealed waits until no more than so many logs at rest are not sealed.
func waitSealed(t *testing.T, st *store.Store, most int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		infos, err := st.Segments()
		must(t, err)
		left := 0
		for _, i := range infos {
			if i.Kind == "log" && !i.Sealed && !i.Active {
				left++
			}
		}
		if left <= most {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d logs are not sealed: %+v", left, infos)
		}
	}
}

// TestCompactingWhatAnUnsealedLogStillNames removes the segment of a large tensor
// that an early log, too small to be sealed, has put, and a later one, which is
// sealed, has overwritten.
func TestCompactingWhatAnUnsealedLogStillNames(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	opts := store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize}, 4, 1000)
	want := contents{}
	put := func(st *store.Store, name string, stamp uint64, n int) {
		t.Helper()
		must(t, st.Put(name, stamped(stamp, n)))
		want[name] = stored{tensor: stamped(stamp, n)}
	}
	st := open(t, dir, opts)
	put(st, "x", 1, 5000) // in a segment of its own
	put(st, "y", 2, 1000)
	put(st, "filler", 3, 4000)
	put(st, "filler", 4, 4000) // the log goes on in a new one
	for i, name := range []string{"a", "b", "x", "c"} {
		put(st, name, uint64(10+i), 10)
	}
	closeStore(t, st) // which seals the second log
	st = open(t, dir, opts)
	before, err := st.Segments()
	must(t, err)
	r, err := st.Compact(context.Background(), &store.CompactOptions{MinDead: 0.99})
	if err != nil || r.Removed == 0 {
		t.Fatalf("compacting %+v: %+v, %v", before, r, err)
	}
	must(t, compare(st, want))
	closeStore(t, st)
	must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
	must(t, compare(open(t, dir, opts), want))
}
