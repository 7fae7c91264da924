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

	// ErrIndex says that the index arrays of a sparse tensor contradict each other or its shape.
	ErrIndex = errors.New("layout: invalid sparse index")

	// ErrOrder says that the index arrays of a sparse tensor are possible, but not in the order
	// in which its layout keeps them, or that an element is stored twice. Conversions put such
	// a tensor right.
	ErrOrder = errors.New("layout: sparse index not in canonical order")

	// ErrDuplicate says that an element is stored twice where that was not allowed, or that
	// elements of the type can't be summed.
	ErrDuplicate = errors.New("layout: duplicate element")

	// ErrIndexType says that an index type that was asked for does not hold the indices.
	ErrIndexType = errors.New("layout: index type too narrow")

	// ErrLayout says that a tensor can't have a layout for its number of dimensions.
	ErrLayout = errors.New("layout: layout does not fit the shape")

	// ErrTooLarge says that a result would take more memory than there is or than was allowed.
	ErrTooLarge = errors.New("layout: too large for memory")
)
