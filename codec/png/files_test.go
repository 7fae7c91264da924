package png_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/internal/golden"
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
	return golden.Manifest[file](t, 50)
}

func TestFiles(t *testing.T) {
	for _, m := range manifest(t) {
		t.Run(m.File, func(t *testing.T) {
			d, err := png.Decode(golden.Read(t, m.File))
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
		b := golden.Read(t, name)
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
	b := golden.Read(t, "rgba16_plain.png")
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
