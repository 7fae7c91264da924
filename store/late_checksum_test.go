package store_test

import (
	"context"
	"sync"
	"testing"

	"github.com/tstore/tstore/store"
)

// TestLateChecksums puts tensors so large that their checksums are computed while they
// are written, and looks at them, renames, replaces and deletes them before that.
func TestLateChecksums(t *testing.T) {
	const large = 200_000 // elements: more than 1 MiB, less than gets a file of its own
	stat := func(t *testing.T, tx *store.Tx, name string) uint32 {
		e, err := tx.Stat(name)
		must(t, err)
		return e.CRC
	}
	tests := map[string]func(t *testing.T, tx *store.Tx, want contents){
		"nothing": func(t *testing.T, tx *store.Tx, want contents) {},
		"stat": func(t *testing.T, tx *store.Tx, want contents) {
			if stat(t, tx, "a") == stat(t, tx, "b") {
				t.Error("two tensors with the same checksum")
			}
		},
		"stat by many": func(t *testing.T, tx *store.Tx, want contents) {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for _, name := range []string{"a", "b"} {
						if e, err := tx.Stat(name); err != nil || e.CRC == 0 {
							t.Errorf("%s: %+v, %v", name, e, err)
						}
					}
				})
			}
			wg.Wait()
		},
		"list": func(t *testing.T, tx *store.Tx, want contents) {
			for e, err := range tx.List("") {
				must(t, err)
				if e.CRC == 0 {
					t.Errorf("%s has no checksum", e.Name)
				}
			}
		},
		"rename": func(t *testing.T, tx *store.Tx, want contents) {
			must(t, tx.Rename("a", "c"))
			want["c"] = want["a"]
			delete(want, "a")
			must(t, tx.Put("a", stamped(3, large)))
			want["a"] = stored{tensor: stamped(3, large)}
		},
		"replace": func(t *testing.T, tx *store.Tx, want contents) {
			must(t, tx.Put("a", stamped(4, large)))
			want["a"] = stored{tensor: stamped(4, large)}
		},
		"delete": func(t *testing.T, tx *store.Tx, want contents) {
			must(t, tx.Delete("a"))
			delete(want, "a")
		},
	}
	for name, do := range tests {
		t.Run(name, func(t *testing.T) {
			dir := quickDir(t)
			st := open(t, dir, nil)
			want := contents{}
			must(t, st.Update(func(tx *store.Tx) error {
				for i, name := range []string{"a", "b"} {
					want[name] = stored{tensor: stamped(uint64(i), large)}
					must(t, tx.Put(name, want[name].tensor))
				}
				do(t, tx, want)
				must(t, tx.Put("small", stamped(5, 10)))
				want["small"] = stored{tensor: stamped(5, 10)}
				return nil
			}))
			check := func() {
				t.Helper()
				must(t, compare(st, want)) // by Get, which looks at checksums
				r, err := st.Verify(context.Background(), nil)
				must(t, err)
				for _, p := range r.Problems {
					t.Error(p.Err)
				}
			}
			check()
			closeStore(t, st)
			removeCatalog(t, dir)
			st = open(t, dir, nil)
			check()
		})
	}
}
