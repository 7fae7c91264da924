package vec

import (
	"encoding/binary"
	"math"
)

// momentLanes is what a kernel has found out lane by lane: minimum, maximum, sum, squares, nonzeros. AVX2 has half of
// the lanes.
type momentLanes [5][64]byte

// momentsStep is how many bytes a kernel takes at a time.
const momentsStep = 256

// momentsAny adds the first elements of src to m, and returns how many bytes they take.
func momentsAny(m *Moments, src []byte, e Elem, pivot float64) int {
	v, done := Active(), 0
	for v >= AVX2 && len(src)-done >= momentsStep {
		n := min(len(src)-done, piece) &^ (momentsStep - 1)
		var lanes momentLanes
		p, size := &src[done], e.Size()
		switch {
		case v >= AVX512 && size == 4:
			ran("moments4AVX512")
			moments4AVX512(p, n, pivot, &lanes[0][0])
		case v >= AVX512:
			ran("moments8AVX512")
			moments8AVX512(p, n, pivot, &lanes[0][0])
		case size == 4:
			ran("moments4AVX2")
			moments4AVX2(p, n, pivot, &lanes[0][0])
		default:
			ran("moments8AVX2")
			moments8AVX2(p, n, pivot, &lanes[0][0])
		}
		width := 64
		if v < AVX512 {
			width = 32
		}
		m.addLanes(&lanes, size, width)
		done += n
	}
	return done
}

func (m *Moments) addLanes(lanes *momentLanes, size, width int) {
	le := binary.LittleEndian
	for at := 0; at < width; at += size {
		if size == 4 {
			m.Min = less(m.Min, float64(math.Float32frombits(le.Uint32(lanes[0][at:]))))
			m.Max = more(m.Max, float64(math.Float32frombits(le.Uint32(lanes[1][at:]))))
			m.NonZero += int(le.Uint32(lanes[4][at:]))
		} else {
			m.Min = less(m.Min, math.Float64frombits(le.Uint64(lanes[0][at:])))
			m.Max = more(m.Max, math.Float64frombits(le.Uint64(lanes[1][at:])))
			m.NonZero += int(le.Uint64(lanes[4][at:]))
		}
	}
	for at := 0; at < width; at += 8 {
		m.Sum += math.Float64frombits(le.Uint64(lanes[2][at:]))
		m.Squares += math.Float64frombits(le.Uint64(lanes[3][at:]))
	}
}
