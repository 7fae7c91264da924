//go:build !race

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

// mostAnonymous runs the command and returns how much memory it took beside files, at its most, in bytes.
func mostAnonymous(t *testing.T, args ...string) int64 {
	t.Helper()
	cmd, _, stderr := tstore(t, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- cmd.Wait() }()
	most := int64(0)
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %v: %s", args, err, stderr)
			}
			if most == 0 {
				t.Fatalf("%v: it ended before its memory was looked at", args)
			}
			return most
		case <-time.After(time.Millisecond):
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if err != nil {
				continue // it has ended
			}
			if _, rest, ok := bytes.Cut(status, []byte("RssAnon:")); ok {
				n, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				most = max(most, n<<10)
			}
		}
	}
}

// Importing takes little memory however large files are and however many tensors they have.
func TestImportTakesLittleMemory(t *testing.T) {
	dir := t.TempDir()
	const total = 96 << 20
	create := func(name string, write func(f *os.File) error) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, n := range []int64{6, 20_000} {
		size := total / n
		d := layout.DenseOf(make([]uint8, size), size)
		weights := create(fmt.Sprintf("%d.safetensors", n), func(f *os.File) error {
			named := make([]safetensors.Named, n)
			for i := range named {
				named[i] = safetensors.Named{Name: fmt.Sprintf("%05d", i), Tensor: d}
			}
			return safetensors.Encode(f, named, nil)
		})
		archive := func(compress bool) string {
			return create(fmt.Sprintf("%d_%v.npz", n, compress), func(f *os.File) error {
				z := npz.NewWriter(f, compress)
				for i := range n {
					if err := z.Add(fmt.Sprintf("%05d", i), d); err != nil {
						return err
					}
				}
				return z.Close()
			})
		}
		for _, path := range []string{weights, archive(false), archive(true)} {
			s := filepath.Join(dir, "s")
			if most := mostAnonymous(t, "import", "-q", s, path); most > 64<<20 {
				t.Errorf("%s: %d MiB", filepath.Base(path), most>>20)
			} else {
				t.Logf("%s: %d MiB", filepath.Base(path), most>>20)
			}
			if err := os.RemoveAll(s); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}
