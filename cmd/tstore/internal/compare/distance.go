package compare

import (
	"encoding/binary"
	"math"
	"math/cmplx"

	"github.com/tstore/tstore/layout"
)

// distanceOf returns the function that computes how far two elements are apart, and whether just one of
// them is a NaN; nil for elements that are no numbers.
func distanceOf(dt layout.DType) func(a, b []byte) (d float64, nan bool) {
	le := binary.LittleEndian
	switch dt.Kind() {
	case layout.KindBool, layout.KindUint8:
		return unsigned(func(b []byte) uint64 { return uint64(b[0]) })
	case layout.KindUint16:
		return unsigned(func(b []byte) uint64 { return uint64(le.Uint16(b)) })
	case layout.KindUint32:
		return unsigned(func(b []byte) uint64 { return uint64(le.Uint32(b)) })
	case layout.KindUint64:
		return unsigned(le.Uint64)
	case layout.KindInt8:
		return signed(func(b []byte) int64 { return int64(int8(b[0])) })
	case layout.KindInt16:
		return signed(func(b []byte) int64 { return int64(int16(le.Uint16(b))) })
	case layout.KindInt32:
		return signed(func(b []byte) int64 { return int64(int32(le.Uint32(b))) })
	case layout.KindInt64:
		return signed(func(b []byte) int64 { return int64(le.Uint64(b)) })
	case layout.KindFloat8E4M3FN:
		return reals(func(b []byte) float64 { return float64(layout.F8E4M3(b[0]).Float32()) })
	case layout.KindFloat8E5M2:
		return reals(func(b []byte) float64 { return float64(layout.F8E5M2(b[0]).Float32()) })
	case layout.KindFloat16:
		return reals(func(b []byte) float64 { return float64(layout.F16(le.Uint16(b)).Float32()) })
	case layout.KindBFloat16:
		return reals(func(b []byte) float64 { return float64(layout.BF16(le.Uint16(b)).Float32()) })
	case layout.KindFloat32:
		return reals(float32At)
	case layout.KindFloat64:
		return reals(float64At)
	case layout.KindComplex64:
		return complexes(func(b []byte) complex128 { return complex(float32At(b), float32At(b[4:])) })
	case layout.KindComplex128:
		return complexes(func(b []byte) complex128 { return complex(float64At(b), float64At(b[8:])) })
	}
	return nil
}

func float32At(b []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}
func float64At(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func unsigned(value func([]byte) uint64) func(a, b []byte) (float64, bool) {
	return func(a, b []byte) (float64, bool) {
		x, y := value(a), value(b)
		return float64(max(x, y) - min(x, y)), false
	}
}

func signed(value func([]byte) int64) func(a, b []byte) (float64, bool) {
	return func(a, b []byte) (float64, bool) {
		x, y := value(a), value(b)
		return float64(uint64(max(x, y)) - uint64(min(x, y))), false
	}
}

func reals(value func([]byte) float64) func(a, b []byte) (float64, bool) {
	return func(a, b []byte) (float64, bool) {
		x, y := value(a), value(b)
		switch {
		case x != x && y != y || x == y: // infinities, whose difference is a NaN, included
			return 0, false
		case x != x || y != y:
			return 0, true
		}
		return math.Abs(x - y), false
	}
}

func complexes(value func([]byte) complex128) func(a, b []byte) (float64, bool) {
	return func(a, b []byte) (float64, bool) {
		x, y := value(a), value(b)
		switch {
		case cmplx.IsNaN(x) && cmplx.IsNaN(y) || x == y:
			return 0, false
		case cmplx.IsNaN(x) != cmplx.IsNaN(y):
			return 0, true
		}
		if d := cmplx.Abs(x - y); d == d {
			return d, false
		}
		return math.Inf(1), false
	}
}
