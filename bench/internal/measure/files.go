package measure

import (
	"io"
	"math/rand/v2"
	"os"
)

// The plain work that stores and packages are compared with.

// pieceSize is how much the plain writer hands to the kernel at once. Larger pieces can be much
// slower, in a virtual machine that has to get memory for huge pages from its host.
const pieceSize = 512 << 10

// WriteFile writes data to a new file in pieces and syncs it.
func WriteFile(name string, data []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for len(data) > 0 {
		n := min(len(data), pieceSize)
		if _, err := f.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// ReadPieces reads [off, off+n) of f into buf, over and over, and hands on each piece.
func ReadPieces(f *os.File, off, n int64, buf []byte, each func([]byte)) error {
	for n > 0 {
		piece := buf[:min(n, int64(len(buf)))]
		if _, err := f.ReadAt(piece, off); err != nil && err != io.EOF {
			return err
		}
		each(piece)
		off += int64(len(piece))
		n -= int64(len(piece))
	}
	return nil
}

// Fill fills b with bytes that no disk can compress and no kernel finds to be zero.
func Fill(b []byte, seed uint64) {
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}).Read(b)
}
