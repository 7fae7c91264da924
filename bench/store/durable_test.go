package main

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/bench/internal/measure"
)

// TestDurable makes one of the measurements, small: it adds figures and leaves nothing behind.
// For all of them there is -quick.
func TestDurable(t *testing.T) {
	b := &measure.Bench{Dir: t.TempDir(), Quick: true, Log: io.Discard}
	if err := durable(b); err != nil {
		t.Fatal(err)
	}
	if len(b.Table.Figures) == 0 {
		t.Error("no figures")
	}
	for _, f := range b.Table.Figures {
		if !(f.Measured > 0) {
			t.Errorf("%s is %v", f.Name, f.Measured)
		}
	}
	if left, err := filepath.Glob(filepath.Join(b.Dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left %v behind, %v", left, err)
	}
}
