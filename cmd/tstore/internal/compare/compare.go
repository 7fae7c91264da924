package compare

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/tstore/tstore/layout"
)

// ErrShape says that two tensors have not the same element type and shape.
var ErrShape = errors.New("tensors of different element types or shapes can't be compared")

// Difference says where two tensors differ.
type Difference struct {
	Differing int64   // elements
	NaN       int64   // of those, how many are NaN in one of the tensors only
	Numbers   bool    // the elements are numbers; otherwise Max and NaN say nothing
	Max       float64 // the largest absolute difference
	At        []int64 // where that is, or else where the first element is that differs
}

// Tensors compares two tensors. progress, if not nil, is told how many more bytes of the elements of a
// have been compared. The error is ErrShape, one about the index arrays of a sparse tensor, or that of
// ctx.
func Tensors(ctx context.Context, a, b layout.Tensor, progress func(n int64)) (*Difference, error) {
	shape := a.Shape()
	if a.DType() != b.DType() || len(shape) != len(b.Shape()) {
		return nil, ErrShape
	}
	for i, n := range shape {
		if n != b.Shape()[i] {
			return nil, ErrShape
		}
	}
	if progress == nil {
		progress = func(int64) {}
	}
	c := comparison{ctx: ctx, progress: progress, distance: distanceOf(a.DType())}
	c.found.Numbers = c.distance != nil
	dense, okA := a.(*layout.Dense)
	other, okB := b.(*layout.Dense)
	var err error
	if okA && okB {
		err = c.dense(dense, other)
	} else {
		err = c.sparse(a, b)
	}
	if err != nil {
		return nil, err
	}
	return &c.found, nil
}

// comparison is one run of Tensors.
type comparison struct {
	ctx      context.Context
	progress func(n int64)
	distance func(a, b []byte) (d float64, nan bool)
	found    Difference
}

// pair compares two elements whose bits differ.
func (c *comparison) pair(a, b []byte, at func() []int64) {
	f := &c.found
	f.Differing++
	if f.At == nil {
		f.At = at()
	}
	if c.distance == nil {
		return
	}
	d, nan := c.distance(a, b)
	switch {
	case nan:
		f.NaN++
	case d > f.Max:
		f.Max, f.At = d, at()
	}
}

// pieceBytes is how much is looked at at a time.
const pieceBytes = 256 << 10

func (c *comparison) dense(a, b *layout.Dense) error {
	size := int64(a.DType().Size())
	perPiece := max(1, pieceBytes/size)
	read := reader(a, perPiece*size)
	readOther := reader(b, perPiece*size)
	for first := int64(0); first < a.Len(); first += perPiece {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		n := min(perPiece, a.Len()-first)
		c.progress(n * size)
		x, y := read(first, n), readOther(first, n)
		if bytes.Equal(x, y) {
			continue
		}
		for i := int64(0); i < n; i++ {
			p, q := x[i*size:][:size], y[i*size:][:size]
			if !bytes.Equal(p, q) {
				c.pair(p, q, func() []int64 { return coordinate(first+i, a.Shape()) })
			}
		}
	}
	return nil
}

// reader returns a function that returns n elements from the first on, in row-major order.
func reader(d *layout.Dense, room int64) func(first, n int64) []byte {
	size := int64(d.DType().Size())
	if b, err := d.Bytes(); err == nil {
		return func(first, n int64) []byte { return b[first*size:][:n*size] }
	}
	buf := make([]byte, room)
	return func(first, n int64) []byte {
		d.CopyRange(buf[:n*size], first)
		return buf[:n*size]
	}
}

// coordinate returns the coordinates of element number i in row-major order.
func coordinate(i int64, shape []int64) []int64 {
	at := make([]int64, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = i % shape[k]
		i /= shape[k]
	}
	return at
}

func (c *comparison) sparse(a, b layout.Tensor) error {
	if a.Layout() == b.Layout() && layout.Equal(a, b) {
		return nil
	}
	next, stop, err := elements(a)
	if err != nil {
		return err
	}
	defer stop()
	nextOther, stopOther, err := elements(b)
	if err != nil {
		return err
	}
	defer stopOther()
	zero := make([]byte, a.DType().Size())
	isZero := func(e element) bool {
		if bytes.Equal(e.bytes, zero) {
			return true
		}
		if c.distance == nil {
			return false
		}
		d, nan := c.distance(e.bytes, zero)
		return d == 0 && !nan // −0
	}
	x, okX := next()
	y, okY := nextOther()
	const often = 1 << 16
	for n := 0; okX || okY; n++ {
		if n%often == often-1 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			c.progress(int64(often * len(zero)))
		}
		order := 0
		switch {
		case !okY:
			order = -1
		case !okX:
			order = 1
		default:
			order = compareCoordinates(x.at, y.at)
		}
		switch {
		case order < 0:
			if !isZero(x) {
				c.pair(x.bytes, zero, func() []int64 { return slices.Clone(x.at) })
			}
			x, okX = next()
		case order > 0:
			if !isZero(y) {
				c.pair(zero, y.bytes, func() []int64 { return slices.Clone(y.at) })
			}
			y, okY = nextOther()
		default:
			if !bytes.Equal(x.bytes, y.bytes) && !(isZero(x) && isZero(y)) {
				c.pair(x.bytes, y.bytes, func() []int64 { return slices.Clone(x.at) })
			}
			x, okX = next()
			y, okY = nextOther()
		}
	}
	return nil
}

func compareCoordinates(a, b []int64) int {
	for i, x := range a {
		if x != b[i] {
			if x < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// element is a stored element. It is valid until the next.
type element struct {
	at    []int64
	bytes []byte
}

// elements returns the stored elements of a tensor in row-major order, each once.
func elements(t layout.Tensor) (next func() (element, bool), stop func(), err error) {
	c, err := layout.Convert(t, layout.LayoutCOO, &layout.ConvertOptions{Duplicates: duplicates(t)})
	if err != nil {
		return nil, nil, err
	}
	all, err := layout.NonzeroBytes(c)
	if err != nil {
		return nil, nil, err
	}
	next2, stop := iter.Pull2(all)
	return func() (element, bool) {
		at, b, ok := next2()
		return element{at, b}, ok
	}, stop, nil
}

// duplicates says what to do with elements that are stored several times: opaque ones can't be summed.
func duplicates(t layout.Tensor) layout.Duplicates {
	if distanceOf(t.DType()) == nil {
		return layout.DuplicatesRefuse
	}
	return layout.DuplicatesSum
}
