package layout

import "errors"

// The errors of this package. They come wrapped with what was wrong; test with errors.Is.
var (
	// ErrDType says that an element type is not valid or not the one that was asked for.
	ErrDType = errors.New("layout: wrong element type")

	// ErrShape says that a shape, a stride list, an axis or a set of dimension names is not
	// possible, or that the size of a tensor does not fit in 63 bits.
	ErrShape = errors.New("layout: wrong shape")

	// ErrBounds says that an element would lie outside the data, or an index outside the shape.
	ErrBounds = errors.New("layout: out of bounds")

	// ErrNotContiguous says that the elements do not lie in row-major order without gaps.
	ErrNotContiguous = errors.New("layout: not contiguous in row-major order")

	// ErrMisaligned says that the data does not start at a multiple of what a Go value of its
	// type needs.
	ErrMisaligned = errors.New("layout: misaligned data")

	// ErrValue says that the bytes of an element are not a value of its type, as a bool of 2.
	ErrValue = errors.New("layout: not a value of the element type")
)
