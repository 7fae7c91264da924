package store_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// A sparse tensor whose indices lead outside of its shape is refused, and lines that
// are not in order are kept as they are.
func TestPutChecksIndices(t *testing.T) {
	s := openStore(t, t.TempDir()+"/s", nil)
	csr := func(indices ...int32) *layout.CSR {
		t.Helper()
		c, err := layout.NewCSR(layout.Float32, []int64{2, 3}, layout.IndexOf([]int32{0, 2, 3}), layout.IndexOf(indices), make([]byte, 12))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, bad := range []*layout.CSR{csr(0, 3, 1), csr(0, 1, -1)} {
		if err := s.Put("bad", bad); !errors.Is(err, layout.ErrIndex) {
			t.Errorf("%v, want ErrIndex", err)
		}
	}
	if err := s.Put("unsorted", csr(2, 0, 1)); err != nil {
		t.Error(err)
	}
	if _, err := s.Stat("bad"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a tensor that was refused is there: %v", err)
	}
}

// A sparse tensor in a View is the mapped file: its buffers lie within one range of
// addresses that the record takes, and a second View gives the same.
func TestViewOfSparseCopiesNothing(t *testing.T) {
	s := openStore(t, t.TempDir()+"/s", nil)
	dense := layout.DenseOf([]float32{0, 1, 0, 2, 0, 3, 0, 0, 4, 0, 0, 5}, 2, 3, 2)
	matrix := layout.DenseOf([]float32{0, 1, 0, 2, 0, 3}, 2, 3)
	for _, l := range []layout.Layout{layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF} {
		from := dense
		if l == layout.LayoutCSR || l == layout.LayoutCSC {
			from = matrix
		}
		sparse, err := layout.Convert(from, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(l.String(), sparse); err != nil {
			t.Fatal(err)
		}
		e, err := s.Stat(l.String())
		if err != nil {
			t.Fatal(err)
		}
		var before []uintptr
		for range 2 {
			err := s.View(func(tx *store.Tx) error {
				x, err := tx.Get(l.String())
				if err != nil {
					return err
				}
				if !layout.Equal(x, sparse) {
					t.Errorf("%v differs", l)
				}
				now := addresses(x)
				lowest, highest := now[0], now[0]
				for _, a := range now {
					lowest, highest = min(lowest, a), max(highest, a)
				}
				if highest-lowest >= uintptr(e.Length) {
					t.Errorf("%v: buffers lie %d bytes apart in a record of %d", l, highest-lowest, e.Length)
				}
				for i := range before {
					if before[i] != now[i] {
						t.Errorf("%v: buffer %d has moved: it is a copy", l, i)
					}
				}
				before = now
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// addresses are where the buffers of a sparse tensor start.
func addresses(x layout.Tensor) []uintptr {
	var buffers [][]byte
	switch x := x.(type) {
	case *layout.COO:
		buffers = [][]byte{x.Indices().Bytes(), x.Data()}
	case *layout.CSR:
		buffers = [][]byte{x.Indptr().Bytes(), x.Indices().Bytes(), x.Data()}
	case *layout.CSC:
		buffers = [][]byte{x.Indptr().Bytes(), x.Indices().Bytes(), x.Data()}
	case *layout.CSF:
		for level := range x.Shape() {
			if level > 0 {
				buffers = append(buffers, x.Indptr(level-1).Bytes())
			}
			buffers = append(buffers, x.Indices(level).Bytes())
		}
		buffers = append(buffers, x.Data())
	}
	var out []uintptr
	for _, b := range buffers {
		out = append(out, uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	}
	return out
}
