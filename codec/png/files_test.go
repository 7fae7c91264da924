package png_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/png"
)

// file is a line of testdata/manifest.jsonl, which testdata/make_files.py wrote.
type file struct {
	File     string
	DType    string
	Shape    []int64
	Elements string // row-major, little-endian, hex
}

func manifest(t testing.TB) []file {
	t.Helper()
	f, err := os.Open("testdata/manifest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var files []file
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m file
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		files = append(files, m)
	}
	if len(files) < 50 {
		t.Fatalf("manifest has %d files", len(files))
	}
	return files
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFiles(t *testing.T) {
	for _, m := range manifest(t) {
		t.Run(m.File, func(t *testing.T) {
			d, err := png.Decode(read(t, m.File))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.DType().String(); got != m.DType {
				t.Errorf("dtype %s, want %s", got, m.DType)
			}
			if diff := cmp.Diff(m.Shape, d.Shape()); diff != "" {
				t.Errorf("shape (-want +got):\n%s", diff)
			}
			if got := hex.EncodeToString(d.AppendRowMajor(nil)); got != m.Elements {
				t.Errorf("elements %s, want %s", got, m.Elements)
			}
			comesBack(t, d)
		})
	}
}

// Wherever a file ends, that is an error which says so.
func TestTruncatedAtEveryByte(t *testing.T) {
	for _, name := range []string{"rgba16_plain.png", "palette4_trns_adam7.png"} {
		b := read(t, name)
		end := len(b) - 12 // the last chunk, which is empty
		for n := range end {
			if _, err := png.Decode(b[:n]); !errors.Is(err, png.ErrTruncated) {
				t.Fatalf("%s cut to %d bytes: error %v, want ErrTruncated", name, n, err)
			}
		}
	}
}

// A file in which a byte is another is refused: all chunks have checksums. Only what follows the pixels
// is not looked at.
func TestFlippedBytes(t *testing.T) {
	b := read(t, "rgba16_plain.png")
	end := strings.Index(string(b), "tEXt") - 4
	for i := range end {
		flipped := append([]byte(nil), b...)
		flipped[i] ^= 0x10
		_, err := png.Decode(flipped)
		if err == nil {
			t.Errorf("byte %d of %d is another, and nothing was said", i, len(b))
		} else if !errors.Is(err, png.ErrInvalid) && !errors.Is(err, png.ErrTruncated) && !errors.Is(err, png.ErrUnsupported) {
			t.Errorf("byte %d: error of no kind: %v", i, err)
		}
	}
}
