package measure

import "math/rand/v2"

// Chase is a random walk through memory in which each load gives the address of the next: what
// a load from DRAM costs that nothing can hide. Lookups are measured in it.
type Chase struct {
	next []chaseLine
	at   uint32
}

// chaseLine fills a cache line.
type chaseLine struct {
	next uint32
	_    [60]byte
}

// NewChase makes a walk through so many bytes, which should be several times the last cache.
func NewChase(bytes int) *Chase {
	c := &Chase{next: make([]chaseLine, bytes/64)}
	order := make([]uint32, len(c.next))
	for i := range order {
		order[i] = uint32(i)
	}
	// Sattolo's shuffle: one cycle through all.
	r := rand.New(rand.NewPCG(1, 2))
	for i := len(order) - 1; i > 0; i-- {
		j := r.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
	for i, o := range order {
		c.next[i].next = o
	}
	return c
}

// Walk takes n steps and returns the seconds that one took.
func (c *Chase) Walk(n int) float64 {
	t, _ := ProcessorSeconds(func() error {
		at := c.at
		for range n {
			at = c.next[at].next
		}
		c.at = at
		return nil
	})
	return t / float64(n)
}
