package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
)

// writeSparse writes an archive for each element type that SciPy computes with, each layout and
// several shapes.
func writeSparse(dir string) error {
	random := rand.New(rand.NewPCG(5, 6))
	index, err := describe(dir)
	if err != nil {
		return err
	}
	defer index.close()
	types := slices.DeleteFunc(numpyTypes(), func(dt layout.DType) bool { return dt.IsOpaque() || dt == layout.Float16 })
	n := 0
	for _, dt := range types {
		for _, shape := range [][]int64{{7}, {3, 4}, {0, 5}, {5, 0}, {1, 1}, {2, 3, 4}, {2, 1, 3, 2}} {
			layouts := []layout.Layout{layout.LayoutCOO}
			if len(shape) == 2 {
				layouts = append(layouts, layout.LayoutCSR, layout.LayoutCSC)
			}
			if len(shape) > 2 {
				layouts = append(layouts, layout.LayoutCSF)
			}
			for _, l := range layouts {
				for _, o := range []*layout.ConvertOptions{nil, {Indptr: layout.IndexInt64, Indices: layout.IndexInt64}} {
					t, err := layout.Convert(randomSparse(random, dt, shape), l, o)
					if err != nil {
						return err
					}
					file := fmt.Sprintf("ours-%d.npz", n)
					f, err := os.Create(filepath.Join(dir, file))
					if err != nil {
						return err
					}
					if err := npz.WriteSparse(f, t, n%2 == 0); err != nil {
						return err
					}
					if err := f.Close(); err != nil {
						return err
					}
					if err := index.add(file, "", t, nil); err != nil {
						return err
					}
					n++
				}
			}
		}
	}
	return index.close()
}

// readSparse compares an archive that SciPy wrote.
func readSparse(dir string, want tensorCase) error {
	f, err := openArchive(dir, want.File)
	if err != nil {
		return err
	}
	t, ok, err := f.Sparse()
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("it was not taken for a sparse tensor")
	}
	return want.differs(t)
}
