package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zeros is n zeros.
type zeros struct{ n int64 }

func (z *zeros) Read(b []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	n := int(min(z.n, int64(len(b))))
	clear(b[:n])
	z.n -= int64(n)
	return n, nil
}

// A small file that unpacks to much is refused when it exceeds the limit, and nothing is left of it.
func TestCompressionBombs(t *testing.T) {
	limit := unpackMinimum
	defer func() { unpackMinimum = limit }()
	unpackMinimum = 16 << 20
	var bomb bytes.Buffer
	z, err := zstd.NewWriter(&bomb)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, &zeros{unpackMinimum + 1<<20}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if int64(bomb.Len())*unpackRatio > unpackMinimum {
		t.Fatalf("the bomb has %d bytes", bomb.Len())
	}
	r, done, err := compressionOf(bomb.Bytes()).unpack(bomb.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	n, err := io.Copy(io.Discard, r)
	if !errors.Is(err, errBomb) || n < unpackMinimum || n > unpackMinimum+1<<20 {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

// A Zstandard stream that takes a large window, of which its head speaks, is refused before there is one.
func TestCompressionWindow(t *testing.T) {
	head := []byte("\x28\xb5\x2f\xfd\x00\xa8") // a window of 2 GiB
	frame := append(head, 0x03, 0, 0, 0)       // and a block of a zero
	r, done, err := compressionOf(frame).unpack(frame)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, errBomb) && !errors.Is(err, errCompressed) {
		t.Errorf("error %v", err)
	}
}

// What is large when it is unpacked lies in a temporary file, which goes with the input.
func TestUnpackedFilesGo(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	path := filepath.Join(t.TempDir(), "x.npy.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	header := "\x93NUMPY\x01\x00\x46\x00{'descr': '|u1', 'fortran_order': False, 'shape': (20971520,), }"
	header += strings.Repeat(" ", 79-len(header)) + "\n"
	if _, err := io.Copy(z, io.MultiReader(strings.NewReader(header), &zeros{20 << 20})); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	s := filepath.Join(t.TempDir(), "s")
	for _, c := range [][]string{{"put", s, "x", path}, {"import", s, path}, {"import", s, path, "--dry-run"}, {"pack", s + ".tstore", "--from", path}} {
		if code, _, stderr := inside(t, c...); code != exitDone {
			t.Errorf("%v: exit code %d: %s", c, code, stderr)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v: left are %v, %v", c, left, err)
		}
	}
	if code, stdout, stderr := inside(t, "ls", "--json", s); code != exitDone || strings.Count(stdout, `"shape":[20971520]`) != 1 {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// FuzzUnpack makes sure that what is compressed is unpacked or refused.
func FuzzUnpack(f *testing.F) {
	for _, c := range compressions {
		var b bytes.Buffer
		w, err := c.writer(&b)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := w.Write([]byte("some text, some text")); err != nil {
			f.Fatal(err)
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := compressionOf(b)
		if c == nil {
			return
		}
		r, done, err := c.unpack(b)
		if err == nil {
			defer done()
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil && !errors.Is(err, errCompressed) && !errors.Is(err, errBomb) {
			t.Fatalf("error of no kind: %v", err)
		}
	})
}
