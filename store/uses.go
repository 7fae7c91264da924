package store

import (
	"sync"
	"sync/atomic"

	"github.com/tstore/tstore/store/internal/segment"
)

// uses counts what is reading the store, in two generations, so that segments which
// no longer count are let go of when nobody can be looking at them any more. A
// reader counts itself before it takes a state, and in the generation of that
// moment.
type uses struct {
	generation atomic.Uint32
	views      [2]atomic.Int64 // snapshots, transactions and listings
	calls      [2]atomic.Int64 // calls under way

	draining atomic.Bool // the other generation has segments waiting for its end
	mu       sync.Mutex
	waiting  []*segment.File // for the end of the other generation
	later    []*segment.File // for the end of this one
	retiring inFlight        // goroutines that let go of files
}

// use is one that was begun.
type use struct {
	counter *atomic.Int64
	of      *uses
}

func (u *uses) begin(counters *[2]atomic.Int64) use {
	for {
		g := u.generation.Load()
		x := use{counter: &counters[g&1], of: u}
		x.counter.Add(1)
		if u.generation.Load() == g {
			return x
		}
		// Counted in a generation that may have been found empty already.
		x.end()
	}
}

func (x use) end() {
	if x.counter.Add(-1) == 0 && x.of.draining.Load() {
		x.of.reclaim()
	}
}

func total(counters *[2]atomic.Int64) int64 { return counters[0].Load() + counters[1].Load() }

// retire lets go of files, which no state that is published from now on has, when
// the readers that may have them are done.
func (u *uses) retire(files []*segment.File) {
	if len(files) == 0 {
		return
	}
	u.mu.Lock()
	u.later = append(u.later, files...)
	if removeMapped { // else they stay until the store is closed
		u.turn()
	}
	u.mu.Unlock()
	u.reclaim()
}

// turn starts a new generation if no older one is being waited for.
func (u *uses) turn() {
	if !u.draining.Load() && len(u.later) > 0 {
		u.waiting, u.later = u.later, nil
		u.generation.Add(1)
		u.draining.Store(true)
	}
}

// reclaim retires what waits, once the older generation has ended.
func (u *uses) reclaim() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.draining.Load() {
		old := (u.generation.Load() + 1) & 1
		if u.views[old].Load() > 0 || u.calls[old].Load() > 0 {
			return
		}
		u.letGo(u.waiting)
		u.waiting = nil
		u.draining.Store(false)
		u.turn()
	}
}

// letGo retires files beside the caller: to give back the space of a large file takes
// the system some time.
func (u *uses) letGo(files []*segment.File) {
	u.retiring.add(1)
	go func() {
		defer u.retiring.add(-1)
		for _, f := range files {
			f.Retire()
		}
	}()
}

// rest are the files that still wait, when the store is closed.
func (u *uses) rest() []*segment.File {
	u.mu.Lock()
	defer u.mu.Unlock()
	files := append(u.waiting, u.later...)
	u.waiting, u.later = nil, nil
	u.draining.Store(false)
	return files
}
