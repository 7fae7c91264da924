package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
)

// smallStore makes a closed store with a segment of each kind, and a package of it.
func smallStore(t *testing.T) (dir, pkg string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	opts := &Options{sealMin: 3, logMax: 6, SegmentSize: MinSegmentSize}
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, n int64) {
		t.Helper()
		if err := s.Put(name, layout.DenseOf(make([]int32, n), n), layout.Attr{Key: "k", Value: name}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		put(fmt.Sprint("c", i), 3)
	}
	if err := s.Delete("c1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	pkg = filepath.Join(filepath.Dir(dir), "p.tstore")
	if _, err := s.Pack(context.Background(), pkg, &PackOptions{Attrs: []layout.Attr{{Key: "title", Value: "small"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Attach(context.Background(), pkg, &AttachOptions{Prefix: "p/"}); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		put(fmt.Sprint("s", i), 2)
	}
	put("own", MinSegmentSize/8)
	sparse, err := layout.Convert(layout.DenseOf([]float32{0, 1, 0, 2, 0, 3}, 2, 3), layout.LayoutCSR, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put("sparse", sparse); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, pkg
}

// verifyPath opens what is at path as a reader and verifies it. It returns what is
// wrong.
func verifyPath(t *testing.T, path string) error {
	t.Helper()
	s, err := Open(path, &Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Verify(context.Background(), nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range r.Problems {
		errs = append(errs, p.Err)
	}
	return errors.Join(errs...)
}

func TestVerifySoundStore(t *testing.T) {
	dir, pkg := smallStore(t)
	for _, path := range []string{dir, pkg} {
		s, err := Open(path, &Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Verify(context.Background(), nil)
		if err != nil || len(r.Problems) > 0 {
			t.Errorf("%s: %v, %v", path, err, r.Problems)
		}
		if want := len(contentsOf(t, s)); r.Tensors != want || r.Records < want || r.Bytes == 0 {
			t.Errorf("%s: %d tensors are there, looked at %+v", path, want, r)
		}
		s.Close()
	}
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, err := s.Verify(context.Background(), nil); err != nil || len(r.Problems) > 0 {
		t.Errorf("as a writer: %v, %v", err, r.Problems)
	}
}

func contentsOf(t *testing.T, s *Store) []string {
	t.Helper()
	var names []string
	for e, err := range s.List("") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	return names
}

// Every single flipped byte is found, is ErrCorrupt (or asks for a newer version),
// and its message names the file.
func TestVerifyFindsEveryFlippedByte(t *testing.T) {
	dir, pkg := smallStore(t)
	files, err := filepath.Glob(filepath.Join(dir, segmentsName, "*"))
	if err != nil {
		t.Fatal(err)
	}
	step := 13 // bytes; 1 with TSTORE_EVERY_BYTE
	if os.Getenv("TSTORE_EVERY_BYTE") != "" {
		step = 1
	}
	flipped := 0
	files = append(files, filepath.Join(dir, catalogName), filepath.Join(dir, catalogSumName))
	for _, file := range append(files, pkg) {
		path := dir
		if file == pkg {
			path = pkg
		}
		sound, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		this := step
		if len(sound) > 20_000 {
			this *= 40 // the large tensor
		}
		for i := flipped % this; i < len(sound); i += this {
			bad := append([]byte(nil), sound...)
			bad[i] ^= 1 << (i % 8)
			if err := os.WriteFile(file, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			err := verifyPath(t, path)
			switch {
			case err == nil:
				t.Errorf("%s: a flipped bit in byte %d of %d is not found", filepath.Base(file), i, len(sound))
			case !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewerFormat) && !errors.Is(err, ErrNoStore):
				t.Errorf("%s: a flipped bit in byte %d: %v", filepath.Base(file), i, err)
			case !strings.Contains(err.Error(), filepath.Base(file)):
				t.Errorf("%s: a flipped bit in byte %d: the error does not name the file: %v", filepath.Base(file), i, err)
			}
			flipped++
		}
		if err := os.WriteFile(file, sound, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := verifyPath(t, dir); err != nil {
		t.Errorf("restored: %v", err)
	}
	t.Logf("flipped %d bytes in %d files", flipped, len(files)+1)
}
