package layout

import (
	"github.com/tstore/tstore/vec"
)

// elem returns the type as the kernels know it, or 0 for opaque elements of a size that they have
// no word for. Opaque elements are zero if all their bytes are.
func (d DType) elem() vec.Elem {
	switch d.kind {
	case KindFloat16, KindBFloat16:
		return vec.Float16
	case KindFloat8E4M3FN, KindFloat8E5M2:
		return vec.Float8
	case KindFloat32:
		return vec.Float32
	case KindFloat64:
		return vec.Float64
	case KindComplex64:
		return vec.Complex64
	case KindComplex128:
		return vec.Complex128
	}
	switch d.width {
	case 1:
		return vec.Bits8
	case 2:
		return vec.Bits16
	case 4:
		return vec.Bits32
	case 8:
		return vec.Bits64
	case 16:
		return vec.Bits128
	}
	return 0
}

// countNonZero returns the number of nonzero elements of a contiguous run.
func countNonZero(dt DType, src []byte) int64 {
	const shortest = 16 // bytes; a shorter run is not worth a kernel
	if e := dt.elem(); e != 0 && len(src) >= shortest {
		return int64(vec.CountNonZero(src, e))
	}
	n := int64(0)
	for w := int(dt.width); len(src) > 0; src = src[w:] {
		if !isZero(dt, src[:w]) {
			n++
		}
	}
	return n
}

// isZero reports whether an element is zero: if all its bytes are, but for the signs of floating-point
// numbers.
func isZero(dt DType, b []byte) bool {
	switch dt.kind {
	case KindComplex64, KindComplex128:
		return isZeroPart(b[:len(b)/2], 0x7f) && isZeroPart(b[len(b)/2:], 0x7f)
	case KindFloat16, KindBFloat16, KindFloat8E4M3FN, KindFloat8E5M2, KindFloat32, KindFloat64:
		return isZeroPart(b, 0x7f)
	}
	return isZeroPart(b, 0xff)
}

// isZeroPart reports whether a number, of whose last byte the bits in mask matter, is zero.
func isZeroPart(b []byte, mask byte) bool {
	last := len(b) - 1
	for _, v := range b[:last] {
		if v != 0 {
			return false
		}
	}
	return b[last]&mask == 0
}

// compact writes the nonzero elements of a contiguous run, which begins with element number first, to values and
// their numbers to positions, cut to its type, until either is full. It returns how many elements it got through
// and how many were nonzero. What lies behind them in positions and values is undefined.
func compact(dt DType, values []byte, positions Index, src []byte, first int64) (used, n int64) {
	if e := dt.elem(); e != 0 {
		u, k := vec.Compact(values, positions.data, positions.typ.kernel(), src, e, uint64(first))
		return int64(u), int64(k)
	}
	w := int64(dt.width)
	room := min(int64(len(values))/w, positions.Len())
	for ; used*w < int64(len(src)); used++ {
		if v := src[used*w : (used+1)*w]; !isZero(dt, v) {
			if n == room {
				break
			}
			copy(values[n*w:], v)
			positions.set(n, uint64(first+used))
			n++
		}
	}
	return used, n
}

// compactCoords is compact with the coordinates in an array of this shape in place of numbers.
func compactCoords(dt DType, values, coords []byte, t IndexType, src []byte, shape []int64, first int64) (used, n int64) {
	if e := dt.elem(); e != 0 {
		u, k := vec.CompactCoords(values, coords, t.kernel(), src, e, dimensions(shape), uint64(first))
		return int64(u), int64(k)
	}
	w, ndim := int64(dt.width), int64(len(shape))
	room := int64(len(values)) / w
	var key [1]uint64
	for ; used*w < int64(len(src)); used++ {
		if v := src[used*w : (used+1)*w]; !isZero(dt, v) {
			if n == room {
				break
			}
			copy(values[n*w:], v)
			key[0] = uint64(first + used)
			writeCoordinates(Index{t, coords}.Slice(n*ndim, (n+1)*ndim), key[:], 0, shape)
			n++
		}
	}
	return used, n
}

// scatterFrom stores element i of values at element indices[i] of dst. The indices must lie inside.
func scatterFrom[I indexWord](width int64, dst []byte, indices []I, values []byte) {
	switch width {
	case 1:
		scatterWords(dst, indices, values)
	case 2:
		scatterWords(words[uint16](dst), indices, words[uint16](values))
	case 4:
		scatterWords(words[uint32](dst), indices, words[uint32](values))
	case 8:
		scatterWords(words[uint64](dst), indices, words[uint64](values))
	case 16:
		scatterWords(words[[2]uint64](dst), indices, words[[2]uint64](values))
	default:
		for i, at := range indices {
			copy(dst[int64(at)*width:][:width], values[int64(i)*width:][:width])
		}
	}
}

func scatterWords[V word, I indexWord](dst []V, indices []I, values []V) {
	values = values[:len(indices)]
	for i, at := range indices {
		dst[at] = values[i]
	}
}

// gatherElements stores element order[i].at of src as element i of dst.
func gatherElements(width int64, dst, src []byte, order []keyed) {
	switch width {
	case 1:
		gatherWords(dst, src, order)
	case 2:
		gatherWords(words[uint16](dst), words[uint16](src), order)
	case 4:
		gatherWords(words[uint32](dst), words[uint32](src), order)
	case 8:
		gatherWords(words[uint64](dst), words[uint64](src), order)
	case 16:
		gatherWords(words[[2]uint64](dst), words[[2]uint64](src), order)
	default:
		for i, o := range order {
			copy(dst[int64(i)*width:][:width], src[int64(o.at)*width:][:width])
		}
	}
}

func gatherWords[V word](dst, src []V, order []keyed) {
	dst = dst[:len(order)]
	for i, o := range order {
		dst[i] = src[o.at]
	}
}
