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
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes; run go run ./codec/internal/corpus testdata/corpus", name)
		}
	}
}
