package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// What compaction has to keep of deleted names, because an older record of them stays, is
// not written again and again, and goes when that goes.
func TestTombstonesAreCompactedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, &Options{SegmentSize: MinSegmentSize})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n = 1000
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := s.Put(name, layout.DenseOf(make([]float64, n), n)); err != nil {
			t.Fatal(err)
		}
	}
	compact := func(minDead float64) CompactResult {
		t.Helper()
		r, err := s.Compact(context.Background(), &CompactOptions{MinDead: minDead})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get("b"); err != nil || got.Shape()[0] != n {
			t.Fatalf("b: %v, %v", got, err)
		}
		if _, err := s.Get("a"); err == nil {
			t.Fatal("a is back")
		}
		return r
	}
	if _, err := s.freeze(); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete("a"); err != nil {
		t.Fatal(err)
	}
	if r := compact(0.9); r.Removed != 1 || r.Created != 1 {
		t.Errorf("at first: %+v", r)
	}
	for range 3 {
		if r := compact(0.9); r.Removed > 0 || r.Created > 0 {
			t.Errorf("again: %+v", r)
		}
	}
	if r := compact(0); r.Removed != 2 || r.Created != 1 {
		t.Errorf("with what it hides: %+v", r)
	}
	for _, i := range mustSegments(t, s) {
		if i.onlyTombstones() {
			t.Errorf("tombstones are left: %+v", i)
		}
	}
}

func mustSegments(t *testing.T, s *Store) []SegmentInfo {
	t.Helper()
	infos, err := s.Segments()
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

// Small segments are merged though nothing in them is dead: each costs a lookup a little.
func TestSmallSegmentsAreMerged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, &Options{sealMin: 2, logMax: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := map[string]float64{}
	for i := range 40 {
		name := fmt.Sprint("n", i)
		want[name] = float64(i)
		if err := s.Put(name, layout.DenseOf([]float64{want[name]}, 1)); err != nil {
			t.Fatal(err)
		}
	}
	s.sealer.jobs.wait()
	before := len(mustSegments(t, s))
	r, err := s.Compact(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Removed < 9 || r.Created != 1 || before < 10 {
		t.Errorf("of %d segments: %+v", before, r)
	}
	if got := contents(t, s); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if r, err := s.Compact(context.Background(), nil); err != nil || r.Removed > 0 {
		t.Errorf("again: %+v, %v", r, err)
	}
}
