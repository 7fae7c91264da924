package disk

import (
	"fmt"
	"math/rand/v2"
)

// Policy says how the seed of a cut is to be used. The zero value draws everything from the seed: first a style for
// the whole cut, then the choice for each block, size and entry. Thereby both the extremes and the mixtures turn up.
type Policy struct {
	// Blocks chooses among the versions of each block that changed since its last sync:
	// "drop" none made it, "keep" all did, "random" each with probability Keep, "prefix" all that was written before some
	// moment, "suffix" only what was written after some moment; "" any of these.
	Blocks string `json:"blocks,omitempty"`
	// Sizes chooses the file sizes: "old", "new", "random", "prefix"; "" any of these.
	Sizes string `json:"sizes,omitempty"`
	// Entries chooses the directory changes: "drop", "keep", "random", "prefix"; "" any of these.
	Entries string `json:"entries,omitempty"`
	// Keep is the probability that "random" keeps the newest version, 0 to draw it from the seed.
	Keep float64 `json:"keep,omitempty"`
	// Tear is the probability that a changed block is torn, 0 to draw it from the seed, negative for never.
	Tear float64 `json:"tear,omitempty"`
	// Garbage is the probability that a block that never made it into new space is filled with noise and not zeros.
	Garbage float64 `json:"garbage,omitempty"`
}

const (
	styleDrop   = "drop"
	styleKeep   = "keep"
	styleRandom = "random"
	stylePrefix = "prefix"
	styleSuffix = "suffix"
)

// chooser makes the choices of one cut. It is asked in a fixed order, so that a seed always gives the same.
type chooser struct {
	*rand.Rand
	blocks, sizes, entries string
	keep, keepEntry        float64
	tear, garbage          float64
	moment                 uint64 // for "prefix" and "suffix"
}

// newChooser takes the sequence numbers between which the moment of a prefix lies.
func newChooser(seed uint64, p Policy, oldest, newest uint64) (*chooser, error) {
	c := &chooser{Rand: rand.New(rand.NewPCG(seed, 0x7053707563757421))}
	c.moment = oldest + c.Uint64N(newest-oldest+1)
	var err error
	pick := func(what, given string, legal []string, weights ...string) string {
		drawn := weights[c.IntN(len(weights))]
		if given == "" {
			return drawn
		}
		for _, l := range legal {
			if given == l {
				return given
			}
		}
		err = fmt.Errorf("disk: policy: %s %q: use one of %q", what, given, legal)
		return drawn
	}
	c.blocks = pick("blocks", p.Blocks, []string{styleDrop, styleKeep, styleRandom, stylePrefix, styleSuffix},
		styleDrop, styleKeep, styleRandom, styleRandom, styleRandom, styleRandom, stylePrefix, stylePrefix, styleSuffix, styleSuffix)
	c.sizes = pick("sizes", p.Sizes, []string{"old", "new", styleRandom, stylePrefix},
		"old", "new", "new", "new", styleRandom, styleRandom, stylePrefix)
	c.entries = pick("entries", p.Entries, []string{styleDrop, styleKeep, styleRandom, stylePrefix},
		styleDrop, styleKeep, styleRandom, styleRandom, stylePrefix)
	probabilities := []float64{0.1, 0.5, 0.5, 0.9, 0.97}
	c.keep, c.keepEntry = probabilities[c.IntN(len(probabilities))], probabilities[c.IntN(len(probabilities))]
	if p.Keep > 0 {
		c.keep, c.keepEntry = p.Keep, p.Keep
	}
	tears := []float64{0, 0, 0.05, 0.3}
	c.tear = tears[c.IntN(len(tears))]
	if p.Tear != 0 {
		c.tear = p.Tear
	}
	c.garbage = p.Garbage
	return c, err
}

func (c *chooser) chance(p float64) bool { return c.Float64() < p }

// version chooses one of n versions, the last of which is the newest; seq tells when each was made.
func (c *chooser) version(style string, n int, seq func(int) uint64) int {
	switch style {
	case styleKeep, "new":
		return n - 1
	case styleRandom:
		if n > 1 && !c.chance(c.keep) {
			return c.IntN(n - 1)
		}
		return n - 1
	case stylePrefix:
		for i := n - 1; i > 0; i-- {
			if seq(i) < c.moment {
				return i
			}
		}
	case styleSuffix:
		if seq(n-1) >= c.moment {
			return n - 1
		}
	}
	return 0
}

// torn mixes the sectors of two versions of a block: either the first ones are new, or any of them.
func (c *chooser) torn(older, newer []byte) []byte {
	block := make([]byte, BlockSize)
	copy(block, older)
	const sectors = BlockSize / SectorSize
	mask := c.Uint32N(1 << sectors)
	if c.chance(0.5) {
		mask = 1<<c.IntN(sectors+1) - 1
	}
	for i := range sectors {
		if mask&(1<<i) == 0 {
			continue
		}
		sector := block[i*SectorSize : (i+1)*SectorSize]
		clear(sector)
		if newer != nil {
			copy(sector, newer[i*SectorSize:])
		}
	}
	return block
}

func (c *chooser) noise() []byte {
	block := make([]byte, BlockSize)
	for i := 0; i < len(block); i += 8 {
		x := c.Uint64()
		for j := range 8 {
			block[i+j] = byte(x >> (8 * j))
		}
	}
	return block
}
