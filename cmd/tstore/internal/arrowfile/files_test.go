package arrowfile_test

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

	"github.com/tstore/tstore/cmd/tstore/internal/arrowfile"
)

// file is a line of testdata/manifest.jsonl, which testdata/make_files.py wrote.
type file struct {
	File    string
	Tensors []struct {
		Name     string
		DType    string
		Shape    []int64
		Elements string // row-major, little-endian, hex
	}
	Skipped []string // columns
	Error   string   // of files that are refused
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
	if len(files) < 29 {
		t.Fatalf("manifest has %d files", len(files))
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What pyarrow, pandas and polars write is what they say it is.
func TestFilesOfOthers(t *testing.T) {
	for _, m := range manifest(t) {
		t.Run(m.File, func(t *testing.T) {
			f, err := arrowfile.Open(readFile(t, m.File))
			var items []item
			if err == nil {
				items, err = readAll(f)
			}
			if m.Error != "" {
				if !errors.Is(err, arrowfile.ErrInvalid) && !errors.Is(err, arrowfile.ErrUnsupported) || !strings.Contains(err.Error(), m.Error) {
					t.Errorf("error %v, want one that says %s", err, m.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(items) != len(m.Tensors) {
				t.Fatalf("%d tensors, want %d", len(items), len(m.Tensors))
			}
			for i, want := range m.Tensors {
				got := items[i]
				if got.name != want.Name || got.d.DType().String() != want.DType {
					t.Errorf("%q %v, want %q %s", got.name, got.d.DType(), want.Name, want.DType)
				}
				if diff := cmp.Diff(want.Shape, append([]int64{}, got.d.Shape()...)); diff != "" {
					t.Errorf("%q: shape (-want +got):\n%s", want.Name, diff)
				}
				if elements := hex.EncodeToString(got.d.AppendRowMajor(nil)); elements != want.Elements {
					t.Errorf("%q: elements %s, want %s", want.Name, elements, want.Elements)
				}
			}
			var skipped []string
			for _, s := range f.Skipped {
				skipped = append(skipped, s.Column)
				if s.Why == "" {
					t.Errorf("column %q is skipped without a reason", s.Column)
				}
			}
			if diff := cmp.Diff(m.Skipped, append([]string{}, skipped...)); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
		})
	}
}
