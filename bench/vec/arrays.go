package main

import "math/rand/v2"

// arrays has the buffers of a measurement, which are large and warm.
type arrays struct {
	dense   []byte
	back    []byte // a dense output
	values  []byte
	indices []byte // room for two indices of 8 bytes for each element of a matrix that is half full
	more    [4]level
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

// fill makes the dense array one with this density, of random integers or of floats about 1.
func (a *arrays) fill(e element, density float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	size := e.size()
	limit := uint64(density * (1 << 63) * 2)
	clear(a.dense)
	for i := 0; i < len(a.dense); i += size {
		if x := rng.Uint64(); x < limit || density == 1 {
			some := a.dense[i : i+size]
			for k := range some {
				some[k] = byte(x*0x9e3779b97f4a7c15>>(8*(k%8))) | 1
			}
			switch e.name {
			case "float16", "float32", "float64":
				some[size-1] = 0x3f
			case "complex64", "complex128":
				some[size-1], some[size/2-1] = 0x3f, 0x3f
			}
		}
	}
}
