package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tstore/tstore/store"
)

// held is what this process has open and mapped.
type held struct {
	files    int
	segments int // maps of segment files
	maps     int // maps of any kind, the ranges that were given up included
}

func holding(t *testing.T) (h held) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, e := range entries {
		if path, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(path, "/segments/") {
			h.files++
		}
	}
	text, err := os.ReadFile("/proc/self/maps")
	must(t, err)
	for line := range strings.Lines(string(text)) {
		h.maps++
		if strings.Contains(line, "/segments/") {
			h.segments++
		}
	}
	return h
}

// TestNothingIsKeptOpen opens, uses and closes stores, and has a reader follow one
// that is rotated and compacted: files and maps don't get more and more.
func TestNothingIsKeptOpen(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	cycle := func() {
		st := open(t, dir, store.WithSealing(tiny, 4, 8))
		for i := range 6 {
			must(t, st.Put(fmt.Sprint("n", i), stamped(uint64(i), i*900)))
		}
		err := st.Update(func(tx *store.Tx) error {
			must(t, tx.Put("given up", stamped(1, 5000)))
			return errGivenUp
		})
		wantError(t, err, errGivenUp)
		ro := open(t, dir, &store.Options{ReadOnly: true})
		_, err = store.Open(dir, nil)
		wantError(t, err, store.ErrLocked)
		must(t, st.View(func(tx *store.Tx) error { _, err := tx.Get("n5"); return err }))
		_, err = st.Compact(context.Background(), nil)
		must(t, err)
		must(t, ro.Refresh())
		closeStore(t, ro)
		closeStore(t, st)
		st = open(t, dir, store.WithSealing(tiny, 4, 8))
		for i := range 6 { // enough for the log to be sealed at the end
			must(t, st.Put(fmt.Sprint("n", i), scalar))
		}
		closeStore(t, st)
	}
	cycle()
	runtime.GC()
	before := holding(t)
	for range 100 {
		cycle()
	}
	after := holding(t)
	if after.files > before.files || after.segments > before.segments {
		t.Errorf("before %+v, after 100 times %+v", before, after)
	}
	t.Logf("before %+v, after 100 times %+v", before, after)

	st := open(t, dir, &tiny)
	ro := open(t, dir, &store.Options{ReadOnly: true})
	round := func() {
		for i := range 6 {
			must(t, st.Put(fmt.Sprint("n", i), stamped(uint64(i), i*900)))
		}
		_, err := st.Compact(context.Background(), nil)
		must(t, err)
		must(t, ro.Refresh())
		must(t, ro.View(func(tx *store.Tx) error { _, err := tx.Get("n5"); return err }))
	}
	round()
	before = holding(t)
	for range 60 {
		round()
	}
	after = holding(t)
	if after.files > before.files+5 || after.segments > before.segments+5 {
		t.Errorf("before %+v, after 60 rounds %+v", before, after)
	}
}

// TestFailedOpeningsKeepNothing opens damaged stores again and again.
func TestFailedOpeningsKeepNothing(t *testing.T) {
	d := newDamagedStore(t, &store.Options{})
	paths := segmentFiles(t, d.dir)
	must(t, os.Truncate(paths[len(paths)-1], 100))
	try := func() {
		for _, opts := range []*store.Options{{ReadOnly: true}, {}} {
			if _, err := store.Open(d.dir, opts); !errors.Is(err, store.ErrCorrupt) {
				t.Fatal(err)
			}
		}
	}
	try()
	before := holding(t)
	for range 50 {
		try()
	}
	if after := holding(t); after.files > before.files || after.segments > before.segments {
		t.Errorf("before %+v, after 50 times %+v", before, after)
	}
}
