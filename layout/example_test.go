package layout_test

import (
	"fmt"

	"github.com/tstore/tstore/layout"
)

// A column of a matrix is a view; typed access wants it contiguous.
func Example() {
	m := layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	column, err := m.Index(1, 2)
	if err != nil {
		panic(err)
	}
	if _, err := layout.Values[float32](column); err != nil {
		fmt.Println(err)
	}
	values, err := layout.Values[float32](column.Contiguous())
	fmt.Println(values, err)
	// Output:
	// layout: not contiguous in row-major order: float32 of shape [2] has strides [12]; copy it with Contiguous
	// [3 6] <nil>
}
