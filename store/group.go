package store

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tstore/tstore/store/internal/segment"
)

// written is a batch that is in the log's file, but perhaps not yet on disk.
type written struct {
	state *state
	log   *segment.Log
	last  commitRef
	names []*Entry // what it made of each name it touched

	at map[string]int // index in names; nil until another batch was taken in
}

// takeIn makes w stand for next, too, which follows it in the same log.
func (w *written) takeIn(next written) {
	if w.at == nil {
		w.at = make(map[string]int, len(w.names))
		for i, e := range w.names {
			w.at[e.Name] = i
		}
	}
	for _, e := range next.names {
		if i, ok := w.at[e.Name]; ok {
			w.names[i] = e
			continue
		}
		w.at[e.Name] = len(w.names)
		w.names = append(w.names, e)
	}
	w.state, w.last = next.state, next.last
}

// commitRef names a commit record.
type commitRef struct {
	log    *segment.Header // of the log that it stands in
	seq    uint64
	offset int64
	end    int64
	crc    uint32
	live   *liveSet // what counted then, but for the log itself
	closed bool     // it is the mark of a clean close
}

// number is that of the log, 0 if c is none.
func (c commitRef) number() uint64 {
	if c.log == nil {
		return 0
	}
	return c.log.Number
}

// group makes batches durable, many at a time: whoever comes first syncs for all
// that have been written until then, while the next ones gather.
type group struct {
	publish func(batches []written) // called with each lot that has become durable, in order
	lazy    bool                    // nobody waits for a single batch: memory counts

	mu       sync.Mutex
	change   sync.Cond
	pending  []written // in order, not known to be durable
	lot      int       // of pending, what the sync under way is for
	durable  uint64    // sequence number up to which all is durable
	syncedIn *segment.Log
	syncedTo int64 // position in syncedIn up to which all is durable
	syncing  bool
	waiting  int           // calls of wait under way
	expected int           // batches that the next sync may hope for
	lastSync time.Duration // how long the last sync took
	err      error         // why nothing may be written any more
}

// gatherTime is how long a sync that has fewer batches than it may hope for waits
// for the next one, at least. It may hope for those that came while the last sync
// was under way, and one more from each caller which that one has served: those
// have just been answered and are likely to come back. Without the wait half of
// the callers would always miss the sync that serves the other half.
const gatherTime = 60 * time.Microsecond

func newGroup(durable uint64, lazy bool, publish func([]written)) *group {
	g := &group{durable: durable, lazy: lazy, publish: publish}
	g.change.L = &g.mu
	return g
}

// add takes in a batch that was written after all others.
func (g *group) add(w written) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.pending); g.lazy && n > g.lot && g.pending[n-1].log == w.log {
		g.pending[n-1].takeIn(w)
		return
	}
	g.pending = append(g.pending, w)
}

// wait returns when the batch seq is durable, or can't be known to be.
func (g *group) wait(seq uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting++
	defer func() { g.waiting-- }()
	for g.durable < seq {
		switch {
		case g.err != nil:
			return g.err
		case g.syncing:
			g.change.Wait()
		default:
			g.sync()
		}
	}
	return nil
}

// sync makes durable all that is pending. It is called with mu held, which it
// gives up while the disk works.
func (g *group) sync() {
	g.syncing = true
	g.gather()
	lot := g.pending
	served := min(g.waiting, len(lot))
	last := lot[len(lot)-1]
	g.lot = len(lot)
	g.mu.Unlock()
	start := time.Now()
	err := last.log.Sync()
	took := time.Since(start)
	g.mu.Lock()
	g.syncing, g.lot = false, 0
	if err != nil {
		g.failLocked(err)
		return
	}
	g.finish(lot)
	g.expected, g.lastSync = served+len(g.pending), took
}

// busy reports whether a sync is coming that a batch added now will share with
// others, or might.
func (g *group) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.syncing || g.waiting > 0
}

// finish records that lot, the oldest of pending, is durable.
func (g *group) finish(lot []written) {
	last := lot[len(lot)-1]
	g.durable, g.syncedIn, g.syncedTo = last.state.seq, last.log, last.last.end
	g.pending = g.pending[len(lot):]
	g.publish(lot)
	g.change.Broadcast()
}

// gather lets other callers come, as long as they do, and not for longer than the
// sync will take.
func (g *group) gather() {
	patience := max(gatherTime, g.lastSync/4)
	start := time.Now()
	last := start
	for n := len(g.pending); n < g.expected; {
		g.mu.Unlock()
		runtime.Gosched()
		g.mu.Lock()
		now := time.Now()
		if len(g.pending) > n {
			n, last = len(g.pending), now
		}
		if now.Sub(last) > patience || now.Sub(start) > max(gatherTime, g.lastSync) {
			return
		}
	}
}

// flush makes durable all that was written before the call.
func (g *group) flush() error {
	g.mu.Lock()
	n := len(g.pending)
	var seq uint64
	if n > 0 {
		seq = g.pending[n-1].state.seq
	}
	err := g.err
	g.mu.Unlock()
	if n == 0 {
		return err
	}
	return g.wait(seq)
}

// durableTo is the position in log up to which all is known to be on disk.
func (g *group) durableTo(log *segment.Log) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.syncedIn != log {
		return log.Start()
	}
	return g.syncedTo
}

// fail makes every later write an error.
func (g *group) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failLocked(err)
}

func (g *group) failLocked(err error) {
	if g.err == nil {
		g.err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	g.change.Broadcast()
}

// failure is the error that a write has to return, if any.
func (g *group) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}
