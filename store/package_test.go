package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// someTensors are tensors of several layouts and sizes, with attributes.
func someTensors(t *testing.T) map[string]layout.Tensor {
	t.Helper()
	big := make([]float64, 300_000) // larger than what is gathered in memory
	for i := range big {
		big[i] = float64(i)
	}
	columns, err := layout.DenseOf([]int32{1, 2, 3, 4, 5, 6}, 2, 3).Transpose()
	if err != nil {
		t.Fatal(err)
	}
	named, err := layout.DenseOf([]uint8{1, 2, 3, 4}, 2, 2).WithDimNames("x", "y")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]layout.Tensor{
		"train/x": layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3),
		"train/y": layout.DenseOf([]int64{7}),
		"big":     layout.DenseOf(big, 300, 1000),
		"columns": columns,
		"named":   named,
		"empty":   layout.DenseOf([]float32{}, 0, 3),
		"wörter":  layout.DenseOf([]bool{true, false}, 2),
	}
}

var attrs = []layout.Attr{{Key: "unit", Value: "m"}, {Key: "author", Value: "née"}}

func openStore(t *testing.T, path string, o *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Whatever the order in which tensors came, and whatever happened between, the
// package has the same bytes.
func TestPackIsDeterministic(t *testing.T) {
	tensors := someTensors(t)
	var names []string
	for name := range tensors {
		names = append(names, name)
	}
	dir := t.TempDir()
	var first []byte
	var digest store.Digest
	for round := range 4 {
		s := openStore(t, filepath.Join(dir, fmt.Sprint("s", round)), &store.Options{SegmentSize: store.MinSegmentSize << (4 * round)})
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if round%2 == 1 {
				if err := s.Put("other", layout.DenseOf([]int8{int8(round)}, 1)); err != nil {
					t.Fatal(err)
				}
			}
			a := attrs
			if round >= 2 {
				a = []layout.Attr{attrs[1], attrs[0]}
			}
			if err := s.Put(name+".", tensors[name], a...); err != nil {
				t.Fatal(err)
			}
			if err := s.Rename(name+".", name); err != nil {
				t.Fatal(err)
			}
		}
		if round%2 == 1 {
			if err := s.Delete("other"); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, "p.tstore")
		d, err := s.Pack(context.Background(), path, &store.PackOptions{Attrs: []layout.Attr{{Key: "title", Value: "t"}}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			first, digest = b, d
		}
		if !bytes.Equal(b, first) || d != digest {
			t.Fatalf("round %d: %d bytes with digest %v, the first had %d with %v", round, len(b), d, len(first), digest)
		}
	}
}

func TestPackageReadsAsAStore(t *testing.T) {
	tensors := someTensors(t)
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "s"), nil)
	for name, x := range tensors {
		if err := s.Put(name, x, attrs...); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "p.tstore")
	digest, err := s.Pack(context.Background(), path, &store.PackOptions{Attrs: []layout.Attr{{Key: "title", Value: "t"}, {Key: "license", Value: "l"}}})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	w, err := store.NewPackageWriter(&stream, layout.Attr{Key: "license", Value: "l"}, layout.Attr{Key: "title", Value: "t"})
	if err != nil {
		t.Fatal(err)
	}
	sn, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	if err := sn.PackTo(context.Background(), w, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stream.Bytes(), content) {
		t.Error("a package written to a stream differs from one written to a file")
	}

	opened := map[string]func() (*store.Store, error){
		"file": func() (*store.Store, error) { return store.OpenPackage(path) },
		"open": func() (*store.Store, error) { return store.Open(path, &store.Options{ReadOnly: true}) },
		"reader": func() (*store.Store, error) {
			return store.OpenPackageAt(bytes.NewReader(content), int64(len(content)), "mem")
		},
	}
	for how, open := range opened {
		t.Run(how, func(t *testing.T) {
			p, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if d, ok := p.Digest(); !ok || d != digest {
				t.Errorf("digest %v, want %v", d, digest)
			}
			a, err := p.Attrs()
			if diff := cmp.Diff([]layout.Attr{{Key: "license", Value: "l"}, {Key: "title", Value: "t"}}, a); diff != "" || err != nil {
				t.Errorf("attributes: %v %s", err, diff)
			}
			n := 0
			for e, err := range p.List("") {
				if err != nil {
					t.Fatal(err)
				}
				n++
				err := p.View(func(tx *store.Tx) error {
					got, err := tx.Get(e.Name)
					if err != nil {
						return err
					}
					if !layout.Equal(got, tensors[e.Name]) {
						t.Errorf("%s differs", e.Name)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.Get(e.Name)
				if err != nil {
					t.Fatal(err)
				}
				if !layout.Equal(got, tensors[e.Name]) {
					t.Errorf("%s: a copy differs", e.Name)
				}
				if diff := cmp.Diff([]layout.Attr{attrs[1], attrs[0]}, e.Attrs); diff != "" {
					t.Errorf("%s: attributes: %s", e.Name, diff)
				}
			}
			if n != len(tensors) {
				t.Errorf("%d tensors, want %d", n, len(tensors))
			}
		})
	}
}
