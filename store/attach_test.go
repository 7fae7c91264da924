package store_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// values reads all tensors of one int64 element.
func values(t *testing.T, s *store.Store) map[string]int64 {
	t.Helper()
	got := map[string]int64{}
	for e, err := range s.List("") {
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Get(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := layout.Values[int64](x)
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name] = v[0]
	}
	return got
}

// packOf makes a package with tensors of one element.
func packOf(t *testing.T, path string, tensors map[string]int64) {
	t.Helper()
	p, err := store.CreatePackage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if err := p.Add(name, layout.DenseOf([]int64{tensors[name]}, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func putAll(t *testing.T, s *store.Store, tensors map[string]int64) {
	t.Helper()
	for name, v := range tensors {
		if err := s.Put(name, layout.DenseOf([]int64{v}, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAttach(t *testing.T) {
	pack := map[string]int64{"a": 1, "b": 2, "c": 3}
	for _, test := range []struct {
		name    string
		before  map[string]int64
		options *store.AttachOptions
		count   int
		want    map[string]int64
		err     error
	}{
		{"plain", map[string]int64{"x": 9}, nil, 3, map[string]int64{"a": 1, "b": 2, "c": 3, "x": 9}, nil},
		{"link", map[string]int64{}, &store.AttachOptions{Link: true}, 3, pack, nil},
		{"clash", map[string]int64{"b": 9}, nil, 0, map[string]int64{"b": 9}, store.ErrExists},
		{"replace", map[string]int64{"b": 9}, &store.AttachOptions{Clash: store.ClashReplaces}, 3, pack, nil},
		{"keep", map[string]int64{"b": 9}, &store.AttachOptions{Clash: store.ClashKeeps}, 2, map[string]int64{"a": 1, "b": 9, "c": 3}, nil},
		{"prefix", map[string]int64{"b": 9}, &store.AttachOptions{Prefix: "p/"}, 3, map[string]int64{"b": 9, "p/a": 1, "p/b": 2, "p/c": 3}, nil},
		{"prefix clash", map[string]int64{"p/b": 9}, &store.AttachOptions{Prefix: "p/"}, 0, map[string]int64{"p/b": 9}, store.ErrExists},
		{"bad prefix", map[string]int64{}, &store.AttachOptions{Prefix: "p\n"}, 0, map[string]int64{}, store.ErrName},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "p.tstore")
			packOf(t, path, pack)
			sdir := filepath.Join(dir, "s")
			s := openStore(t, sdir, nil)
			putAll(t, s, test.before)
			n, err := s.Attach(context.Background(), path, test.options)
			if n != test.count || !errors.Is(err, test.err) {
				t.Fatalf("attached %d, %v; want %d, %v", n, err, test.count, test.err)
			}
			check := func(what string, s *store.Store, want map[string]int64) {
				t.Helper()
				if diff := cmp.Diff(want, values(t, s)); diff != "" {
					t.Errorf("%s: %s", what, diff)
				}
			}
			check("after attach", s, test.want)
			check("reader", openStore(t, sdir, &store.Options{ReadOnly: true}), test.want)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(sdir, "catalog.db")); err != nil {
				t.Fatal(err)
			}
			// What is done to attached tensors holds, also when the log goes on in a new file.
			s = openStore(t, sdir, &store.Options{SegmentSize: store.MinSegmentSize})
			check("without catalog", s, test.want)
			want := maps.Clone(test.want)
			if err == nil {
				for name := range test.want {
					if err := s.Rename(name, name+"+"); err != nil {
						t.Fatal(err)
					}
					want[name+"+"] = want[name]
					delete(want, name)
				}
				for name, v := range want {
					if v == 1 {
						if err := s.Delete(name); err != nil {
							t.Fatal(err)
						}
						delete(want, name)
					}
				}
			}
			for range 3 {
				if err := s.Put("filler", layout.DenseOf(make([]int64, 3000), 3000)); err != nil {
					t.Fatal(err)
				}
			}
			want["filler"] = 0
			check("changed", s, want)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			check("reader of the changed store", openStore(t, sdir, &store.Options{ReadOnly: true}), want)
			check("reopened", openStore(t, sdir, nil), want)
		})
	}
}
