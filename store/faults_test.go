package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tstore/tstore/store"
)

// faultRun is a workload on a disk that fails, and what the store has said about
// each of its steps.
type faultRun struct {
	t    *testing.T
	dir  string
	opts *store.Options
	disk *testDisk
	st   *store.Store

	now      contents   // what was acknowledged
	possible []contents // what else may be there, after an unknown outcome
	refused  bool       // the outcome of a batch is unknown: everything must be refused
	problems []string
}

// faultSteps are small enough for each to be failed in every way, and make the
// store rotate its log, write segments of their own and start again.
var faultSteps = []func(r *faultRun){
	func(r *faultRun) { r.put("a", 10) },
	func(r *faultRun) { r.put("b", 2000) },
	func(r *faultRun) { r.batch("c", 10, "d", 500, "a", 20) },
	func(r *faultRun) { r.put("own", 5000) },
	func(r *faultRun) { r.rename("a", "e") },
	func(r *faultRun) { r.put("b", 3000) },
	func(r *faultRun) { r.delete("c") },
	func(r *faultRun) { r.batch("f", 3000, "g", 10) }, // the log is full
	func(r *faultRun) { r.delete("d") },
	func(r *faultRun) { r.givenUp("own", 7000) },
	func(r *faultRun) { r.batch("own", 6000, "x", 10) },
	func(r *faultRun) { r.reopen() },
	func(r *faultRun) { r.put("h", 10) },
	func(r *faultRun) { r.put("i", 3900) },
	func(r *faultRun) { r.put("j", 3900) }, // full again
	func(r *faultRun) { r.rename("own", "o") },
	func(r *faultRun) { r.delete("i") },
	func(r *faultRun) { r.put("a", 3000) },
	func(r *faultRun) { r.put("b", 2500) }, // and again
	func(r *faultRun) { r.compact() },
	func(r *faultRun) { r.put("a", 10) },
	func(r *faultRun) { r.delete("a") },
}

func (r *faultRun) errorf(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *faultRun) open() {
	st, err := store.Open(r.dir, r.opts)
	if err != nil {
		// A fault that has passed keeps nobody from opening the store.
		if st, err = store.Open(r.dir, r.opts); err != nil {
			r.st = nil
			return
		}
	}
	r.st = st
	r.refused = false
	r.settle(st)
}

// settle finds out which of the possible contents there is.
func (r *faultRun) settle(st reader) {
	first := compare(st, r.now)
	if first == nil {
		r.possible = nil
		return
	}
	for _, c := range r.possible {
		if compare(st, c) == nil {
			r.now, r.possible = c, nil
			return
		}
	}
	r.errorf("%d possible contents, and none of them is there: %v", 1+len(r.possible), first)
}

func (r *faultRun) reopen() {
	if r.st == nil {
		return
	}
	if err := r.st.Close(); err != nil && !r.refused && errors.Is(err, store.ErrOutcomeUnknown) {
		r.errorf("Close: %v, though all outcomes were known", err)
	}
	r.open()
}

// commit makes a batch that turns the contents into next.
func (r *faultRun) commit(what string, next contents, do func() error) {
	if r.st == nil {
		return
	}
	err := do()
	switch {
	case r.refused:
		if !errors.Is(err, store.ErrOutcomeUnknown) {
			r.errorf("%s after an unknown outcome: %v, want ErrOutcomeUnknown", what, err)
		}
	case err == nil:
		r.now = next
	case errors.Is(err, store.ErrOutcomeUnknown):
		r.refused = true
		r.possible = append(r.possible, next)
	case !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC):
		r.errorf("%s: %v, want the error of the disk in it", what, err)
	case !strings.Contains(err.Error(), r.dir):
		r.errorf("%s: error %q names no file", what, err)
	}
	if err := compare(r.st, r.now); err != nil {
		r.errorf("after %s: %v", what, err)
	}
}

func (r *faultRun) put(name string, n int) { r.batch(name, n) }

// batch puts tensors of the given names and sizes.
func (r *faultRun) batch(puts ...any) {
	next := maps.Clone(r.now)
	for i := 0; i < len(puts); i += 2 {
		next[puts[i].(string)] = stored{tensor: stamped(uint64(i+puts[i+1].(int)), puts[i+1].(int))}
	}
	r.commit(fmt.Sprint("putting ", puts), next, func() error {
		if len(puts) == 2 {
			return r.st.Put(puts[0].(string), next[puts[0].(string)].tensor)
		}
		return r.st.Update(func(tx *store.Tx) error {
			for i := 0; i < len(puts); i += 2 {
				if err := tx.Put(puts[i].(string), next[puts[i].(string)].tensor); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// givenUp puts a tensor in a batch that comes to nothing.
func (r *faultRun) givenUp(name string, n int) {
	r.commit("giving up", r.now, func() error {
		err := r.st.Update(func(tx *store.Tx) error {
			if err := tx.Put(name, stamped(99, n)); err != nil {
				return err
			}
			return errGivenUp
		})
		if errors.Is(err, errGivenUp) {
			return nil
		}
		return err
	})
}

var errGivenUp = errors.New("given up")

func (r *faultRun) compact() {
	r.commit("compacting", r.now, func() error {
		_, err := r.st.Compact(context.Background(), nil)
		return err
	})
}

// delete and rename do nothing if an earlier step that failed has left nothing to
// be done.
func (r *faultRun) delete(name string) {
	if _, ok := r.now[name]; ok {
		next := maps.Clone(r.now)
		delete(next, name)
		r.commit("deleting "+name, next, func() error { return r.st.Delete(name) })
	}
}

func (r *faultRun) rename(from, to string) {
	if _, ok := r.now[from]; ok {
		next := maps.Clone(r.now)
		next[to] = next[from]
		delete(next, from)
		r.commit("renaming "+from, next, func() error { return r.st.Rename(from, to) })
	}
}

// run does all steps, and then looks at what is on disk in every way.
func (r *faultRun) run() {
	r.now = contents{}
	r.open()
	for _, step := range faultSteps {
		step(r)
	}
	if r.st == nil {
		r.open()
	}
	killed := copyDir(r.t, r.dir)
	if r.st != nil {
		r.st.Close()
	}
	for what, dir := range map[string]string{"closed": r.dir, "killed": killed} {
		bare := copyDir(r.t, dir)
		removeCatalog(r.t, bare)
		r.look(what+", for reading", dir, &store.Options{ReadOnly: true})
		r.look(what+", without the catalog", bare, &store.Options{SegmentSize: store.MinSegmentSize})
		r.look(what, dir, &store.Options{SegmentSize: store.MinSegmentSize})
	}
}

func (r *faultRun) look(what, dir string, opts *store.Options) {
	st, err := store.Open(dir, opts)
	if err != nil {
		if opts.ReadOnly && errors.Is(err, store.ErrNoStore) && len(r.now) == 0 {
			return
		}
		r.errorf("%s: %v", what, err)
		return
	}
	defer st.Close()
	before := len(r.problems)
	again := *r
	again.settle(st)
	if len(again.problems) > before {
		r.errorf("%s: %s", what, again.problems[len(again.problems)-1])
	}
	if !opts.ReadOnly {
		if err := st.Put("new", scalar); err != nil {
			r.errorf("%s: the store does not work again: %v", what, err)
		}
		if err := st.Delete("new"); err != nil {
			r.errorf("%s: the store does not work again: %v", what, err)
		}
	}
}

// TestFaults fails every single operation of the workload on the disk, once and
// from then on, with an I/O error or a full disk.
func TestFaults(t *testing.T) {
	newRun := func(t *testing.T, disk *testDisk, sealed bool) *faultRun {
		opts := store.Options{SegmentSize: store.MinSegmentSize}
		if sealed {
			opts = *store.WithSealing(opts, 3, 8)
		}
		return &faultRun{t: t, dir: filepath.Join(quickDir(t), "s"), disk: disk, opts: store.WithFS(opts, disk)}
	}
	clean := newRun(t, &testDisk{}, false)
	clean.run()
	for _, p := range clean.problems {
		t.Errorf("without any fault: %s", p)
	}
	modes := []struct {
		name       string
		kinds      []diskOpKind
		errno      error
		forGood    bool
		half, drop bool
		sealed     bool
		stays      bool // nothing can be removed
	}{
		{name: "once", kinds: diskOpKinds, errno: syscall.EIO},
		{name: "for good", kinds: diskOpKinds, errno: syscall.EIO, forGood: true},
		{name: "half written", kinds: []diskOpKind{opWrite}, errno: syscall.ENOSPC, half: true},
		{name: "half written, for good", kinds: []diskOpKind{opWrite}, errno: syscall.ENOSPC, half: true, forGood: true},
		{name: "pages lost", kinds: []diskOpKind{opSync}, errno: syscall.EIO, drop: true},
		{name: "sealed", kinds: diskOpKinds, errno: syscall.EIO, sealed: true},
		{name: "once, and nothing can be removed", kinds: []diskOpKind{opSyncDir, opOpen, opRename}, errno: syscall.EIO, stays: true},
	}
	if raceEnabled {
		modes = modes[:1] // slow, and there are few goroutines
	}
	for _, m := range modes {
		for _, kind := range m.kinds {
			t.Run(fmt.Sprintf("%s/%s", kind, m.name), func(t *testing.T) {
				t.Parallel()
				total := clean.disk.count[kind]
				if total == 0 {
					t.Fatalf("the workload makes no %s", kind)
				}
				for n := range total {
					hit := false
					disk := &testDisk{half: m.half, drop: m.drop}
					disk.fail = func(op diskOp, nth int) error {
						if op.kind == kind && (nth == n || m.forGood && nth > n) {
							hit = true
							return m.errno
						}
						if m.stays && op.kind == opRemove {
							return m.errno
						}
						return nil
					}
					r := newRun(t, disk, m.sealed)
					r.run()
					// Sealing goes on in the background, and what can't be removed may keep
					// the store shut: then there are others.
					if !hit && !m.sealed && !m.stays {
						t.Errorf("%d of %d: no such operation", n, total)
					}
					if r.refused && !m.forGood && kind != opSync {
						r.errorf("the outcome of a batch is called unknown")
					}
					for _, p := range r.problems {
						t.Errorf("%d of %d fails: %s", n, total, p)
					}
				}
				t.Logf("%d runs", total)
			})
		}
	}
}
