package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// tick is a mark on an axis.
type tick struct {
	at    float64 // 0 to 1 along the axis
	label string
}

// span is the range of an axis with numbers.
type span struct {
	lo, hi float64
	log    bool // lo is above 0
}

// at is where a value lies, from 0 to 1, as a share of the range.
func (s span) at(v float64) float64 {
	if s.lo == s.hi {
		return 0.5
	}
	if s.log {
		return (math.Log(v) - math.Log(s.lo)) / (math.Log(s.hi) - math.Log(s.lo))
	}
	if width := s.hi - s.lo; !math.IsInf(width, 0) {
		return (v - s.lo) / width
	}
	return (v/2 - s.lo/2) / (s.hi/2 - s.lo/2) // halves only here: that of the least number is 0
}

// ticks returns about most ticks at round numbers, or two.
func (s span) ticks(most int) []tick {
	most = max(1, most)
	if s.lo == s.hi {
		return []tick{{0.5, strconv.FormatFloat(s.lo, 'g', 6, 64)}}
	}
	var values []float64
	var step float64
	if s.log {
		values = decades(s.lo, s.hi, most)
	} else {
		values, step = roundNumbers(s.lo, s.hi, most)
		for more := most + 1; len(values) < 2 && more < 3*most+6; more++ { // one tick is no scale
			values, step = roundNumbers(s.lo, s.hi, more)
		}
	}
	ticks := make([]tick, len(values))
	for i, v := range values {
		label := strconv.FormatFloat(v, 'g', 3, 64)
		if !s.log {
			label = numberText(v, step)
		}
		ticks[i] = tick{s.at(v), label}
	}
	if slices.ContainsFunc(pairs(ticks), func(p [2]tick) bool { return p[0].label == p[1].label }) {
		for i, v := range values {
			ticks[i].label = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return ticks
}

// trimZeros removes zeros at the end of a fraction.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") || strings.Contains(s, "e") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// decades returns powers of ten in a range, or if there are fewer than two, its ends.
func decades(lo, hi float64, most int) []float64 {
	first, last := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
	if last-first < 1 {
		return []float64{lo, hi}
	}
	step := math.Ceil((last - first) / float64(most))
	var values []float64
	for e := first; e <= last; e += step {
		values = append(values, math.Pow(10, e))
	}
	return values
}

// roundNumbers returns the multiples of a step in a range. The step is 1, 2 or 5 times a power of ten.
func roundNumbers(lo, hi float64, most int) (values []float64, step float64) {
	unit := 1.0 // in which nothing overflows and no digits are lost
	switch most := max(math.Abs(lo), math.Abs(hi)); {
	case most > 1e300:
		unit = 1e10
	case most < 1e-290:
		unit = 1e-300
	}
	lo, hi = lo/unit, hi/unit
	step = roundStep((hi - lo) / float64(most))
	if step == 0 { // between two numbers next to each other
		return []float64{lo * unit, hi * unit}, 0
	}
	first := math.Ceil(lo/step - 1e-9)
	for i := range most + 2 {
		v := (first + float64(i)) * step
		if v < lo-(hi-lo)*1e-9 || v > hi+(hi-lo)*1e-9 {
			continue // rounded
		}
		if v *= unit; len(values) == 0 || v > values[len(values)-1] {
			values = append(values, v)
		}
	}
	if len(values) == 0 && step < (hi-lo)/2 {
		return []float64{lo * unit, hi * unit}, 0
	}
	return values, step * unit
}

// roundStep is the least 1, 2 or 5 times a power of ten that is at least v.
func roundStep(v float64) float64 {
	if v <= 0 {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	if power == 0 {
		return 0
	}
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// numberText writes a multiple of a step with as many digits as tell it from its neighbours.
func numberText(v, step float64) string {
	if v == 0 {
		return "0"
	}
	size := math.Floor(math.Log10(math.Abs(v)))
	digits := 6
	if step > 0 {
		digits = int(size-math.Floor(math.Log10(step)+1e-9)) + 1
	}
	digits = max(1, min(digits, 17))
	decimals := digits - 1 - int(size)
	if -5 <= size && size < 7 || 0 < decimals && 0 < size && size < 16 {
		return strconv.FormatFloat(v, 'f', max(0, decimals), 64)
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// indexTicks returns at most most+1 ticks at the middle of elements, the first included.
func indexTicks(n int64, most int) []tick {
	if n == 0 {
		return nil
	}
	step := int64(max(1, roundStep(float64(n-1)/float64(max(1, most)))))
	var ticks []tick
	for i := int64(0); i < n && len(ticks) <= max(1, most); i += step {
		label := strconv.FormatInt(i, 10)
		if n > 1e7 && i > 0 {
			label = strconv.FormatFloat(float64(i), 'g', -1, 64)
		}
		ticks = append(ticks, tick{(float64(i) + 0.5) / float64(n), label})
		if i > math.MaxInt64-step {
			break
		}
	}
	return ticks
}

// fewer returns ticks whose labels do not touch: width is that of a label as a share of the axis.
func fewer(most int, ticks func(most int) []tick, width func(label string) float64) []tick {
	for ; most > 1; most = min(most-1, most*3/4) {
		all := ticks(most)
		if !slices.ContainsFunc(pairs(all), func(p [2]tick) bool {
			return p[1].at-p[0].at < width(p[0].label)/2+width(p[1].label)/2
		}) {
			return all
		}
	}
	return ticks(1)
}

func pairs(ticks []tick) [][2]tick {
	var p [][2]tick
	for i := 1; i < len(ticks); i++ {
		p = append(p, [2]tick{ticks[i-1], ticks[i]})
	}
	return p
}
