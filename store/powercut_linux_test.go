package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/tstore/tstore/store/internal/powercut"
)

// powerRun is a store at work on a disk that records everything.
type powerRun struct {
	*powerHistory
	path string
	opts Options
	rng  *rand.Rand
	s    *Store

	// outside is a directory on another disk to make packages in. With it, the run attaches packages and compacts, too.
	outside string
}

func newPowerRun(disk *powercut.Client, o Options, seed uint64) *powerRun {
	return &powerRun{powerHistory: newPowerHistory(disk), path: filepath.Join(disk.Dir, "store"), opts: o, rng: rand.New(rand.NewPCG(seed, 11))}
}

func (r *powerRun) open() (err error) {
	r.s, err = Open(r.path, &r.opts)
	return err
}

// size draws the size of a tensor in bytes: none, a few, a page or so, up to 200 KB; at least those above half a
// segment's size get a file of their own.
func (r *powerRun) size() int {
	switch r.rng.IntN(10) {
	case 0:
		return 0
	case 1, 2, 3:
		return r.rng.IntN(300)
	case 4, 5, 6:
		return r.rng.IntN(9000)
	case 7, 8:
		return r.rng.IntN(40_000)
	}
	return r.rng.IntN(200_000)
}

func (r *powerRun) name() string { return fmt.Sprintf("%c/%02d", 'a'+r.rng.IntN(3), r.rng.IntN(12)) }

// some returns one of the names there are.
func (r *powerRun) some(state holding) (string, bool) {
	if len(state) == 0 {
		return "", false
	}
	return slices.Sorted(maps.Keys(state))[r.rng.IntN(len(state))], true
}

// commit makes one random batch, and notes it before and after.
func (r *powerRun) commit() error {
	state := r.last()
	var do func() error
	kinds := 20
	if r.outside != "" {
		kinds = 24
	}
	kind := r.rng.IntN(kinds)
	name, ok := r.some(state)
	if !ok {
		kind = 0
	}
	switch {
	case kind < 9:
		name, version, size := r.name(), r.version(), r.size()
		state[name] = version
		do = func() error { return r.s.Put(name, versionTensor(version, size), versionAttr(version, size)) }
	case kind < 11:
		delete(state, name)
		do = func() error { return r.s.Delete(name) }
	case kind < 13:
		to := r.name()
		if _, taken := state[to]; taken {
			return nil
		}
		state[to] = state[name]
		delete(state, name)
		do = func() error { return r.s.Rename(name, to) }
	case kind >= 22:
		path, err := r.newPackage(state)
		if err != nil {
			return err
		}
		do = func() error {
			_, err := r.s.Attach(context.Background(), path, &AttachOptions{Clash: ClashReplaces})
			return err
		}
	case kind >= 20:
		do = func() error {
			_, err := r.s.Compact(context.Background(), nil)
			return err
		}
	default:
		steps := r.steps(state, 2+r.rng.IntN(6))
		do = func() error {
			return r.s.Update(func(tx *Tx) error {
				for _, step := range steps {
					if err := step(tx); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	return r.do(state, do)
}

// newPackage writes a package of a few tensors and notes in state what attaching it makes of the store.
func (r *powerRun) newPackage(state holding) (path string, err error) {
	added := holding{}
	for range 1 + r.rng.IntN(4) {
		added[r.name()] = r.version()
	}
	path = filepath.Join(r.outside, fmt.Sprint(r.version()))
	w, err := CreatePackage(path)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		size := r.size()
		if err := w.Add(name, versionTensor(added[name], size), versionAttr(added[name], size)); err != nil {
			return "", err
		}
	}
	maps.Copy(state, added)
	_, err = w.Close()
	return path, err
}

// do notes an attempt, makes it, and notes its outcome.
func (r *powerRun) do(state holding, do func() error) error {
	before := r.maybe
	attempt, err := r.attempt(state)
	if err != nil {
		return err
	}
	err = do()
	switch {
	case err == nil && r.opts.Sync == SyncNever:
		return nil
	case err == nil:
		return r.acknowledged(attempt)
	case errors.Is(err, ErrOutcomeUnknown):
		return err
	}
	return errors.Join(err, r.settled(before)) // it says that nothing happened
}

// steps draws the operations of one batch and makes them in state.
func (r *powerRun) steps(state holding, n int) []func(tx *Tx) error {
	var steps []func(tx *Tx) error
	for range n {
		name, ok := r.some(state)
		switch kind := r.rng.IntN(6); {
		case kind < 4 || !ok:
			name, version, size := r.name(), r.version(), r.size()
			state[name] = version
			steps = append(steps, func(tx *Tx) error { return tx.Put(name, versionTensor(version, size), versionAttr(version, size)) })
		case kind == 4:
			delete(state, name)
			steps = append(steps, func(tx *Tx) error { return tx.Delete(name) })
		default:
			to := r.name()
			if _, taken := state[to]; taken {
				continue
			}
			state[to] = state[name]
			delete(state, name)
			steps = append(steps, func(tx *Tx) error { return tx.Rename(name, to) })
		}
	}
	return steps
}

// work makes n batches, one after the other, closing and opening the store now and then.
func (r *powerRun) work(n int) error {
	if err := r.open(); err != nil {
		return err
	}
	refused := errors.New("changed my mind")
	for range n {
		if err := r.commit(); err != nil {
			return err
		}
		switch r.rng.IntN(16) {
		case 0:
			if err := r.s.Close(); err != nil {
				return err
			}
			if err := r.synced(); err != nil {
				return err
			}
			if err := r.open(); err != nil {
				return err
			}
		case 1:
			if err := r.s.Sync(); err != nil {
				return err
			}
			if err := r.synced(); err != nil {
				return err
			}
		case 2: // a batch that comes to nothing
			steps := r.steps(r.last(), 3)
			err := r.s.Update(func(tx *Tx) error {
				for _, step := range steps {
					if err := step(tx); err != nil {
						return err
					}
				}
				return refused
			})
			if !errors.Is(err, refused) {
				return fmt.Errorf("a batch that was given up: %w", err)
			}
		}
	}
	if err := r.s.Close(); err != nil {
		return err
	}
	return r.synced()
}

// synced notes that everything attempted so far is durable.
func (r *powerRun) synced() error { return r.acknowledged(r.maybe) }

// counterName counts the batches of workTogether. Each batch reads it, so each can see all before it.
const counterName = "counter"

// workTogether makes n batches from several goroutines.
func (r *powerRun) workTogether(n, goroutines int) error {
	if err := r.open(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	var drawing sync.Mutex // of random numbers
	errs := make([]error, goroutines)
	for g := range goroutines {
		wg.Go(func() {
			for range n / goroutines {
				var attempt int
				err := r.s.Update(func(tx *Tx) error {
					state := r.last()
					if e, err := tx.Stat(counterName); err == nil {
						t, err := tx.Get(counterName)
						if err != nil {
							return err
						}
						if v, err := readVersion(counterName, e, t); err != nil || v != state[counterName] {
							return fmt.Errorf("a batch sees the counter at version %d, not %d: %w", v, state[counterName], err)
						}
					} else if state[counterName] != 0 {
						return err
					}
					drawing.Lock()
					steps := r.steps(state, 1+r.rng.IntN(3))
					drawing.Unlock()
					version := r.version()
					state[counterName] = version
					steps = append(steps, func(tx *Tx) error { return tx.Put(counterName, versionTensor(version, 8), versionAttr(version, 8)) })
					for _, step := range steps {
						if err := step(tx); err != nil {
							return err
						}
					}
					var err error
					attempt, err = r.attempt(state)
					return err
				})
				if err == nil {
					err = r.acknowledged(attempt)
				}
				if err != nil {
					errs[g] = err
					return
				}
			}
		})
	}
	wg.Wait()
	errs = append(errs, r.s.Close())
	return errors.Join(errs...)
}

// powerWorkloads are the runs that get cut. Segments are small, so that much happens in little time.
var powerWorkloads = []struct {
	name string
	opts Options
	tend bool // attach packages and compact, too
	work func(r *powerRun) error
}{
	{"one writer", Options{SegmentSize: 256 << 10}, false, func(r *powerRun) error { return r.work(60) }},
	{"one writer, tiny segments, sealed", Options{SegmentSize: MinSegmentSize, sealMin: 3}, false, func(r *powerRun) error { return r.work(60) }},
	{"one writer, few entries in a log, sealed", Options{SegmentSize: 1 << 20, sealMin: 1, logMax: 8}, false, func(r *powerRun) error { return r.work(60) }},
	{"one writer, large segments", Options{}, false, func(r *powerRun) error { return r.work(40) }},
	{"four writers", Options{SegmentSize: 256 << 10, sealMin: 5}, false, func(r *powerRun) error { return r.workTogether(60, 4) }},
	{"eight writers, tiny segments, sealed", Options{SegmentSize: MinSegmentSize, sealMin: 2, logMax: 30}, false, func(r *powerRun) error { return r.workTogether(64, 8) }},
	{"syncs on demand", Options{SegmentSize: 128 << 10, Sync: SyncNever, sealMin: 4}, false, func(r *powerRun) error { return r.work(60) }},
	{"attaching and compacting, tiny segments", Options{SegmentSize: MinSegmentSize}, true, func(r *powerRun) error { return r.work(60) }},
	{"attaching and compacting, sealed", Options{SegmentSize: 256 << 10, sealMin: 2, logMax: 12}, true, func(r *powerRun) error { return r.work(60) }},
}

// powercutSeed is the seed of the runs, TSTORE_POWERCUT_SEED if that is set.
func powercutSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("TSTORE_POWERCUT_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("TSTORE_POWERCUT_SEED=%q: it should be a number", text)
	}
	return seed
}

// cutsPerRun bounds how often one run is cut before another one is made.
const cutsPerRun = 250

// usualCuts is how often the power is cut where TSTORE_POWERCUTS says nothing, and fullSweep is the number from which no
// operation is left out when each one in turn is made to fail.
const (
	usualCuts = 30
	fullSweep = 2000
)

// sweepStep is the distance of the operations that a sweep makes fail, of n in all: a few of them at least.
func sweepStep(t *testing.T, n int64) int64 {
	t.Helper()
	return max(1, min(fullSweep/int64(powercut.Count(t, usualCuts)), n/3))
}

// TestPowerCuts cuts the power of runs at each sync and in between, as often as TSTORE_POWERCUTS says in all, and
// demands that the store opens, holds every batch that was acknowledged and no part of one that was not, and goes on.
func TestPowerCuts(t *testing.T) {
	total := powercut.Count(t, usualCuts)
	seed := powercutSeed(t)
	rounds := max(1, (total+len(powerWorkloads)*cutsPerRun-1)/(len(powerWorkloads)*cutsPerRun))
	for round := range rounds {
		for i, w := range powerWorkloads {
			cuts := (total + rounds*len(powerWorkloads) - 1) / (rounds * len(powerWorkloads))
			t.Run(fmt.Sprintf("%s %d", w.name, round), func(t *testing.T) {
				disk := powercut.Start(t, powercut.Options{})
				r := newPowerRun(disk, w.opts, seed+uint64(round*len(powerWorkloads)+i))
				if w.tend {
					r.outside = t.TempDir()
				}
				if err := w.work(r); err != nil {
					t.Fatal(err)
				}
				r.cut(t, cuts, seed)
			})
		}
	}
}

// cut makes cuts of what the disk has recorded and checks each.
func (r *powerRun) cut(t *testing.T, n int, seed uint64) {
	t.Helper()
	r.cutFrom(t, 0, n, seed)
}

// cutFrom is cut of what was recorded from some operation on.
func (r *powerRun) cutFrom(t *testing.T, first int64, n int, seed uint64) {
	t.Helper()
	events, err := r.disk.Trace()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ahead, atRisk := 0, 0
	cuts := powercut.Plan(events, first, n, seed)
	for i := range cuts {
		// Some disks keep more than they have to, some leave garbage in new space.
		cuts[i].Model.FsyncEntry = i%5 == 1
		if i%5 == 2 {
			cuts[i].Policy.Garbage = 0.5
		}
	}
	r.disk.Each(t, cuts, func(cut powercut.Cut, dir string) error {
		sure, maybe, err := rangeAt(events, cut.At)
		if err != nil {
			return err
		}
		state, err := r.reopen(filepath.Join(dir, "store"), &r.opts, sure, maybe)
		mu.Lock()
		defer mu.Unlock()
		if maybe > sure {
			atRisk++
		}
		if state > sure {
			ahead++
		}
		return err
	})
	t.Logf("%d operations on the disk, %d batches, %d cuts; in %d of them batches were under way, in %d of those some were there", len(events), len(r.states)-1, n, atRisk, ahead)
}
