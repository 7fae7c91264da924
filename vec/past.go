package vec

import (
	"sync"
	"unsafe"
)

// A past is where nonzeros are gathered, piece by piece, on their way past the caches to outputs that are large. A store to
// such an output would first read its line from memory. Few nonzeros are stored in place, which takes less time.
type past struct {
	values, places outlet
	memory         []byte
	bytes, most    int // how much is gathered at a time, about, and of how many elements
	len            int // elements of the next piece
}

const (
	// pastBytes is how much is gathered at a time, about, and pastMost of how many bytes of elements at most. These, and what is
	// made of them, stay in a first-level cache.
	pastBytes, pastMost = 4 << 10, 8 << 10
	// pastSlack is room for nonzeros beyond those of a piece, since kernels store whole steps.
	pastSlack = 64
	// probeLen is how many elements are looked at before it is known whether there are many nonzeros.
	probeLen = 512
)

// pastFrom is the size of outputs that are written past the caches, a variable for the sake of tests.
var pastFrom = streamFrom

var pasts = sync.Pool{New: func() any { return new(past) }}

// after is called after a piece of n elements with so many nonzeros, with what is left of the outputs. It returns what
// gathers the next piece, which is nil if that goes to the outputs at once. A value has size bytes and a place row. Only
// values are gathered if places are made past the caches by themselves.
func (p *past) after(n, found int, values []byte, size int, places []byte, row int, direct bool) *past {
	room := min(len(values)/size, len(places)/row)
	enough := room*(size+row) >= pastFrom && room >= slabLen && canStream()
	if enough && n < 128 {
		return p // too few to tell
	}
	if p != nil && (!enough || found*32 < n) {
		p.end()
		return nil
	}
	if p == nil {
		if !enough || found*20 < n {
			return nil
		}
		p = pasts.Get().(*past)
		p.bytes, p.most = pastBytes, pastMost/size
		lines := (p.most + pastSlack) * row
		if direct {
			p.bytes, p.most = 4*pastBytes, slabLen
			lines = 64 * row
		}
		lines = (lines + 127) &^ 63
		if need := 2*64 + lines + (p.most+pastSlack)*size; len(p.memory) < need {
			p.memory = make([]byte, need)
		}
		stage := aligned64(p.memory)
		p.places.start(places, stage[:lines])
		p.values.start(values, stage[lines:])
	}
	p.len = min(max(p.bytes*n/max(found*(size+row), 1)&^63, 256), p.most)
	return p
}

// end writes what was held back.
func (p *past) end() {
	if p == nil {
		return
	}
	p.values.end()
	p.places.end()
	streamDone()
	pasts.Put(p)
}

// An outlet writes an output from one end to the other by way of a stage. It holds back what does not fill a cache line.
type outlet struct {
	out   []byte // what has not been written
	stage []byte // begins at a cache line, as does what goes there
	skip  int    // bytes of the first line that are before out
	held  int    // bytes in the stage, those included
}

func (o *outlet) start(out, stage []byte) {
	o.skip = int(uintptr(unsafe.Pointer(unsafe.SliceData(out))) & 63)
	o.out, o.stage, o.held = out, stage, o.skip
}

// next returns where in the stage belongs what comes next.
func (o *outlet) next() []byte { return o.stage[o.held:] }

// put takes the n bytes that were stored at next, and prefetches as soon says while it writes.
func (o *outlet) put(n int, soon fetch) {
	o.held += n
	whole, from := o.held&^63, 0
	if whole == 0 {
		return
	}
	if o.skip > 0 {
		copy(o.out[:64-o.skip], o.stage[o.skip:])
		o.out, o.skip, from = o.out[64-o.skip:], 0, 64
	}
	next := soon.halves(whole / 64)
	streamCopy(o.out[:whole-from], o.stage[from:], &next)
	o.out, o.held = o.out[whole-from:], o.held-whole
	*(*[64]byte)(o.stage) = [64]byte(o.stage[whole:])
}

func (o *outlet) end() {
	copy(o.out, o.stage[o.skip:o.held])
	o.out = nil
}

// fetch is memory that is prefetched while something is written.
type fetch struct {
	from *byte
	n    int
}

// fetchNext is the n bytes at src[from], if there are as many.
func fetchNext(src []byte, from, n int) fetch {
	if from+n > len(src) {
		return fetch{}
	}
	return fetch{&src[from], n}
}

// halves returns where each half begins, and how far to go on with each of so many lines that are written.
func (f fetch) halves(lines int) [4]uintptr {
	at, half := uintptr(unsafe.Pointer(f.from)), uintptr(f.n/2)
	step := half / uintptr(max(lines, 1))
	return [4]uintptr{at, step, at + half, step}
}
