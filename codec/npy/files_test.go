package npy_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
)

// file is a line of testdata/manifest.jsonl, which testdata/make_files.py wrote with NumPy.
type file struct {
	File     string
	DType    string
	Shape    []int64
	Fortran  bool
	Elements string // row-major, little-endian, hex
	Same     bool   // Encode gives the file again

	Error, Reason string // for files that are refused
}

func manifest(t testing.TB) []file {
	t.Helper()
	return golden.Manifest[file](t, 100)
}

func encode(t testing.TB, x layout.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Encode(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFilesOfNumPy(t *testing.T) {
	for _, m := range manifest(t) {
		if m.Error != "" {
			continue
		}
		t.Run(m.File, func(t *testing.T) {
			b := golden.Read(t, m.File)
			d, err := npy.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.DType().String(); got != m.DType {
				t.Errorf("dtype %s, want %s", got, m.DType)
			}
			if diff := cmp.Diff(m.Shape, append([]int64{}, d.Shape()...)); diff != "" {
				t.Errorf("shape (-want +got):\n%s", diff)
			}
			if m.Fortran && !d.IsColumnMajor() || !m.Fortran && !d.IsContiguous() {
				t.Errorf("Fortran order is %v, strides are %v", m.Fortran, d.Strides())
			}
			elements := d.AppendRowMajor(nil)
			if got := hex.EncodeToString(elements); got != m.Elements {
				t.Errorf("elements %s, want %s", got, m.Elements)
			}

			out := encode(t, d)
			if m.Same && !bytes.Equal(out, b) {
				t.Errorf("Encode wrote other bytes than NumPy\ngot  %q\nwant %q", out, b)
			}
			again, err := npy.Decode(out)
			if err != nil {
				t.Fatal(err)
			}
			if again.DType() != d.DType() || !bytes.Equal(again.AppendRowMajor(nil), elements) {
				t.Errorf("came back as %v % x", again.DType(), again.AppendRowMajor(nil))
			}
		})
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	sentinels := map[string]error{"invalid": npy.ErrInvalid, "unsupported": npy.ErrUnsupported}
	for _, m := range manifest(t) {
		if m.Error == "" {
			continue
		}
		t.Run(m.File, func(t *testing.T) {
			_, err := npy.Decode(golden.Read(t, m.File))
			if !errors.Is(err, sentinels[m.Error]) || !strings.Contains(err.Error(), m.Reason) {
				t.Errorf("error %v, want one of kind %s that says %q", err, m.Error, m.Reason)
			}
			if strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("error has more than one line: %q", err)
			}
		})
	}
}

// Each prefix of a file is told from a malformed one, and nothing panics on it.
func TestTruncatedAtEveryByte(t *testing.T) {
	for _, name := range []string{"accept/f4_c.npy", "accept/version_2.npy", "accept/i8_scalar.npy"} {
		b := golden.Read(t, name)
		for n := range b {
			if _, err := npy.Decode(b[:n]); !errors.Is(err, npy.ErrTruncated) {
				t.Fatalf("%s cut to %d bytes: error %v, want ErrTruncated", name, n, err)
			}
		}
	}
}
