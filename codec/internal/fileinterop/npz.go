package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/codec/npz"
)

// writeArchives writes an archive for each element type, stored and compressed.
func writeArchives(dir string) error {
	random := rand.New(rand.NewPCG(3, 4))
	index, err := describe(dir)
	if err != nil {
		return err
	}
	defer index.close()
	for i, dt := range numpyTypes() {
		for _, compress := range []bool{false, true} {
			file := fmt.Sprintf("ours-%d-%t.npz", i, compress)
			f, err := os.Create(filepath.Join(dir, file))
			if err != nil {
				return err
			}
			w := npz.NewWriter(f, compress)
			for j, d := range denseTensors(random, dt) {
				name := fmt.Sprintf("größe/%d:%d", len(d.Shape()), j)
				if err := w.Add(name, d); err != nil {
					return err
				}
				if err := index.add(file, name, d, nil); err != nil {
					return err
				}
			}
			if err := w.Close(); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
	}
	return index.close()
}

func openArchive(dir, file string) (*npz.File, error) {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	return npz.Open(b, nil)
}

// readArchive compares a member of an archive that NumPy wrote.
func readArchive(dir string, want tensorCase) error {
	f, err := openArchive(dir, want.File)
	if err != nil {
		return err
	}
	for _, m := range f.Members {
		if m.Name == want.Name {
			d, err := m.Tensor()
			if err != nil {
				return err
			}
			return want.differs(d)
		}
	}
	return fmt.Errorf("there is no such member")
}
