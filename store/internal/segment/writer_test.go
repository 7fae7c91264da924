package segment

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

// memoryFile is a RawFile in memory that notes the writes it gets.
type memoryFile struct {
	RawFile // for what is not called
	b       []byte
	writes  [][2]int64 // offset and length
	fail    int        // the number of the write that fails, after its first half; -1 for none
}

func (f *memoryFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := len(b), error(nil)
	if len(f.writes) == f.fail {
		n, err = n/2, io.ErrShortWrite
	}
	f.writes = append(f.writes, [2]int64{off, int64(n)})
	if end := off + int64(n); end > int64(len(f.b)) {
		f.b = append(f.b, make([]byte, end-int64(len(f.b)))...)
	}
	copy(f.b[off:], b[:n])
	return n, err
}

func neverSlow() *pieces { return &pieces{slow: math.MaxInt64} }

// TestWriterChunks writes in pieces of all sizes: what arrives is the same, and all
// writes but the first and the last are whole chunks at multiples of their size. If
// chunks are slow to write, all but the first of them are cut into pieces.
func TestWriterChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, 3*chunkSize+12_345)
	for i := range content {
		content[i] = byte(rng.Uint32())
	}
	for _, start := range []int64{0, 64, chunkSize - 64, chunkSize, chunkSize + 64} {
		for _, piece := range []int{64, 1000, chunkSize - 1, chunkSize, chunkSize + 1, 2 * chunkSize, len(content)} {
			if piece == 64 && start != 64 {
				continue // slow, and the same
			}
			f := &memoryFile{fail: -1}
			w := &writer{raw: f, off: start, pieces: neverSlow()}
			for b := content; len(b) > 0; b = b[min(piece, len(b)):] {
				p := b[:min(piece, len(b))]
				if n, err := w.Write(p); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(f.b[start:], content) || w.off != start+int64(len(content)) {
				t.Errorf("start %d, pieces of %d: other bytes arrive", start, piece)
			}
			for i, x := range f.writes {
				first, last := i == 0, i == len(f.writes)-1
				if (!first && x[0]%chunkSize != 0) || (!first && !last && x[1] != chunkSize) || x[1] > chunkSize {
					t.Errorf("start %d, pieces of %d: write %d of %d is %d bytes at %d", start, piece, i, len(f.writes), x[1], x[0])
				}
			}
			slow := &memoryFile{fail: -1}
			w = &writer{raw: slow, off: start, pieces: &pieces{slow: -1}}
			if _, err := w.Write(content); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(slow.b[start:], content) {
				t.Errorf("start %d, slow: other bytes arrive", start)
			}
			count := map[int64]int{}
			for _, x := range slow.writes {
				count[x[1]]++
			}
			if count[chunkSize] != 1 || count[pieceSize] < chunkSize/pieceSize {
				t.Errorf("start %d, slow: %d writes of a chunk and %d of a piece", start, count[chunkSize], count[pieceSize])
			}
		}
	}
}

// TestWriterFails makes each write fail half way: the position is right, and the
// error comes out.
func TestWriterFails(t *testing.T) {
	content := make([]byte, 3*chunkSize)
	for n := range 4 {
		f := &memoryFile{fail: n}
		w := &writer{raw: f, off: 640, pieces: neverSlow()}
		_, err := w.Write(content)
		if err == nil {
			err = w.Flush()
		}
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("write %d fails: %v", n, err)
		}
		if w.off != int64(len(f.b)) {
			t.Errorf("write %d fails: the writer is at %d, the file ends at %d", n, w.off, len(f.b))
		}
	}
}
