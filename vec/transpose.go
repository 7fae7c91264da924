package vec

import "fmt"

// StartLines makes c look at a matrix of n columns that is compressed row by row: pointers has the start of the first
// row and the end of each, indices has a column for each value, and a value has size bytes. What follows is as with
// Start: the values come column by column, those of a column in the order of their rows, and of a row in the order
// that they had. (With rows and columns exchanged it is a matrix compressed column by column that comes row by
// row.) It returns the number of values.
//
// Pointers and indices are checked: the error is a [*PointerError] or an [*IndexError]. They and the values must not change before
// Next has returned false.
func (c *Columns) StartLines(pointers []byte, pt Index, indices []byte, t Index, values []byte, size, n int) (count int, err error) {
	rows := pt.len(pointers) - 1
	if size < 1 || n < 0 || rows < 0 || len(values) != t.len(indices)*size {
		panic(fmt.Sprintf("vec: %d bytes of values and %d indices in %d rows of %d elements of %d bytes do not fit", len(values), t.len(indices), rows, n, size))
	}
	if err := CheckPointers(pointers, pt, uint64(t.len(indices))); err != nil {
		return 0, err
	}
	from, to := int(pt.At(pointers, 0)), int(pt.At(pointers, rows))
	c.reset(size, rows, n)
	count = to - from
	c.estimate = count
	few := sendable(count, size, rows, n)
	if !few && n > 0 && c.startRuns(pointers, pt, indices, t, values, size, rows, n, count) {
		return count, nil
	}
	if err := checkRange(indices, t, from, to, uint64(n)); err != nil {
		c.reset(size, 0, 0)
		return 0, err
	}
	if few {
		c.sendLines(pointers, pt, indices, t, values, size, from, to, n)
		return count, nil
	}
	c.compressed = true
	c.shift = lineBucketBits
	for c.shift < bucketBits && n>>c.shift > lineBuckets {
		c.shift++
	}

	// The size of each bucket, and so where it starts.
	buckets := (n + 1<<c.shift - 1) >> c.shift
	if cap(c.starts) < 2*buckets+1 {
		c.starts = make([]uint64, 2*buckets+1)
	}
	c.starts = c.starts[:buckets+1]
	clear(c.starts)
	countBuckets(c.starts[1:], indices[from*t.Size():to*t.Size()], t, c.shift)
	for b := range buckets {
		c.starts[b+1] += c.starts[b]
	}
	cursors := c.starts[buckets+1 : 2*buckets+1]
	copy(cursors, c.starts)

	if !kernelSize(size) {
		// What moves are the numbers of the values.
		c.src = values
		values, size = make([]byte, 8*t.len(indices)), 8
		Iota(values, U64, 0)
	}
	c.keys, c.values = grown(c.keys, count*c.keySize()), grown(c.values, count*size)
	var ends [256]uint64
	at := uint64(from)
	for line := 0; line < rows; line += len(ends) {
		block := ends[:min(len(ends), rows-line)]
		widenPointers(block, pointers[(line+1)*pt.Size():], pt)
		dealAny(c.values, c.keys, cursors, indices, t.Size(), values, size, block, at, uint64(line), c.wide, c.shift)
		at = block[len(block)-1]
	}
	return count, nil
}

// grown returns a slice of n bytes, in the memory of b if it is long enough.
func grown(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// kernelSize reports whether the kernels move values of this size.
func kernelSize(size int) bool { return size <= 16 && size&(size-1) == 0 }

// checkRange is CheckIndices for a part of an array.
func checkRange(indices []byte, t Index, from, to int, n uint64) error {
	err := CheckIndices(indices[from*t.Size():to*t.Size()], t, n)
	if ie, ok := err.(*IndexError); ok {
		ie.At += from
	}
	return err
}

// countBuckets adds to counts how many indices each bucket has.
func countBuckets(counts []uint64, indices []byte, t Index, shift uint) {
	switch t.Size() {
	case 1:
		if len(indices) > 0 {
			counts[0] += uint64(len(indices))
		}
	case 2:
		countUpper(counts, view[uint16](indices), shift)
	case 4:
		countUpper(counts, view[uint32](indices), shift)
	default:
		countUpper(counts, view[uint64](indices), shift)
	}
}

func countUpper[I uint16 | uint32 | uint64](counts []uint64, indices []I, shift uint) {
	shift &= 31 // it is less
	// Neighbouring indices fall into the same bucket: two sets of counters, so that one addition need not wait
	// for the other's.
	if len(counts) > 64 {
		for _, x := range indices {
			counts[x>>shift]++
		}
		return
	}
	var a, b [64]uint64
	for len(indices) >= 2 {
		a[indices[0]>>shift&63]++
		b[indices[1]>>shift&63]++
		indices = indices[2:]
	}
	for _, x := range indices {
		a[x>>shift&63]++
	}
	for i := range counts {
		counts[i] += a[i] + b[i]
	}
}

// dealGo puts each value of some lines, and its key, into the bucket of its index. The lines begin with value
// number at and end with the given ones; line is the number of the first.
func dealGo(values, keys []byte, cursors []uint64, indices []byte, isize int, src []byte, size int, ends []uint64, at, line uint64, wide bool, shift uint) {
	switch size {
	case 1:
		dealValues(values, keys, cursors, indices, isize, src, ends, at, line, wide, shift)
	case 2:
		dealValues(view[uint16](values), keys, cursors, indices, isize, view[uint16](src), ends, at, line, wide, shift)
	case 4:
		dealValues(view[uint32](values), keys, cursors, indices, isize, view[uint32](src), ends, at, line, wide, shift)
	case 8:
		dealValues(view[uint64](values), keys, cursors, indices, isize, view[uint64](src), ends, at, line, wide, shift)
	default:
		dealValues(view[word128](values), keys, cursors, indices, isize, view[word128](src), ends, at, line, wide, shift)
	}
}

func dealValues[T any](values []T, keys []byte, cursors []uint64, indices []byte, isize int, src []T, ends []uint64, at, line uint64, wide bool, shift uint) {
	if wide {
		dealKeys(values, view[uint64](keys), cursors, indices, isize, src, ends, at, line, shift)
	} else {
		dealKeys(values, view[uint32](keys), cursors, indices, isize, src, ends, at, line, shift)
	}
}

func dealKeys[T any, K uint32 | uint64](values []T, keys []K, cursors []uint64, indices []byte, isize int, src []T, ends []uint64, at, line uint64, shift uint) {
	switch isize {
	case 1:
		deal(values, keys, cursors, indices, src, ends, at, line, shift)
	case 2:
		deal(values, keys, cursors, view[uint16](indices), src, ends, at, line, shift)
	case 4:
		deal(values, keys, cursors, view[uint32](indices), src, ends, at, line, shift)
	default:
		deal(values, keys, cursors, view[uint64](indices), src, ends, at, line, shift)
	}
}

func deal[T any, K uint32 | uint64, I uint8 | uint16 | uint32 | uint64](values []T, keys []K, cursors []uint64, indices []I, src []T, ends []uint64, at, line uint64, shift uint) {
	shift &= 31
	mask := uint64(1)<<shift - 1
	for _, end := range ends {
		base := K(line) << shift
		for i, x := range indices[at:end] {
			b := uint64(x) >> shift
			p := cursors[b]
			cursors[b] = p + 1
			values[p], keys[p] = src[at+uint64(i)], base|K(uint64(x)&mask)
		}
		at, line = end, line+1
	}
}
