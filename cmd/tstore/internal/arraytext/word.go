package arraytext

import (
	"encoding/binary"
	"encoding/hex"
	"iter"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/tstore/tstore/layout"
)

// words returns the formatter for an array of these elements.
func words(dtype layout.DType, elements iter.Seq[[]byte]) formatter {
	kind := dtype.Kind()
	if t, ok := floatTypes[kind]; ok {
		f := newFloatFormat(t, each(elements, t.value), false)
		return func(elem []byte) string { return f.word(t.value(elem)) }
	}
	switch kind {
	case layout.KindBool:
		return func(elem []byte) string { return pad(boolean(elem), len("False")) }
	case layout.KindComplex64, layout.KindComplex128:
		t := partsOf(kind)
		imag := func(elem []byte) float64 { return t.value(elem[t.size:]) }
		re := newFloatFormat(t, each(elements, t.value), false)
		im := newFloatFormat(t, each(elements, imag), true)
		return func(elem []byte) string {
			s := im.word(imag(elem))
			digits := strings.TrimRight(s, " ")
			return re.word(t.value(elem)) + digits + "j" + s[len(digits):]
		}
	}
	// Everything else is as wide as its widest text.
	one := single(dtype)
	quoted := kind == layout.KindTimestamp || kind == layout.KindDate
	word := func(elem []byte) string {
		s := one(elem)
		if quoted || s == notATime {
			s = "'" + s + "'"
		}
		return s
	}
	width := 0
	for elem := range elements {
		width = max(width, len(word(elem)))
	}
	return func(elem []byte) string { return pad(word(elem), width) }
}

// scalar returns the text of an element that is a tensor by itself.
func scalar(dtype layout.DType, elem []byte) string {
	kind := dtype.Kind()
	if t, ok := floatTypes[kind]; ok {
		return t.single(t.value(elem), true)
	}
	switch kind {
	case layout.KindBool:
		return boolean(elem)
	case layout.KindComplex64, layout.KindComplex128:
		return complexScalar(kind, elem)
	case layout.KindDuration:
		if s := single(dtype)(elem); s != notATime {
			return s + " " + unitNames[dtype.Unit()]
		}
	}
	return single(dtype)(elem)
}

func complexScalar(kind layout.Kind, elem []byte) string {
	t := partsOf(kind)
	re, im := t.value(elem), t.value(elem[t.size:])
	s := t.single(im, false) + "j"
	if re == 0 && !math.Signbit(re) {
		return s
	}
	if !strings.HasPrefix(s, "-") {
		s = "+" + s
	}
	return "(" + t.single(re, false) + s + ")"
}

// partsOf returns the type of the parts of a complex number.
func partsOf(kind layout.Kind) floatType {
	if kind == layout.KindComplex64 {
		return floatTypes[layout.KindFloat32]
	}
	return floatTypes[layout.KindFloat64]
}

func each(elements iter.Seq[[]byte], value func([]byte) float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for elem := range elements {
			if !yield(value(elem)) {
				return
			}
		}
	}
}

func boolean(elem []byte) string {
	if elem[0] != 0 {
		return "True"
	}
	return "False"
}

// single returns the formatter for elements that are written the same whatever is around them.
func single(dtype layout.DType) formatter {
	switch dtype.Kind() {
	case layout.KindUint8, layout.KindUint16, layout.KindUint32, layout.KindUint64:
		return func(elem []byte) string { return strconv.FormatUint(unsigned(elem), 10) }
	case layout.KindInt8, layout.KindInt16, layout.KindInt32, layout.KindInt64:
		return func(elem []byte) string { return strconv.FormatInt(signed(elem), 10) }
	case layout.KindDate, layout.KindTimestamp:
		return func(elem []byte) string { return instant(signed(elem), dtype) }
	case layout.KindTime:
		return func(elem []byte) string { return timeOfDay(signed(elem), dtype.Unit()) }
	case layout.KindDuration:
		return func(elem []byte) string {
			if v := signed(elem); v != math.MinInt64 {
				return strconv.FormatInt(v, 10)
			}
			return notATime
		}
	case layout.KindDecimal:
		return func(elem []byte) string { return decimal(elem, dtype.Scale()) }
	}
	return func(elem []byte) string { return "0x" + hex.EncodeToString(elem) }
}

func unsigned(elem []byte) uint64 {
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

func signed(elem []byte) int64 {
	shift := 64 - 8*len(elem)
	return int64(unsigned(elem)<<shift) >> shift
}

// decimal returns a little-endian two's complement integer times 10^-scale. A number with very
// many zeros before or after its digits is written with an exponent.
func decimal(elem []byte, scale int) string {
	v := new(big.Int)
	be := make([]byte, len(elem))
	for i, b := range elem {
		be[len(elem)-1-i] = b
	}
	v.SetBytes(be)
	if be[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(elem))))
	}
	digits, sign := v.String(), ""
	if digits[0] == '-' {
		digits, sign = digits[1:], "-"
	}
	switch {
	case scale == 0:
		return sign + digits
	case scale < 0 || scale > 100:
		return sign + digits + "e" + strconv.Itoa(-scale)
	case scale >= len(digits):
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	point := len(digits) - scale
	return sign + digits[:point] + "." + digits[point:]
}
