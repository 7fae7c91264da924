package main

import (
	"math/rand/v2"

	"github.com/tstore/tstore/vec"
)

// arrays has the buffers of a measurement, which are large and warm.
type arrays struct {
	dense   []byte
	back    []byte // a dense output
	values  []byte
	indices []byte // room for two indices of 8 bytes for each element of a matrix that is half full
	more    [4]level
	elem    vec.Elem
	density float64
}

type level struct{ indices, pointers []byte }

func newArrays(elements, size int) *arrays {
	a := &arrays{
		dense: hugeBuffer(elements * size), back: hugeBuffer(elements * size),
		values: hugeBuffer(elements * size), indices: hugeBuffer(elements * 8 * 2),
	}
	for l := range a.more {
		n := elements / 8
		a.more[l] = level{hugeBuffer(n * 8), hugeBuffer(n * 8)}
	}
	return a
}

// fill makes the dense array one with this density.
func (a *arrays) fill(e vec.Elem, density float64) {
	a.elem, a.density = e, density
	rng := rand.New(rand.NewPCG(1, 2))
	size := e.Size()
	limit := uint64(density * (1 << 63) * 2)
	clear(a.dense)
	for i := 0; i < len(a.dense); i += size {
		if x := rng.Uint64(); x < limit || density == 1 {
			a.dense[i] = byte(x) | 1
		}
	}
}
