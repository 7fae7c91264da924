package safetensors_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

// file is a line of testdata/manifest.jsonl, which testdata/make_files.py wrote.
type file struct {
	File     string
	Metadata [][2]string
	Tensors  []tensor

	Unsupported []string // tensors that have an entry and nothing else

	Error, Reason string // for files that are refused
}

type tensor struct {
	Name, DType string
	Shape       []int64
	Elements    string // hex
}

func manifest(t testing.TB) []file {
	t.Helper()
	return golden.Manifest[file](t, 80)
}

// read returns a file at an address that is a multiple of 64, as that of a map is.
func read(t testing.TB, name string) []byte {
	t.Helper()
	b := golden.Read(t, name)
	memory := make([]byte, len(b)+64)
	memory = memory[-uintptr(unsafe.Pointer(&memory[0]))%64:]
	return memory[:copy(memory, b):len(b)]
}

func TestFilesOfTheReference(t *testing.T) {
	for _, m := range manifest(t) {
		if m.Error != "" {
			continue
		}
		t.Run(m.File, func(t *testing.T) {
			f := parse(t, read(t, m.File))
			var metadata [][2]string
			for _, a := range f.Metadata {
				metadata = append(metadata, [2]string{a.Key, a.Value})
			}
			if strings.HasPrefix(m.File, "numpy/") { // which has them in no certain order
				slices.SortFunc(metadata, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
			}
			if diff := cmp.Diff(append([][2]string{}, m.Metadata...), append([][2]string{}, metadata...)); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			want := make(map[string]tensor)
			for _, w := range m.Tensors {
				want[w.Name] = w
			}
			if len(f.Entries) != len(want)+len(m.Unsupported) {
				t.Errorf("%d entries, want %d", len(f.Entries), len(want)+len(m.Unsupported))
			}
			for _, e := range f.Entries {
				d, err := e.Tensor()
				if slices.Contains(m.Unsupported, e.Name) {
					if !errors.Is(err, safetensors.ErrUnsupported) || !strings.Contains(err.Error(), `"`+e.Name+`"`) {
						t.Errorf("tensor %s: error %v, want ErrUnsupported that names it", e.Name, err)
					}
					continue
				}
				if err != nil {
					t.Error(err)
					continue
				}
				w := want[e.Name]
				if d.DType().String() != w.DType || !slices.Equal(d.Shape(), w.Shape) {
					t.Errorf("tensor %q is %v of %v, want %s of %v", e.Name, d.DType(), d.Shape(), w.DType, w.Shape)
				}
				if got := hex.EncodeToString(d.AppendRowMajor(nil)); got != w.Elements {
					t.Errorf("tensor %q: elements %s, want %s", e.Name, got, w.Elements)
				}
				if view, err := e.View(); err != nil || !layout.Equal(view, d) {
					t.Errorf("tensor %q: the view is %v, %v", e.Name, view, err)
				}
			}
		})
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	sentinels := map[string]error{"invalid": safetensors.ErrInvalid, "truncated": safetensors.ErrTruncated}
	for _, m := range manifest(t) {
		if m.Error == "" {
			continue
		}
		t.Run(m.File, func(t *testing.T) {
			_, err := safetensors.Parse(read(t, m.File))
			if !errors.Is(err, sentinels[m.Error]) || !strings.Contains(err.Error(), m.Reason) {
				t.Errorf("error %v, want one of kind %s that says %q", err, m.Error, m.Reason)
			}
			if err != nil && strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("error has more than one line: %q", err)
			}
		})
	}
}

// Data may begin at any address. A view stays where it is, and a tensor is where Go values may lie.
func TestMisaligned(t *testing.T) {
	copied := 0
	for pad := range 8 {
		b := read(t, "accept/padded_by_"+string(rune('0'+pad))+".safetensors")
		e := parse(t, b).Entries[0]
		view, err := e.View()
		if err != nil {
			t.Fatal(err)
		}
		if at := &b[len(b)-4]; &view.Data()[0] != at {
			t.Errorf("padded by %d: the view is a copy", pad)
		}
		d, err := e.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		values, err := layout.Values[float32](d)
		if err != nil || len(values) != 1 || values[0] != 1 {
			t.Errorf("padded by %d: %v, %v", pad, values, err)
		}
		if &d.Data()[0] != &view.Data()[0] {
			copied++
		}
		// What computes with elements takes them from a view as well.
		converted, err := layout.ToCOO(view, nil)
		if err != nil || converted.NNZ() != 1 {
			t.Errorf("padded by %d: COO %v, %v", pad, converted, err)
		}
	}
	if copied != 6 {
		t.Errorf("%d of 8 tensors were copied, want 6: two lie at multiples of 4", copied)
	}
}

// Each prefix of a file is told from a malformed one.
func TestTruncatedAtEveryByte(t *testing.T) {
	for _, name := range []string{"numpy/metadata.safetensors", "accept/padded_by_3.safetensors", "accept/types_without_tensors.safetensors"} {
		b := read(t, name)
		for n := range b {
			if _, err := safetensors.Parse(b[:n]); !errors.Is(err, safetensors.ErrTruncated) {
				t.Fatalf("%s cut to %d bytes: error %v, want ErrTruncated", name, n, err)
			}
		}
	}
}
