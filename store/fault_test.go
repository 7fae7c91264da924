//go:build unix

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
)

// A segment that another program cuts short while it is mapped is an error of
// whatever reads it, and not the end of the process.
func TestFileCutShortWhileMapped(t *testing.T) {
	for _, test := range []struct {
		name string
		read func(s *Store) error
	}{
		{"Get", func(s *Store) error { _, err := s.Get("s1"); return err }},
		{"Get from a package", func(s *Store) error { _, err := s.Get("p/c0"); return err }},
		{"View", func(s *Store) error { return s.View(func(tx *Tx) error { _, err := tx.Get("s1"); return err }) }},
		{"Stat", func(s *Store) error { _, err := s.Stat("p/c0"); return err }},
		{"List", func(s *Store) error {
			for _, err := range s.List("") {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Pack", func(s *Store) error {
			_, err := s.Pack(context.Background(), filepath.Join(t.TempDir(), "p"), nil)
			return err
		}},
		{"Verify", func(s *Store) error {
			r, err := s.Verify(context.Background(), nil)
			for _, p := range r.Problems {
				err = errors.Join(err, p.Err)
			}
			return err
		}},
		{"Compact", func(s *Store) error { _, err := s.Compact(context.Background(), nil); return err }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, _ := smallStore(t)
			s, err := Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			// Something for compaction to do.
			if err := s.Put("s2", layout.DenseOf([]int32{1}, 1)); err != nil {
				t.Fatal(err)
			}
			for _, f := range s.published.Load().segs {
				if f != s.log.File {
					if err := os.Truncate(f.Path, 64); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := test.read(s); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, want ErrCorrupt", err)
			}
		})
	}
}

// With Checksums, View finds a flipped bit in the data.
func TestChecksumsInView(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, &Options{Checksums: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put("x", layout.DenseOf([]int64{1, 2, 3}, 3)); err != nil {
		t.Fatal(err)
	}
	get := func() error {
		return s.View(func(tx *Tx) error { _, err := tx.Get("x"); return err })
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	e, err := s.Stat("x")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(s.log.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0xff}, e.Offset+e.Length-64); err != nil {
		t.Fatal(err)
	}
	if err := get(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
}
