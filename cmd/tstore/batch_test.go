package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Whatever is imported, it is the same through a file as in memory, and a failure leaves nothing behind.
func TestImportThroughFile(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	st, err := store.Open(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := layout.ToCSR(layout.DenseOf([]float32{0, 1, 0, 2, 0, 0}, 2, 3), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := st.Put(fmt.Sprintf("x%02d", i), layout.DenseOf(arange[int64](int64(i)), int64(i)), layout.Attr{Key: "unit", Value: "mm"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Put("large", layout.DenseOf(arange[float32](100_000), 100_000)); err != nil {
		t.Fatal(err)
	}
	if err := st.Put("sparse", sparse); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(dir, "files")
	bad := filepath.Join(dir, "zz.npy") // behind all others
	if err := os.WriteFile(bad, []byte("not an array"), 0o666); err != nil {
		t.Fatal(err)
	}
	limit := batchInMemory
	defer func() { batchInMemory = limit }()
	var stores []string
	for i, c := range []int64{limit, 1000, 0} {
		batchInMemory = c
		to := filepath.Join(dir, fmt.Sprint("store", i))
		for _, step := range []struct {
			code int
			args []string
		}{
			{exitDone, []string{"export", source, files, "--format", "msg"}},
			{exitDone, []string{"export", source, filepath.Join(files, "all.safetensors")}},
			{exitCorrupt, []string{"import", to, files, bad}},
			{exitNotFound, []string{"ls", to}},
			{exitDone, []string{"import", to, files}},
			{exitCorrupt, []string{"import", to, files, bad, "--prefix", "second/"}},
			{exitDone, []string{"import", to, files, "--attr", "second=time"}},
			{exitDone, []string{"put", to, "put", filepath.Join(files, "all.safetensors")}},
			{exitDone, []string{"verify", to}},
		} {
			if code, _, stderr := inside(t, step.args...); code != step.code {
				t.Errorf("%d bytes in memory: %q: exit code %d, want %d: %s", c, step.args, code, step.code, stderr)
			}
		}
		if left, err := filepath.Glob(filepath.Join(to, "segments", "*.tmp")); err != nil || len(left) > 0 {
			t.Errorf("%d bytes in memory: left are %v, %v", c, left, err)
		}
		if err := os.RemoveAll(files); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, to)
	}
	for _, other := range stores[1:] {
		if code, stdout, stderr := inside(t, "diff", stores[0], other); code != exitDone {
			t.Errorf("%s%s", stdout, stderr)
		}
	}
}
