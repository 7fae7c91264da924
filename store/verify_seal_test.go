package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
)

// A log that is sealed while Verify looks at it, as one that is not, is no damaged one.
func TestVerifyWhileALogIsSealed(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "s"), &Options{sealMin: 3, logMax: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.sealer.one.Lock() // it has to wait
	for i := range 12 {
		if err := s.Put(fmt.Sprint("n", i), layout.DenseOf([]float64{1}, 1)); err != nil {
			t.Fatal(err)
		}
	}
	released := false
	report, err := s.Verify(context.Background(), &VerifyOptions{Progress: func(int64, int64) {
		if !released {
			released = true
			s.sealer.one.Unlock()
			s.sealer.jobs.wait()
		}
	}})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("verify: %v, %v", report.Problems, err)
	}
	if len(s.published.Load().sealed) != 1 {
		t.Error("the log was not sealed meanwhile")
	}
}
