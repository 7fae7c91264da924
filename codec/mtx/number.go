package mtx

import (
	"math"
	"strconv"
	"unsafe"
)

// parseCount reads a whole number from 0 to 2^63-1, in decimal digits and with no sign but a plus.
func parseCount(word []byte) (int64, bool) {
	if len(word) > 1 && word[0] == '+' {
		word = word[1:]
	}
	if len(word) == 0 {
		return 0, false
	}
	n := int64(0)
	for _, c := range word {
		d := int64(c) - '0'
		if d < 0 || d > 9 || n > (math.MaxInt64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// nextWord splits a line after its first word.
func nextWord(line []byte) (word, rest []byte) {
	i := 0
	for i < len(line) && isSpace(line[i]) {
		i++
	}
	j := i
	for j < len(line) && !isSpace(line[j]) {
		j++
	}
	return line[i:j], line[j:]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// parseReal reads a number as Fortran and C write it: digits, point, exponent with e or d, and nan
// and inf. Other forms that Go knows (hexadecimal, digits with underscores) are not numbers here.
func parseReal(word []byte) (v float64, ok bool) {
	unsigned := word
	if len(unsigned) > 0 && (unsigned[0] == '+' || unsigned[0] == '-') {
		unsigned = unsigned[1:]
	}
	if len(unsigned) == 0 {
		return 0, false
	}
	if c := unsigned[0]; c >= '0' && c <= '9' || c == '.' {
		for i, c := range unsigned {
			switch {
			case c >= '0' && c <= '9', c == '.', c == '+', c == '-', c == 'e', c == 'E':
			case c == 'd' || c == 'D':
				unsigned[i] = 'e'
			default:
				return 0, false
			}
		}
	}
	// Copying each number into a string would take longer than reading it. ParseFloat keeps none.
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(word), len(word)), 64)
	if math.IsNaN(v) {
		v = math.Float64frombits(0x7ff8 << 48) // the bits that processors and NumPy use, not Go's
	}
	return v, err == nil
}

// parseInteger reads a whole number of 64 bits, with or without a sign.
func parseInteger(word []byte, signed bool) (bits uint64, ok bool) {
	negative := len(word) > 0 && word[0] == '-'
	if negative {
		word = word[1:]
		if len(word) > 0 && word[0] == '+' {
			return 0, false
		}
	} else if len(word) > 0 && word[0] == '+' {
		word = word[1:]
	}
	limit := uint64(math.MaxUint64)
	switch {
	case signed && negative:
		limit = 1 << 63
	case signed:
		limit = math.MaxInt64
	case negative:
		limit = 0
	}
	if len(word) == 0 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range word {
		d := uint64(c) - '0'
		if d > 9 || d > limit || n > (limit-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if negative {
		n = -n
	}
	return n, true
}
