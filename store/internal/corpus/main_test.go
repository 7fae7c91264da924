package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCorpusIsWhatIsCheckedIn fails if the files were changed by hand or not
// written again after the generator was changed.
func TestCorpusIsWhatIsCheckedIn(t *testing.T) {
	const dir = "../../../testdata/corpus"
	want := files()
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, content) {
			t.Errorf("%s is not what the generator writes; run go run ./store/internal/corpus testdata/corpus", name)
		}
	}
	for _, pattern := range []string{"*/*.seg", "*/*.tstore"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			if want[filepath.ToSlash(rel)] == nil {
				t.Errorf("the generator does not write %s", rel)
			}
		}
	}
}
