package plot

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tstore/tstore/cmd/tstore/internal/summary"
	"github.com/tstore/tstore/layout"
)

// Options are what is drawn and how it is called.
type Options struct {
	Kind     Kind   // that of Default if it is empty
	Title    string // what the tensor is called; control characters must not be in it
	Subtitle string // what it is
	Unit     string // of the values; may be empty
	Bins     int    // of a histogram; 0 for as many as there is room for, at most mostBins

	// Progress, if not nil, is told how many bytes of how many have been read.
	Progress func(done, total int64)
}

const (
	// MaxBins is how many bins a histogram has at most.
	MaxBins = 10_000
	// mostBins is how many it has if nobody has given a number.
	mostBins = 60
)

// figure is what is known about a picture before it is drawn: numbers and words.
type figure struct {
	Options
	dtype  layout.DType
	layout layout.Layout
	names  [2]string // of the vertical and the horizontal axis

	// Of a spy or heat map.
	grid      *grid
	scale     scale
	low, high float64 // what is drawn lies between

	// Of a histogram.
	sum    *summary.Summary
	counts span
}

// newFigure reads the tensor. room says how many rows and columns of bins there is room for in the
// picture of a matrix of the given shape, bins in a histogram.
func newFigure(ctx context.Context, t layout.Tensor, o Options, room func(k Kind, rows, cols int64) (height, width int), bins int) (*figure, error) {
	if o.Kind == "" {
		var err error
		if o.Kind, err = Default(t); err != nil {
			return nil, err
		}
	}
	f := &figure{Options: o, dtype: t.DType(), layout: t.Layout()}
	if o.Kind == Hist {
		if f.Bins == 0 {
			f.Bins = bins
		}
		return f, f.fillHist(ctx, t)
	}
	if err := checkPlane(t, o.Kind); err != nil {
		return nil, err
	}
	if o.Kind == Heatmap && numbers(t.DType()) == nil {
		return nil, fmt.Errorf("%w; --kind spy shows which are not zero", summary.ErrType)
	}
	axes := planeOf(t.Shape())
	f.names = [2]string{"row", "column"}
	for i, a := range axes {
		if names := t.DimNames(); names != nil && names[a] != "" {
			f.names[2-len(axes)+i] = names[a]
		} else if len(t.Shape()) > 2 || len(axes) == 1 {
			f.names[2-len(axes)+i] = "axis " + strconv.Itoa(a)
		}
	}
	if len(axes) < 2 {
		f.names[0] = ""
	}
	var err error
	rows, cols := matrixShape(t.Shape())
	height, width := room(o.Kind, rows, cols)
	if f.grid, err = (filling{ctx, o.Progress, o.Kind}).fill(t, height, width); err != nil {
		return nil, err
	}
	f.scale, f.low, f.high = scaleOf(f.grid, o.Kind)
	return f, nil
}

// logFrom is how many times as often as every other the most frequent values have to be for the
// counts to be drawn on a logarithmic axis.
const logFrom = 100

func (f *figure) fillHist(ctx context.Context, t layout.Tensor) error {
	var err error
	if f.sum, err = summary.Of(ctx, t, f.Bins, f.Progress); err != nil {
		return err
	}
	var most, second int64
	for _, n := range f.sum.Counts {
		if n > most {
			most, second = n, most
		} else {
			second = max(second, n)
		}
	}
	f.counts = span{lo: 0, hi: float64(max(1, most)) * 1.04} // some room above the bars
	if second > 0 && most > logFrom*second {
		f.counts = span{lo: 0.5, hi: float64(most) * 1.5, log: true}
	}
	return nil
}

// empty says why there is nothing to draw, if so.
func (f *figure) empty() string {
	switch {
	case f.sum != nil && f.sum.Elements == 0, f.sum == nil && len(f.grid.sum) == 0:
		return "no elements"
	case f.sum != nil && !f.sum.Finite:
		return "no finite values"
	}
	return ""
}

// cells are how many elements a bin stands for, as text, or empty if it is one.
func (f *figure) cells() string {
	g := f.grid
	if int64(g.rows.bins) == g.rows.n && int64(g.cols.bins) == g.cols.n {
		return ""
	}
	per := func(a axis) string {
		v := float64(a.n) / float64(a.bins)
		if v < 100 {
			return strconv.FormatFloat(v, 'g', 3, 64)
		}
		return strconv.FormatFloat(math.Round(v), 'g', 6, 64)
	}
	return per(g.rows) + " × " + per(g.cols)
}

// valueLabel says what the values are.
func (f *figure) valueLabel() string {
	label := "value"
	if isComplex(f.dtype) {
		label = "absolute value"
	}
	if f.Kind == Spy {
		label = "share of elements that are not zero"
		if f.layout != layout.LayoutDense {
			label = "share of elements that are stored"
		}
		return label
	}
	if f.sum == nil && f.cells() != "" {
		label = "mean " + label
		if f.dtype.Kind() == layout.KindBool {
			label = "share of true"
		}
	}
	if f.Unit != "" {
		label += " [" + f.Unit + "]"
	}
	return label
}

// remarks are what the picture itself does not show.
func (f *figure) remarks() string {
	var r []string
	if s := f.sum; s != nil {
		what := " elements"
		if s.Elements == 1 {
			what = " element"
		}
		r = append(r, groupDigits(s.Elements)+what)
		if s.Finite {
			r = append(r, fmt.Sprintf("mean %.4g", s.Mean), fmt.Sprintf("std %.4g", s.Std))
		}
		if s.NaN > 0 {
			r = append(r, groupDigits(s.NaN)+" NaN")
		}
		if s.Inf > 0 {
			r = append(r, groupDigits(s.Inf)+" infinite")
		}
		return strings.Join(r, ", ")
	}
	if f.Kind == Heatmap && f.low < f.high {
		step := roundStep(f.high/1000 - f.low/1000)
		r = append(r, trimZeros(numberText(f.low, step))+" to "+trimZeros(numberText(f.high, step)))
	}
	if cells := f.cells(); cells != "" {
		r = append(r, cells+" elements a dot")
	}
	return strings.Join(r, ", ")
}

// mark is a colour that is not on the scale, with what it stands for.
type mark struct {
	value float64
	label string
}

// marks are those of the values that are not finite.
func (f *figure) marks() []mark {
	if f.Kind != Heatmap {
		return nil
	}
	var m []mark
	for _, x := range []struct {
		n     int64
		value float64
		label string
	}{
		{f.grid.total.nan, math.NaN(), "NaN"},
		{f.grid.total.up, math.Inf(1), "+∞"},
		{f.grid.total.down, math.Inf(-1), "−∞"},
	} {
		if x.n > 0 {
			m = append(m, mark{x.value, x.label + " " + groupDigits(x.n)})
		}
	}
	return m
}

// barShift is how far the bars of a histogram are moved: where each integer has a bin, its bar stands
// above it and not behind.
func (f *figure) barShift() float64 {
	if e := f.sum.Edges; len(e) > 1 && e[1]-e[0] == 1 && f.isInteger() && e[len(e)-1] > f.sum.Max.Float() {
		return -0.5
	}
	return 0
}

func (f *figure) isInteger() bool {
	switch f.dtype.Kind() {
	case layout.KindBool, layout.KindInt8, layout.KindInt16, layout.KindInt32, layout.KindInt64,
		layout.KindUint8, layout.KindUint16, layout.KindUint32, layout.KindUint64:
		return true
	}
	return false
}

// valueSpan is the horizontal axis of a histogram.
func (f *figure) valueSpan() span {
	e, shift := f.sum.Edges, f.barShift()
	return span{lo: e[0] + shift, hi: e[len(e)-1] + shift}
}

// valueTicks are those of the values. Of bool there are two.
func (f *figure) valueTicks(s span, most int) []tick {
	if f.dtype.Kind() == layout.KindBool && f.cellsAreElements() {
		var ticks []tick
		for v, label := range map[float64]string{0: "false", 1: "true"} {
			if s.lo <= v && v <= s.hi {
				ticks = append(ticks, tick{s.at(v), label})
			}
		}
		return ticks
	}
	ticks := s.ticks(most)
	if f.isInteger() && (f.sum != nil || f.cellsAreElements()) && s.hi-s.lo < float64(most) {
		whole := ticks[:0]
		for _, t := range ticks {
			if !strings.Contains(t.label, ".") {
				whole = append(whole, t)
			}
		}
		return whole
	}
	return ticks
}

func (f *figure) cellsAreElements() bool { return f.sum != nil || f.cells() == "" }

// countTicks are those of the numbers of elements, which are whole.
func (f *figure) countTicks(most int) []tick {
	s := f.counts
	var values []float64
	if s.log {
		values = decades(1, s.hi, most)
	} else {
		step := max(1, roundStep(s.hi/float64(most)))
		for v := 0.0; v <= s.hi; v += step {
			values = append(values, v)
		}
	}
	ticks := make([]tick, len(values))
	for i, v := range values {
		ticks[i] = tick{s.at(v), groupDigits(int64(v))}
	}
	return ticks
}

// barHeight is that of bin k, from 0 to 1. What is not nothing can be seen.
func (f *figure) barHeight(k int) float64 {
	n := float64(f.sum.Counts[k])
	if n == 0 {
		return 0
	}
	return f.counts.at(n)
}

// fit is the size of the picture of a matrix in a room of dots, which are square: with square elements
// as far as that leaves both sides long enough to see something.
func fit(rows, cols int64, height, width int) (h, w int) {
	const longest = 4
	if rows == 0 || cols == 0 {
		rows, cols = 1, 1
	}
	aspect := max(1.0/longest, min(float64(cols)/float64(rows), longest))
	h, w = height, int(math.Round(float64(height)*aspect))
	if w > width {
		h, w = int(math.Round(float64(width)/aspect)), width
	}
	return snap(max(1, h), rows), snap(max(1, w), cols)
}

// snap makes all elements equally large, if that costs little.
func snap(dots int, n int64) int {
	if n <= int64(dots) {
		if whole := dots / int(n) * int(n); whole*5 >= dots*4 {
			return whole
		}
	}
	return dots
}

// groupDigits writes a whole number with a comma before each three digits.
func groupDigits(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
