package store

import "sync"

// inFlight counts work that goes on beside its callers. Unlike with a sync.WaitGroup,
// others may start something while one waits.
type inFlight struct {
	mu     sync.Mutex
	change sync.Cond // of n to 0
	n      int
}

// add counts n more, or less.
func (f *inFlight) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n += n; f.n == 0 {
		f.change.Broadcast()
	}
}

// wait returns when all that was started is done.
func (f *inFlight) wait() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change.L = &f.mu
	for f.n > 0 {
		f.change.Wait()
	}
}

// idle reports whether all that was started is done.
func (f *inFlight) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n == 0
}
