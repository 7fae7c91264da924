package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
)

// layoutFlag is --layout.
type layoutFlag struct {
	name string

	set  bool // something was asked for
	auto bool
	to   layout.Layout
}

// addTo adds the flag to a command.
func (f *layoutFlag) addTo(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&f.name, "layout", "", what+" `LAYOUT`: dense, coo, csr, csc, csf, or auto for the one with the fewest bytes")
	completeFlag(cmd, "layout", "dense", "coo", "csr", "csc", "csf", "auto")
}

// parse checks the flag.
func (f *layoutFlag) parse() error {
	f.set, f.auto = f.name != "", f.name == "auto"
	if !f.set || f.auto {
		return nil
	}
	var err error
	if f.to, err = layout.ParseLayout(f.name); err != nil {
		return usagef("unknown layout %q; --layout is dense, coo, csr, csc, csf or auto", f.name)
	}
	return nil
}

// convert returns the tensor in the layout that was asked for.
func (f *layoutFlag) convert(t layout.Tensor) (layout.Tensor, error) {
	switch {
	case !f.set:
		return t, nil
	case f.auto:
		return layout.Auto(t, nil)
	case f.to == t.Layout():
		return t, nil
	}
	return convertTensor(t, f.to)
}

// convertTensor is layout.Convert with an error that says how large the result would be.
func convertTensor(t layout.Tensor, to layout.Layout) (layout.Tensor, error) {
	converted, err := layout.Convert(t, to, nil)
	if errors.Is(err, layout.ErrTooLarge) && to == layout.LayoutDense {
		size := "more than 2^63"
		if n, ok := layout.CheckedProduct(t.Shape(), int64(t.DType().Size())); ok {
			size = byteText(n)
		}
		return nil, fmt.Errorf("%v of shape %s takes %s bytes as a dense array, which is more than fits in memory: %w",
			t.DType(), shapeText(t.Shape(), nil), size, err)
	}
	return converted, err
}

// withDimNames returns the tensor with names for its dimensions.
func withDimNames(t layout.Tensor, names []string) (layout.Tensor, error) {
	switch t := t.(type) {
	case *layout.Dense:
		return named(t.WithDimNames(names...))
	case *layout.COO:
		return named(t.WithDimNames(names...))
	case *layout.CSR:
		return named(t.WithDimNames(names...))
	case *layout.CSC:
		return named(t.WithDimNames(names...))
	case *layout.CSF:
		return named(t.WithDimNames(names...))
	}
	return nil, fmt.Errorf("%w: no dimension names for %v", layout.ErrLayout, t.Layout())
}

// named keeps a nil of a concrete type from becoming a Tensor.
func named[T layout.Tensor](t T, err error) (layout.Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
