package arraytext

import (
	"encoding/binary"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/tstore/tstore/layout"
)

// floatType is a floating-point type as far as its text goes.
type floatType struct {
	size  int
	value func([]byte) float64
	round func(float64) float64 // to the nearest value of the type
	bits  int                   // for strconv, which knows the shortest text; 0 if it does not
	large float64               // NumPy writes arrays with values from here on with exponents …
	huge  float64               // … and single values from here on
}

var floatTypes = map[layout.Kind]floatType{
	layout.KindFloat64: {
		size:  8,
		value: func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) },
		round: func(v float64) float64 { return v },
		bits:  64, large: 1e8, huge: 1e16,
	},
	layout.KindFloat32: {
		size:  4,
		value: func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) },
		round: func(v float64) float64 { return float64(float32(v)) },
		bits:  32, large: 1e6, huge: 1e6,
	},
	layout.KindFloat16: {
		size:  2,
		value: func(b []byte) float64 { return float64(layout.F16(binary.LittleEndian.Uint16(b)).Float32()) },
		round: func(v float64) float64 { return float64(layout.F16FromFloat32(float32(v)).Float32()) },
		large: 1e3, huge: 1e3,
	},
	layout.KindBFloat16: {
		size:  2,
		value: func(b []byte) float64 { return float64(layout.BF16(binary.LittleEndian.Uint16(b)).Float32()) },
		round: func(v float64) float64 { return float64(layout.BF16FromFloat32(float32(v)).Float32()) },
		large: 1e6, huge: 1e6,
	},
	layout.KindFloat8E4M3FN: {
		size:  1,
		value: func(b []byte) float64 { return float64(layout.F8E4M3(b[0]).Float32()) },
		round: func(v float64) float64 { return float64(layout.F8E4M3FromFloat32(float32(v)).Float32()) },
		large: 1e6, huge: 1e6,
	},
	layout.KindFloat8E5M2: {
		size:  1,
		value: func(b []byte) float64 { return float64(layout.F8E5M2(b[0]).Float32()) },
		round: func(v float64) float64 { return float64(layout.F8E5M2FromFloat32(float32(v)).Float32()) },
		large: 1e6, huge: 1e6,
	},
}

// scientific returns a finite value as d.ddde±dd with the fewest digits that tell it from its
// neighbours, or rounded to max digits after the point if those are more; max < 0 is no limit.
// The parts come without trailing zeros and without the point and the e: "-1", "25", "+05".
func (f floatType) scientific(v float64, max int) (whole, frac, exp string) {
	s := f.shortest(v)
	whole, frac, exp = splitScientific(s)
	if max >= 0 && len(frac) > max {
		whole, frac, exp = splitScientific(strconv.FormatFloat(v, 'e', max, 64))
	}
	return whole, strings.TrimRight(frac, "0"), exp
}

func splitScientific(s string) (whole, frac, exp string) {
	s, exp, _ = strings.Cut(s, "e")
	whole, frac, _ = strings.Cut(s, ".")
	return whole, frac, exp
}

// positional is scientific without an exponent.
func (f floatType) positional(v float64, max int) (whole, frac string) {
	// The shortest digits, read as a float64, are closer to their own decimal text than to any
	// other that is as short, so that strconv finds them again.
	short, _ := strconv.ParseFloat(f.shortest(v), 64)
	whole, frac, _ = strings.Cut(strconv.FormatFloat(short, 'f', -1, 64), ".")
	if max >= 0 && len(frac) > max {
		whole, frac, _ = strings.Cut(strconv.FormatFloat(v, 'f', max, 64), ".")
	} else if frac == "" {
		// 448 as a float8 is told from its neighbours by two digits, but nobody would write 450.
		whole = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return whole, strings.TrimRight(frac, "0")
}

func (f floatType) shortest(v float64) string {
	if f.bits != 0 {
		return strconv.FormatFloat(v, 'e', -1, f.bits)
	}
	for digits := 0; ; digits++ {
		s := strconv.FormatFloat(v, 'e', digits, 64)
		if u, _ := strconv.ParseFloat(s, 64); f.round(u) == v || digits == 17 {
			return s
		}
	}
}

// floatFormat is how the values of one array are written: all of them in the same way, so that
// their points stand below each other.
type floatFormat struct {
	floatType
	plus       bool // write a sign before positive values
	scientific bool
	left       int // characters before the point
	right      int // digits after it; spaces fill up in positional text, zeros in scientific
	expDigits  int
}

// newFloatFormat returns the format for an array that has these values.
func newFloatFormat(t floatType, values iter.Seq[float64], plus bool) *floatFormat {
	f := &floatFormat{floatType: t, plus: plus}
	finite, nan, inf, negInf := false, false, false, false
	smallest, largest := math.Inf(1), 0.0 // of what is neither zero nor infinite
	for v := range values {
		switch {
		case math.IsNaN(v):
			nan = true
		case math.IsInf(v, 0):
			inf = true
			negInf = negInf || v < 0
		default:
			finite = true
			if a := math.Abs(v); a != 0 {
				smallest, largest = min(smallest, a), max(largest, a)
			}
		}
	}
	if largest != 0 {
		f.scientific = largest >= t.large || smallest < t.round(0.0001) || t.round(largest/smallest) > 1000
	}
	if finite {
		for v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			var whole, frac, exp string
			if f.scientific {
				whole, frac, exp = f.floatType.scientific(v, precision)
				f.expDigits = max(f.expDigits, len(exp)-1)
			} else {
				whole, frac = f.positional(v, precision)
			}
			f.left = max(f.left, len(f.sign(v)+strings.TrimPrefix(whole, "-")))
			f.right = max(f.right, len(frac))
		}
	}
	if nan || inf {
		rest := f.rest()
		f.left = max(f.left, len("nan")-rest)
		if signed := len("inf"); negInf || plus {
			f.left = max(f.left, signed+1-rest)
		} else {
			f.left = max(f.left, signed-rest)
		}
	}
	return f
}

func (f *floatFormat) sign(v float64) string {
	switch {
	case math.Signbit(v):
		return "-"
	case f.plus:
		return "+"
	}
	return ""
}

// rest returns the number of characters from the point on.
func (f *floatFormat) rest() int {
	if f.scientific {
		return 1 + f.right + len("e+") + f.expDigits
	}
	return 1 + f.right
}

// word returns the text of a value, as wide as that of every other value of the array.
func (f *floatFormat) word(v float64) string {
	var s string
	switch {
	case math.IsNaN(v):
		s = "nan"
		if f.plus {
			s = "+nan"
		}
		return pad(s, f.left+f.rest())
	case math.IsInf(v, 0):
		return pad(f.sign(v)+"inf", f.left+f.rest())
	case f.scientific:
		// Where fewer digits would do for this value, NumPy fills up with further digits of it
		// rather than with zeros.
		whole, frac, exp := splitScientific(strconv.FormatFloat(v, 'e', f.right, 64))
		s = f.sign(v) + strings.TrimPrefix(whole, "-") + "." + frac + "e" + exp[:1] + pad0(exp[1:], f.expDigits)
	default:
		whole, frac := f.positional(v, precision)
		s = f.sign(v) + strings.TrimPrefix(whole, "-") + "." + frac + strings.Repeat(" ", f.right-len(frac))
	}
	return pad(s, f.left+f.rest())
}

func pad0(digits string, width int) string {
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}

// pad puts spaces before s until it has width characters.
func pad(s string, width int) string {
	if len(s) < width {
		return strings.Repeat(" ", width-len(s)) + s
	}
	return s
}

// single returns the text of a value that stands by itself: all its digits, and a ".0" after a
// whole number if point is set.
func (f floatType) single(v float64, point bool) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	if a := math.Abs(v); a != 0 && (a < 0.0001 || a >= f.huge) {
		whole, frac, exp := f.scientific(v, -1)
		if frac != "" {
			frac = "." + frac
		}
		return whole + frac + "e" + exp
	}
	whole, frac := f.positional(v, -1)
	switch {
	case frac != "":
		return whole + "." + frac
	case point:
		return whole + ".0"
	}
	return whole
}
