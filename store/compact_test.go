package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
)

// filesIn are the names of the segment files.
func filesIn(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, segmentsName))
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		sizes[e.Name()] = info.Size()
	}
	return sizes
}

// Compaction, of everything and of what is mostly dead, between all other changes,
// changes nothing that anybody sees.
func TestCompactionChangesNothing(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			opts := &Options{sealMin: 5, logMax: 12, SegmentSize: MinSegmentSize}
			want := map[string]float64{}
			rng := rand.New(rand.NewPCG(seed, 2))
			var follower *Store
			type kept struct {
				sn   *Snapshot
				want map[string]float64
			}
			removed := 0
			for round := range 12 {
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
				var snapshots []kept
				for step := range 40 {
					name := fmt.Sprintf("n%02d", rng.IntN(30))
					other := fmt.Sprintf("n%02d", rng.IntN(30))
					switch k := rng.IntN(12); {
					case k < 6:
						n := 1
						if rng.IntN(8) == 0 {
							n = 5000 // in a segment of its own
						}
						v := rng.Float64()
						x := make([]float64, n)
						x[0] = v
						if err := s.Put(name, layout.DenseOf(x, int64(n))); err != nil {
							t.Fatal(err)
						}
						want[name] = v
					case k < 8:
						if err := s.Delete(name); err != nil && !errors.Is(err, ErrNotFound) {
							t.Fatal(err)
						}
						delete(want, name)
					case k < 10:
						if err := s.Rename(name, other); err == nil && name != other {
							want[other] = want[name]
							delete(want, name)
						} else if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrExists) {
							t.Fatal(err)
						}
					case k < 11 && step%4 == 0:
						sn, err := s.Snapshot()
						if err != nil {
							t.Fatal(err)
						}
						snapshots = append(snapshots, kept{sn, maps.Clone(want)})
					case step%3 == 0:
						r, err := s.Compact(context.Background(), &CompactOptions{MinDead: []float64{0, 0.3, 0.7}[rng.IntN(3)]})
						if err != nil {
							t.Fatal(err)
						}
						removed += r.Removed
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
				for _, k := range snapshots {
					got := map[string]float64{}
					for e, err := range k.sn.List("") {
						if err != nil {
							t.Fatal(err)
						}
						x, err := k.sn.Get(e.Name)
						if err != nil {
							t.Fatal(err)
						}
						v, err := layout.Values[float64](x)
						if err != nil {
							t.Fatal(err)
						}
						got[e.Name] = v[0]
					}
					if !maps.Equal(got, k.want) {
						t.Fatalf("round %d: a snapshot shows %v, want %v", round, got, k.want)
					}
					k.sn.Close()
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if round%3 == 0 {
					os.Remove(filepath.Join(dir, "catalog.db"))
				}
			}
			s, err := Open(dir, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Compact(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			if got := contents(t, s); !maps.Equal(got, want) {
				t.Fatalf("at the end: %v, want %v", got, want)
			}
			infos, err := s.Segments()
			if err != nil {
				t.Fatal(err)
			}
			if len(infos) != len(filesIn(t, dir)) {
				t.Errorf("%d segments count, there are the files %v", len(infos), filesIn(t, dir))
			}
			t.Logf("removed %d segments, at the end %d are left", removed, len(infos))
			if removed == 0 {
				t.Error("nothing was ever compacted")
			}
		})
	}
}

// What was deleted and compacted gives its space back, and stays deleted.
func TestCompactionGivesSpaceBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 100 {
		if err := s.Put(fmt.Sprint("n", i%10), layout.DenseOf(make([]float64, 10000), 10000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete("n0"); err != nil {
		t.Fatal(err)
	}
	r, err := s.Compact(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Before < 8_000_000 || r.After > 800_000 || r.Removed != 1 || r.Created != 1 {
		t.Errorf("compaction did %+v", r)
	}
	total := int64(0)
	for _, n := range filesIn(t, dir) {
		total += n
	}
	if total > 900_000 {
		t.Errorf("the files have %d bytes: %v", total, filesIn(t, dir))
	}
	again, err := s.Compact(context.Background(), nil)
	if err != nil || again.Removed != 0 {
		t.Errorf("compacting again did %+v, %v", again, err)
	}
	if _, err := s.Get("n0"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a deleted name is back: %v", err)
	}
}

// With the option set, overwriting the same names for long does not fill the disk.
func TestCompactionInTheBackground(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, &Options{SegmentSize: MinSegmentSize, CompactMinDead: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := s.Put(fmt.Sprint("n", i%4), layout.DenseOf(make([]float64, 1000), 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, n := range filesIn(t, dir) {
		total += n
	}
	if total > 300*8000/2 {
		t.Errorf("%d bytes are left of %d that were written: %v", total, 300*8000, filesIn(t, dir))
	}
}
