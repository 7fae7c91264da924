package segment

import (
	"testing"
	"time"
)

// TestPieces has chunks that are slow at once for a while, and fast again.
func TestPieces(t *testing.T) {
	p := pieces{slow: slowChunk}
	const fast, slow = slowChunk / 4, 2 * slowChunk
	write := func(chunks int, whole time.Duration) (at []int) {
		for i := range chunks {
			size := p.next()
			if size == chunkSize {
				at = append(at, i)
				p.took(size, whole)
			} else {
				p.took(size, slow) // a disk that is busy: says nothing about pages
			}
		}
		return at
	}
	if got := write(10, fast); len(got) != 10 {
		t.Errorf("while huge pages are fast %d of 10 chunks were written at once", len(got))
	}
	got := write(10_000, slow)
	// One, 256 in pieces, one, 512 in pieces and so on, up to 4096.
	want := []int{0, 257, 770, 1795, 3844, 7941}
	if len(got) != len(want) {
		t.Fatalf("while huge pages are slow these chunks were written at once: %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("chunk %d was written at once, want %d", got[i], want[i])
		}
	}
	for p.next() != chunkSize {
	}
	p.took(chunkSize, fast)
	if got := write(10, fast); len(got) != 10 {
		t.Errorf("when huge pages were fast again %d of 10 chunks were written at once", len(got))
	}
	p.took(chunkSize, slow)
	if got := write(minCalm+1, fast); len(got) != 1 || got[0] != minCalm {
		t.Errorf("after one slow chunk these were written at once: %v, want [%d]", got, minCalm)
	}
}
