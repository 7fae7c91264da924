package codec_test

import (
	"bytes"
	"fmt"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

func Example() {
	t := layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	record, err := codec.Encode(t, []layout.Attr{{Key: "unit", Value: "m"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if _, err := record.WriteTo(&file); err != nil {
		fmt.Println(err)
		return
	}

	head, err := codec.ParseHead(file.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	unit, _ := head.LookupMetadata("unit")
	tensor, err := codec.Decode(file.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := layout.Values[float32](tensor)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.DType(), tensor.Shape(), values, unit)
	// Output: float32 [2 3] [1 2 3 4 5 6] m
}

func ExampleHead_Describe() {
	sparse, err := layout.ToCSR(layout.DenseOf([]float64{0, 1, 0, 2, 0, 3}, 2, 3), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := codec.Encode(sparse, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	head, err := codec.ParseHead(record.Head) // without the body
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := head.Describe()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.DType, info.Layout, info.Shape, info.NNZ, info.IndptrType, info.IndexType)
	// Output: float64 csr [2 3] 3 int8 int8
}
