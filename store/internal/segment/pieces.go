package segment

import (
	"sync"
	"time"
)

const (
	// pieceSize is the size of the writes that a chunk is cut into while huge pages are slow
	// to get, in bytes.
	pieceSize = 512 << 10
	// slowChunk is 1.4 GB/s. With pages at hand it is 4 GB/s and more, else 0.4 to 1.
	slowChunk = 3 * time.Millisecond
	// For so many chunks, at least and at most, no other is then written at once.
	minCalm, maxCalm = 256, 4096
)

// pieces decides whether a chunk is written at once, for which the kernel takes huge
// pages, or in pieces that it finds smaller pages for. Huge pages make the first read
// through a map faster, by a fifth, but may be slow to get: the host of a virtual machine
// takes back memory that is free in blocks of 2 MiB, and giving one to the machine again
// costs ten times what it costs to write it. Smaller pages then come from memory that was
// used not long ago. (Linux calls that free page reporting; bench/README.md has figures.)
type pieces struct {
	slow time.Duration // what a chunk that is written at once takes at most when its pages are found quickly

	mu   sync.Mutex
	left int // chunks that are still to be written in pieces
	calm int // how many it was the last time, 0 if chunks written at once have been fast since
}

// writing is of the whole process: what is slow is the machine's memory, not a file.
var writing = pieces{slow: slowChunk}

// next returns how large the writes of the next chunk are.
func (p *pieces) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return chunkSize
	}
	p.left--
	return pieceSize
}

// took notes how long a chunk took in writes of size bytes.
func (p *pieces) took(size int, d time.Duration) {
	if size < chunkSize {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if d <= p.slow {
		p.calm = 0
		return
	}
	p.calm = min(max(2*p.calm, minCalm), maxCalm)
	p.left = p.calm
}
