package plot

import (
	"context"
	"math"
	"math/bits"

	"github.com/tstore/tstore/layout"
)

// axis is the elements 0 to n−1 of one axis of a matrix in a number of bins, which is at most n.
type axis struct {
	n    int64
	bins int
}

func newAxis(n int64, most int) axis {
	return axis{n, int(min(n, int64(most)))}
}

// start is the first element of bin k, or n for the bin behind the last.
func (a axis) start(k int) int64 {
	hi, lo := bits.Mul64(uint64(k), uint64(a.n))
	q, _ := bits.Div64(hi, lo, uint64(a.bins))
	return int64(q)
}

// bin is the bin of element i.
func (a axis) bin(i int64) int {
	hi, lo := bits.Mul64(uint64(i+1), uint64(a.bins))
	lo, borrow := bits.Sub64(lo, 1, 0)
	q, _ := bits.Div64(hi-borrow, lo, uint64(a.n))
	return int(q)
}

// elements is how many elements are in bin k.
func (a axis) elements(k int) int64 { return a.start(k+1) - a.start(k) }

// grid adds up the elements of a matrix in bins.
type grid struct {
	rows, cols axis
	sum        []float64 // of the finite values of each bin, but for huge ones
	odd        []odd     // nil if there are none
	total      odd
}

// odd are the values of a bin that can't simply be added.
type odd struct {
	huge          float64 // the sum of those from hugeLimit on, times hugeScale
	nan, up, down int64   // how many are NaN, +∞, −∞
}

// Sums of as many values as there can be stay finite if each is below hugeLimit, or was scaled.
const (
	hugeLimit = 0x1p960
	hugeScale = 0x1p-64
)

// addOdd adds a value to bin k that is not below hugeLimit.
func (g *grid) addOdd(k int, v float64) {
	if g.odd == nil {
		g.odd = make([]odd, len(g.sum))
	}
	for _, o := range []*odd{&g.odd[k], &g.total} {
		switch {
		case v != v:
			o.nan++
		case math.IsInf(v, 1):
			o.up++
		case math.IsInf(v, -1):
			o.down++
		default:
			o.huge += v * hugeScale
		}
	}
}

// mean is that of the finite values of a bin. Without any, it is NaN, or the infinity that occurs
// most.
func (g *grid) mean(row, col int) float64 {
	k := row*g.cols.bins + col
	n := float64(g.rows.elements(row)) * float64(g.cols.elements(col))
	if g.odd == nil {
		return g.sum[k] / n
	}
	o := g.odd[k]
	if finite := n - float64(o.nan) - float64(o.up) - float64(o.down); finite >= 1 {
		return g.sum[k]/finite + o.huge/finite/hugeScale
	}
	switch {
	case o.up >= o.down && o.up > o.nan:
		return math.Inf(1)
	case o.down > o.nan:
		return math.Inf(-1)
	}
	return math.NaN()
}

// pieceElements is how many elements are added between two looks at whether to go on.
const pieceElements = 16 << 10

// filling is how a grid gets filled.
type filling struct {
	ctx      context.Context
	progress func(done, total int64)
	kind     Kind // Spy or Heatmap
}

// fill adds up a tensor of which checkPlane approves, in a grid of at most height × width bins.
func (f filling) fill(t layout.Tensor, height, width int) (*grid, error) {
	rows, cols := matrixShape(t.Shape())
	g := &grid{rows: newAxis(rows, height), cols: newAxis(cols, width)}
	g.sum = make([]float64, g.rows.bins*g.cols.bins)
	if len(g.sum) == 0 {
		return g, nil
	}
	if d, ok := t.(*layout.Dense); ok {
		return g, f.dense(g, d)
	}
	return g, f.sparse(g, t)
}

// matrixShape is the shape of the matrix that is drawn of a tensor: a vector is a row.
func matrixShape(shape []int64) (rows, cols int64) {
	rows, cols = 1, 1
	switch axes := planeOf(shape); len(axes) {
	case 2:
		rows, cols = shape[axes[0]], shape[axes[1]]
	case 1:
		cols = shape[axes[0]]
	}
	return rows, cols
}

func (f filling) dense(g *grid, d *layout.Dense) error {
	read := numbers(d.DType())
	if f.kind == Spy {
		read = nonzeros(d.DType())
	}
	bounds := make([]int64, g.cols.bins+1)
	for k := range bounds {
		bounds[k] = g.cols.start(k)
	}
	size := int64(d.DType().Size())
	values := make([]float64, pieceElements)
	var done, row, col int64
	at, bin := 0, 0 // the first bin of the row, and that of the column
	for chunk := range d.Chunks(make([]byte, pieceElements*size)) {
		for len(chunk) > 0 {
			if err := f.ctx.Err(); err != nil {
				return err
			}
			n := min(int64(len(chunk))/size, pieceElements)
			v := values[:n]
			read(v, chunk[:n*size])
			chunk = chunk[n*size:]
			for len(v) > 0 {
				end := min(bounds[bin+1]-col, int64(len(v)))
				sum := 0.0
				for _, x := range v[:end] {
					if math.Abs(x) < hugeLimit {
						sum += x
					} else {
						g.addOdd(at+bin, x)
					}
				}
				g.sum[at+bin] += sum
				v = v[end:]
				if col += end; col < bounds[bin+1] {
					continue
				}
				if bin++; bin < g.cols.bins {
					continue
				}
				col, bin = 0, 0
				if row++; row < g.rows.n {
					at = g.rows.bin(row) * g.cols.bins
				}
			}
			done += n * size
			f.report(done, d.NumBytes())
		}
	}
	return nil
}

func (f filling) report(done, total int64) {
	if f.progress != nil {
		f.progress(done, total)
	}
}

func (f filling) sparse(g *grid, t layout.Tensor) error {
	if c, ok := t.(*layout.COO); ok && f.kind == Heatmap && !c.IsCanonical() {
		// NaNs and infinities of one element must not count twice.
		summed, err := layout.Convert(c, layout.LayoutCOO, &layout.ConvertOptions{Duplicates: layout.DuplicatesSum})
		if err != nil {
			return err
		}
		t = summed
	}
	elements, err := layout.NonzeroBytes(t)
	if err != nil {
		return err
	}
	read := numbers(t.DType())
	axes := planeOf(t.Shape())
	size := int64(t.DType().Size())
	var done int64
	v := []float64{1} // of a pattern, what is stored counts, whatever it is
	for at, b := range elements {
		if done%pieceElements == 0 {
			if err := f.ctx.Err(); err != nil {
				return err
			}
			f.report(done*size, t.NNZ()*size)
		}
		done++
		k := 0
		for i, a := range axes {
			if i == len(axes)-1 {
				k = k*g.cols.bins + g.cols.bin(at[a])
			} else {
				k = g.rows.bin(at[a])
			}
		}
		if f.kind != Spy {
			read(v, b)
		}
		if math.Abs(v[0]) < hugeLimit {
			g.sum[k] += v[0]
		} else {
			g.addOdd(k, v[0])
		}
	}
	f.report(t.NNZ()*size, t.NNZ()*size)
	return nil
}
