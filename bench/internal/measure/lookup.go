package measure

import (
	"math/rand/v2"
	"runtime"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Kept holds what was looked up last, so that the compiler can't leave the work out.
var Kept layout.Tensor

// ViewOne looks name up in a transaction of its own.
func ViewOne(st *store.Store, name string) error {
	return st.View(func(tx *store.Tx) error {
		t, err := tx.Get(name)
		Kept = t
		return err
	})
}

// RandomNames makes names to look up, some thousands at a time, so that they lie in the nearest
// caches and the lookups alone go to memory.
type RandomNames struct {
	count   int
	name    func(int) string
	r       *rand.Rand
	Numbers []int
	Names   []string
}

// NewRandomNames draws from the names of the numbers below count, n at a time.
func NewRandomNames(count, n int, name func(int) string) *RandomNames {
	return &RandomNames{count: count, name: name, r: rand.New(rand.NewPCG(3, uint64(count))), Numbers: make([]int, n), Names: make([]string, n)}
}

// Next draws anew.
func (n *RandomNames) Next() []string {
	for i := range n.Names {
		n.Numbers[i] = n.r.IntN(n.count)
		n.Names[i] = n.name(n.Numbers[i])
	}
	return n.Names
}

// TimeEach calls f with each of the names and returns the seconds a call, on the processor.
func TimeEach(names []string, f func(string) error) (float64, error) {
	s, err := ProcessorSeconds(func() error {
		for _, name := range names {
			if err := f(name); err != nil {
				return err
			}
		}
		return nil
	})
	return s / float64(len(names)), err
}

// Allocations is how many allocations a call of f makes.
func Allocations(names []string, f func(string) error) float64 {
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
