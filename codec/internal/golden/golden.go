// Package golden reads what lies in testdata for the tests of packages that read files: files that other
// programs wrote, and manifest.jsonl, in which the program that had them written says what is in each.
package golden

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Manifest returns the lines of testdata/manifest.jsonl, which must be at least so many.
func Manifest[T any](t testing.TB, atLeast int) []T {
	t.Helper()
	f, err := os.Open("testdata/manifest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var files []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m T
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		files = append(files, m)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(files) < atLeast {
		t.Fatalf("manifest has %d files", len(files))
	}
	return files
}

// Read returns a file of testdata, whose name has slashes.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
