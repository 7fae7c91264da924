package layout

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// grain says how work is cut up. It is a variable for the sake of tests.
var grain = struct {
	worker int64 // bytes, of a dense tensor or of the arrays of a sparse one, that a goroutine is worth while for
	part   int64 // bytes of a dense tensor that are gathered at a time
	stage  int64 // bytes of what was found in them that are kept
	stream int64 // bytes of a dense tensor that are written at a time: as many as the kernels write past the caches
}{1 << 20, 512 << 10, 1 << 20, 8 << 20}

// workers returns how many goroutines a conversion of so many bytes should use.
func (c *conversion) workers(bytes int64) int {
	n := c.opts.Goroutines
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return int(max(min(int64(n), bytes/grain.worker), 1))
}

// helper returns a conversion with the same options for another goroutine to work with. Its memory must have been
// counted.
func (c *conversion) helper() *conversion {
	h := conversions.Get().(*conversion)
	h.opts, h.budget = c.opts, newBudget(1<<62)
	return h
}

// inParallel calls f with 0 to n−1, each in a goroutine of its own, the first in that of the caller, and waits for
// all of them. A panic in any of them becomes one of the caller, as that of a page of a mapped file that can't be
// read; goroutines panic then if the caller's does.
func inParallel(n int, f func(worker int)) {
	if n == 1 {
		f(0)
		return
	}
	onFault := debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(onFault)
	var wg sync.WaitGroup
	panics := make([]any, n)
	run := func(worker int) {
		defer wg.Done()
		defer func() { panics[worker] = recover() }()
		f(worker)
	}
	wg.Add(n)
	for worker := 1; worker < n; worker++ {
		go func() {
			debug.SetPanicOnFault(onFault)
			run(worker)
		}()
	}
	run(0)
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// turns brings what goroutines make of the parts of something into the order of these parts. Each takes parts with
// take, and when it has made something of one, waits for the turn of that part.
type turns struct {
	mu      sync.Mutex
	changed sync.Cond
	parts   int64
	taken   int64
	turn    int64 // the part whose turn it is
	copying int   // goroutines that hold what must not move
	broken  bool
}

func (t *turns) begin(parts int64) {
	*t = turns{parts: parts}
	t.changed.L = &t.mu
}

// take returns the next part, or false if there is none left.
func (t *turns) take() (part int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken == t.parts || t.broken {
		return 0, false
	}
	t.taken++
	return t.taken - 1, true
}

// wait waits for the turn of a part. It returns false if a goroutine has given up.
func (t *turns) wait(part int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.turn != part && !t.broken {
		t.changed.Wait()
	}
	return !t.broken
}

// isTurn reports whether it is the turn of a part already.
func (t *turns) isTurn(part int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.turn == part && !t.broken
}

// pass ends the turn of the part whose turn it is. Until done is called, settle waits.
func (t *turns) pass() {
	t.mu.Lock()
	t.turn++
	t.copying++
	t.mu.Unlock()
	t.changed.Broadcast()
}

// done says that what was held since pass may move again.
func (t *turns) done() {
	t.mu.Lock()
	t.copying--
	t.mu.Unlock()
	t.changed.Broadcast()
}

// settle waits, in the turn of a part, until nobody holds what must not move. It returns false if a goroutine has given
// up, which may hold it still.
func (t *turns) settle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.copying > 0 && !t.broken {
		t.changed.Wait()
	}
	return !t.broken
}

// giveUp makes all waiting end.
func (t *turns) giveUp() {
	t.mu.Lock()
	t.broken = true
	t.mu.Unlock()
	t.changed.Broadcast()
}

// together has so many goroutines work. One that fails or panics makes the others give up.
func (t *turns) together(workers int, work func() error) error {
	errs := make([]error, workers)
	inParallel(workers, func(i int) {
		done := false
		defer func() {
			if !done {
				t.giveUp()
			}
		}()
		errs[i] = work()
		done = errs[i] == nil
	})
	return firstError(errs)
}

// stage is a part that a goroutine has made something of, which it keeps until the part's turn.
type stage interface {
	number() int64
	// deliver brings what was made to its place. It is the part's turn; deliver passes it on.
	deliver() error
}

// stages are those of one goroutine. It works ahead of turns that are late, since the one before it may be off the
// processor, as long as it has stages that are free.
type stages struct {
	turns        *turns
	free, filled []stage
}

// take returns a stage that is free.
func (s *stages) take() (stage, error) {
	if len(s.free) == 0 {
		if err := s.first(); err != nil {
			return nil, err
		}
	}
	// The one that was used last is still in the cache.
	last := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return last, nil
}

// fill takes a stage that is filled, and delivers those whose turn has come.
func (s *stages) fill(x stage) error {
	s.filled = append(s.filled, x)
	for len(s.filled) > 0 && s.turns.isTurn(s.filled[0].number()) {
		if err := s.first(); err != nil {
			return err
		}
	}
	return nil
}

// first delivers the first stage when its turn has come.
func (s *stages) first() error {
	x := s.filled[0]
	if !s.turns.wait(x.number()) {
		return errGaveUp
	}
	if err := x.deliver(); err != nil {
		return err
	}
	s.filled = append(s.filled[:0], s.filled[1:]...)
	s.free = append(s.free, x)
	return nil
}

// all delivers all stages.
func (s *stages) all() error {
	for len(s.filled) > 0 {
		if err := s.first(); err != nil {
			return err
		}
	}
	return nil
}

// mostStages is how many stages a goroutine has, if there is memory for them.
const mostStages = 24

// stagesFor returns how many stages of so many bytes each of some goroutines may have.
func (c *conversion) stagesFor(bytes int64, workers int) int64 {
	return max(min(c.left/4/max(bytes, 1)/int64(workers), mostStages), 1)
}
