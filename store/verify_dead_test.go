package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// Verify reads a large tensor that was replaced, too, as long as its segment is there.
func TestVerifyReadsDeadSegments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, &Options{SegmentSize: MinSegmentSize})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put("x", layout.DenseOf(make([]float64, 10_000), 10_000)); err != nil {
		t.Fatal(err)
	}
	e, err := s.Stat("x")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put("x", layout.DenseOf([]float64{1}, 1)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, segmentsName, segment.FileName(e.Segment))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{1}, e.Offset+e.Length-100); err != nil {
		t.Fatal(err)
	}
	report, err := s.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Err.Error(), path) || len(report.Problems[0].Tensors) > 0 {
		t.Errorf("problems: %v", report.Problems)
	}
}
