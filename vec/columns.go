package vec

import (
	"fmt"
	"math/bits"
)

// Columns gathers the nonzeros of a row-major matrix column by column. After Start, each Next finds those of
// some more columns, and Write writes them out:
//
//	c.Start(src, e, rows, cols, stride)
//	for c.Next() {
//		// Make room for c.Len() nonzeros.
//		c.Write(…)
//	}
//
// A Columns keeps the memory that it needs in between for later uses. It must not be used by two goroutines at
// once; each may have one of its own, for a range of columns. The zero Columns is ready to use.
type Columns struct {
	src          []byte // borrowed until the last Write
	elem         Elem
	size         int // of an element
	rows, cols   int
	stride       int
	estimate     int
	next, at, to int // columns not yet looked at, and those of the last Next
	n            int // nonzeros of the last Next
	cursors      []uint64

	// Few nonzeros are kept by buckets of columns first.
	shift   uint // a bucket has 1<<shift columns
	wide    bool // keys have 8 bytes, not 4
	room    int  // nonzeros that a chunk has room for
	buckets [][]*chunk
	last    []*chunk // of each bucket
	free    []*chunk

	// Those of a compressed matrix are counted before, so that buckets lie one behind the other.
	compressed   bool
	starts       []uint64 // of each bucket, and the end of the last
	keys, values []byte
	numbers      []byte // if the values are numbers of elements in src, room for those of a Write

	// Or runs of its lines are taken when their bucket's turn comes.
	runs    bool
	indices []byte // borrowed as src is
	isize   int
	lines   []uint64 // where the next run of each begins, and where each ends

	// Few of them are sorted at once.
	sent    bool
	ends    []uint32 // of each column; of runs, how many values it has
	records []byte

	// Many are found panel by panel.
	panel   int // columns of a panel, 0 for buckets
	line    int // nonzeros that there is room for in each column of a panel
	stage   []byte
	squares []byte
	edge    []byte
}

// A chunk has nonzeros of a bucket: first their keys, which are row<<shift | column in the bucket, and then their
// values. Writing each nonzero to its final place at once would keep as many cache lines open as there are
// columns, more than caches and page tables hold.
type chunk struct {
	n      int
	memory [64 << 10]byte
}

const (
	// bucketBits says how many columns a bucket has, at most. Their cursors and open lines fit a second-level cache.
	bucketBits = 10
	// lineBucketBits says how many columns a bucket of a compressed matrix has at least: they fit a first-level cache.
	// It has more if there are so many buckets that these take too long to be filled.
	lineBucketBits, lineBuckets = 8, 64
	// narrow is a number of columns below which a row is too short for a call.
	narrow = 128
)

// Start makes c look at a matrix of rows times cols elements. Those of a row follow each other, and the first
// ones of neighbouring rows are stride bytes apart in src. src is borrowed until Next returns false.
//
// It returns the number of nonzeros, which is exact if that costs no second look at all of src, and otherwise
// comes from a sample.
func (c *Columns) Start(src []byte, e Elem, rows, cols, stride int) (nnz int, exact bool) {
	size := e.Size()
	if rows < 0 || cols < 0 || rows > 0 && cols > 0 && !strided(len(src), rows, stride, cols, size) {
		panic(fmt.Sprintf("vec: %d rows of %d elements of %d bytes with stride %d do not lie in %d bytes", rows, cols, size, stride, len(src)))
	}
	c.reset(size, rows, cols)
	c.src, c.elem, c.stride = src, e, stride
	density := 0.0
	if rows > 0 && cols > 0 {
		density = c.sample()
	}
	if c.setPanel(density) {
		c.estimate = int(density * float64(rows) * float64(cols))
		return c.estimate, false
	}
	c.fillBuckets()
	return c.estimate, true
}

func (c *Columns) reset(size, rows, cols int) {
	c.size, c.rows, c.cols = size, rows, cols
	c.next, c.at, c.to, c.n = 0, 0, 0, 0
	for b, chunks := range c.buckets {
		c.free = append(c.free, chunks...)
		c.buckets[b] = chunks[:0]
	}
	c.panel, c.estimate, c.compressed, c.sent, c.runs = 0, 0, false, false, false
	c.shift = bucketBits
	c.wide = bits.Len64(uint64(max(rows-1, 0)))+bucketBits > 32
}

// strided reports whether count pieces of n elements lie in so many bytes.
func strided(length, count, stride, n, size int) bool {
	hi, piece := bits.Mul64(uint64(n), uint64(size))
	if stride < 0 || hi != 0 || piece > uint64(length) {
		return false
	}
	hi, span := bits.Mul64(uint64(count-1), uint64(stride))
	return hi == 0 && span <= uint64(length)-piece
}

// sample looks at pieces of some rows and returns which share of their elements is nonzero.
func (c *Columns) sample() float64 {
	const pieces = 128
	size := c.elem.Size()
	n := min(c.cols, 2048/size)
	seen, found := 0, 0
	for i := range pieces {
		// Spread over the rows, and over the columns in another rhythm.
		r := i * (c.rows - 1) / (pieces - 1)
		at := i * 53 % pieces * (c.cols - n) / (pieces - 1)
		found += count(c.src[r*c.stride+at*size:][:n*size], c.elem)
		seen += n
	}
	return float64(found) / float64(seen)
}

// Next finds the nonzeros of the columns that follow, and returns false if there are no more columns.
func (c *Columns) Next() bool {
	if c.next == c.cols {
		c.src, c.indices = nil, nil
		return false
	}
	c.at = c.next
	c.to = min(c.at+1<<c.shift, c.cols)
	switch {
	case c.sent:
		c.to, c.n = c.cols, c.estimate
	case c.panel > 0:
		c.to = min(c.at+c.panel, c.cols)
		c.fillPanel()
	case c.runs:
		c.n = c.countRuns()
	case c.compressed:
		c.n = int(c.starts[c.at>>c.shift+1] - c.starts[c.at>>c.shift])
	default:
		c.n = 0
		for _, k := range c.buckets[c.at>>c.shift] {
			c.n += k.n
		}
	}
	c.next = c.to
	return true
}

// Columns returns the range of columns that the last Next has found.
func (c *Columns) Columns() (from, to int) { return c.at, c.to }

// Len returns the number of nonzeros in these columns.
func (c *Columns) Len() int { return c.n }

// Write writes the nonzeros that the last Next has found to values and their rows to rows, column after column.
// To pointers goes, for each column, base plus the number of nonzeros up to its end. The outputs have the length
// that this takes, or more.
func (c *Columns) Write(values, rows []byte, t Index, pointers []byte, pt Index, base uint64) {
	size, psize := c.size, t.Size()
	if c.n > len(values)/size || c.n > t.len(rows) || c.to-c.at > pt.len(pointers) {
		panic(fmt.Sprintf("vec: %d bytes of values, %d rows and %d pointers do not hold %d nonzeros of %d bytes in %d columns",
			len(values), t.len(rows), pt.len(pointers), c.n, size, c.to-c.at))
	}
	values, rows = values[:c.n*size], rows[:c.n*psize]
	switch {
	case c.sent:
		c.writeRecords(values, rows, t, pointers, pt, base)
	case c.runs:
		c.writeRuns(values, rows, t, pointers, pt, base)
	case c.panel > 0:
		c.writePanel(values, rows, t, pointers, pt, base)
	case c.compressed && !kernelSize(size):
		if len(c.numbers) < c.n*8 {
			c.numbers = make([]byte, c.n*8)
		}
		c.writeBucket(c.numbers[:c.n*8], 8, rows, t, pointers, pt, base)
		for i, at := range view[uint64](c.numbers[:c.n*8]) {
			copy(values[i*size:(i+1)*size], c.src[int(at)*size:])
		}
	default:
		c.writeBucket(values, size, rows, t, pointers, pt, base)
	}
}

// fillBuckets looks at the whole matrix.
func (c *Columns) fillBuckets() {
	size := c.size
	c.room = len(chunk{}.memory) / (c.keySize() + size)
	width := 1 << c.shift
	n := (c.cols + width - 1) / width
	c.last = c.last[:0]
	for b := range n {
		if b == len(c.buckets) {
			c.buckets = append(c.buckets, nil)
		}
		c.last = append(c.last, nil)
	}
	if c.rows == 0 {
		return
	}
	if c.cols > 0 && c.cols < narrow && c.stride == c.cols*size {
		c.fillNarrow()
		return
	}
	v := Active()
	for r := range c.rows {
		row := c.src[r*c.stride:][:c.cols*size]
		for b := range n {
			piece := row[min(b*width*size, len(row)):min((b+1)*width*size, len(row))]
			k := c.chunkFor(b, len(piece)/size)
			c.estimate -= k.n
			c.compactChunk(k, v, piece, uint64(r)<<c.shift)
			c.estimate += k.n
		}
	}
}

func (c *Columns) keySize() int {
	if c.wide {
		return 8
	}
	return 4
}

// chunkFor returns a chunk of bucket b with room for n more nonzeros.
func (c *Columns) chunkFor(b, n int) *chunk {
	if k := c.last[b]; k != nil && c.room-k.n >= n {
		return k
	}
	var k *chunk
	if n := len(c.free); n > 0 {
		k, c.free = c.free[n-1], c.free[:n-1]
		k.n = 0
	} else {
		k = new(chunk)
	}
	c.buckets[b] = append(c.buckets[b], k)
	c.last[b] = k
	return k
}

// compactChunk appends the nonzeros of part of a row.
func (c *Columns) compactChunk(k *chunk, v Version, src []byte, base uint64) {
	size, ksize := c.size, c.keySize()
	values := k.memory[c.room*ksize+k.n*size : c.room*(ksize+size)]
	keys := k.memory[k.n*ksize : c.room*ksize]
	_, n := compactAny(values, keys, unsignedIndex(ksize), src, c.elem, base)
	k.n += n
}

// fillNarrow is fillBuckets for one bucket and rows that follow each other: many rows are looked at at a time.
func (c *Columns) fillNarrow() {
	size, ksize := c.size, c.keySize()
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	w.set([]uint64{uint64(c.rows), uint64(c.cols)})
	n := c.rows * c.cols
	for at := 0; at < n; {
		k := c.chunkFor(0, min(n-at, 1024))
		m := min(w.shape.slabAt(uint64(at), n-at), c.room-k.n)
		_, found := compactAny(k.memory[c.room*ksize+k.n*size:c.room*(ksize+size)], memory(w.positions[slack:]), U16,
			c.src[at*size:(at+m)*size], c.elem, 0)
		w.shape.coordinates(w.start, uint64(at))
		w.split(&w.positions, found, 1, w.start[1])
		rows, cols := w.positions[slack:slack+found], w.remains[1][slack:slack+found]
		first := w.start[0]
		if c.wide {
			keys := view[uint64](k.memory[k.n*ksize:])
			for i, r := range rows {
				keys[i] = (first+uint64(r))<<c.shift | uint64(cols[i])
			}
		} else {
			keys := view[uint32](k.memory[k.n*ksize:])
			for i, r := range rows {
				keys[i] = (uint32(first)+uint32(r))<<c.shift | uint32(cols[i])
			}
		}
		k.n += found
		c.estimate += found
		at += m
	}
}

func (c *Columns) writeBucket(values []byte, size int, rows []byte, t Index, pointers []byte, pt Index, base uint64) {
	ksize := c.keySize()
	width := 1 << c.shift
	cursors := c.bucketCursors()
	clear(cursors[:width])
	mask := uint64(width-1) % (1 << bucketBits)
	for keys := range c.pieces(size) {
		if c.wide {
			for _, key := range view[uint64](keys) {
				cursors[key&mask]++
			}
		} else {
			for _, key := range view[uint32](keys) {
				cursors[uint64(key)&mask]++
			}
		}
	}
	sum := uint64(0)
	for j := range c.to - c.at {
		sum, cursors[j] = sum+cursors[j], sum
		putIndex(pointers[j*pt.Size():], pt, base+sum)
	}
	for keys, src := range c.pieces(size) {
		placeAny(values, rows, cursors, keys, ksize, src, size, t.Size(), c.shift)
	}
}

// bucketCursors returns room for the cursors of the columns of a bucket.
func (c *Columns) bucketCursors() *[1 << bucketBits]uint64 {
	if len(c.cursors) < 1<<bucketBits {
		c.cursors = make([]uint64, 1<<bucketBits)
	}
	return (*[1 << bucketBits]uint64)(c.cursors)
}

// pieces yields the keys and values of the bucket at c.at.
func (c *Columns) pieces(size int) func(func(keys, values []byte) bool) {
	return func(yield func(keys, values []byte) bool) {
		b, ksize := c.at>>c.shift, c.keySize()
		if c.compressed {
			from, to := int(c.starts[b]), int(c.starts[b+1])
			if from < to {
				yield(c.keys[from*ksize:to*ksize], c.values[from*size:to*size])
			}
			return
		}
		for _, k := range c.buckets[b] {
			if !yield(k.memory[:k.n*ksize], k.memory[c.room*ksize:][:k.n*size]) {
				return
			}
		}
	}
}

// placeGo stores each value, and the row in its key, at the place that the cursor of the column in its key says,
// and moves the cursor on.
func placeGo(values, rows []byte, cursors *[1 << bucketBits]uint64, keys []byte, ksize int, src []byte, size, psize int, shift uint) {
	switch size {
	case 1:
		placeValues(values, rows, cursors, keys, ksize, src, psize, shift)
	case 2:
		placeValues(view[uint16](values), rows, cursors, keys, ksize, view[uint16](src), psize, shift)
	case 4:
		placeValues(view[uint32](values), rows, cursors, keys, ksize, view[uint32](src), psize, shift)
	case 8:
		placeValues(view[uint64](values), rows, cursors, keys, ksize, view[uint64](src), psize, shift)
	default:
		placeValues(view[word128](values), rows, cursors, keys, ksize, view[word128](src), psize, shift)
	}
}

func placeValues[T any](values []T, rows []byte, cursors *[1 << bucketBits]uint64, keys []byte, ksize int, src []T, psize int, shift uint) {
	if ksize == 8 {
		placeKeys(values, rows, cursors, view[uint64](keys), src, psize, shift)
	} else {
		placeKeys(values, rows, cursors, view[uint32](keys), src, psize, shift)
	}
}

func placeKeys[T any, K uint32 | uint64](values []T, rows []byte, cursors *[1 << bucketBits]uint64, keys []K, src []T, psize int, shift uint) {
	switch psize {
	case 1:
		place(values, rows, cursors, keys, src, shift)
	case 2:
		place(values, view[uint16](rows), cursors, keys, src, shift)
	case 4:
		place(values, view[uint32](rows), cursors, keys, src, shift)
	default:
		place(values, view[uint64](rows), cursors, keys, src, shift)
	}
}

func place[T any, P uint8 | uint16 | uint32 | uint64, K uint32 | uint64](values []T, rows []P, cursors *[1 << bucketBits]uint64, keys []K, src []T, shift uint) {
	src = src[:len(keys)]
	mask := K(1)<<shift - 1
	mask %= 1 << bucketBits
	for i, key := range keys {
		j := key & mask
		at := cursors[j]
		cursors[j] = at + 1
		values[at], rows[at] = src[i], P(key>>(shift&63))
	}
}
