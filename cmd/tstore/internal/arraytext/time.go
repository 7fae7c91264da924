package arraytext

import (
	"fmt"
	"math"

	"github.com/tstore/tstore/layout"
)

// notATime is what NumPy calls the smallest int64 in its time types.
const notATime = "NaT"

var unitNames = map[layout.Unit]string{
	layout.UnitSecond:      "seconds",
	layout.UnitMillisecond: "milliseconds",
	layout.UnitMicrosecond: "microseconds",
	layout.UnitNanosecond:  "nanoseconds",
}

// digitsOf is the number of digits of a second that a unit counts.
var digitsOf = map[layout.Unit]int{
	layout.UnitSecond:      0,
	layout.UnitMillisecond: 3,
	layout.UnitMicrosecond: 6,
	layout.UnitNanosecond:  9,
}

// instant returns a date or timestamp in ISO 8601, with as many digits of the second as its unit
// has.
func instant(v int64, dtype layout.DType) string {
	if dtype.Unit() == layout.UnitDay {
		return civil(v)
	}
	if v == math.MinInt64 {
		return notATime
	}
	perDay := 86400 * pow10(digitsOf[dtype.Unit()])
	day, rest := v/perDay, v%perDay
	if rest < 0 {
		day, rest = day-1, rest+perDay
	}
	return civil(day) + "T" + timeOfDay(rest, dtype.Unit())
}

// timeOfDay returns the time that is v units after midnight.
func timeOfDay(v int64, unit layout.Unit) string {
	digits := digitsOf[unit]
	perSecond := pow10(digits)
	if v < 0 || v >= 86400*perSecond {
		return fmt.Sprintf("%d%v", v, unit) // no time of any day
	}
	second := v / perSecond
	s := fmt.Sprintf("%02d:%02d:%02d", second/3600, second/60%60, second%60)
	if digits > 0 {
		s += fmt.Sprintf(".%0*d", digits, v%perSecond)
	}
	return s
}

// civil returns the date of the proleptic Gregorian calendar that is so many days after
// 1970-01-01. Years before 0 are negative.
func civil(days int64) string {
	// Within 400 years, counted from 1 March of a year that 400 divides, leap days come last.
	const epoch, era = 719468, 146097
	n := days + epoch
	cycle := n / era
	if n%era < 0 {
		cycle--
	}
	doe := n - cycle*era                                   // day of the 400 years
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365 // year of the 400
	doy := doe - (365*yoe + yoe/4 - yoe/100)               // day of the year that begins in March
	month := (5*doy + 2) / 153
	day := doy - (153*month+2)/5 + 1
	year := yoe + cycle*400
	if month += 3; month > 12 {
		month, year = month-12, year+1
	}
	return fmt.Sprintf("%04d-%02d-%02d", year, month, day)
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
