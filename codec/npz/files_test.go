package npz_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
)

// file is a line of testdata/manifest.jsonl, which testdata/make_files.py wrote with NumPy, SciPy
// and sparse.
type file struct {
	File string

	// An archive of arrays.
	Members         []member
	Others, Refused []string

	// A sparse tensor.
	Layout, DType string
	Shape         []int64
	NNZ           int64
	Canonical     bool
	Elements      string // all of them, row-major, little-endian, hex

	Error string // for files that are refused
}

type member struct {
	Name, DType         string
	Shape               []int64
	Fortran, Compressed bool
	Elements            string
}

func manifest(t testing.TB) []file {
	t.Helper()
	return golden.Manifest[file](t, 60)
}

func open(t testing.TB, b []byte) *npz.File {
	t.Helper()
	f, err := npz.Open(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// archive returns an archive of members in the order of their names.
func archive(t testing.TB, compress bool, members map[string]*layout.Dense) []byte {
	t.Helper()
	var out bytes.Buffer
	w := npz.NewWriter(&out, compress)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := w.Add(name, members[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArchivesOfArrays(t *testing.T) {
	for _, want := range manifest(t) {
		if want.Layout != "" || want.Error != "" {
			continue
		}
		t.Run(want.File, func(t *testing.T) {
			f := open(t, golden.Read(t, want.File))
			if s, ok, err := f.Sparse(); s != nil || ok || err != nil {
				t.Errorf("taken for a sparse tensor: %v, %v", s, err)
			}
			if diff := cmp.Diff(append([]string{}, want.Others...), append([]string{}, f.Others...)); diff != "" {
				t.Errorf("other members (-want +got):\n%s", diff)
			}
			var got []member
			tensors := map[string]*layout.Dense{}
			for _, m := range f.Members {
				d, err := m.Tensor()
				if slices.Contains(want.Refused, m.Name) {
					if !errors.Is(err, npy.ErrUnsupported) || !strings.Contains(err.Error(), `member "`+m.Name+`"`) {
						t.Errorf("member %s: error %v, want npy.ErrUnsupported", m.Name, err)
					}
					continue
				}
				if err != nil {
					t.Error(err)
					continue
				}
				view, err := m.View()
				if err != nil || !layout.Equal(view, d) {
					t.Errorf("member %s: the view is %v, %v", m.Name, view, err)
				}
				tensors[m.Name] = d
				got = append(got, member{
					Name: m.Name, DType: d.DType().String(), Shape: append([]int64{}, d.Shape()...), Compressed: m.Compressed,
					Fortran: d.IsColumnMajor() && !d.IsContiguous(), Elements: hex.EncodeToString(d.AppendRowMajor(nil)),
				})
			}
			if diff := cmp.Diff(append([]member{}, want.Members...), append([]member{}, got...)); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
			for _, compress := range []bool{false, true} {
				again := open(t, archive(t, compress, tensors))
				if len(again.Members) != len(tensors) {
					t.Errorf("%d members came back as %d", len(tensors), len(again.Members))
				}
				for _, m := range again.Members {
					d, err := m.Tensor()
					if err != nil || !layout.Equal(d, tensors[m.Name]) || m.Compressed != compress {
						t.Errorf("member %s came back as %v, %v", m.Name, d, err)
					}
				}
			}
		})
	}
}

func TestSparseArchives(t *testing.T) {
	for _, want := range manifest(t) {
		if want.Layout == "" {
			continue
		}
		t.Run(want.File, func(t *testing.T) {
			f := open(t, golden.Read(t, want.File))
			x, ok, err := f.Sparse()
			if err != nil || !ok {
				t.Fatalf("recognised is %v, %v", ok, err)
			}
			checkSparse(t, x, want)
			view, ok, err := f.SparseView()
			if err != nil || !ok {
				t.Fatalf("view: recognised is %v, %v", ok, err)
			}
			checkSparse(t, view, want)
			loaded := 0
			f, err = npz.Open(golden.Read(t, want.File), &npz.Options{Load: func(size int64, r io.Reader) ([]byte, error) {
				loaded++
				b, err := io.ReadAll(r)
				if int64(len(b)) != size {
					t.Errorf("%d bytes to load, %d were announced", len(b), size)
				}
				return b, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			x, ok, err = f.SparseView()
			if err != nil || !ok {
				t.Fatalf("loaded: recognised is %v, %v", ok, err)
			}
			checkSparse(t, x, want)
			if c, isCOO := x.(*layout.COO); isCOO && len(want.Shape) > 1 {
				row, column := c.IndexStrides()
				if size := int64(c.Indices().Type().Size()); column != size || row != size*int64(len(want.Shape)) {
					t.Errorf("loaded: strides %d, %d of the indices", row, column)
				}
				if loaded == 0 && !strings.Contains(want.File, "fortran") && !strings.Contains(want.File, "gcxs") {
					t.Error("nothing was loaded")
				}
			}

			for _, compress := range []bool{false, true} {
				var out bytes.Buffer
				if err := npz.WriteSparse(&out, x, compress); err != nil {
					t.Fatal(err)
				}
				again, ok, err := open(t, out.Bytes()).Sparse()
				if err != nil || !ok {
					t.Fatalf("written again: recognised is %v, %v", ok, err)
				}
				checkSparse(t, again, want)
				if !layout.Equal(x, again) {
					t.Error("came back as something else")
				}
			}
		})
	}
}

func checkSparse(t *testing.T, x layout.Tensor, want file) {
	t.Helper()
	if got := x.Layout().String(); got != want.Layout {
		t.Errorf("layout %s, want %s", got, want.Layout)
	}
	if got := x.DType().String(); got != want.DType {
		t.Errorf("dtype %s, want %s", got, want.DType)
	}
	if diff := cmp.Diff(want.Shape, append([]int64{}, x.Shape()...)); diff != "" {
		t.Errorf("shape (-want +got):\n%s", diff)
	}
	if x.NNZ() != want.NNZ {
		t.Errorf("%d stored elements, want %d", x.NNZ(), want.NNZ)
	}
	d, err := layout.ToDense(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(d.AppendRowMajor(nil)); got != want.Elements {
		t.Errorf("elements %s\nwant %s", got, want.Elements)
	}
	switch x := x.(type) {
	case *layout.COO:
		if err := x.Validate(); err != nil || x.IsCanonical() != want.Canonical {
			t.Errorf("%v, canonical is %v, want %v", err, x.IsCanonical(), want.Canonical)
		}
	case *layout.CSR:
		if err := x.Validate(); err != nil {
			t.Error(err)
		}
	case *layout.CSC:
		if err := x.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestFillValue(t *testing.T) {
	for _, m := range manifest(t) {
		if m.Error == "" {
			continue
		}
		_, ok, err := open(t, golden.Read(t, m.File)).Sparse()
		if !ok || !errors.Is(err, npz.ErrUnsupported) || !strings.Contains(err.Error(), m.Error) {
			t.Errorf("%s: recognised is %v, error %v, want ErrUnsupported … %s", m.File, ok, err, m.Error)
		}
	}
}

// No prefix of an archive is one. (It may end with what makes an archive of its own, as an archive
// in an archive; these have none.)
func TestTruncatedAtEveryByte(t *testing.T) {
	for _, name := range []string{"numpy/compressed.npz", "numpy/positional.npz", "scipy/csr_array.npz", "zip/zip64.npz"} {
		b := golden.Read(t, name)
		for n := range b {
			if _, err := npz.Open(b[:n], nil); !errors.Is(err, npz.ErrTruncated) {
				t.Fatalf("%s cut to %d bytes: error %v, want ErrTruncated", name, n, err)
			}
		}
	}
}

// Damage anywhere in a member is found, and damage anywhere else is harmless or found.
func TestEveryByteFlipped(t *testing.T) {
	for _, name := range []string{"numpy/zeros.npz", "numpy/positional.npz", "scipy/csr_array.npz", "scipy/csc_matrix.npz"} {
		b := golden.Read(t, name)
		whole := open(t, b)
		want := map[string]*layout.Dense{}
		for _, m := range whole.Members {
			d, err := m.Tensor()
			if err != nil {
				continue // the format of a sparse tensor is a text
			}
			want[m.Name] = d
		}
		found := 0
		for i := range b {
			damaged := bytes.Clone(b)
			damaged[i] ^= 0x10
			f, err := npz.Open(damaged, nil)
			if err != nil {
				found++
				continue
			}
			f.Sparse()
			for _, m := range f.Members {
				d, err := m.Tensor()
				if err != nil {
					found++
				} else if w := want[m.Name]; w != nil && !layout.Equal(w, d) {
					t.Errorf("%s with byte %d changed: member %s is another", name, i, m.Name)
				}
			}
		}
		if found < len(b)/2 {
			t.Errorf("%s: %d of %d changes were found", name, found, len(b))
		}
	}
}
