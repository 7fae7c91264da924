package measure

import (
	"runtime"
	"slices"
	"time"
)

// Turns has the measurements of several things that took turns: one series for each, in the
// unit that its function returned, round by round.
type Turns [][]float64

// TakeTurns calls each of the functions once a round, and begins every round with another one,
// so that none always follows the same neighbour.
func TakeTurns(rounds int, measure ...func() (float64, error)) (Turns, error) {
	series := make(Turns, len(measure))
	for i := range series {
		series[i] = make([]float64, rounds)
	}
	for round := range rounds {
		for k := range measure {
			i := (round + k) % len(measure)
			v, err := measure[i]()
			if err != nil {
				return nil, err
			}
			series[i][round] = v
		}
	}
	return series, nil
}

// Median is that of series i.
func (t Turns) Median(i int) float64 { return Quantile(t[i], 0.5) }

// Ratio is the median, over the rounds, of what series i is to series j, with the quartiles.
func (t Turns) Ratio(i, j int) Spread {
	r := make([]float64, len(t[i]))
	for k := range r {
		r[k] = t[i][k] / t[j][k]
	}
	return Spread{Median: Quantile(r, 0.5), Low: Quantile(r, 0.25), High: Quantile(r, 0.75)}
}

// Spread is a median and its quartiles.
type Spread struct{ Median, Low, High float64 }

// Quantile is the value below which the share q of values lies, interpolated between neighbours.
func Quantile(values []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(values))
	at := q * float64(len(s)-1)
	i := min(int(at), len(s)-1)
	if i == len(s)-1 {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// Seconds is how long f takes, by the clock.
func Seconds(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return time.Since(start).Seconds(), err
}

// ProcessorSeconds is how long f, which must not wait for anything, is on the processor: as long
// as it takes on a machine that has nothing else to do. Where that can't be told it is the time
// by the clock.
func ProcessorSeconds(f func() error) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	err := f()
	return (threadTime() - start).Seconds(), err
}
