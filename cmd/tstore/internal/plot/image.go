package plot

import (
	"context"
	"image"
	"math"

	"golang.org/x/image/font"

	"github.com/tstore/tstore/layout"
)

// The smallest and the largest side of an image, in dots.
const (
	MinSize = 320
	MaxSize = 4000
)

// Distances in an image, in dots.
const (
	edge        = 14 // between words and the edge
	tickSize    = 5  // of the marks on axes
	tickGap     = 4  // between marks and their labels
	barGap      = 24 // between picture and colour bar
	barSize     = 18 // width of the colour bar
	shortestBar = 200
	barRoom     = 132 // for all that is to the right of a matrix
)

// Draw makes an image of a tensor, width × height dots, both from MinSize to MaxSize; it becomes wider
// if the numbers beside the colour bar need that.
//
// Errors: ErrKind, summary.ErrType if the elements are no numbers, those of the tensor's index arrays,
// or that of ctx.
func Draw(ctx context.Context, t layout.Tensor, o Options, width, height int) (image.Image, error) {
	c, err := paint(ctx, t, o, width, height)
	if err != nil {
		return nil, err
	}
	return c.RGBA, nil
}

func paint(ctx context.Context, t layout.Tensor, o Options, width, height int) (*canvas, error) {
	width, height = max(MinSize, min(width, MaxSize)), max(MinSize, min(height, MaxSize))
	p := painter{title: newFace(titleSize), label: newFace(labelSize), width: width, height: height}
	f, err := newFigure(ctx, t, o, func(_ Kind, rows, cols int64) (int, int) {
		p.area = p.areaFor(rows, cols)
		return p.area.Dy(), p.area.Dx()
	}, mostBins)
	if err != nil {
		return nil, err
	}
	if f.sum != nil {
		p.hist(f)
	} else {
		p.matrix(f)
	}
	return p.canvas, nil
}

// painter draws a figure.
type painter struct {
	*canvas
	title, label  font.Face
	width, height int
	area          image.Rectangle // of the matrix
}

// top is where the picture begins, below two lines of words.
func (p *painter) top() int { return edge + lineHeight(p.title) + 4 + lineHeight(p.label) + 14 }

// bottom is where the picture ends, above labels and the name of the axis.
func (p *painter) bottom() int {
	return p.height - edge - 2*lineHeight(p.label) - 4 - tickGap - tickSize
}

// labels is the room that labels of an axis need, at their left.
func (p *painter) labels(ticks []tick) int {
	most := 0
	for _, t := range ticks {
		most = max(most, textWidth(p.label, t.label))
	}
	return edge + lineHeight(p.label) + 6 + most + tickGap + tickSize
}

// areaFor is where the picture of a matrix goes.
func (p *painter) areaFor(rows, cols int64) image.Rectangle {
	left, top, bottom := p.labels(indexTicks(rows, 8)), p.top(), p.bottom()
	h, w := fit(rows, cols, bottom-top, p.width-left-barRoom)
	left += (p.width - left - barRoom - w) / 2
	top += (bottom - top - h) / 2
	return image.Rect(left, top, left+w, top+h)
}

func (p *painter) words(f *figure) {
	room := p.Bounds().Dx() - 2*edge
	subtitle := f.Subtitle
	if r := f.remarks(); r != "" {
		subtitle += "  ·  " + r
	}
	p.text(p.title, shorten(f.Title, room, func(s string) int { return textWidth(p.title, s) }), image.Pt(edge, edge), anchor{}, black)
	p.text(p.label, shorten(subtitle, room, p.labelWidth), image.Pt(edge, edge+lineHeight(p.title)+4), anchor{}, grey)
}

func (p *painter) labelWidth(s string) int { return textWidth(p.label, s) }

func (p *painter) matrix(f *figure) {
	g := f.grid
	area := p.area
	bar := f.scale.any && (f.Kind == Heatmap || f.cells() != "")
	var ticks []tick
	right := area.Max.X + barGap
	barTop, barEnd := area.Min.Y, area.Max.Y
	if least := min(shortestBar, p.bottom()-p.top()); barEnd-barTop < least {
		barTop = max(p.top(), middle(area).Y-least/2)
		barEnd = barTop + least
	}
	if bar {
		ticks = f.valueTicks(f.scale.span, max(2, (barEnd-barTop)/50))
		right += barSize + tickSize + tickGap
		for _, t := range ticks {
			right = max(right, area.Max.X+barGap+barSize+tickSize+tickGap+p.labelWidth(t.label))
		}
		right += 6 + lineHeight(p.label)
	}
	for _, m := range f.marks() {
		right = max(right, area.Max.X+barGap+lineHeight(p.label)+p.labelWidth(m.label))
	}
	p.canvas = newCanvas(max(p.width, right+edge), p.height)
	p.words(f)
	for y := range area.Dy() {
		row := y * g.rows.bins / area.Dy()
		for x := range area.Dx() {
			if len(g.sum) == 0 {
				break
			}
			v := g.mean(row, x*g.cols.bins/area.Dx())
			if f.Kind == Spy && v == 0 {
				continue
			}
			p.SetRGBA(area.Min.X+x, area.Min.Y+y, f.scale.of(v))
		}
	}
	p.frame(area, black)
	if why := f.empty(); why != "" {
		p.text(p.label, why, middle(area), anchor{0.5, 0.5}, grey)
	}
	p.axisBelow(area, f.names[1], fewer(max(2, area.Dx()/70), func(most int) []tick { return indexTicks(g.cols.n, most) }, func(label string) float64 {
		return float64(p.labelWidth(label)+14) / float64(area.Dx())
	}))
	rows := fewer(max(2, area.Dy()/50), func(most int) []tick { return indexTicks(g.rows.n, most) }, func(string) float64 {
		return float64(lineHeight(p.label)) / float64(area.Dy())
	})
	if f.names[0] == "" { // a vector has no rows
		rows = nil
	}
	for i := range rows {
		rows[i].at = 1 - rows[i].at // the first row is at the top
	}
	p.axisLeft(area, f.names[0], rows)
	x := area.Max.X + barGap
	if bar {
		p.colourBar(f, image.Rect(x, barTop, x+barSize, barEnd), ticks, right)
	}
	y := barEnd + tickSize + tickGap + lineHeight(p.label)/2
	for i, m := range f.marks() {
		h := lineHeight(p.label)
		at := image.Pt(x, y+i*(h+2))
		if at.Y+h > p.height {
			break
		}
		box := image.Rect(at.X, at.Y+3, at.X+h-6, at.Y+h-3)
		p.fill(box, f.scale.of(m.value))
		p.frame(box, black)
		p.text(p.label, m.label, image.Pt(at.X+h, at.Y), anchor{}, black)
	}
}

func middle(r image.Rectangle) image.Point {
	return image.Pt((r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2)
}

// colourBar draws the scale, with its label before right.
func (p *painter) colourBar(f *figure, r image.Rectangle, ticks []tick, right int) {
	for y := range r.Dy() {
		share := 1 - (float64(y)+0.5)/float64(r.Dy())
		switch {
		case f.scale.lo == f.scale.hi:
			share = 0.5
		case f.dtype.Kind() == layout.KindBool && f.cells() == "": // nothing is between
			share = math.Round(share)
		}
		p.fill(image.Rect(r.Min.X, r.Min.Y+y, r.Max.X, r.Min.Y+y+1), f.scale.colours.at(share))
	}
	p.frame(r, black)
	for _, t := range ticks {
		y := r.Max.Y - 1 - int(math.Round(t.at*float64(r.Dy()-1)))
		p.fill(image.Rect(r.Max.X+1, y, r.Max.X+1+tickSize, y+1), black)
		p.text(p.label, t.label, image.Pt(r.Max.X+1+tickSize+tickGap, y), anchor{0, 0.5}, black)
	}
	label := shorten(f.valueLabel(), p.bottom()-p.top(), p.labelWidth)
	p.uprightText(p.label, label, image.Pt(right-lineHeight(p.label)/2, min(max(middle(r).Y, p.top()+p.labelWidth(label)/2), p.bottom()-p.labelWidth(label)/2)), black)
}

func (p *painter) axisBelow(area image.Rectangle, name string, ticks []tick) {
	y := area.Max.Y + 1
	end := 0 // of the last label
	for _, t := range ticks {
		x := min(area.Min.X+int(t.at*float64(area.Dx())), area.Max.X-1)
		p.fill(image.Rect(x, y, x+1, y+tickSize), black)
		wide := p.labelWidth(t.label)
		left := max(0, min(x-wide/2, p.Bounds().Dx()-wide))
		if left < end {
			continue
		}
		p.text(p.label, t.label, image.Pt(left, y+tickSize+tickGap), anchor{}, black)
		end = left + wide
	}
	name = shorten(name, area.Dx(), p.labelWidth)
	p.text(p.label, name, image.Pt(middle(area).X, y+tickSize+tickGap+lineHeight(p.label)+4), anchor{0.5, 0}, black)
}

func (p *painter) axisLeft(area image.Rectangle, name string, ticks []tick) {
	x := area.Min.X - 1
	wide := 0
	for _, t := range ticks {
		y := area.Max.Y - 1 - int(t.at*float64(area.Dy()))
		y = max(y, area.Min.Y)
		p.fill(image.Rect(x-tickSize, y, x, y+1), black)
		p.text(p.label, t.label, image.Pt(x-tickSize-tickGap, y), anchor{1, 0.5}, black)
		wide = max(wide, p.labelWidth(t.label))
	}
	name = shorten(name, max(area.Dy(), 40), p.labelWidth)
	p.uprightText(p.label, name, image.Pt(x-tickSize-tickGap-wide-6-lineHeight(p.label)/2, middle(area).Y), black)
}

func (p *painter) hist(f *figure) {
	p.canvas = newCanvas(p.width, p.height)
	p.words(f)
	counts := f.countTicks(8)
	area := image.Rect(p.labels(counts), p.top(), p.width-2*edge, p.bottom())
	why := f.empty()
	if why == "" {
		p.bars(f, area)
	} else {
		counts = nil
		p.text(p.label, why, middle(area), anchor{0.5, 0.5}, grey)
	}
	p.frame(area, black)
	name := "elements"
	if f.counts.log {
		name += ", logarithmic"
	}
	p.axisLeft(area, name, counts)
	var values []tick
	if why == "" {
		values = fewer(max(2, area.Dx()/70), func(most int) []tick { return f.valueTicks(f.valueSpan(), most) }, func(label string) float64 {
			return float64(p.labelWidth(label)+14) / float64(area.Dx())
		})
	}
	p.axisBelow(area, f.valueLabel(), values)
}

// bars draws a histogram. The highest bar leaves some room.
func (p *painter) bars(f *figure, area image.Rectangle) {
	n := len(f.sum.Counts)
	for k := range n {
		h := f.barHeight(k)
		if h == 0 {
			continue
		}
		left, right := area.Min.X+k*area.Dx()/n, area.Min.X+(k+1)*area.Dx()/n
		if right-left > 3 {
			right-- // bars that are wide enough stand apart
		}
		high := max(1, int(math.Round(h*float64(area.Dy()-1))))
		p.fill(image.Rect(left, area.Max.Y-high, max(right, left+1), area.Max.Y), barFill)
	}
}
