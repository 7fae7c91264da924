package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

var scalar = layout.DenseOf([]int64{42})

// TestErrors has a case for every way to get every error that a caller can test
// for, but for those of a failing disk, damaged files and attributes and names.
func TestErrors(t *testing.T) {
	view := func(st *store.Store, fn func(tx *store.Tx) error) error { return st.View(fn) }
	update := func(st *store.Store, fn func(tx *store.Tx) error) error { return st.Update(fn) }
	snapshot := func(st *store.Store, fn func(sn *store.Snapshot) error) error {
		sn, err := st.Snapshot()
		if err != nil {
			return err
		}
		defer sn.Close()
		return fn(sn)
	}
	listed := func(r reader) error {
		for _, err := range r.List("") {
			if err != nil {
				return err
			}
		}
		return nil
	}
	cases := []struct {
		name     string
		want     error
		mentions string
		do       func(st *store.Store) error // st holds "x" and "y"
	}{
		{"get", store.ErrNotFound, `"none"`, func(st *store.Store) error { _, err := st.Get("none"); return err }},
		{"stat", store.ErrNotFound, `"none"`, func(st *store.Store) error { _, err := st.Stat("none"); return err }},
		{"get of a prefix", store.ErrNotFound, `""`, func(st *store.Store) error { _, err := st.Get(""); return err }},
		{"delete", store.ErrNotFound, `"none"`, func(st *store.Store) error { return st.Delete("none") }},
		{"rename", store.ErrNotFound, `"none"`, func(st *store.Store) error { return st.Rename("none", "z") }},
		{"rename of nothing to a name that exists", store.ErrNotFound, `"none"`, func(st *store.Store) error { return st.Rename("none", "x") }},
		{"rename of nothing to itself", store.ErrNotFound, `"none"`, func(st *store.Store) error { return st.Rename("none", "none") }},
		{"get in View", store.ErrNotFound, `"none"`, func(st *store.Store) error {
			return view(st, func(tx *store.Tx) error { _, err := tx.Get("none"); return err })
		}},
		{"stat in View", store.ErrNotFound, `"none"`, func(st *store.Store) error {
			return view(st, func(tx *store.Tx) error { _, err := tx.Stat("none"); return err })
		}},
		{"get in Update", store.ErrNotFound, `"none"`, func(st *store.Store) error {
			return update(st, func(tx *store.Tx) error { _, err := tx.Get("none"); return err })
		}},
		{"delete twice in Update", store.ErrNotFound, `"x"`, func(st *store.Store) error {
			return update(st, func(tx *store.Tx) error { return errors.Join(tx.Delete("x"), tx.Delete("x")) })
		}},
		{"get in Update what it has deleted", store.ErrNotFound, `"z"`, func(st *store.Store) error {
			return update(st, func(tx *store.Tx) error {
				if err := errors.Join(tx.Put("z", scalar), tx.Delete("z")); err != nil {
					return err
				}
				_, err := tx.Get("z")
				return err
			})
		}},
		{"rename in Update what it has renamed", store.ErrNotFound, `"x"`, func(st *store.Store) error {
			return update(st, func(tx *store.Tx) error { return errors.Join(tx.Rename("x", "z"), tx.Rename("x", "w")) })
		}},
		{"get in Snapshot", store.ErrNotFound, `"none"`, func(st *store.Store) error {
			return snapshot(st, func(sn *store.Snapshot) error { _, err := sn.Get("none"); return err })
		}},
		{"stat in Snapshot", store.ErrNotFound, `"none"`, func(st *store.Store) error {
			return snapshot(st, func(sn *store.Snapshot) error { _, err := sn.Stat("none"); return err })
		}},

		{"rename", store.ErrExists, `"y"`, func(st *store.Store) error { return st.Rename("x", "y") }},
		{"rename in Update to what it has put", store.ErrExists, `"z"`, func(st *store.Store) error {
			return update(st, func(tx *store.Tx) error { return errors.Join(tx.Put("z", scalar), tx.Rename("x", "z")) })
		}},

		{"put in View", store.ErrReadOnly, "Update", func(st *store.Store) error {
			return view(st, func(tx *store.Tx) error { return tx.Put("z", scalar) })
		}},
		{"put of a message in View", store.ErrReadOnly, "Update", func(st *store.Store) error {
			return view(st, func(tx *store.Tx) error { return tx.PutMessage("z", nil) })
		}},
		{"delete in View", store.ErrReadOnly, "Update", func(st *store.Store) error {
			return view(st, func(tx *store.Tx) error { return tx.Delete("x") })
		}},
		{"rename in View", store.ErrReadOnly, "Update", func(st *store.Store) error {
			return view(st, func(tx *store.Tx) error { return tx.Rename("x", "z") })
		}},

		{"snapshot", store.ErrInUse, "1", func(st *store.Store) error {
			return snapshot(st, func(*store.Snapshot) error { return st.Close() })
		}},
		{"two snapshots", store.ErrInUse, "2", func(st *store.Store) error {
			return snapshot(st, func(*store.Snapshot) error {
				return snapshot(st, func(*store.Snapshot) error { return st.Close() })
			})
		}},
		{"close in View", store.ErrInUse, "1", func(st *store.Store) error {
			return view(st, func(*store.Tx) error { return st.Close() })
		}},
		{"close in List", store.ErrInUse, "1", func(st *store.Store) (err error) {
			for range st.List("") {
				err = st.Close()
			}
			return err
		}},

		{"list ended meanwhile", store.ErrTxDone, "", func(st *store.Store) (err error) {
			sn, err := st.Snapshot()
			if err != nil {
				return err
			}
			n := 0
			for _, e := range sn.List("") {
				sn.Close()
				n, err = n+1, e
			}
			if n != 2 {
				return errors.New("the list did not end with its error")
			}
			return err
		}},
		{"list in ended View", store.ErrTxDone, "", func(st *store.Store) error {
			var kept *store.Tx
			view(st, func(tx *store.Tx) error { kept = tx; return nil })
			return listed(kept)
		}},
	}
	for _, c := range cases {
		t.Run(c.want.Error()+"/"+c.name, func(t *testing.T) {
			st := open(t, filepath.Join(quickDir(t), "s"), nil)
			want := contents{"x": {tensor: stamped(1, 3)}, "y": {tensor: stamped(2, 3)}}
			for name, w := range want {
				must(t, st.Put(name, w.tensor))
			}
			wantError(t, c.do(st), c.want, c.mentions)
			must(t, compare(st, want)) // whatever failed has changed nothing
		})
	}
}

// TestEndedTransactions uses transactions and snapshots after their end.
func TestEndedTransactions(t *testing.T) {
	st := open(t, filepath.Join(quickDir(t), "s"), nil)
	must(t, st.Put("x", scalar))
	var viewed, updated, failed *store.Tx
	must(t, st.View(func(tx *store.Tx) error { viewed = tx; return nil }))
	must(t, st.Update(func(tx *store.Tx) error { updated = tx; return tx.Put("own", scalar) }))
	wantError(t, st.Update(func(tx *store.Tx) error { failed = tx; return os.ErrInvalid }), os.ErrInvalid)
	for name, tx := range map[string]*store.Tx{"View": viewed, "Update": updated, "failed Update": failed} {
		t.Run(name, func(t *testing.T) {
			checkEnded(t, tx, "x")
			checkEnded(t, tx, "own")
			for what, err := range map[string]error{
				"Put":        tx.Put("z", scalar),
				"PutMessage": tx.PutMessage("z", nil),
				"Delete":     tx.Delete("x"),
				"Rename":     tx.Rename("x", "z"),
			} {
				if !errors.Is(err, store.ErrTxDone) {
					t.Errorf("%s: %v, want ErrTxDone", what, err)
				}
			}
		})
	}
	sn, err := st.Snapshot()
	must(t, err)
	must(t, sn.Close())
	must(t, sn.Close()) // again does nothing
	checkEnded(t, sn, "x")
	must(t, compare(st, contents{"x": {tensor: scalar}, "own": {tensor: scalar}}))
}

func checkEnded(t *testing.T, r reader, name string) {
	t.Helper()
	_, err := r.Get(name)
	wantError(t, err, store.ErrTxDone)
	_, err = r.Stat(name)
	wantError(t, err, store.ErrTxDone)
	n := 0
	for _, err := range r.List("") {
		n++
		wantError(t, err, store.ErrTxDone)
	}
	if n != 1 {
		t.Errorf("list of an ended transaction yields %d times, want its error once", n)
	}
}

// TestClosed calls every method of a closed store.
func TestClosed(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	must(t, st.Put("x", scalar))
	closeStore(t, st)
	ro := open(t, dir, &store.Options{ReadOnly: true})
	closeStore(t, ro)
	get := func(st *store.Store) error { _, err := st.Get("x"); return err }
	reads := map[string]func(st *store.Store) error{
		"Get":      get,
		"Stat":     func(st *store.Store) error { _, err := st.Stat("x"); return err },
		"View":     func(st *store.Store) error { return st.View(func(*store.Tx) error { return nil }) },
		"Snapshot": func(st *store.Store) error { _, err := st.Snapshot(); return err },
		"List": func(st *store.Store) (err error) {
			for _, e := range st.List("") {
				err = errors.Join(err, e)
			}
			return err
		},
		"Sync":    (*store.Store).Sync,
		"Refresh": (*store.Store).Refresh,
		"Close":   (*store.Store).Close,
	}
	writes := map[string]func(st *store.Store) error{
		"Put":    func(st *store.Store) error { return st.Put("z", scalar) },
		"large":  func(st *store.Store) error { return st.Put("z", stamped(1, 1<<18)) },
		"Update": func(st *store.Store) error { return st.Update(func(tx *store.Tx) error { return tx.Delete("x") }) },
		"Delete": func(st *store.Store) error { return st.Delete("x") },
		"Rename": func(st *store.Store) error { return st.Rename("x", "z") },
	}
	for name, do := range reads {
		t.Run(name, func(t *testing.T) {
			wantError(t, do(st), store.ErrClosed)
			wantError(t, do(ro), store.ErrClosed)
		})
	}
	for name, do := range writes {
		t.Run(name, func(t *testing.T) {
			wantError(t, do(st), store.ErrClosed)
			wantError(t, do(ro), store.ErrReadOnly, dir)
		})
	}
	if p := st.Path(); p != dir {
		t.Errorf("Path is %q, want %q", p, dir)
	}
}

// TestRefusedClose tries to close a store with an open snapshot while others read,
// who must not notice.
func TestRefusedClose(t *testing.T) {
	st := open(t, filepath.Join(quickDir(t), "s"), nil)
	must(t, st.Put("x", scalar))
	sn, err := st.Snapshot()
	must(t, err)
	var done atomic.Bool
	var all sync.WaitGroup
	for _, do := range []func() error{
		func() error { _, err := st.Get("x"); return err },
		func() error { return st.View(func(tx *store.Tx) error { _, err := tx.Get("x"); return err }) },
	} {
		all.Go(func() {
			for !done.Load() {
				if err := do(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		if err := st.Close(); !errors.Is(err, store.ErrInUse) {
			t.Errorf("Close: %v", err)
			break
		}
	}
	done.Store(true)
	all.Wait()
	must(t, sn.Close())
	closeStore(t, st)
}

// TestReadOnlyStore writes to a store that was opened for reading.
func TestReadOnlyStore(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	want := contents{"x": {tensor: stamped(1, 3)}, "y": {tensor: stamped(2, 1<<18)}}
	fill(t, dir, want)
	ro := open(t, dir, &store.Options{ReadOnly: true})
	for name, err := range map[string]error{
		"Put":    ro.Put("z", scalar),
		"Update": ro.Update(func(*store.Tx) error { return nil }),
		"Delete": ro.Delete("x"),
		"Rename": ro.Rename("x", "z"),
	} {
		t.Run(name, func(t *testing.T) { wantError(t, err, store.ErrReadOnly, dir) })
	}
	must(t, ro.Sync())    // there is nothing to sync
	must(t, ro.Refresh()) // nor to see
	must(t, compare(ro, want))
}

// fill makes a new store with the given contents.
func fill(t testing.TB, dir string, c contents) {
	t.Helper()
	st := open(t, dir, nil)
	for name, w := range c {
		must(t, st.Put(name, w.tensor, w.attrs...))
	}
	closeStore(t, st)
}

// TestOpenErrors opens what is no store, and with options that make no sense.
func TestOpenErrors(t *testing.T) {
	dir := quickDir(t)
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("text"), 0o666))
	other := filepath.Join(dir, "other")
	must(t, os.Mkdir(other, 0o777))
	must(t, os.WriteFile(filepath.Join(other, "letter.txt"), []byte("text"), 0o666))
	lost := filepath.Join(dir, "lost") // a store without its segments
	fill(t, lost, contents{"a": {tensor: one}})
	must(t, os.RemoveAll(filepath.Join(lost, "segments")))
	none := filepath.Join(dir, "none")
	empty := filepath.Join(dir, "empty")
	must(t, os.Mkdir(empty, 0o777))
	cases := []struct {
		name, path string
		opts       store.Options
		want       error
		mentions   string
	}{
		{"nothing, read-only", none, store.Options{ReadOnly: true}, store.ErrNoStore, none},
		{"nothing, must exist", none, store.Options{MustExist: true}, store.ErrNoStore, none},
		{"empty directory, read-only", empty, store.Options{ReadOnly: true}, store.ErrNoStore, empty},
		{"empty directory, must exist", empty, store.Options{MustExist: true}, store.ErrNoStore, empty},
		{"file", file, store.Options{}, store.ErrNoStore, "a store is a directory"},
		{"file that is no package, read-only", file, store.Options{ReadOnly: true}, store.ErrCorrupt, file},
		{"other directory", other, store.Options{}, store.ErrNoStore, "letter.txt"},
		{"other directory, read-only", other, store.Options{ReadOnly: true}, store.ErrNoStore, "letter.txt"},
		{"catalog without segments", lost, store.Options{}, store.ErrCorrupt, "segments"},
		{"catalog without segments, read-only", lost, store.Options{ReadOnly: true}, store.ErrCorrupt, "segments"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := store.Open(c.path, &c.opts)
			wantError(t, err, c.want, c.mentions)
		})
	}
	for name, o := range map[string]store.Options{
		"small segments":  {SegmentSize: store.MinSegmentSize - 1},
		"negative size":   {SegmentSize: -1},
		"negative wait":   {LockWait: -1},
		"unknown policy":  {Sync: 7},
		"negative policy": {Sync: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if st, err := store.Open(filepath.Join(dir, "options"), &o); err == nil {
				st.Close()
				t.Errorf("Open with %+v succeeds", o)
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 4 {
		t.Errorf("failed openings have left %v, %v", left, err)
	}
	if left, err := os.ReadDir(other); err != nil || len(left) != 1 {
		t.Errorf("failed openings have left %v in somebody's directory, %v", left, err)
	}
}

// TestOpenCreates opens stores where there is none yet, in every state that a
// crash while one is created may leave.
func TestOpenCreates(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"nothing":        func(string) error { return nil },
		"parent missing": func(dir string) error { return os.Remove(filepath.Dir(dir)) },
		"directory":      func(dir string) error { return os.Mkdir(dir, 0o777) },
		"lock": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "LOCK"), []byte("4711\n"), 0o666))
		},
		"segments": func(dir string) error { return os.MkdirAll(filepath.Join(dir, "segments"), 0o777) },
		"unfinished segment": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "segments"), 0o777),
				os.WriteFile(filepath.Join(dir, "segments", "0000000001.seg.tmp"), []byte("half"), 0o666))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "parent", "s")
			must(t, os.Mkdir(filepath.Dir(dir), 0o777))
			must(t, prepare(dir))
			want := contents{"x": {tensor: scalar}}
			fill(t, dir, want)
			must(t, compare(open(t, dir, &store.Options{MustExist: true}), want))
			if left, _ := filepath.Glob(filepath.Join(dir, "segments", "*.tmp")); left != nil {
				t.Errorf("%v was left", left)
			}
		})
	}
}
