package csv

import (
	"math"
	"strconv"
	"strings"
)

// nan has the bits that processors and NumPy use, not Go's.
var nan = math.Float64frombits(0x7ff8 << 48)

// isInteger reports whether a cell is a whole number, of any size.
func isInteger(cell string) bool {
	if cell != "" && (cell[0] == '-' || cell[0] == '+') {
		cell = cell[1:]
	}
	for i := range len(cell) {
		if cell[i] < '0' || cell[i] > '9' {
			return false
		}
	}
	return cell != ""
}

// isNumber reports whether a cell is a number of any kind.
func isNumber(cell string) bool {
	_, ok := parseFloat(cell)
	return ok
}

func parseInt(cell string) (int64, bool) {
	v, err := strconv.ParseInt(cell, 10, 64)
	return v, err == nil
}

func parseUint(cell string) (uint64, bool) {
	digits := strings.TrimPrefix(cell, "+")
	if strings.Trim(cell, "-0") == "" { // minus zero
		digits = strings.TrimPrefix(cell, "-")
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	return v, err == nil
}

// parseFloat reads a number, or what stands for none. Other forms that Go knows (hexadecimal, digits with
// underscores) are no numbers here. What is beyond a float64 is not a number either.
func parseFloat(cell string) (float64, bool) {
	if cell == "" {
		return nan, true
	}
	unsigned := cell
	if c := cell[0]; c == '-' || c == '+' {
		unsigned = cell[1:]
	}
	if unsigned == "" {
		return 0, false
	}
	if c := unsigned[0]; c < '0' || c > '9' {
		switch {
		case c == '.':
		case cell == "NA", strings.EqualFold(unsigned, "nan"):
			return nan, true
		case strings.EqualFold(unsigned, "inf"), strings.EqualFold(unsigned, "infinity"):
			if cell[0] == '-' {
				return math.Inf(-1), true
			}
			return math.Inf(1), true
		default:
			return 0, false
		}
	}
	for i := range len(unsigned) {
		switch c := unsigned[i]; {
		case c >= '0' && c <= '9', c == '.', c == 'e', c == 'E', c == '+', c == '-':
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(cell, 64)
	return v, err == nil
}
