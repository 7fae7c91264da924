package npz_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
)

// FuzzOpen makes sure that no input panics or gives a tensor that can't be read, and that what is
// accepted can be written and read again.
func FuzzOpen(f *testing.F) {
	for _, m := range manifest(f) {
		f.Add(golden.Read(f, m.File))
	}
	kinds := []error{npz.ErrInvalid, npz.ErrTruncated, npz.ErrUnsupported, npz.ErrTooLarge, npy.ErrInvalid, npy.ErrTruncated, npy.ErrUnsupported}
	check := func(t *testing.T, err error) {
		t.Helper()
		for _, kind := range kinds {
			if errors.Is(err, kind) {
				return
			}
		}
		t.Fatalf("error of no kind: %v", err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		archived, err := npz.Open(b, &npz.Options{MaxBytes: 1 << 20})
		if err != nil {
			check(t, err)
			return
		}
		var out bytes.Buffer
		w := npz.NewWriter(&out, len(b)%2 == 0)
		tensors := map[string]*layout.Dense{}
		for _, m := range archived.Members {
			d, err := m.Tensor()
			if err != nil {
				check(t, err)
				continue
			}
			if err := w.Add(m.Name, d); err != nil {
				t.Fatalf("%v can be read but not written: %v", m.Name, err)
			}
			tensors[m.Name] = d
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := npz.Open(out.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Members) != len(tensors) {
			t.Fatalf("%d members came back as %d", len(tensors), len(again.Members))
		}
		for _, m := range again.Members {
			if d, err := m.View(); err != nil || !layout.Equal(d, tensors[m.Name]) {
				t.Fatalf("member %q came back as %v, %v", m.Name, d, err)
			}
		}

		x, ok, err := archived.Sparse()
		if err != nil {
			if !errors.Is(err, layout.ErrTooLarge) {
				check(t, err)
			}
			return
		}
		if !ok || len(x.Shape()) == 0 {
			return
		}
		out.Reset()
		if err := npz.WriteSparse(&out, x, false); err != nil {
			t.Fatalf("%v of %v can be read but not written: %v", x.Layout(), x.Shape(), err)
		}
		archived, err = npz.Open(out.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		y, ok, err := archived.Sparse()
		if err != nil || !ok || !layout.Equal(x, y) {
			t.Fatalf("%v of %v came back as %v, %v", x.Layout(), x.Shape(), y, err)
		}
	})
}
