package vec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// The naive reference: one element at a time, by the definition.

var allElems = []Elem{Bits8, Bits16, Bits32, Bits64, Bits128, Float8, Float16, Float32, Float64, Complex64, Complex128}

var allIndexes = []Index{I8, U8, I16, U16, I32, U32, I64, U64}

// naiveNonZero compares the element in x with 0 as its type does.
func naiveNonZero(x []byte, e Elem) bool {
	le := binary.LittleEndian
	f32 := func(b []byte) bool { return math.Float32frombits(le.Uint32(b)) != 0 }
	f64 := func(b []byte) bool { return math.Float64frombits(le.Uint64(b)) != 0 }
	switch e {
	case Float8:
		return x[0] != 0 && x[0] != 0x80
	case Float16:
		v := le.Uint16(x)
		return v != 0 && v != 0x8000
	case Float32:
		return f32(x)
	case Float64:
		return f64(x)
	case Complex64:
		return f32(x) || f32(x[4:])
	case Complex128:
		return f64(x) || f64(x[8:])
	}
	for _, b := range x {
		if b != 0 {
			return true
		}
	}
	return false
}

func naiveCount(src []byte, e Elem) int {
	count, size := 0, e.Size()
	for i := 0; i < len(src); i += size {
		if naiveNonZero(src[i:i+size], e) {
			count++
		}
	}
	return count
}

// naiveCompact returns what Compact has to give for outputs with room for so many nonzeros.
func naiveCompact(src []byte, e Elem, t Index, base uint64, room int) (values, positions []byte, consumed int) {
	size := e.Size()
	for i := 0; i < len(src)/size; i++ {
		x := src[i*size : (i+1)*size]
		if !naiveNonZero(x, e) {
			continue
		}
		if len(values) == room*size {
			return values, positions, i
		}
		values = append(values, x...)
		positions = appendIndex(positions, t, base+uint64(i))
	}
	return values, positions, len(src) / size
}

func appendIndex(b []byte, t Index, v uint64) []byte {
	var x [8]byte
	binary.LittleEndian.PutUint64(x[:], v)
	return append(b, x[:t.Size()]...)
}

// A pattern makes element i of an input: its bytes start as random ones.
type pattern struct {
	name string
	make func(rng *rand.Rand, i int, x []byte, e Elem)
}

var patterns = []pattern{
	{"all zero", func(_ *rand.Rand, _ int, x []byte, _ Elem) { clear(x) }},
	{"none zero", func(_ *rand.Rand, i int, x []byte, _ Elem) { x[0] |= 1 }},
	{"alternating", func(_ *rand.Rand, i int, x []byte, _ Elem) {
		if i%2 == 0 {
			clear(x)
		}
		x[0] |= byte(i % 2)
	}},
	{"random bits", func(rng *rand.Rand, _ int, x []byte, _ Elem) {}},
	{"one bit", func(rng *rand.Rand, _ int, x []byte, _ Elem) {
		clear(x)
		if rng.IntN(3) == 0 {
			bit := rng.IntN(8 * len(x))
			x[bit/8] = 1 << (bit % 8)
		}
	}},
	{"special floats", func(rng *rand.Rand, _ int, x []byte, e Elem) { special(rng, x, e) }},
	{"0.1 %", sparse(1000)},
	{"1 %", sparse(100)},
	{"10 %", sparse(10)},
	{"50 %", sparse(2)},
	{"runs", func(rng *rand.Rand, i int, x []byte, _ Elem) {
		if i/37%3 != 0 {
			clear(x)
		} else {
			x[len(x)-1] |= 0x40
		}
	}},
}

func sparse(one int) func(*rand.Rand, int, []byte, Elem) {
	return func(rng *rand.Rand, _ int, x []byte, _ Elem) {
		if rng.IntN(one) == 0 {
			x[0] |= 1
		} else {
			clear(x)
		}
	}
}

// special makes −0.0, NaNs, infinities, denormals and numbers whose set bits lie in one part only.
func special(rng *rand.Rand, x []byte, e Elem) {
	part := len(x)
	if e == Complex64 || e == Complex128 {
		part /= 2
	}
	for ; len(x) > 0; x = x[part:] {
		p := x[:part]
		clear(p)
		switch rng.IntN(8) {
		case 0, 1, 2:
			p[part-1] = 0x80 // −0.0
		case 3:
			p[0] = 1 // the smallest denormal
		case 4:
			p[0], p[part-1] = 1, 0x80
		case 5:
			p[part-1] = 0x7f // NaN or infinity, depending on the type
			if part > 1 {
				p[part-2] = 0xf0
			}
		case 6:
			for i := range p {
				p[i] = 0xff // NaN
			}
		}
	}
}

// fillPattern writes a whole input into dst.
func (p pattern) fill(rng *rand.Rand, dst []byte, e Elem) {
	size := e.Size()
	for i := 0; i < len(dst)/size; i++ {
		x := dst[i*size : (i+1)*size]
		for j := range x {
			x[j] = byte(rng.Uint32())
		}
		p.make(rng, i, x, e)
	}
}
