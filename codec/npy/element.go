package npy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tstore/tstore/layout"
)

// element is how one element lies in a file.
type element struct {
	size      int  // bytes
	width     int  // bytes of each number in it: half of size for complex, else size
	bigEndian bool // the numbers' bytes are the other way round
	days      bool // M8[D]: an int64 that becomes the int32 of a date[day]
}

// plain lists the element types that mean the same to NumPy and to a tensor. parts is the number of
// numbers in an element.
var plain = [...]struct {
	code  string
	dtype layout.DType
	parts int
}{
	{"i1", layout.Int8, 1}, {"i2", layout.Int16, 1}, {"i4", layout.Int32, 1}, {"i8", layout.Int64, 1},
	{"u1", layout.Uint8, 1}, {"u2", layout.Uint16, 1}, {"u4", layout.Uint32, 1}, {"u8", layout.Uint64, 1},
	{"f2", layout.Float16, 1}, {"f4", layout.Float32, 1}, {"f8", layout.Float64, 1},
	{"b1", layout.Bool, 1},
	{"c8", layout.Complex64, 2}, {"c16", layout.Complex128, 2},
}

// timeUnits are the units that NumPy and Arrow have in common.
var timeUnits = map[string]layout.Unit{
	"s":  layout.UnitSecond,
	"ms": layout.UnitMillisecond,
	"us": layout.UnitMicrosecond,
	"ns": layout.UnitNanosecond,
}

// parseDescr reads the string form of a NumPy dtype, such as "<f4", "|b1" or ">M8[ns]".
func parseDescr(s string) (layout.DType, element, error) {
	code := s
	bigEndian, ordered := false, false
	if s != "" {
		switch s[0] {
		case '>':
			bigEndian, ordered, code = true, true, s[1:]
		case '<', '=':
			ordered, code = true, s[1:]
		case '|':
			code = s[1:]
		}
	}

	dtype, parts, days := layout.DType{}, 1, false
	switch {
	case strings.HasPrefix(code, "M8") || strings.HasPrefix(code, "m8"):
		var err error
		if dtype, days, err = parseTime(s, code); err != nil {
			return layout.DType{}, element{}, err
		}
	default:
		for i := range plain {
			if plain[i].code == code {
				dtype, parts = plain[i].dtype, plain[i].parts
			}
		}
	}
	if !dtype.Valid() {
		return layout.DType{}, element{}, refuse(s, code)
	}

	e := element{size: dtype.Size(), days: days}
	if days {
		e.size = 8
	}
	e.width = e.size / parts
	if e.width > 1 && !ordered {
		return layout.DType{}, element{}, fmt.Errorf("%w: element type %q does not say its byte order", ErrInvalid, s)
	}
	e.bigEndian = bigEndian && e.width > 1
	return dtype, e, nil
}

// parseTime reads "M8[ns]" and the like. NumPy's unit may have a count, as in "M8[25us]".
func parseTime(s, code string) (dtype layout.DType, days bool, err error) {
	kind, what, cast := code[0], "timestamp", "datetime64"
	if kind == 'm' {
		what, cast = "duration", "timedelta64"
	}
	if code == "M8" || code == "m8" {
		return layout.DType{}, false, fmt.Errorf("%w: element type %q has no unit; cast with a.astype(\"%s[ns]\")", ErrUnsupported, s, cast)
	}
	unit, ok := strings.CutPrefix(code[2:], "[")
	unit, closed := strings.CutSuffix(unit, "]")
	if !ok || !closed {
		return layout.DType{}, false, fmt.Errorf("%w: unknown element type %.100q", ErrInvalid, s)
	}
	if unit == "D" && kind == 'M' {
		dtype, err = layout.Date(layout.UnitDay)
		return dtype, true, err
	}
	u, ok := timeUnits[unit]
	if !ok {
		return layout.DType{}, false, fmt.Errorf("%w: element type %.100q: a %s counts s, ms, us or ns; cast with a.astype(\"%s[s]\")", ErrUnsupported, s, what, cast)
	}
	if kind == 'M' {
		dtype, err = layout.Timestamp(u, "")
	} else {
		dtype, err = layout.Duration(u)
	}
	return dtype, false, err
}

// refuse says why a dtype that is not in the tables can't be read.
func refuse(s, code string) error {
	if code == "" {
		return fmt.Errorf("%w: unknown element type %.100q", ErrInvalid, s)
	}
	width, err := strconv.Atoi(code[1:])
	sized := err == nil && width >= 0 && code[1] != '+'
	switch kind := code[0]; {
	case kind == 'O':
		return fmt.Errorf("%w: an object array holds pickled Python objects; cast it to a number type", ErrUnsupported)
	case sized && (kind == 'S' || kind == 'a' || kind == 'U'):
		return fmt.Errorf("%w: a string array (%q); a tensor holds numbers", ErrUnsupported, s)
	case sized && kind == 'V':
		return fmt.Errorf("%w: an array of raw bytes (%q), as bfloat16 arrays are saved; save a.view(\"u%d\") or another plain type of that size", ErrUnsupported, s, width)
	case kind == 'f' && width == 1:
		return fmt.Errorf("%w: one-byte floats (%q), as some float8 arrays are saved; save a.view(\"u1\")", ErrUnsupported, s)
	case kind == 'f' && (width == 10 || width == 12 || width == 16), kind == 'c' && (width == 20 || width == 24 || width == 32):
		return fmt.Errorf("%w: long double (%q) differs from machine to machine; cast with a.astype(\"%c%d\")", ErrUnsupported, s, kind, map[byte]int{'f': 8, 'c': 16}[kind])
	}
	return fmt.Errorf("%w: unknown element type %.100q", ErrInvalid, s)
}

// descrOf returns what NumPy calls the element type, and how an element lies in the file. A type
// that would not come back as itself is refused.
func descrOf(dtype layout.DType) (string, element, error) {
	e := element{size: dtype.Size(), width: dtype.Size()}
	for i := range plain {
		if plain[i].dtype == dtype {
			e.width /= plain[i].parts
			if e.size == 1 {
				return "|" + plain[i].code, e, nil
			}
			return "<" + plain[i].code, e, nil
		}
	}
	switch kind := dtype.Kind(); {
	case kind == layout.KindTimestamp && dtype.Zone() == "":
		return "<M8[" + dtype.Unit().String() + "]", e, nil
	case kind == layout.KindDuration:
		return "<m8[" + dtype.Unit().String() + "]", e, nil
	case kind == layout.KindDate && dtype.Unit() == layout.UnitDay:
		return "<M8[D]", element{size: 8, width: 8, days: true}, nil
	case kind == layout.KindTimestamp:
		return "", e, fmt.Errorf("%w: NumPy's datetime64 has no time zone, so %v can't be a .npy file; write .msg, which keeps everything, or --raw for the numbers alone", ErrUnsupported, dtype)
	}
	return "", e, fmt.Errorf("%w: NumPy has no %v, so it can't be a .npy file; write .msg, which keeps everything, or --raw for the bits as unsigned integers", ErrUnsupported, dtype)
}
