package numtext

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/tstore/tstore/layout"
)

// Real returns the function that reads an element of a floating-point type, or nil.
func Real(dtype layout.DType) func([]byte) float64 {
	switch dtype.Kind() {
	case layout.KindFloat64:
		return func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	case layout.KindFloat32:
		return func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case layout.KindFloat16:
		return func(b []byte) float64 { return float64(layout.F16(binary.LittleEndian.Uint16(b)).Float32()) }
	case layout.KindBFloat16:
		return func(b []byte) float64 { return float64(layout.BF16(binary.LittleEndian.Uint16(b)).Float32()) }
	case layout.KindFloat8E4M3FN:
		return func(b []byte) float64 { return float64(layout.F8E4M3(b[0]).Float32()) }
	case layout.KindFloat8E5M2:
		return func(b []byte) float64 { return float64(layout.F8E5M2(b[0]).Float32()) }
	}
	return nil
}

// AppendReal appends the shortest text that gives the same float64 again.
func AppendReal(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// AppendUnsigned appends an unsigned integer of 1, 2, 4 or 8 bytes.
func AppendUnsigned(dst, elem []byte) []byte { return strconv.AppendUint(dst, bitsOf(elem), 10) }

// AppendSigned appends a signed integer of 1, 2, 4 or 8 bytes.
func AppendSigned(dst, elem []byte) []byte {
	shift := 64 - 8*len(elem)
	return strconv.AppendInt(dst, int64(bitsOf(elem)<<shift)>>shift, 10)
}

func bitsOf(elem []byte) uint64 {
	switch len(elem) {
	case 1:
		return uint64(elem[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(elem))
	case 4:
		return uint64(binary.LittleEndian.Uint32(elem))
	}
	return binary.LittleEndian.Uint64(elem)
}
