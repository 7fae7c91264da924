package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tstore/tstore/layout"
)

// contents reads every name and its value through each way of reading.
func contents(t *testing.T, s *Store) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	var names []string
	for e, err := range s.List("") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	if !slices.IsSorted(names) {
		t.Fatalf("names are not in order: %q", names)
	}
	err := s.View(func(tx *Tx) error {
		for _, name := range names {
			viewed, err := tx.Get(name)
			if err != nil {
				return err
			}
			copied, err := s.Get(name)
			if err != nil {
				return err
			}
			e, err := tx.Stat(name)
			if err != nil {
				return err
			}
			a, err := layout.Values[float64](viewed)
			if err != nil {
				return err
			}
			b, err := layout.Values[float64](copied)
			if err != nil {
				return err
			}
			if a[0] != b[0] || e.Name != name || e.DType != layout.Float64 {
				t.Errorf("%s: View gives %v, Get %v, Stat %v", name, a, b, e)
			}
			got[name] = a[0]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Logs that are sealed in the background, at closing and at opening show the same
// contents as a map, to the writer, to readers and without the catalog.
func TestSealingChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	opts := &Options{sealMin: 5, logMax: 12, SegmentSize: MinSegmentSize}
	want := map[string]float64{}
	rng := rand.New(rand.NewPCG(1, 2))
	sealed := 0
	var follower *Store
	for round := range 30 {
		s, err := Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		if follower == nil {
			if follower, err = Open(dir, &Options{ReadOnly: true}); err != nil {
				t.Fatal(err)
			}
			defer follower.Close()
		}
		for range 25 {
			name := fmt.Sprintf("n%02d", rng.IntN(40))
			other := fmt.Sprintf("n%02d", rng.IntN(40))
			_, exists := want[name]
			switch k := rng.IntN(10); {
			case k < 6:
				v := rng.Float64()
				if err := s.Put(name, layout.DenseOf([]float64{v}, 1)); err != nil {
					t.Fatal(err)
				}
				want[name] = v
			case k < 8:
				if err := s.Delete(name); errors.Is(err, ErrNotFound) == exists {
					t.Fatalf("deleting %s, which exists: %v: %v", name, exists, err)
				}
				delete(want, name)
			default:
				_, taken := want[other]
				err := s.Rename(name, other)
				switch {
				case !exists:
					if !errors.Is(err, ErrNotFound) {
						t.Fatal(err)
					}
				case name == other:
				case taken:
					if !errors.Is(err, ErrExists) {
						t.Fatal(err)
					}
				case err != nil:
					t.Fatal(err)
				default:
					want[other] = want[name]
					delete(want, name)
				}
			}
		}
		check := func(what string, s *Store) {
			t.Helper()
			if got := contents(t, s); !maps.Equal(got, want) {
				t.Fatalf("round %d, %s: %v, want %v", round, what, got, want)
			}
		}
		check("writer", s)
		if err := follower.Refresh(); err != nil {
			t.Fatal(err)
		}
		check("follower", follower)
		reader, err := Open(dir, &Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		check("reader", reader)
		reader.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if round%3 == 0 {
			for _, name := range []string{"catalog.db", "catalog.sum"} {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if reader, err = Open(dir, &Options{ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
		check("reader of the closed store", reader)
		sealed = len(reader.published.Load().sealed)
		reader.Close()
	}
	if sealed < 20 {
		t.Errorf("%d logs are sealed, expected many", sealed)
	}
	t.Logf("compared 30 rounds, %d sealed logs at the end", sealed)
}
