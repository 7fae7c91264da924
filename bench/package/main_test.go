package main

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/bench/internal/measure"
)

// TestSizes makes the measurements that start no processes, small: they add figures and leave nothing
// behind. For all of them there is -quick.
func TestSizes(t *testing.T) {
	b := &measure.Bench{Dir: t.TempDir(), Quick: true, Log: io.Discard}
	if err := sizes(b); err != nil {
		t.Fatal(err)
	}
	if err := safetensors(b); err != nil {
		t.Fatal(err)
	}
	if len(b.Table.Figures) != 3 {
		t.Errorf("%d figures, want 3", len(b.Table.Figures))
	}
	for _, f := range b.Table.Figures {
		if f.Met != nil && !*f.Met {
			t.Errorf("%s is %v, which does not depend on the machine", f.Name, f.Measured)
		}
	}
	if left, err := filepath.Glob(filepath.Join(b.Dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left %v behind, %v", left, err)
	}
}

// The sizes are those that the figures speak of.
func TestItemBytes(t *testing.T) {
	var sum, least, most int
	least = mostBytes
	const n = 10_000
	for i := range n {
		b := itemBytes(i)
		least, most, sum = min(least, b), max(most, b), sum+b
	}
	if least < leastBytes || least > leastBytes+4 || most > mostBytes || most < mostBytes-8 {
		t.Errorf("tensors of %d to %d bytes, want %d to %d", least, most, leastBytes, mostBytes)
	}
	// (4096 − 256) ÷ ln 16
	if mean := sum / n; mean < 1380 || mean > 1388 {
		t.Errorf("%d bytes on average, want about 1384", mean)
	}
}
