package summary

import "strconv"

// Number is a value of any numeric type, exactly.
type Number struct {
	kind     byte // 'i', 'u', 'f' (float32) or 'd' (float64)
	signed   int64
	unsigned uint64
	float    float64
}

// Float returns the value as a float64.
func (n Number) Float() float64 {
	switch n.kind {
	case 'i':
		return float64(n.signed)
	case 'u':
		return float64(n.unsigned)
	}
	return n.float
}

func number[T value](kind byte, v T) Number {
	n := Number{kind: kind}
	switch kind {
	case 'i':
		n.signed = int64(v)
	case 'u':
		n.unsigned = uint64(v)
	default:
		n.float = float64(v)
	}
	return n
}

// String returns the number with as few digits as tell it from its neighbours.
func (n Number) String() string { return n.text('g') }

// JSON returns the number as JSON has it.
func (n Number) JSON() string { return n.text('f') }

func (n Number) text(format byte) string {
	switch n.kind {
	case 'i':
		return strconv.FormatInt(n.signed, 10)
	case 'u':
		return strconv.FormatUint(n.unsigned, 10)
	}
	bits := 64
	if n.kind == 'f' {
		bits = 32
	}
	return strconv.FormatFloat(n.float, format, -1, bits)
}
