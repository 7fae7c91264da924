package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// TestAttachingNothing attaches packages that give the store nothing: they leave
// nothing behind.
func TestAttachingNothing(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	putAll(t, st, map[string]int64{"a": 1, "b": 2})
	for what, tensors := range map[string]map[string]int64{
		"an empty package":       {},
		"names that are there":   {"a": 3, "b": 4},
		"one name that is there": {"b": 5},
	} {
		path := filepath.Join(filepath.Dir(dir), "p.tstore")
		packOf(t, path, tensors)
		n, err := st.Attach(context.Background(), path, &store.AttachOptions{Clash: store.ClashKeeps})
		if n != 0 || err != nil {
			t.Errorf("%s: attached %d, %v", what, n, err)
		}
	}
	if files := segmentFiles(t, dir); len(files) != 1 {
		t.Errorf("the segments are %v, want the log alone", files)
	}
	must(t, compare(st, contents{"a": {tensor: layout.DenseOf([]int64{1}, 1)}, "b": {tensor: layout.DenseOf([]int64{2}, 1)}}))
}

// TestAttachingTooManyHiddenNames attaches a package again and again, leaving out the
// names that are there: the list of them has to fit in the header of each log to come.
func TestAttachingTooManyHiddenNames(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	path := filepath.Join(filepath.Dir(dir), "p.tstore")
	pack := func(last string) {
		t.Helper()
		p, err := store.CreatePackage(path)
		must(t, err)
		defer p.Abort()
		x := layout.DenseOf([]int8{1}, 1)
		for i := range 12_000 {
			must(t, p.Add(fmt.Sprintf("%05d", i)+strings.Repeat("x", 1000), x))
		}
		must(t, p.Add(last, x))
		_, err = p.Close()
		must(t, err)
	}
	st := open(t, dir, nil)
	for round := 0; ; round++ {
		pack(fmt.Sprint("z", round))
		before := len(segmentFiles(t, dir))
		n, err := st.Attach(context.Background(), path, &store.AttachOptions{Clash: store.ClashKeeps})
		if err == nil && round < 10 {
			if want := 1; round > 0 && n != want {
				t.Fatalf("round %d: attached %d, want %d", round, n, want)
			}
			continue
		}
		if round != 3 || !strings.Contains(err.Error(), "fit in a header") {
			t.Fatalf("round %d: %v", round, err)
		}
		if n := len(segmentFiles(t, dir)); n != before {
			t.Errorf("%d segments, there were %d before", n, before)
		}
		break
	}
	// The log goes on in a new file, whose header has the list.
	closeStore(t, st)
	st = open(t, dir, &store.Options{SegmentSize: store.MinSegmentSize})
	must(t, st.Put("more", scalar))
	if n := len(names(t, open(t, dir, &store.Options{ReadOnly: true}))); n != 12_000+3+1 {
		t.Errorf("%d names", n)
	}
}
