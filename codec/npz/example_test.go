package npz_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
)

func ExampleWriter() {
	var archive bytes.Buffer
	w := npz.NewWriter(&archive, false)
	if err := w.Add("weights", layout.DenseOf([]float32{1, 2, 3, 4}, 2, 2)); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	f, err := npz.Open(archive.Bytes(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range f.Members {
		d, err := m.Tensor()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Name, d.DType(), d.Shape())
	}
	// Output: weights float32 [2 2]
}

func ExampleWriteSparse() {
	t, err := layout.ToCSR(layout.DenseOf([]float64{0, 2, 0, 0, 0, 3}, 2, 3), nil)
	if err != nil {
		log.Fatal(err)
	}
	var archive bytes.Buffer
	if err := npz.WriteSparse(&archive, t, true); err != nil {
		log.Fatal(err)
	}

	f, err := npz.Open(archive.Bytes(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range f.Members {
		fmt.Println(m.Name)
	}
	again, ok, err := f.Sparse()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ok, again.Layout(), again.Shape(), again.NNZ())
	// Output:
	// indices
	// indptr
	// format
	// shape
	// data
	// true csr [2 3] 2
}
