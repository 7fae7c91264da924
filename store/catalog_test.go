package store_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
)

// varied fills a store of several segments and returns what is in it.
func varied(t *testing.T, dir string, opts *store.Options) contents {
	t.Helper()
	st := open(t, dir, opts)
	c := contents{}
	for i := range 12 {
		name := fmt.Sprint("n", i)
		x := stamped(uint64(i), 100+i%4*1700) // the largest get a segment of their own
		must(t, st.Put(name, x))
		c[name] = stored{tensor: x}
	}
	must(t, st.Rename("n3", "renamed"))
	c["renamed"] = c["n3"]
	delete(c, "n3")
	must(t, st.Delete("n5"))
	delete(c, "n5")
	must(t, st.Put("n6", one))
	c["n6"] = stored{tensor: one}
	must(t, compare(st, c))
	closeStore(t, st)
	return c
}

var tiny = store.Options{SegmentSize: store.MinSegmentSize}

// TestWithoutCatalog deletes or damages the catalog of a closed store, and copies
// the store.
func TestWithoutCatalog(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"untouched": func(*testing.T, string) {},
		"deleted":   func(t *testing.T, dir string) { removeCatalog(t, dir) },
		"database deleted": func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "catalog.db")))
		},
		"emptied": func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, "catalog.db"), 0)) },
		"cut short": func(t *testing.T, dir string) {
			must(t, os.Truncate(filepath.Join(dir, "catalog.db"), 10_000))
		},
		"something else": func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "catalog.db"), []byte("text"), 0o666))
		},
		"a directory": func(t *testing.T, dir string) {
			removeCatalog(t, dir)
			must(t, os.Mkdir(filepath.Join(dir, "catalog.db"), 0o777))
		},
		"of another store": func(t *testing.T, dir string) {
			other := filepath.Join(quickDir(t), "other")
			varied(t, other, &tiny)
			removeCatalog(t, dir)
			paths, err := filepath.Glob(filepath.Join(other, "catalog.*"))
			must(t, err)
			for _, p := range paths {
				must(t, copyFile(p, filepath.Join(dir, filepath.Base(p))))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			want := varied(t, dir, &tiny)
			dir = copyDir(t, dir)
			spoil(t, dir)
			must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
			for i := range 3 {
				st := open(t, dir, &tiny)
				must(t, compare(st, want))
				x := stamped(uint64(100+i), 200)
				must(t, st.Put("more", x))
				want["more"] = stored{tensor: x}
				must(t, compare(st, want))
				closeStore(t, st)
			}
			must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
		})
	}
}

// TestOldCatalog opens stores with the catalog that they had some batches, rotations
// and openings ago.
func TestOldCatalog(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	var old []string
	want := contents{}
	for i := range 8 {
		st := open(t, dir, &tiny)
		for k := range 3 {
			name := fmt.Sprint("n", (i*3+k)%7)
			x := stamped(uint64(i*3+k), 100+k*2500)
			must(t, st.Put(name, x))
			want[name] = stored{tensor: x}
		}
		if i%2 == 1 {
			name := fmt.Sprint("n", i*3%7)
			must(t, st.Delete(name))
			delete(want, name)
		}
		closeStore(t, st)
		save := filepath.Join(quickDir(t), "catalog.db")
		must(t, copyFile(filepath.Join(dir, "catalog.db"), save))
		old = append(old, save)
	}
	for i, save := range old {
		again := copyDir(t, dir)
		removeCatalog(t, again)
		must(t, copyFile(save, filepath.Join(again, "catalog.db")))
		st := open(t, again, &tiny)
		if err := compare(st, want); err != nil {
			t.Errorf("catalog of opening %d: %v", i, err)
		}
		closeStore(t, st)
	}
}

// TestLogBehindCatalog takes batches away that the catalog knows: the log has lost
// something, and opening says so however often it is tried.
func TestLogBehindCatalog(t *testing.T) {
	for name, lose := range map[string]func(f *os.File, at, size int64) error{
		"cut off": func(f *os.File, at, size int64) error { return f.Truncate(at) },
		"zeroed": func(f *os.File, at, size int64) error {
			_, err := f.WriteAt(make([]byte, size-at), at)
			return err
		},
		"other bytes": func(f *os.File, at, size int64) error {
			b := make([]byte, size-at)
			for i := range b {
				b[i] = byte(i)
			}
			_, err := f.WriteAt(b, at)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			st := open(t, dir, nil)
			must(t, st.Put("a", one))
			must(t, st.Put("b", two))
			e, err := st.Stat("b")
			must(t, err)
			closeStore(t, st)
			f := openFile(t, filepath.Join(dir, "segments"), e.Segment)
			size, err := f.Seek(0, io.SeekEnd)
			must(t, err)
			must(t, lose(f, e.Offset, size))
			for range 3 {
				st, err := store.Open(dir, nil)
				if err == nil {
					err = compare(st, contents{"a": {tensor: one}, "b": {tensor: two}})
					st.Close()
					t.Fatalf("the store opens; its contents: %v", err)
				}
				wantError(t, err, store.ErrCorrupt, "lost something", "segments")
			}
		})
	}
}

// TestCatalogDeletedWhileOpen takes the catalog, or all but the segments, away from
// under a writer.
func TestCatalogDeletedWhileOpen(t *testing.T) {
	for _, what := range []string{"catalog.*", "[A-Zc]*"} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			st := open(t, dir, &tiny)
			want := contents{}
			put := func(n int) {
				for i := range n {
					x := stamped(uint64(len(want)), 100*i)
					name := fmt.Sprint("n", len(want))
					must(t, st.Put(name, x))
					want[name] = stored{tensor: x}
				}
			}
			put(3)
			paths, err := filepath.Glob(filepath.Join(dir, what))
			must(t, err)
			for _, p := range paths {
				must(t, os.Remove(p))
			}
			put(3)
			must(t, compare(st, want))
			must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
			closeStore(t, st)
			must(t, compare(open(t, dir, &tiny), want))
		})
	}
}

// TestIdleAfterKilledAtBirth opens a store that was killed before its first batch
// and waits until the catalog is written.
func TestIdleAfterKilledAtBirth(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	open(t, dir, nil)
	born := copyDir(t, dir)
	st := open(t, born, nil)
	time.Sleep(1200 * time.Millisecond)
	must(t, st.Put("a", one))
	must(t, compare(st, contents{"a": {tensor: one}}))
	closeStore(t, st)
}

// TestCatalogIsUsed makes sure that opening a store after a clean close takes the
// catalog and does not go through the logs, again and again.
func TestCatalogIsUsed(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	want := contents{}
	st := open(t, dir, nil)
	must(t, st.Update(func(tx *store.Tx) error {
		for i := range 300 {
			name := fmt.Sprint("n", i)
			want[name] = stored{tensor: stamped(uint64(i), 1000)}
			if err := tx.Put(name, want[name].tensor); err != nil {
				return err
			}
		}
		return nil
	}))
	var disk *testDisk
	for range 3 {
		closeStore(t, st)
		disk = &testDisk{}
		st = open(t, dir, store.WithFS(store.Options{}, disk))
		if n := disk.read.Load(); n > 64<<10 {
			t.Errorf("opening reads %d bytes of a store of 2.4 MB", n)
		}
		must(t, compare(st, want))
	}
	closeStore(t, st)
	removeCatalog(t, dir)
	disk = &testDisk{}
	open(t, dir, store.WithFS(store.Options{}, disk))
	if n := disk.read.Load(); n < 1<<20 {
		t.Errorf("opening without the catalog reads %d bytes only: reads are not counted", n)
	}
}
