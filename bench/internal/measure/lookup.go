package measure

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"

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
	r       *rand.Rand
	Numbers []int
	Names   []string
}

// NewRandomNames draws from the first count names, n at a time.
func NewRandomNames(count, n int) *RandomNames {
	return &RandomNames{count: count, r: rand.New(rand.NewPCG(3, uint64(count))), Numbers: make([]int, n), Names: make([]string, n)}
}

// Next draws anew.
func (n *RandomNames) Next() []string {
	for i := range n.Names {
		n.Numbers[i] = n.r.IntN(n.count)
		n.Names[i] = ItemName(n.Numbers[i])
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

// ItemName is the name of tensor i of a store with many: a hundred share a prefix.
func ItemName(i int) string { return fmt.Sprintf("%s%02d", ItemPrefix(i/100), i%100) }

// ItemPrefix is the prefix of the hundred names of group g.
func ItemPrefix(g int) string { return fmt.Sprintf("group-%06d/item-", g) }

// MemoryUse is what a process needs, in bytes.
type MemoryUse struct{ Anonymous, Heap int64 }

// LookupTimes are seconds a lookup, for each of the series below, and the allocations of one.
type LookupTimes struct {
	Times           Turns
	GetAllocations  float64 // of Get in a View
	ViewAllocations float64 // of a View with one Get
}

// The series of LookupTimes.
const (
	Load        = iota // a load from DRAM
	ViewRandom         // a View with a Get of a random name
	ViewOneName        // a View with a Get of the same name again and again
	ListHundred        // a List of a random prefix of a hundred names
	GetRandom          // a Get of a random name, many in one View
	GetOneName         // a Get of the same name again and again, many in one View
)

// UseMemory looks up a million names of a store, if it has any, and returns the memory that the
// process has then.
func UseMemory(st *store.Store) (MemoryUse, error) {
	for range 10 {
		i := 0
		for e, err := range st.List("") {
			if err != nil {
				return MemoryUse{}, err
			}
			if i++; i > 100_000 {
				break
			}
			if err := ViewOne(st, e.Name); err != nil {
				return MemoryUse{}, err
			}
		}
	}
	anonymous := AnonymousMemory()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return MemoryUse{Anonymous: anonymous, Heap: int64(m.HeapAlloc)}, nil
}

// LookupTurns measures lookups among count names, with a walk through so many bytes beside them.
func LookupTurns(st *store.Store, count, walkBytes, rounds int) (*LookupTimes, error) {
	const n = 5000
	walk := NewChase(walkBytes)
	names := NewRandomNames(count, n)
	one := make([]string, n)
	for i := range one {
		one[i] = ItemName(count / 2)
	}
	view := func(name string) error { return ViewOne(st, name) }
	list := func(name string) error {
		found := 0
		for e, err := range st.List(name) {
			if err != nil {
				return err
			}
			found++
			_ = e
		}
		if found != 100 {
			return fmt.Errorf("%d names with the prefix %q, there should be 100", found, name)
		}
		return nil
	}
	prefixes := make([]string, n/50)
	random := func(f func(string) error) func() (float64, error) {
		return func() (float64, error) { return TimeEach(names.Next(), f) }
	}
	inOneView := func(names []string) (seconds, allocs float64, err error) {
		err = st.View(func(tx *store.Tx) error {
			get := func(name string) error {
				t, err := tx.Get(name)
				Kept = t
				return err
			}
			if seconds, err = TimeEach(names, get); err != nil {
				return err
			}
			allocs = Allocations(names, get)
			return nil
		})
		return seconds, allocs, err
	}
	// Warm: all records and what leads to them has been touched.
	for i := range count {
		if err := ViewOne(st, ItemName(i)); err != nil {
			return nil, err
		}
	}
	var result LookupTimes
	var err error
	result.Times, err = TakeTurns(rounds,
		func() (float64, error) { return walk.Walk(n), nil },
		random(view),
		func() (float64, error) { return TimeEach(one, view) },
		func() (float64, error) {
			names.Next()
			for i := range prefixes {
				prefixes[i] = ItemPrefix(names.Numbers[i] / 100)
			}
			return TimeEach(prefixes, list)
		},
		func() (float64, error) {
			s, allocs, err := inOneView(names.Next())
			result.GetAllocations = allocs
			return s, err
		},
		func() (float64, error) {
			s, _, err := inOneView(one)
			return s, err
		})
	result.ViewAllocations = Allocations(names.Next(), view)
	return &result, err
}
