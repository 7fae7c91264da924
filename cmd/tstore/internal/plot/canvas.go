package plot

import (
	"image"
	"image/color"
	"image/draw"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Sizes of letters, in dots.
const (
	titleSize = 19
	labelSize = 14
)

var parsedFont = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // it is part of the program
	}
	return f
})

// canvas is an image that is drawn on.
type canvas struct {
	*image.RGBA
	title, label font.Face
	texts        []image.Rectangle // where there are words, for the tests
}

func newCanvas(width, height int) *canvas {
	c := &canvas{RGBA: image.NewRGBA(image.Rect(0, 0, width, height)), title: newFace(titleSize), label: newFace(labelSize)}
	c.fill(c.Bounds(), white)
	return c
}

func newFace(size float64) font.Face {
	// A dot is a point at 72 dots an inch.
	face, err := opentype.NewFace(parsedFont(), &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err) // the font is part of the program
	}
	return face
}

func (c *canvas) fill(r image.Rectangle, col color.Color) {
	draw.Draw(c.RGBA, r, image.NewUniform(col), image.Point{}, draw.Src)
}

// frame draws a line one dot wide around a rectangle.
func (c *canvas) frame(r image.Rectangle, col color.Color) {
	r = r.Inset(-1)
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+1), col)
	c.fill(image.Rect(r.Min.X, r.Max.Y-1, r.Max.X, r.Max.Y), col)
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+1, r.Max.Y), col)
	c.fill(image.Rect(r.Max.X-1, r.Min.Y, r.Max.X, r.Max.Y), col)
}

// textWidth is how wide words are.
func textWidth(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }

// lineHeight is how high a line of words is.
func lineHeight(face font.Face) int {
	return face.Metrics().Ascent.Ceil() + face.Metrics().Descent.Ceil()
}

// Where words lie with respect to a point: 0 begin there, 0.5 have it in their middle, 1 end there.
type anchor struct{ x, y float64 }

// text draws words.
func (c *canvas) text(face font.Face, s string, at image.Point, a anchor, col color.Color) {
	if s == "" {
		return
	}
	w, h := textWidth(face, s), lineHeight(face)
	corner := image.Pt(at.X-int(a.x*float64(w)), at.Y-int(a.y*float64(h)))
	c.texts = append(c.texts, image.Rectangle{corner, corner.Add(image.Pt(w, h))})
	drawText(c.RGBA, face, s, corner, col)
}

func drawText(dst *image.RGBA, face font.Face, s string, corner image.Point, col color.Color) {
	d := font.Drawer{Dst: dst, Src: image.NewUniform(col), Face: face, Dot: fixed.P(corner.X, corner.Y+face.Metrics().Ascent.Ceil())}
	d.DrawString(s)
}

// uprightText draws words that run from the bottom to the top, with their middle at a point.
func (c *canvas) uprightText(face font.Face, s string, middle image.Point, col color.Color) {
	if s == "" {
		return
	}
	w, h := textWidth(face, s), lineHeight(face)
	flat := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(flat, flat.Bounds(), image.NewUniform(white), image.Point{}, draw.Src)
	drawText(flat, face, s, image.Point{}, col)
	corner := middle.Sub(image.Pt(h/2, w/2))
	c.texts = append(c.texts, image.Rectangle{corner, corner.Add(image.Pt(h, w))})
	for y := range h {
		for x := range w {
			c.SetRGBA(corner.X+y, corner.Y+w-1-x, flat.RGBAAt(x, y))
		}
	}
}

// shorten cuts words in the middle so that they are not wider than they may be.
func shorten(s string, width int, measure func(string) int) string {
	if measure(s) <= width {
		return s
	}
	runes := []rune(s)
	keep := len(runes)
	for low := 0; low < keep-1; {
		if n := (low + keep) / 2; measure(cut(runes, n)) <= width {
			low = n
		} else {
			keep = n
		}
		if low >= keep-1 {
			return cut(runes, low)
		}
	}
	return cut(runes, 0)
}

// cut keeps n letters of the ends of a text.
func cut(runes []rune, n int) string {
	return strings.TrimSpace(string(runes[:(n+1)/2])) + "…" + strings.TrimSpace(string(runes[len(runes)-n/2:]))
}
