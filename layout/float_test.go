package layout

import (
	"math"
	"testing"
)

// A small format is fully described by what its codes are worth. The tests take that from the
// definition of the format, in float64, and check conversions in both directions against it.
type smallFloat struct {
	name           string
	bits           int
	mantissa, bias int
	infinities     bool
	widen          func(uint32) float32
	round          func(float32) uint32
}

func smallFloats() []smallFloat {
	return []smallFloat{
		{"float16", 16, 10, 15, true, func(c uint32) float32 { return F16(c).Float32() }, func(f float32) uint32 { return uint32(F16FromFloat32(f)) }},
		{"bfloat16", 16, 7, 127, true, func(c uint32) float32 { return BF16(c).Float32() }, func(f float32) uint32 { return uint32(BF16FromFloat32(f)) }},
		{"float8_e4m3fn", 8, 3, 7, false, func(c uint32) float32 { return F8E4M3(c).Float32() }, func(f float32) uint32 { return uint32(F8E4M3FromFloat32(f)) }},
		{"float8_e5m2", 8, 2, 15, true, func(c uint32) float32 { return F8E5M2(c).Float32() }, func(f float32) uint32 { return uint32(F8E5M2FromFloat32(f)) }},
	}
}

// worth returns the value of a code by the definition of the format.
func (s smallFloat) worth(code uint32) float64 {
	sign := 1.0
	if code>>(s.bits-1) != 0 {
		sign = -1
	}
	m := int(code & (1<<s.mantissa - 1))
	maxExp := 1<<(s.bits-1-s.mantissa) - 1
	exp := int(code>>s.mantissa) & maxExp
	switch {
	case s.infinities && exp == maxExp && m == 0:
		return math.Inf(int(sign))
	case s.infinities && exp == maxExp, !s.infinities && exp == maxExp && m == 1<<s.mantissa-1:
		return math.NaN()
	case exp == 0:
		return sign * math.Ldexp(float64(m), 1-s.bias-s.mantissa)
	}
	return sign * math.Ldexp(float64(m+1<<s.mantissa), exp-s.bias-s.mantissa)
}

func TestSmallFloatsWiden(t *testing.T) {
	for _, s := range smallFloats() {
		for code := range uint32(1) << s.bits {
			want, got := s.worth(code), float64(s.widen(code))
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (code>>(s.bits-1) != 0) {
				t.Fatalf("%s %#x is %v, want %v", s.name, code, got, want)
			}
		}
	}
}

func TestSmallFloatsRoundBack(t *testing.T) {
	for _, s := range smallFloats() {
		for code := range uint32(1) << s.bits {
			f := s.widen(code)
			got := s.round(f)
			if math.IsNaN(float64(f)) {
				if !math.IsNaN(s.worth(got)) || got>>(s.bits-1) != code>>(s.bits-1) {
					t.Fatalf("%s: NaN %#x became %#x", s.name, code, got)
				}
				continue
			}
			if got != code {
				t.Fatalf("%s: %#x is %v and comes back as %#x", s.name, code, f, got)
			}
		}
	}
}

// Between two neighbours the midpoint goes to the even code and everything else to the nearer one.
func TestSmallFloatsRoundToNearestEven(t *testing.T) {
	for _, s := range smallFloats() {
		sign := uint32(1) << (s.bits - 1)
		for code := range sign - 1 {
			a, b := s.worth(code), s.worth(code+1)
			if math.IsNaN(a) || math.IsInf(a, 0) {
				continue
			}
			if math.IsNaN(b) || math.IsInf(b, 0) {
				// The next step of the same size decides where infinity (or NaN) begins.
				b = 2*a - s.worth(code-1)
			}
			mid := float32((a + b) / 2)
			even := code + code&1
			for _, c := range []struct {
				f    float32
				want uint32
			}{
				{mid, even},
				{math.Nextafter32(mid, 0), code},
				{math.Nextafter32(mid, float32(math.Inf(1))), code + 1},
			} {
				if float64(c.f) < a || float64(c.f) > b { // float32 has no value in between
					continue
				}
				if got := s.round(c.f); got != c.want {
					t.Fatalf("%s: %v, between %v and %v, became %#x, want %#x", s.name, c.f, a, b, got, c.want)
				}
				if got := s.round(-c.f); got != c.want|sign {
					t.Fatalf("%s: %v became %#x, want %#x", s.name, -c.f, got, c.want|sign)
				}
			}
		}
	}
}

func TestSmallFloatExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name string
		got  uint32
		want uint32
	}{
		{"f16 of +inf", uint32(F16FromFloat32(inf)), 0x7c00},
		{"f16 of 65519", uint32(F16FromFloat32(65519)), 0x7bff},
		{"f16 of 65520", uint32(F16FromFloat32(65520)), 0x7c00},
		{"f16 of -1e30", uint32(F16FromFloat32(-1e30)), 0xfc00},
		{"f16 of the smallest float32", uint32(F16FromFloat32(math.SmallestNonzeroFloat32)), 0},
		{"f16 of 2^-25", uint32(F16FromFloat32(0x1p-25)), 0},
		{"f16 just above 2^-25", uint32(F16FromFloat32(0x1.000002p-25)), 1},
		{"f16 of -0", uint32(F16FromFloat32(float32(math.Copysign(0, -1)))), 0x8000},
		{"bf16 of the largest float32", uint32(BF16FromFloat32(math.MaxFloat32)), 0x7f80},
		{"bf16 of +inf", uint32(BF16FromFloat32(inf)), 0x7f80},
		{"e4m3 of 448", uint32(F8E4M3FromFloat32(448)), 0x7e},
		{"e4m3 of 464, a tie with NaN's place", uint32(F8E4M3FromFloat32(464)), 0x7e},
		{"e4m3 above 464", uint32(F8E4M3FromFloat32(464.1)), 0x7f},
		{"e4m3 of -inf", uint32(F8E4M3FromFloat32(-inf)), 0xff},
		{"e5m2 of 61439", uint32(F8E5M2FromFloat32(61439)), 0x7b},
		{"e5m2 of 61440", uint32(F8E5M2FromFloat32(61440)), 0x7c},
		{"e5m2 of -inf", uint32(F8E5M2FromFloat32(-inf)), 0xfc},
	} {
		if c.got != c.want {
			t.Errorf("%s is %#x, want %#x", c.name, c.got, c.want)
		}
	}
	// A NaN whose payload lies in the lower bits only must not become an infinity.
	low := math.Float32frombits(0x7f800001)
	for _, f := range []float32{nan, low, -nan} {
		for _, s := range smallFloats() {
			if got := s.round(f); !math.IsNaN(s.worth(got)) {
				t.Errorf("%s: NaN %#x became %#x", s.name, math.Float32bits(f), got)
			}
		}
	}
}
