package layout

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// must unwraps a result that a test knows to be right.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// everyDType has each kind at least once, and each size of opaque elements that copies treat apart.
func everyDType() []DType {
	var all []DType
	for _, s := range simple {
		all = append(all, s.dtype)
	}
	return append(all,
		must(Date(UnitDay)), must(Date(UnitMillisecond)),
		must(Time(UnitSecond, 32)), must(Time(UnitMillisecond, 32)), must(Time(UnitMicrosecond, 64)), must(Time(UnitNanosecond, 64)),
		must(Timestamp(UnitSecond, "")), must(Timestamp(UnitNanosecond, "UTC")),
		must(Duration(UnitMicrosecond)),
		must(Interval(UnitYearMonth)), must(Interval(UnitDayTime)), must(Interval(UnitMonthDayNano)),
		must(Decimal(9, 2, 32)), must(Decimal(18, 0, 64)), must(Decimal(38, -3, 128)), must(Decimal(76, 10, 256)),
		must(FixedSizeBinary(1)), must(FixedSizeBinary(3)), must(FixedSizeBinary(16)), must(FixedSizeBinary(100)),
	)
}

func TestDTypeNames(t *testing.T) {
	for _, c := range []struct {
		dtype DType
		name  string
		size  int
	}{
		{Int8, "int8", 1}, {Int16, "int16", 2}, {Int32, "int32", 4}, {Int64, "int64", 8},
		{Uint8, "uint8", 1}, {Uint16, "uint16", 2}, {Uint32, "uint32", 4}, {Uint64, "uint64", 8},
		{Float16, "float16", 2}, {Float32, "float32", 4}, {Float64, "float64", 8},
		{Bool, "bool", 1}, {BFloat16, "bfloat16", 2},
		{Float8E4M3FN, "float8_e4m3fn", 1}, {Float8E5M2, "float8_e5m2", 1},
		{Complex64, "complex64", 8}, {Complex128, "complex128", 16},
		{must(Date(UnitDay)), "date[day]", 4},
		{must(Date(UnitMillisecond)), "date[ms]", 8},
		{must(Time(UnitSecond, 32)), "time32[s]", 4},
		{must(Time(UnitNanosecond, 64)), "time64[ns]", 8},
		{must(Timestamp(UnitMicrosecond, "")), "timestamp[us]", 8},
		{must(Timestamp(UnitNanosecond, "UTC")), "timestamp[ns, UTC]", 8},
		{must(Timestamp(UnitSecond, "odd], zone, [")), "timestamp[s, odd], zone, []", 8},
		{must(Duration(UnitMillisecond)), "duration[ms]", 8},
		{must(Interval(UnitYearMonth)), "interval[year_month]", 4},
		{must(Interval(UnitDayTime)), "interval[day_time]", 8},
		{must(Interval(UnitMonthDayNano)), "interval[month_day_nano]", 16},
		{must(Decimal(9, 9, 32)), "decimal32[9, 9]", 4},
		{must(Decimal(38, -2, 128)), "decimal128[38, -2]", 16},
		{must(Decimal(76, 0, 256)), "decimal256[76, 0]", 32},
		{must(FixedSizeBinary(7)), "fixed_size_binary[7]", 7},
	} {
		if got := c.dtype.String(); got != c.name {
			t.Errorf("String of %+v is %q, want %q", c.dtype, got, c.name)
		}
		if got := c.dtype.Size(); got != c.size {
			t.Errorf("%s has %d bytes, want %d", c.name, got, c.size)
		}
		got, err := ParseDType(c.name)
		if err != nil || got != c.dtype {
			t.Errorf("ParseDType(%q) is %+v, %v; want %+v", c.name, got, err, c.dtype)
		}
		if !c.dtype.Valid() {
			t.Errorf("%s is not valid", c.name)
		}
	}
}

func TestZeroDTypeIsInvalid(t *testing.T) {
	var d DType
	if d.Valid() || d.String() != "invalid" || d.Kind() != KindInvalid || d.Size() != 0 {
		t.Errorf("zero DType: valid %v, name %q, kind %d, size %d", d.Valid(), d, d.Kind(), d.Size())
	}
}

func TestParseDTypeRefusesOtherSpellings(t *testing.T) {
	for _, s := range []string{
		"", "invalid", "Float32", "float32 ", "float", "float8", "int128", "float32[4]", "bool[]",
		"date", "date[", "date[]", "date[s]", "date[none]", "date[day, UTC]", "time32[us]", "time64[s]", "time[s]",
		"timestamp", "timestamp[day]", "timestamp[ns,UTC]", "timestamp[ns, ]", "duration[day]", "duration[ns, UTC]",
		"interval[ns]", "interval[year_month, x]",
		"decimal128", "decimal128[3]", "decimal128[0, 0]", "decimal128[39, 0]", "decimal128[+3, 0]", "decimal128[03, 0]",
		"decimal128[3,0]", "decimal128[3, 2147483648]", "decimal16[3, 0]", "decimal[3, 0]",
		"fixed_size_binary[0]", "fixed_size_binary[-1]", "fixed_size_binary[2147483648]", "fixed_size_binary[99999999999999999999]",
		"fixed_size_binary[1, 2]", strings.Repeat("x", 1000),
	} {
		if d, err := ParseDType(s); !errors.Is(err, ErrDType) {
			t.Errorf("ParseDType(%q) is %v, %v; want ErrDType", s, d, err)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error for a name of %d bytes has %d", len(s), len(err.Error()))
		}
	}
}

func TestDTypeConstructorsRefuse(t *testing.T) {
	for name, f := range map[string]func() (DType, error){
		"date in seconds":        func() (DType, error) { return Date(UnitSecond) },
		"time in days":           func() (DType, error) { return Time(UnitDay, 32) },
		"time[ms] of 64 bits":    func() (DType, error) { return Time(UnitMillisecond, 64) },
		"time[us] of 32 bits":    func() (DType, error) { return Time(UnitMicrosecond, 32) },
		"timestamp in days":      func() (DType, error) { return Timestamp(UnitDay, "") },
		"duration without unit":  func() (DType, error) { return Duration(UnitNone) },
		"interval in ns":         func() (DType, error) { return Interval(UnitNanosecond) },
		"decimal of 16 bits":     func() (DType, error) { return Decimal(4, 0, 16) },
		"decimal32 of 10 digits": func() (DType, error) { return Decimal(10, 0, 32) },
		"decimal of no digits":   func() (DType, error) { return Decimal(0, 0, 128) },
		"decimal scale":          func() (DType, error) { return Decimal(3, math.MaxInt32+1, 128) },
		"binary of no bytes":     func() (DType, error) { return FixedSizeBinary(0) },
		"binary of 2^31 bytes":   func() (DType, error) { return FixedSizeBinary(math.MaxInt32 + 1) },
	} {
		if d, err := f(); !errors.Is(err, ErrDType) || d.Valid() {
			t.Errorf("%s: %v, %v; want ErrDType", name, d, err)
		}
	}
}

func TestDTypeParameters(t *testing.T) {
	ts := must(Timestamp(UnitMillisecond, "Europe/Vienna"))
	if ts.Unit() != UnitMillisecond || ts.Zone() != "Europe/Vienna" || !ts.IsOpaque() {
		t.Errorf("timestamp: unit %v, zone %q, opaque %v", ts.Unit(), ts.Zone(), ts.IsOpaque())
	}
	dec := must(Decimal(20, -4, 128))
	if dec.Precision() != 20 || dec.Scale() != -4 || dec.Unit() != UnitNone {
		t.Errorf("decimal: precision %d, scale %d, unit %v", dec.Precision(), dec.Scale(), dec.Unit())
	}
	if Complex128.IsOpaque() || Bool.IsOpaque() {
		t.Error("complex128 or bool is opaque")
	}
	if got := Unit(200).String(); got != "unit(200)" {
		t.Errorf("an unknown unit is called %q", got)
	}
}

func TestDTypeOf(t *testing.T) {
	type celsius float64
	type flag bool
	type code uint16
	for _, c := range []struct{ got, want DType }{
		{DTypeOf[int8](), Int8}, {DTypeOf[int16](), Int16}, {DTypeOf[int32](), Int32}, {DTypeOf[int64](), Int64},
		{DTypeOf[uint8](), Uint8}, {DTypeOf[uint16](), Uint16}, {DTypeOf[uint32](), Uint32}, {DTypeOf[uint64](), Uint64},
		{DTypeOf[float32](), Float32}, {DTypeOf[float64](), Float64},
		{DTypeOf[complex64](), Complex64}, {DTypeOf[complex128](), Complex128}, {DTypeOf[bool](), Bool},
		{DTypeOf[F16](), Float16}, {DTypeOf[BF16](), BFloat16}, {DTypeOf[F8E4M3](), Float8E4M3FN}, {DTypeOf[F8E5M2](), Float8E5M2},
		{DTypeOf[celsius](), Float64}, {DTypeOf[flag](), Bool}, {DTypeOf[code](), Uint16},
	} {
		if c.got != c.want {
			t.Errorf("DTypeOf gives %v, want %v", c.got, c.want)
		}
	}
}

func TestParseLayoutInvertsString(t *testing.T) {
	for l := LayoutDense; l < numLayouts; l++ {
		if got, err := ParseLayout(l.String()); err != nil || got != l {
			t.Errorf("ParseLayout(%q) is %v, %v", l, got, err)
		}
	}
	if _, err := ParseLayout("bsr"); err == nil {
		t.Error("ParseLayout took bsr")
	}
	if got := Layout(9).String(); got != "layout(9)" {
		t.Errorf("an unknown layout is called %q", got)
	}
}

// FuzzParseDType: whatever is taken has this one name, has a size, and is the same when parsed again.
func FuzzParseDType(f *testing.F) {
	for _, d := range everyDType() {
		f.Add(d.String())
	}
	f.Add("timestamp[ns, ]")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDType(s)
		if err != nil {
			if d != (DType{}) {
				t.Fatalf("error %v with type %v", err, d)
			}
			return
		}
		if d.String() != s || !d.Valid() || d.Size() < 1 {
			t.Fatalf("%q became %v of %d bytes", s, d, d.Size())
		}
	})
}
