package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/store"
)

// TestLateSealsAreWhole seals a log long after it was left, when later ones have
// overwritten, deleted and renamed what it says: its index has to say it all the same,
// as its batches do.
func TestLateSealsAreWhole(t *testing.T) {
	for _, catalog := range []bool{true, false} {
		dir := filepath.Join(quickDir(t), "s")
		never := store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize}, 1000, 1000)
		st := open(t, dir, never)
		want := contents{}
		for i, name := range []string{"a", "b", "c", "deleted", "overwritten", "renamed"} {
			must(t, st.Put(name, stamped(uint64(i), 10)))
			want[name] = stored{tensor: stamped(uint64(i), 10)}
		}
		must(t, st.Put("filler", stamped(7, 4000)))
		must(t, st.Put("filler", stamped(8, 4000))) // goes on in a second log
		want["filler"] = stored{tensor: stamped(8, 4000)}
		must(t, st.Delete("deleted"))
		must(t, st.Put("overwritten", stamped(9, 10)))
		must(t, st.Rename("renamed", "new"))
		delete(want, "deleted")
		want["overwritten"] = stored{tensor: stamped(9, 10)}
		want["new"] = want["renamed"]
		delete(want, "renamed")
		closeStore(t, st)
		if !catalog {
			removeCatalog(t, dir)
		}

		st = open(t, dir, store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize}, 2, 1000))
		waitSealed(t, st, 0)
		must(t, compare(st, want))
		r, err := st.Verify(context.Background(), nil)
		must(t, err)
		for _, p := range r.Problems {
			t.Errorf("catalog %v: %v", catalog, p.Err)
		}
		infos, err := st.Segments()
		must(t, err)
		if !infos[0].Sealed {
			t.Errorf("catalog %v: the first log is not sealed: %+v", catalog, infos)
		}
		closeStore(t, st)
		must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
	}
}

// TestManyLateSeals opens a store with several logs that can be sealed: while it looks
// for the next one, those before it change what the store has.
func TestManyLateSeals(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize}, 1000, 1000))
	want := contents{}
	for i := range uint64(50) {
		name := fmt.Sprint("tensor ", i)
		want[name] = stored{tensor: stamped(i, 10)}
		must(t, st.Put(name, want[name].tensor))
		if i%5 == 4 {
			must(t, store.Rotate(st))
		}
	}
	closeStore(t, st)

	st = open(t, dir, store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize}, 2, 1000))
	waitSealed(t, st, 0)
	must(t, compare(st, want))
	infos, err := st.Segments()
	must(t, err)
	sealed := 0
	for _, s := range infos {
		if s.Sealed {
			sealed++
		}
	}
	if sealed != 10 {
		t.Errorf("%d of 10 full logs are sealed: %+v", sealed, infos)
	}
	closeStore(t, st)
	must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
}
