package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Makes a package of a part of a store, reads it in place, and takes it into another
// store.
func ExampleStore_Pack() {
	dir, err := os.MkdirTemp("", "tstore")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	st, err := store.Open(filepath.Join(dir, "mystore"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	for name, values := range map[string][]int32{"train/x": {1, 2, 3}, "train/y": {4, 5}, "test/x": {6}} {
		if err := st.Put(name, layout.DenseOf(values, int64(len(values)))); err != nil {
			log.Fatal(err)
		}
	}
	file := filepath.Join(dir, "train.tstore")
	digest, err := st.Pack(ctx, file, &store.PackOptions{
		Prefixes: []string{"train/"},
		Attrs:    []layout.Attr{{Key: "title", Value: "Numbers to train with"}},
	})
	if err != nil {
		log.Fatal(err)
	}

	pkg, err := store.OpenPackage(file)
	if err != nil {
		log.Fatal(err)
	}
	defer pkg.Close()
	for e, err := range pkg.List("") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Name, e.Shape)
	}
	same, _ := pkg.Digest()
	fmt.Println("the same digest:", same == digest)

	other, err := store.Open(filepath.Join(dir, "other"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer other.Close()
	n, err := other.Attach(ctx, file, &store.AttachOptions{Prefix: "numbers/"})
	if err != nil {
		log.Fatal(err)
	}
	y, err := other.Get("numbers/train/y")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "tensors attached, one of shape", y.Shape())
	// Output:
	// train/x [3]
	// train/y [2]
	// the same digest: true
	// 2 tensors attached, one of shape [2]
}
