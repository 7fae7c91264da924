package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/vec"
)

// element is a type of the elements that are measured, as each package knows it.
type element struct {
	name  string // NumPy's too
	vec   vec.Elem
	dtype layout.DType
}

var elements = []element{
	{"int8", vec.Bits8, layout.Int8}, {"int16", vec.Bits16, layout.Int16}, {"int32", vec.Bits32, layout.Int32}, {"int64", vec.Bits64, layout.Int64},
	{"float16", vec.Float16, layout.Float16}, {"float32", vec.Float32, layout.Float32}, {"float64", vec.Float64, layout.Float64},
	{"complex64", vec.Complex64, layout.Complex64}, {"complex128", vec.Complex128, layout.Complex128},
}

func (e element) size() int { return e.vec.Size() }

func parseElements(text string) ([]element, error) {
	var some []element
	for _, name := range strings.Split(text, ",") {
		i := slices.IndexFunc(elements, func(e element) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no element type %q", name)
		}
		some = append(some, elements[i])
	}
	return some, nil
}
