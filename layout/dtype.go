package layout

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is the family of an element type. Together with a unit, a width, a precision and a scale
// where the family has them it makes a [DType].
type Kind uint8

// The kinds. KindInvalid is the kind of the zero DType.
const (
	KindInvalid Kind = iota
	KindInt8
	KindInt16
	KindInt32
	KindInt64
	KindUint8
	KindUint16
	KindUint32
	KindUint64
	KindFloat16
	KindFloat32
	KindFloat64
	KindBool            // one byte an element, 0 or 1
	KindBFloat16        // the upper half of a float32
	KindFloat8E4M3FN    // 1 sign, 4 exponent, 3 mantissa bits; no infinities
	KindFloat8E5M2      // 1 sign, 5 exponent, 2 mantissa bits
	KindComplex64       // two float32: real, imaginary
	KindComplex128      // two float64: real, imaginary
	KindDate            // days or milliseconds since 1970-01-01
	KindTime            // time of day
	KindTimestamp       // instant, with an optional time zone
	KindDuration        // span of time
	KindInterval        // calendar span
	KindDecimal         // two's complement integer times 10^-scale
	KindFixedSizeBinary // any bytes, a fixed number per element
	numKinds
)

// Unit is the unit of a date, time, timestamp, duration or interval.
type Unit uint8

// The units. Which of them a kind takes is said at its constructor.
const (
	UnitNone Unit = iota
	UnitSecond
	UnitMillisecond
	UnitMicrosecond
	UnitNanosecond
	UnitDay
	UnitYearMonth
	UnitDayTime
	UnitMonthDayNano
	numUnits
)

var unitNames = [numUnits]string{
	UnitNone:         "none",
	UnitSecond:       "s",
	UnitMillisecond:  "ms",
	UnitMicrosecond:  "us",
	UnitNanosecond:   "ns",
	UnitDay:          "day",
	UnitYearMonth:    "year_month",
	UnitDayTime:      "day_time",
	UnitMonthDayNano: "month_day_nano",
}

// String returns the unit as it is written in the name of a DType: "s", "ms", "day", ….
func (u Unit) String() string {
	if u < numUnits {
		return unitNames[u]
	}
	return "unit(" + strconv.Itoa(int(u)) + ")"
}

// DType is the type of a tensor's elements. It is a small value, to be compared with ==.
// The zero DType is not valid.
//
// The numeric types, bool and complex can be computed with and are reached through [Values].
// Dates, times, timestamps, durations, intervals, decimals and fixed-size binaries are opaque:
// they are kept and copied, never computed on.
type DType struct {
	kind      Kind
	unit      Unit
	width     int32 // bytes per element
	precision int32
	scale     int32
	zone      string
}

// Element types without parameters.
var (
	Int8         = DType{kind: KindInt8, width: 1}
	Int16        = DType{kind: KindInt16, width: 2}
	Int32        = DType{kind: KindInt32, width: 4}
	Int64        = DType{kind: KindInt64, width: 8}
	Uint8        = DType{kind: KindUint8, width: 1}
	Uint16       = DType{kind: KindUint16, width: 2}
	Uint32       = DType{kind: KindUint32, width: 4}
	Uint64       = DType{kind: KindUint64, width: 8}
	Float16      = DType{kind: KindFloat16, width: 2}
	Float32      = DType{kind: KindFloat32, width: 4}
	Float64      = DType{kind: KindFloat64, width: 8}
	Bool         = DType{kind: KindBool, width: 1}
	BFloat16     = DType{kind: KindBFloat16, width: 2}
	Float8E4M3FN = DType{kind: KindFloat8E4M3FN, width: 1}
	Float8E5M2   = DType{kind: KindFloat8E5M2, width: 1}
	Complex64    = DType{kind: KindComplex64, width: 8}
	Complex128   = DType{kind: KindComplex128, width: 16}
)

// simple lists the types without parameters by their names.
var simple = [...]struct {
	name  string
	dtype DType
}{
	{"int8", Int8}, {"int16", Int16}, {"int32", Int32}, {"int64", Int64},
	{"uint8", Uint8}, {"uint16", Uint16}, {"uint32", Uint32}, {"uint64", Uint64},
	{"float16", Float16}, {"float32", Float32}, {"float64", Float64},
	{"bool", Bool}, {"bfloat16", BFloat16},
	{"float8_e4m3fn", Float8E4M3FN}, {"float8_e5m2", Float8E5M2},
	{"complex64", Complex64}, {"complex128", Complex128},
}

// Date returns the type of dates counted from 1970-01-01 in days (UnitDay, 4 bytes) or in
// milliseconds (UnitMillisecond, 8 bytes).
func Date(unit Unit) (DType, error) {
	switch unit {
	case UnitDay:
		return DType{kind: KindDate, unit: unit, width: 4}, nil
	case UnitMillisecond:
		return DType{kind: KindDate, unit: unit, width: 8}, nil
	}
	return DType{}, fmt.Errorf("%w: a date has unit day or ms, not %v", ErrDType, unit)
}

// Time returns the type of times of day: 32 bits for seconds and milliseconds, 64 bits for
// microseconds and nanoseconds.
func Time(unit Unit, bitWidth int) (DType, error) {
	var want int
	switch unit {
	case UnitSecond, UnitMillisecond:
		want = 32
	case UnitMicrosecond, UnitNanosecond:
		want = 64
	default:
		return DType{}, fmt.Errorf("%w: a time has unit s, ms, us or ns, not %v", ErrDType, unit)
	}
	if bitWidth != want {
		return DType{}, fmt.Errorf("%w: a time in %v has %d bits, not %d", ErrDType, unit, want, bitWidth)
	}
	return DType{kind: KindTime, unit: unit, width: int32(want / 8)}, nil
}

// Timestamp returns the type of instants since 1970-01-01, 8 bytes, in s, ms, us or ns. The zone
// is free text, by custom an IANA name or an offset; empty means local wall-clock time.
func Timestamp(unit Unit, zone string) (DType, error) {
	if unit < UnitSecond || unit > UnitNanosecond {
		return DType{}, fmt.Errorf("%w: a timestamp has unit s, ms, us or ns, not %v", ErrDType, unit)
	}
	return DType{kind: KindTimestamp, unit: unit, width: 8, zone: zone}, nil
}

// Duration returns the type of spans of time, 8 bytes, in s, ms, us or ns.
func Duration(unit Unit) (DType, error) {
	if unit < UnitSecond || unit > UnitNanosecond {
		return DType{}, fmt.Errorf("%w: a duration has unit s, ms, us or ns, not %v", ErrDType, unit)
	}
	return DType{kind: KindDuration, unit: unit, width: 8}, nil
}

// Interval returns the type of calendar spans: UnitYearMonth (4 bytes), UnitDayTime (8 bytes) or
// UnitMonthDayNano (16 bytes).
func Interval(unit Unit) (DType, error) {
	switch unit {
	case UnitYearMonth:
		return DType{kind: KindInterval, unit: unit, width: 4}, nil
	case UnitDayTime:
		return DType{kind: KindInterval, unit: unit, width: 8}, nil
	case UnitMonthDayNano:
		return DType{kind: KindInterval, unit: unit, width: 16}, nil
	}
	return DType{}, fmt.Errorf("%w: an interval has unit year_month, day_time or month_day_nano, not %v", ErrDType, unit)
}

// Decimal returns the type of decimal numbers of 32, 64, 128 or 256 bits with at most 9, 18, 38
// or 76 digits. The scale is the number of digits after the point; it may be negative.
func Decimal(precision, scale, bitWidth int) (DType, error) {
	var digits int
	switch bitWidth {
	case 32:
		digits = 9
	case 64:
		digits = 18
	case 128:
		digits = 38
	case 256:
		digits = 76
	default:
		return DType{}, fmt.Errorf("%w: a decimal has 32, 64, 128 or 256 bits, not %d", ErrDType, bitWidth)
	}
	if precision < 1 || precision > digits {
		return DType{}, fmt.Errorf("%w: a decimal of %d bits has 1 to %d digits, not %d", ErrDType, bitWidth, digits, precision)
	}
	if scale < math.MinInt32 || scale > math.MaxInt32 {
		return DType{}, fmt.Errorf("%w: decimal scale %d does not fit in 32 bits", ErrDType, scale)
	}
	return DType{kind: KindDecimal, width: int32(bitWidth / 8), precision: int32(precision), scale: int32(scale)}, nil
}

// FixedSizeBinary returns the type of elements of width bytes, 1 ≤ width < 2³¹.
func FixedSizeBinary(width int) (DType, error) {
	if width < 1 || width > math.MaxInt32 {
		return DType{}, fmt.Errorf("%w: a fixed-size binary has 1 to %d bytes, not %d", ErrDType, math.MaxInt32, width)
	}
	return DType{kind: KindFixedSizeBinary, width: int32(width)}, nil
}

// Kind returns the family of the type.
func (d DType) Kind() Kind { return d.kind }

// Size returns the number of bytes of one element. It is at least 1 for a valid type.
func (d DType) Size() int { return int(d.width) }

// Valid reports whether d is a type, which every DType but the zero value is.
func (d DType) Valid() bool { return d.kind != KindInvalid }

// Unit returns the unit of a date, time, timestamp, duration or interval, else UnitNone.
func (d DType) Unit() Unit { return d.unit }

// Zone returns the time zone of a timestamp, which may be empty.
func (d DType) Zone() string { return d.zone }

// Precision returns the number of digits of a decimal, else 0.
func (d DType) Precision() int { return int(d.precision) }

// Scale returns the scale of a decimal, else 0.
func (d DType) Scale() int { return int(d.scale) }

// IsOpaque reports whether elements of the type are bytes that are kept but never computed on.
func (d DType) IsOpaque() bool { return d.kind >= KindDate }

// String returns the name of the type, which [ParseDType] reads: "float32", "bool",
// "float8_e4m3fn", "date[day]", "time32[ms]", "timestamp[ns]", "timestamp[ns, UTC]",
// "duration[us]", "interval[day_time]", "decimal128[38, 2]", "fixed_size_binary[16]".
func (d DType) String() string {
	switch d.kind {
	case KindInvalid:
		return "invalid"
	case KindDate:
		return "date[" + d.unit.String() + "]"
	case KindTime:
		return "time" + strconv.Itoa(int(d.width)*8) + "[" + d.unit.String() + "]"
	case KindTimestamp:
		if d.zone == "" {
			return "timestamp[" + d.unit.String() + "]"
		}
		return "timestamp[" + d.unit.String() + ", " + d.zone + "]"
	case KindDuration:
		return "duration[" + d.unit.String() + "]"
	case KindInterval:
		return "interval[" + d.unit.String() + "]"
	case KindDecimal:
		return "decimal" + strconv.Itoa(int(d.width)*8) + "[" + strconv.Itoa(int(d.precision)) + ", " + strconv.Itoa(int(d.scale)) + "]"
	case KindFixedSizeBinary:
		return "fixed_size_binary[" + strconv.Itoa(int(d.width)) + "]"
	}
	for i := range simple {
		if simple[i].dtype.kind == d.kind {
			return simple[i].name
		}
	}
	return "invalid"
}

// ParseDType returns the type with the given name. It is the inverse of [DType.String] and takes
// no other spelling.
func ParseDType(s string) (DType, error) {
	for i := range simple {
		if simple[i].name == s {
			return simple[i].dtype, nil
		}
	}
	d, err := parseParametric(s)
	if err != nil {
		return DType{}, err
	}
	// One name per type: whatever parses but is spelled otherwise ("decimal128[+3, 02]") is refused.
	if d.String() != s {
		return DType{}, fmt.Errorf("%w: %q is written %q", ErrDType, s, d.String())
	}
	return d, nil
}

func parseParametric(s string) (DType, error) {
	unknown := func() (DType, error) {
		return DType{}, fmt.Errorf("%w: no element type is called %.100q", ErrDType, s)
	}
	name, args, ok := strings.Cut(s, "[")
	if !ok || !strings.HasSuffix(args, "]") {
		return unknown()
	}
	args = strings.TrimSuffix(args, "]")
	first, second, two := strings.Cut(args, ", ")
	if two != (strings.HasPrefix(name, "decimal") || (name == "timestamp" && two)) {
		return unknown()
	}
	switch name {
	case "date":
		return Date(parseUnit(first))
	case "time32":
		return Time(parseUnit(first), 32)
	case "time64":
		return Time(parseUnit(first), 64)
	case "timestamp":
		return Timestamp(parseUnit(first), second)
	case "duration":
		return Duration(parseUnit(first))
	case "interval":
		return Interval(parseUnit(first))
	case "fixed_size_binary":
		width, err := strconv.Atoi(first)
		if err != nil {
			return unknown()
		}
		return FixedSizeBinary(width)
	case "decimal32", "decimal64", "decimal128", "decimal256":
		bitWidth, _ := strconv.Atoi(strings.TrimPrefix(name, "decimal"))
		precision, err1 := strconv.Atoi(first)
		scale, err2 := strconv.Atoi(second)
		if err1 != nil || err2 != nil {
			return unknown()
		}
		return Decimal(precision, scale, bitWidth)
	}
	return unknown()
}

func parseUnit(s string) Unit {
	for u := UnitSecond; u < numUnits; u++ {
		if unitNames[u] == s {
			return u
		}
	}
	return UnitNone
}
