package plot

import (
	"image/color"
	"math"
)

type colourMap []color.RGBA

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff}
}

func colours(hex ...uint32) colourMap {
	m := make(colourMap, len(hex))
	for i, h := range hex {
		m[i] = rgb(h)
	}
	return m
}

var (
	viridis  = colours(0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725)
	coolWarm = colours(0x3b4cc0, 0x6688ee, 0x88bbff, 0xb8d0f9, 0xdddddd, 0xf5c4ad, 0xf4987a, 0xdd6049, 0xb40426)
	inks     = colours(0x9fb4dd, 0x5a78bd, 0x2c4a94, 0x101f4f) // for numbers of elements; none is white

	white    = rgb(0xffffff)
	black    = rgb(0x202020)
	grey     = rgb(0x707070)
	barFill  = rgb(0x31688e)
	nanFill  = rgb(0x8a8a8a)
	upFill   = rgb(0xff00c8) // +∞
	downFill = rgb(0x00c8e6) // −∞
)

// at is the colour at a share of the map, 0 to 1.
func (m colourMap) at(share float64) color.RGBA {
	x := max(0, min(share, 1)) * float64(len(m)-1)
	k := min(int(x), len(m)-2)
	mix := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + (float64(b)-float64(a))*(x-float64(k))))
	}
	a, b := m[k], m[k+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// scale gives values their colours.
type scale struct {
	span
	colours colourMap
	any     bool // there are finite values
}

// scaleOf is the scale for the means of a grid. Around zero it is the same on both sides. That of a
// pattern begins at the smallest share that is not 0, so that single elements can be seen. The means
// themselves are from low to high.
func scaleOf(g *grid, k Kind) (s scale, low, high float64) {
	s.colours = viridis
	for row := range g.rows.bins {
		for col := range g.cols.bins {
			v := g.mean(row, col)
			if math.IsNaN(v) || math.IsInf(v, 0) || k == Spy && v == 0 {
				continue
			}
			if !s.any {
				s.lo, s.hi, s.any = v, v, true
			}
			s.lo, s.hi = min(s.lo, v), max(s.hi, v)
		}
	}
	low, high = s.lo, s.hi
	switch {
	case k == Spy:
		s.colours = inks
		s.log = s.hi > 20*s.lo
		if s.lo == s.hi {
			s.colours = inks[len(inks)-2:]
		}
	case s.lo < 0 && s.hi > 0:
		s.colours = coolWarm
		s.hi = max(-s.lo, s.hi)
		s.lo = -s.hi
	}
	return s, low, high
}

// of is the colour of a value.
func (s scale) of(v float64) color.RGBA {
	switch {
	case v != v:
		return nanFill
	case math.IsInf(v, 1):
		return upFill
	case math.IsInf(v, -1):
		return downFill
	}
	return s.colours.at(s.at(v))
}
