package plot

import (
	"encoding/binary"
	"math"
	"math/cmplx"

	"github.com/tstore/tstore/layout"
)

// reader turns the bytes of len(dst) elements into numbers.
type reader func(dst []float64, b []byte)

// numbers returns the reader of the values of a type, of complex ones the absolute values, or nil if
// they are no numbers.
func numbers(dt layout.DType) reader {
	le := binary.LittleEndian
	switch dt.Kind() {
	case layout.KindBool, layout.KindUint8:
		return each(1, func(b []byte) float64 { return float64(b[0]) })
	case layout.KindInt8:
		return each(1, func(b []byte) float64 { return float64(int8(b[0])) })
	case layout.KindUint16:
		return each(2, func(b []byte) float64 { return float64(le.Uint16(b)) })
	case layout.KindInt16:
		return each(2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) })
	case layout.KindUint32:
		return each(4, func(b []byte) float64 { return float64(le.Uint32(b)) })
	case layout.KindInt32:
		return each(4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) })
	case layout.KindUint64:
		return each(8, func(b []byte) float64 { return float64(le.Uint64(b)) })
	case layout.KindInt64:
		return each(8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) })
	case layout.KindFloat8E4M3FN:
		return each(1, func(b []byte) float64 { return float64(layout.F8E4M3(b[0]).Float32()) })
	case layout.KindFloat8E5M2:
		return each(1, func(b []byte) float64 { return float64(layout.F8E5M2(b[0]).Float32()) })
	case layout.KindFloat16:
		return each(2, func(b []byte) float64 { return float64(layout.F16(le.Uint16(b)).Float32()) })
	case layout.KindBFloat16:
		return each(2, func(b []byte) float64 { return float64(layout.BF16(le.Uint16(b)).Float32()) })
	case layout.KindFloat32:
		return readFloat32
	case layout.KindFloat64:
		return readFloat64
	case layout.KindComplex64:
		return each(8, func(b []byte) float64 {
			re, im := math.Float32frombits(le.Uint32(b)), math.Float32frombits(le.Uint32(b[4:]))
			return cmplx.Abs(complex(float64(re), float64(im)))
		})
	case layout.KindComplex128:
		return each(16, func(b []byte) float64 {
			return cmplx.Abs(complex(math.Float64frombits(le.Uint64(b)), math.Float64frombits(le.Uint64(b[8:]))))
		})
	}
	return nil
}

func each(size int, value func(b []byte) float64) reader {
	return func(dst []float64, b []byte) {
		for i := range dst {
			dst[i] = value(b[i*size:][:size])
		}
	}
}

// The common types have loops of their own, without a call for each element.

func readFloat32(dst []float64, b []byte) {
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
}

func readFloat64(dst []float64, b []byte) {
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// nonzeros returns the reader that gives 1 for an element that is not zero: NaN is not, −0.0 is, and
// what is no number is zero if all its bytes are.
func nonzeros(dt layout.DType) reader {
	read := numbers(dt)
	if read == nil {
		return each(dt.Size(), func(b []byte) float64 {
			for _, c := range b {
				if c != 0 {
					return 1
				}
			}
			return 0
		})
	}
	return func(dst []float64, b []byte) {
		read(dst, b)
		for i, v := range dst {
			if v != 0 {
				dst[i] = 1
			}
		}
	}
}

// isComplex reports whether what is drawn are absolute values.
func isComplex(dt layout.DType) bool {
	return dt.Kind() == layout.KindComplex64 || dt.Kind() == layout.KindComplex128
}
