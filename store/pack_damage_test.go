package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// TestPackingFindsDamage damages one of several tensors, small ones, large ones, and
// some that are encoded anew since they were renamed: packing says which, and leaves
// nothing behind.
func TestPackingFindsDamage(t *testing.T) {
	ctx := context.Background()
	dir := quickDir(t)
	for _, renamed := range []bool{false, true} {
		into := filepath.Join(dir, fmt.Sprint("s", renamed))
		st := open(t, into, nil)
		want := contents{}
		for i, n := range []int{10, 200_000, 20, 300_000, 150_000, 30} {
			name := fmt.Sprint("t", i)
			x := stamped(uint64(i), n)
			attrs := []layout.Attr{{Key: "unit", Value: "m"}, {Key: "axis", Value: "x"}}[:i%3]
			put := name
			if renamed {
				put = "old " + name
			}
			must(t, st.Put(put, x, attrs...))
			if renamed {
				must(t, st.Rename(put, name))
			}
			if len(attrs) == 2 {
				attrs = []layout.Attr{attrs[1], attrs[0]}
			}
			want[name] = stored{x, attrs}
		}
		whole := filepath.Join(dir, "whole.tstore")
		_, err := st.Pack(ctx, whole, nil)
		must(t, err)
		pkg := open(t, whole, &store.Options{ReadOnly: true})
		must(t, compare(pkg, want))
		for _, p := range problemsOf(t, pkg) {
			t.Error(p)
		}
		closeStore(t, pkg)
		files := segmentFiles(t, into)
		if len(files) != 1 {
			t.Fatalf("the segments are %v, want one", files)
		}
		for name := range want {
			e, err := st.Stat(name)
			must(t, err)
			flip := func() {
				t.Helper()
				f, err := os.OpenFile(files[0], os.O_RDWR, 0)
				must(t, err)
				defer f.Close()
				var b [1]byte
				at := e.Offset + e.Length - 65
				_, err = f.ReadAt(b[:], at)
				must(t, err)
				b[0] ^= 4
				_, err = f.WriteAt(b[:], at)
				must(t, err)
			}
			flip()
			broken := filepath.Join(dir, "broken.tstore")
			_, err = st.Pack(ctx, broken, nil)
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s is damaged, renamed %v: %v", name, renamed, err)
			}
			if left := allFiles(t, dir); left[broken] != 0 {
				t.Errorf("%s is damaged: a package was made", name)
			}
			flip()
		}
		left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}
