package store_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Keeps a matrix in a store and reads it where it lies.
func Example() {
	dir, err := os.MkdirTemp("", "tstore")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	st, err := store.Open(filepath.Join(dir, "mystore"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()

	x := layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err := st.Put("train/x", x, layout.Attr{Key: "unit", Value: "m"}); err != nil {
		log.Fatal(err) // durable once Put has returned
	}

	err = st.View(func(tx *store.Tx) error {
		t, err := tx.Get("train/x")
		if err != nil {
			return err
		}
		values, err := layout.Values[float32](t) // in the mapped file, no copy
		if err != nil {
			return err
		}
		fmt.Println(t.DType(), t.Shape(), values)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: float32 [2 3] [1 2 3 4 5 6]
}
