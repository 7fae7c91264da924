package segment

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSalvageOfAnyLength looks through a segment that was cut at any place.
func TestSalvageOfAnyLength(t *testing.T) {
	id := ID{1}
	whole := AppendHeader(nil, &Header{Kind: KindLog, StoreID: id, UUID: id, Number: 1})
	whole = AppendCommit(whole, &Commit{Seq: 1, DurableTo: int64(len(whole)), UUID: id, Offset: int64(len(whole))})
	path := filepath.Join(t.TempDir(), FileName(1))
	for n := range len(whole) + 1 {
		for _, behind := range []byte{0, 1, 0xFF} {
			b := append(whole[:n:n], behind, behind, behind)
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			s, err := OpenSalvage(path)
			if err != nil {
				t.Fatalf("the first %d bytes: %v", n, err)
			}
			if commits := len(s.Commits); commits != n/len(whole) {
				t.Errorf("the first %d bytes, %d behind: %d commit records", n, behind, commits)
			}
			s.Close()
		}
	}
}
