package safetensors_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

func Example() {
	tensors := []safetensors.Named{
		{Name: "bias", Tensor: layout.DenseOf([]float32{1, 2}, 2)},
		{Name: "weight", Tensor: layout.DenseOf(make([]layout.BF16, 64), 8, 8)},
	}
	var file bytes.Buffer
	if err := safetensors.Encode(&file, tensors, []layout.Attr{{Key: "format", Value: "pt"}}); err != nil {
		log.Fatal(err)
	}

	f, err := safetensors.Parse(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Metadata)
	for _, e := range f.Entries {
		d, err := e.Tensor()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Name, e.DType, d.DType(), d.Shape())
	}
	// Output:
	// [{format pt}]
	// weight BF16 bfloat16 [8 8]
	// bias F32 float32 [2]
}
