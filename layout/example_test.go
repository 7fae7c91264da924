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

// A sparse matrix is made of slices, converted, and read row by row.
func ExampleConvert() {
	// Three elements, at (0, 2), (1, 0) and (1, 3), in any order.
	indices := layout.IndexOf([]int32{1, 3, 0, 2, 1, 0})
	coo, err := layout.NewCOO(layout.Float64, []int64{2, 4}, indices, layout.BytesOf([]float64{7, 5, 6}), false)
	if err != nil {
		panic(err)
	}
	csr, err := layout.ToCSR(coo, &layout.ConvertOptions{Indices: layout.IndexInt64})
	if err != nil {
		panic(err)
	}
	for i := range csr.Shape()[0] {
		columns, values, err := layout.RowValues[float64, int](csr, i)
		fmt.Println(columns, values, err)
	}
	dense, err := layout.ToDense(csr, nil)
	if err != nil {
		panic(err)
	}
	all, err := layout.Values[float64](dense)
	fmt.Println(all, err)
	// Output:
	// [2] [5] <nil>
	// [0 3] [6 7] <nil>
	// [0 0 5 0 6 0 0 7] <nil>
}
