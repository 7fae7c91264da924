package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
)

// Whatever is copied, it is the same through a file as in memory.
func TestCopyThroughFile(t *testing.T) {
	x := writeNPY(t, layout.DenseOf(arange[float32](24), 4, 6))
	y := writeNPY(t, layout.DenseOf(arange[int64](5), 5))
	limit := copyInMemory
	defer func() { copyInMemory = limit }()
	var stores []string
	for _, copyInMemory = range []int64{limit, 0} {
		dir := t.TempDir()
		s, to := filepath.Join(dir, "s"), filepath.Join(dir, "to")
		for _, c := range []struct {
			code int
			args []string
		}{
			{0, []string{"put", s, "a/x", x, "--attr", "unit=mm", "--dims", "row,column"}},
			{0, []string{"put", s, "a/y", y}},
			{0, []string{"put", s, "a", y}},
			{0, []string{"put", s, "sparse", x, "--layout", "csr"}},
			{0, []string{"cp", "-r", s, "a/", to}},
			{0, []string{"cp", "-r", s, "a", to, "b"}},
			{0, []string{"cp", s, "sparse", to}},
			{0, []string{"cp", s, "sparse[1:, ::2]", to, "part of sparse"}},
			{0, []string{"cp", s, "a/x[::-1, 2]", to, "part"}},
			{0, []string{"cp", "-r", to, "b/", to, "c/"}},
			{exitFailure, []string{"cp", "-r", s, "a/", to, "b/"}},
			{exitFailure, []string{"cp", s, "a/y", to, "a/x"}},
			{0, []string{"cp", "-f", s, "a/y", to, "a/x"}},
			{exitNotFound, []string{"cp", s, "none", to}},
			{exitUsage, []string{"cp", s, "a", to, strings.Repeat("x", 5000)}},
			{exitFailure, []string{"cp", "-r", s, "a", to, strings.Repeat("x", 1024)}},
			{0, []string{"verify", to}},
		} {
			if code, _, stderr := inside(t, c.args...); code != c.code {
				t.Errorf("%d bytes in memory: %q: exit code %d, want %d: %s", copyInMemory, c.args, code, c.code, stderr)
			}
		}
		stores = append(stores, to)
	}
	if code, stdout, stderr := inside(t, "diff", stores[0], stores[1]); code != 0 {
		t.Errorf("%s%s", stdout, stderr)
	}
}
