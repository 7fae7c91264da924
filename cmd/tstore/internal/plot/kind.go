package plot

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tstore/tstore/layout"
)

// Kind is what is drawn of a tensor.
type Kind string

const (
	Spy     Kind = "spy"     // which elements of a matrix are not zero, or of a sparse one, stored
	Heatmap Kind = "heatmap" // the values of a matrix as colours
	Hist    Kind = "hist"    // how often values occur
)

// Kinds are all kinds.
var Kinds = []Kind{Spy, Heatmap, Hist}

// ErrKind says that a tensor can't be drawn in a way.
var ErrKind = errors.New("no picture")

// Default is the kind that fits a tensor: for a matrix its values, if it is sparse or has no numbers
// its pattern, for other numbers a histogram.
func Default(t layout.Tensor) (Kind, error) {
	matrix := len(t.Shape()) >= 2 && len(planeOf(t.Shape())) == 2
	switch {
	case matrix && t.Layout() == layout.LayoutDense && !t.DType().IsOpaque():
		return Heatmap, nil
	case matrix || t.DType().IsOpaque():
		return Spy, checkPlane(t, Spy)
	}
	return Hist, nil
}

// planeOf returns the axes that a picture of a matrix has, of which there should be two: those that
// are longer than one element, and of the others the last ones.
func planeOf(shape []int64) []int {
	var axes []int
	for i, n := range shape {
		if n != 1 {
			axes = append(axes, i)
		}
	}
	for i := len(shape) - 1; i >= 0 && len(axes) < min(2, len(shape)); i-- {
		if shape[i] == 1 {
			axes = append(axes, i)
		}
	}
	if len(axes) == 2 && axes[0] > axes[1] {
		axes[0], axes[1] = axes[1], axes[0]
	}
	return axes
}

// checkPlane makes sure that a tensor has a picture of a matrix.
func checkPlane(t layout.Tensor, k Kind) error {
	if n := len(planeOf(t.Shape())); n > 2 {
		at := strings.Repeat("0, ", n-2) + ":, :"
		return fmt.Errorf("%w: a picture of kind %s has two dimensions, the tensor %d; choose a part with [%s] behind the name", ErrKind, k, len(t.Shape()), at)
	}
	return nil
}
