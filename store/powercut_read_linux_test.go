package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/powercut"
	"github.com/tstore/tstore/store/internal/segment"
)

// TestUnreadableSector has a disk that can't read a few bytes in the middle of a tensor, as system calls and as the map
// of the file find out. That is ErrCorrupt for whoever reads them, and nothing to everybody else.
func TestUnreadableSector(t *testing.T) {
	disk := powercut.Start(t, powercut.Options{})
	dir := filepath.Join(disk.Dir, "store")
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 50_000
	names := []string{"before", "hit", "behind"}
	for _, name := range names {
		if err := s.Put(name, layout.DenseOf(make([]float64, n), n)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := s.Stat("hit")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fault := powercut.Fault{Op: "read", Err: "EIO", Glob: segment.FileName(e.Segment), Off: e.Offset + 150_000, Len: 512, Times: -1}
	if _, err := disk.Fault(fault); err != nil {
		t.Fatal(err)
	}
	view := func(s *Store, name string) error {
		return s.View(func(tx *Tx) error { _, err := tx.Get(name); return err })
	}
	for _, test := range []struct {
		name string
		do   func(s *Store) error
	}{
		{"Get", func(s *Store) error { _, err := s.Get("hit"); return err }},
		{"View with checksums", func(s *Store) error { return view(s, "hit") }},
		{"Verify", func(s *Store) error {
			report, err := s.Verify(context.Background(), nil)
			if err != nil || len(report.Problems) != 1 || !slices.Equal(report.Problems[0].Tensors, []string{"hit"}) {
				return fmt.Errorf("%v, %v", report.Problems, err)
			}
			return report.Problems[0].Err
		}},
		{"Pack", func(s *Store) error {
			_, err := s.Pack(context.Background(), filepath.Join(t.TempDir(), "p"), nil)
			return err
		}},
		{"Compact", func(s *Store) error {
			if err := s.Delete("before"); err != nil {
				return err
			}
			_, err := s.Compact(context.Background(), nil)
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := disk.DropCache(); err != nil {
				t.Fatal(err)
			}
			s, err := Open(dir, &Options{Checksums: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := test.do(s); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, want ErrCorrupt", err)
			}
			if _, err := s.Get("behind"); err != nil {
				t.Error(err)
			}
			if err := view(s, "behind"); err != nil {
				t.Error(err)
			}
		})
	}
}
