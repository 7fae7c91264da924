package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/store"
)

// TestCompactingWhatTheSameLogTookIn compacts a package that the newest log has attached,
// and segments that it has taken in for others, without a batch in between that would
// make the log go on in a new file: the log names files that are gone for good.
func TestCompactingWhatTheSameLogTookIn(t *testing.T) {
	for _, tombstones := range []bool{false, true} {
		t.Run(fmt.Sprint("tombstones ", tombstones), func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			path := filepath.Join(filepath.Dir(dir), "p.tstore")
			packOf(t, path, map[string]int64{"a": 1, "b": 2, "c": 3})
			st := open(t, dir, nil)
			putAll(t, st, map[string]int64{"b": 5, "d": 6, "e": 7})
			if tombstones {
				must(t, st.Delete("d"))
			}
			compact := func() {
				t.Helper()
				r, err := st.Compact(context.Background(), nil)
				must(t, err)
				t.Logf("%+v", r)
			}
			compact()
			n, err := st.Attach(context.Background(), path, &store.AttachOptions{Clash: store.ClashKeeps})
			must(t, err)
			if n != 2 {
				t.Fatalf("attached %d", n)
			}
			compact()
			n, err = st.Attach(context.Background(), path, &store.AttachOptions{Prefix: "p/"})
			must(t, err)
			if n != 3 {
				t.Fatalf("attached %d", n)
			}
			compact()
			want := map[string]int64{"a": 1, "b": 5, "c": 3, "d": 6, "e": 7, "p/a": 1, "p/b": 2, "p/c": 3}
			if tombstones {
				delete(want, "d")
			}
			check := func(when string, st *store.Store) {
				t.Helper()
				if got := values(t, st); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %v, want %v", when, got, want)
				}
			}
			check("afterwards", st)
			check("to a reader", open(t, dir, &store.Options{ReadOnly: true}))
			killed := copyDir(t, dir)
			removeCatalog(t, killed)
			check("killed, without the catalog", open(t, killed, nil))
			closeStore(t, st)
			check("reopened", open(t, dir, nil))
		})
	}
}
