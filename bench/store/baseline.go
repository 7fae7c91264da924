package main

import (
	"io"
	"math/rand/v2"
	"os"
)

// The plain work that the store is compared with.

// pieceSize is how much the plain writer hands to the kernel at once.
const pieceSize = 4 << 20

// writeFile writes data to a new file in pieces and syncs it.
func writeFile(name string, data []byte) error {
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

// appender appends to a growing file and makes each piece durable.
type appender struct{ f *os.File }

func newAppender(name string) (*appender, error) {
	f, err := os.Create(name)
	return &appender{f}, err
}

func (a *appender) append(b []byte) error {
	if _, err := a.f.Write(b); err != nil {
		return err
	}
	return datasync(a.f)
}

// remove closes and removes the file.
func (a *appender) remove() error {
	a.f.Close()
	return os.Remove(a.f.Name())
}

// readPieces reads [off, off+n) of f into buf, over and over, and hands on each piece.
func readPieces(f *os.File, off, n int64, buf []byte, each func([]byte)) error {
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

// chase is a random walk through memory in which each load gives the address of the next: what
// a load from DRAM costs that nothing can hide. Lookups are measured in it.
type chase struct {
	next []chaseLine
	at   uint32
}

// chaseLine fills a cache line.
type chaseLine struct {
	next uint32
	_    [60]byte
}

// newChase makes a walk through so many bytes, which should be several times the last cache.
func newChase(bytes int) *chase {
	c := &chase{next: make([]chaseLine, bytes/64)}
	order := make([]uint32, len(c.next))
	for i := range order {
		order[i] = uint32(i)
	}
	// Sattolo's shuffle: one cycle through all.
	r := rand.New(rand.NewPCG(1, 2))
	for i := len(order) - 1; i > 0; i-- {
		j := r.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
	for i, o := range order {
		c.next[i].next = o
	}
	return c
}

// walk takes n steps and returns the seconds that one took.
func (c *chase) walk(n int) float64 {
	t, _ := processorSeconds(func() error {
		at := c.at
		for range n {
			at = c.next[at].next
		}
		c.at = at
		return nil
	})
	return t / float64(n)
}

// fill fills b with bytes that no disk can compress and no kernel finds to be zero.
func fill(b []byte, seed uint64) {
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}).Read(b)
}
