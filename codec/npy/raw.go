package npy

import (
	"fmt"

	"github.com/tstore/tstore/layout"
)

// Raw returns a view of a dense tensor as unsigned integers, which a .npy file can hold: elements
// of 1, 2, 4 or 8 bytes become uint8 … uint64 of the same bits, and wider ones get one more axis
// of uint8 at the end. The view shares the tensor's memory. It has no way back: whoever reads it
// has to know what the bits mean.
//
// The error is [ErrUnsupported] for a sparse tensor, [layout.ErrShape] where there is no room for
// another axis.
func Raw(t layout.Tensor) (*layout.Dense, error) {
	d, ok := t.(*layout.Dense)
	if !ok {
		return nil, fmt.Errorf("%w: only a dense tensor has a raw form, this one is %v", ErrUnsupported, t.Layout())
	}
	switch d.DType().Size() {
	case 1:
		return d.Reinterpret(layout.Uint8)
	case 2:
		return d.Reinterpret(layout.Uint16)
	case 4:
		return d.Reinterpret(layout.Uint32)
	case 8:
		return d.Reinterpret(layout.Uint64)
	}
	shape := append(append([]int64(nil), d.Shape()...), int64(d.DType().Size()))
	strides := append(append([]int64(nil), d.Strides()...), 1)
	return layout.NewStrided(layout.Uint8, shape, strides, d.Offset(), d.Data())
}
