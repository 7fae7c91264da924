package main

import (
	"math/rand/v2"
	"runtime"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// kept holds what was looked up last, so that the compiler can't leave the work out.
//
//lint:ignore U1000 it is there to be written to
var kept layout.Tensor

// viewOne looks name up in a transaction of its own.
func viewOne(st *store.Store, name string) error {
	return st.View(func(tx *store.Tx) error {
		t, err := tx.Get(name)
		kept = t
		return err
	})
}

// randomNames makes names to look up, some thousands at a time, so that they lie in the nearest
// caches and the lookups alone go to memory.
type randomNames struct {
	count   int
	r       *rand.Rand
	numbers []int
	names   []string
}

// newRandomNames draws from count names, n at a time.
func newRandomNames(count, n int) *randomNames {
	return &randomNames{count: count, r: rand.New(rand.NewPCG(3, uint64(count))), numbers: make([]int, n), names: make([]string, n)}
}

// next draws anew.
func (n *randomNames) next() []string {
	for i := range n.names {
		n.numbers[i] = n.r.IntN(n.count)
		n.names[i] = itemName(n.numbers[i])
	}
	return n.names
}

// timeEach calls f with each of the names and returns the seconds a call, on the processor.
func timeEach(names []string, f func(string) error) (float64, error) {
	s, err := processorSeconds(func() error {
		for _, name := range names {
			if err := f(name); err != nil {
				return err
			}
		}
		return nil
	})
	return s / float64(len(names)), err
}

// allocations is how many allocations a call of f makes.
func allocations(names []string, f func(string) error) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, name := range names {
		if f(name) != nil {
			return 0
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(len(names))
}
