package layout

import "math"

// F16 is a [Float16] element: IEEE 754 binary16.
type F16 uint16

// BF16 is a [BFloat16] element: the upper 16 bits of a float32.
type BF16 uint16

// F8E4M3 is a [Float8E4M3FN] element: 4 exponent bits with bias 7, 3 mantissa bits, no
// infinities, NaN only with all exponent and mantissa bits set; the largest value is 448.
type F8E4M3 uint8

// F8E5M2 is a [Float8E5M2] element: 5 exponent bits with bias 15, 2 mantissa bits, infinities and
// NaNs as in IEEE 754.
type F8E5M2 uint8

// F16FromFloat32 rounds to the nearest F16, ties to even. What is too large becomes an infinity.
func F16FromFloat32(f float32) F16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 { // NaN: keep the upper payload bits, and never make it an infinity
		return F16(b>>16&0x8000 | 0x7e00 | b>>13&0x1ff)
	}
	return F16(b>>16&0x8000 | min(roundFloat(b&0x7fffffff, 10, 15), 0x7c00))
}

// BF16FromFloat32 rounds to the nearest BF16, ties to even. What is too large becomes an infinity.
func BF16FromFloat32(f float32) BF16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BF16(b>>16 | 0x40)
	}
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// F8E4M3FromFloat32 rounds to the nearest F8E4M3, ties to even. Infinities and what rounds above
// 448 become NaN, since the format has no infinities.
func F8E4M3FromFloat32(f float32) F8E4M3 {
	b := math.Float32bits(f)
	sign := b >> 24 & 0x80
	if b&0x7fffffff >= 0x7f800000 {
		return F8E4M3(sign | 0x7f)
	}
	return F8E4M3(sign | min(roundFloat(b&0x7fffffff, 3, 7), 0x7f))
}

// F8E5M2FromFloat32 rounds to the nearest F8E5M2, ties to even. What is too large becomes an
// infinity.
func F8E5M2FromFloat32(f float32) F8E5M2 {
	b := math.Float32bits(f)
	sign := b >> 24 & 0x80
	if b&0x7fffffff > 0x7f800000 {
		return F8E5M2(sign | 0x7e | b>>21&1)
	}
	return F8E5M2(sign | min(roundFloat(b&0x7fffffff, 2, 15), 0x7c))
}

// Float32 returns the value, exactly.
func (f F16) Float32() float32 { return widenFloat(uint32(f)&0x7fff, uint32(f)>>15, 10, 15, 0x7c00) }

// Float32 returns the value, exactly.
func (f BF16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }

// Float32 returns the value, exactly.
func (f F8E4M3) Float32() float32 {
	if f&0x7f == 0x7f {
		return math.Float32frombits(uint32(f&0x80)<<24 | 0x7fc00000)
	}
	return widenFloat(uint32(f)&0x7f, uint32(f)>>7, 3, 7, 0x80)
}

// Float32 returns the value, exactly.
func (f F8E5M2) Float32() float32 { return widenFloat(uint32(f)&0x7f, uint32(f)>>7, 2, 15, 0x7c) }

// roundFloat rounds the magnitude bits of a finite or infinite float32 to a format with the given
// mantissa bits and exponent bias, as if its exponent had no upper end: the caller takes what is
// beyond the format's largest value for an infinity or NaN.
func roundFloat(b uint32, mantissa, bias int) uint32 {
	exp := int(b>>23) - 127 + bias // biased exponent in the new format
	m := b & 0x7fffff
	if b>>23 != 0 {
		m |= 0x800000
	}
	shift := 23 - mantissa
	if exp < 1 { // subnormal in the new format
		shift += 1 - exp
		exp = 1
		if shift > 24+1 {
			return 0
		}
	}
	// The leading bit of m adds 1 to the exponent field, hence exp-1; rounding up may carry into it.
	half := uint32(1) << (shift - 1)
	odd := m >> shift & 1
	return uint32(exp-1)<<mantissa + (m+half-1+odd)>>shift
}

// widenFloat is the exact inverse for magnitude bits m. Magnitudes from inf on are infinity or NaN.
func widenFloat(m, sign uint32, mantissa, bias int, inf uint32) float32 {
	switch {
	case m >= inf:
		return math.Float32frombits(sign<<31 | 0x7f800000 | (m-inf)<<(23-mantissa))
	case m < 1<<mantissa: // zero or subnormal: m × 2^(1-bias-mantissa)
		f := float32(m) * math.Float32frombits(uint32(127+1-bias-mantissa)<<23)
		return math.Float32frombits(sign<<31 | math.Float32bits(f))
	}
	return math.Float32frombits(sign<<31 | (m<<(23-mantissa) + uint32(127-bias)<<23))
}
