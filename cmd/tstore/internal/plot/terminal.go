package plot

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/tstore/tstore/layout"
)

// Colours are the colours that a terminal has.
type Colours int

const (
	NoColours   Colours = iota // letters alone
	Colours256                 // the palette of xterm
	ColoursTrue                // all
)

// The smallest and the largest size of a picture of characters.
const (
	minColumns, maxColumns = 24, 500
	minLines, maxLines     = 8, 250
)

// Text draws a tensor with characters, at most columns wide and lines high. A pattern is dots of
// Braille, a heat map half blocks in colours, or shades where there are none, a histogram bars. Lines
// end in newlines. Errors are those of Draw.
func Text(ctx context.Context, t layout.Tensor, o Options, columns, lines int, colours Colours) (string, error) {
	columns, lines = max(minColumns, min(columns, maxColumns)), max(minLines, min(lines, maxLines))
	w := &typist{columns: columns, colours: colours}
	f, err := newFigure(ctx, t, o, func(k Kind, rows, cols int64) (int, int) {
		return w.room(k, rows, cols, lines-5)
	}, min(mostBins, columns-histLabels))
	if err != nil {
		return "", err
	}
	w.head(f)
	switch {
	case f.empty() != "":
		w.line(f.empty())
	case f.sum != nil:
		w.hist(f, lines-5)
	default:
		w.matrix(f)
		w.legend(f)
	}
	return w.out.String(), nil
}

// typist writes a figure as lines.
type typist struct {
	out     strings.Builder
	columns int
	colours Colours

	// Of the picture of a matrix.
	labels        int // width of what is at the left of it
	height, width int // in dots
	dotsH, dotsW  int // in a character; 0 if a dot is two characters wide
}

func (w *typist) line(s string) { w.out.WriteString(strings.TrimRight(s, " ") + "\n") }

func (w *typist) head(f *figure) {
	w.line(shorten(f.Title, w.columns, uniseg.StringWidth))
	text := f.Subtitle
	if r := f.remarks(); r != "" {
		text += " · " + r
	}
	w.line(shorten(text, w.columns, uniseg.StringWidth))
}

// room chooses the size of the picture of a matrix, in dots, of which lines lines are to be had.
func (w *typist) room(k Kind, rows, cols int64, lines int) (height, width int) {
	for _, t := range indexTicks(rows, 8) {
		w.labels = max(w.labels, len(t.label)+2)
	}
	columns := w.columns - w.labels
	lines = int(min(int64(lines), max(8, 2*min(rows, 1000)))) // a few elements need not fill the screen
	switch {
	case k == Spy:
		w.dotsH, w.dotsW = 4, 2
	case w.colours != NoColours:
		w.dotsH, w.dotsW = 2, 1
	default:
		w.height, w.width = fit(rows, cols, lines, columns/2)
		return w.height, w.width
	}
	w.height, w.width = fit(rows, cols, lines*w.dotsH, columns*w.dotsW)
	return w.height, w.width
}

// lines and columns are the size of the picture in characters.
func (w *typist) size() (lines, columns int) {
	if w.dotsH == 0 {
		return w.height, 2 * w.width
	}
	return (w.height + w.dotsH - 1) / w.dotsH, (w.width + w.dotsW - 1) / w.dotsW
}

func (w *typist) matrix(f *figure) {
	lines, columns := w.size()
	g := f.grid
	rows := fewer(max(1, lines/3), func(most int) []tick { return indexTicks(g.rows.n, most) }, func(string) float64 { return 1 / float64(lines) })
	if f.names[0] == "" {
		rows = nil
	}
	if f.names[0] != "" {
		w.line(strings.Repeat(" ", w.labels-1) + "↓ " + shorten(f.names[0], max(1, w.columns-w.labels-2), uniseg.StringWidth))
	}
	row := w.row(f)
	for y := range lines {
		label, mark := "", "│"
		for _, t := range rows {
			if int(t.at*float64(lines)) == y {
				label, mark = t.label, "┤"
			}
		}
		w.out.WriteString(strings.Repeat(" ", max(0, w.labels-2-len(label))) + label + " " + mark)
		w.line(row(y))
	}
	w.axisBelow(w.labels-1, columns, f.names[1], fewer(max(1, columns/5), func(most int) []tick { return indexTicks(g.cols.n, most) }, func(label string) float64 {
		return float64(len(label)+2) / float64(columns)
	}))
}

// axisBelow writes a horizontal axis of a number of columns behind indent others, and its labels.
func (w *typist) axisBelow(indent, columns int, name string, ticks []tick) {
	axis := []rune(strings.Repeat("─", columns))
	labels := []rune(strings.Repeat(" ", w.columns))
	end := 0
	for _, t := range ticks {
		x := min(int(t.at*float64(columns)), columns-1)
		axis[x] = '┬'
		label := []rune(t.label)
		at := min(max(end, indent+1+x-(len(label)-1)/2), w.columns-len(label))
		if at < end {
			continue
		}
		copy(labels[at:], label)
		end = at + len(label) + 1
	}
	w.line(strings.Repeat(" ", indent) + "└" + string(axis))
	text := strings.TrimRight(string(labels), " ")
	if room := w.columns - uniseg.StringWidth(text) - 4; name != "" && room > 5 {
		text += "  → " + shorten(name, room, uniseg.StringWidth)
	}
	w.line(text)
}

// row returns the function that makes a line of the picture.
func (w *typist) row(f *figure) func(y int) string {
	_, columns := w.size()
	g := f.grid
	at := func(y, x int) float64 { // of a dot
		return g.mean(y*g.rows.bins/w.height, x*g.cols.bins/w.width)
	}
	switch w.dotsH {
	case 4:
		return func(y int) string {
			line := make([]rune, columns)
			for x := range line {
				var bits rune
				for dy := range 4 {
					for dx := range 2 {
						if 4*y+dy < w.height && 2*x+dx < w.width && at(4*y+dy, 2*x+dx) != 0 {
							bits |= braille[dy][dx]
						}
					}
				}
				if line[x] = ' '; bits != 0 {
					line[x] = 0x2800 + bits
				}
			}
			return string(line)
		}
	case 2:
		return func(y int) string {
			var b strings.Builder
			last := ""
			for x := range columns {
				code, letter := w.paint(f.scale.of(at(2*y, x)), true), "▀"
				if 2*y+1 < w.height {
					code += w.paint(f.scale.of(at(2*y+1, x)), false)
				}
				if code != last {
					b.WriteString(code)
					last = code
				}
				b.WriteString(letter)
			}
			return b.String() + reset
		}
	}
	return func(y int) string {
		var b strings.Builder
		for x := range w.width {
			b.WriteString(strings.Repeat(f.shade(at(y, x)), 2))
		}
		return b.String()
	}
}

// braille are the bits of the dots of a character, in Unicode's order.
var braille = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

const reset = "\x1b[0m"

// paint is the escape sequence for a colour of letters, or of what is behind them.
func (w *typist) paint(c color.RGBA, letters bool) string {
	first := 48
	if letters {
		first = 38
	}
	if w.colours == ColoursTrue {
		return fmt.Sprintf("\x1b[%d;2;%d;%d;%dm", first, c.R, c.G, c.B)
	}
	return fmt.Sprintf("\x1b[%d;5;%dm", first, xterm(c))
}

// xterm is the number of the colour of xterm's palette that is nearest to one: of its cube of 6 × 6 × 6
// or of its greys.
func xterm(c color.RGBA) int {
	level := func(v uint8) (int, int) {
		best, at := math.MaxInt, 0
		for i, l := range []int{0, 95, 135, 175, 215, 255} {
			if d := (l - int(v)) * (l - int(v)); d < best {
				best, at = d, i
			}
		}
		return at, best
	}
	r, dr := level(c.R)
	g, dg := level(c.G)
	b, db := level(c.B)
	best, at := dr+dg+db, 16+36*r+6*g+b
	for i := range 24 {
		l := 8 + 10*i
		d := 0
		for _, v := range []uint8{c.R, c.G, c.B} {
			d += (l - int(v)) * (l - int(v))
		}
		if d < best {
			best, at = d, 232+i
		}
	}
	return at
}

// shades are from little to much.
var shades = []string{" ", "░", "▒", "▓", "█"}

// shade is a value where there are no colours.
func (f *figure) shade(v float64) string {
	switch {
	case v != v:
		return "?"
	case math.IsInf(v, 1):
		return "+"
	case math.IsInf(v, -1):
		return "-"
	}
	return shades[min(int(f.scale.at(v)*float64(len(shades))), len(shades)-1)]
}

// legend says what colours stand for, as far as there is room.
func (w *typist) legend(f *figure) {
	line := strings.Repeat(" ", w.labels)
	room := w.columns - len(line)
	add := func(sign, words string, signWidth int) {
		if need := signWidth + uniseg.StringWidth(words); need <= room {
			line += sign + words
			room -= need
		}
	}
	if s := f.scale; f.Kind == Heatmap && s.any && s.lo == s.hi {
		add("", numberText(s.lo, 0)+" everywhere  ", 0)
	} else if f.Kind == Heatmap && s.any {
		step := roundStep(s.hi/1000 - s.lo/1000)
		lo, hi := trimZeros(numberText(s.lo, step)), trimZeros(numberText(s.hi, step))
		bar, width := strings.Join(shades, ""), len(shades)
		if w.colours != NoColours {
			bar, width = "", 16
			for i := range width {
				bar += w.paint(s.colours.at((float64(i)+0.5)/float64(width)), false) + " "
			}
			bar += reset
		}
		add(lo+" "+bar, " "+hi+"  ", len(lo)+1+width)
		add("", f.valueLabel()+"  ", 0)
	}
	for _, m := range f.marks() {
		sign := f.shade(m.value) + f.shade(m.value)
		if w.colours != NoColours {
			sign = w.paint(f.scale.of(m.value), false) + "  " + reset
		}
		add(sign, " "+m.label+"  ", 2)
	}
	if line = strings.TrimRight(line, " "); line != "" {
		w.line(line)
	}
}

// histLabels is the room for the numbers of elements at the left of a histogram.
const histLabels = 12

func (w *typist) hist(f *figure, lines int) {
	n := len(f.sum.Counts)
	lines = max(3, min(lines, 20))
	counts := fewer(max(2, lines/3), f.countTicks, func(string) float64 { return 1 / float64(lines) })
	wide := 0
	for _, t := range counts {
		wide = max(wide, len(t.label))
	}
	each := max(1, (w.columns-wide-2)/n)
	columns := each * n
	eighths := make([]int, n)
	for k := range eighths {
		if h := f.barHeight(k); h > 0 {
			eighths[k] = max(1, int(math.Round(h*float64(8*lines))))
		}
	}
	for y := lines - 1; y >= 0; y-- {
		label, mark := "", "│"
		for _, t := range counts {
			if min(int(t.at*float64(lines)), lines-1) == y {
				label, mark = t.label, "┤"
			}
		}
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", wide-len(label)) + label + " " + mark)
		for _, e := range eighths {
			bar := strings.Repeat(string([]rune(" ▁▂▃▄▅▆▇█")[max(0, min(e-8*y, 8))]), max(1, each-1))
			b.WriteString(bar + strings.Repeat(" ", each-max(1, each-1)))
		}
		w.line(b.String())
	}
	name := f.valueLabel()
	w.axisBelow(wide+1, columns, name, fewer(max(2, columns/8), func(most int) []tick { return f.valueTicks(f.valueSpan(), most) }, func(label string) float64 {
		return float64(len(label)+2) / float64(columns)
	}))
	if f.counts.log {
		w.line(shorten(strings.Repeat(" ", wide+2)+"numbers of elements on a logarithmic axis", w.columns, uniseg.StringWidth))
	}
}
