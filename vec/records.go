package vec

// Few values of a compressed matrix are sorted by counting in one go: each with its row, as a record, so that only one
// line of the cache is written to for both. Cursors and open lines stay in a second-level cache, and the records in a cache behind it.
const (
	recordColumns = 1 << 14 // at most
	recordPiece   = 1024    // records that are made at a time
	recordSlack   = 32      // records that may be written behind them
)

// recordBytes is what all records may take. It is a variable for the sake of tests.
var recordBytes = 16 << 20

// sendable reports whether values of a size are sorted as records.
func sendable(count, size, rows, n int) bool {
	return (size == 4 && uint64(rows) <= U32.Max() || size == 8) && count <= recordBytes/(2*size) && n <= recordColumns
}

// sendLines is StartLines for values that are sorted as records.
func (c *Columns) sendLines(pointers []byte, pt Index, indices []byte, t Index, values []byte, size, from, to, n int) {
	c.sent = true
	if cap(c.ends) < n {
		c.ends = make([]uint32, recordColumns)
	}
	c.ends = c.ends[:n]
	cursors := c.ends
	clear(cursors)
	isize := t.Size()
	countAny(cursors, indices[from*isize:to*isize], isize)
	sum := uint32(0)
	for j, k := range cursors {
		cursors[j] = sum
		sum += k
	}
	c.records = grown(c.records, 2*size*(to-from+recordPiece+recordSlack))
	some, all := c.records[:2*size*(recordPiece+recordSlack)], c.records[2*size*(recordPiece+recordSlack):]
	var l lineWalk
	l.begin(pointers, pt)
	for {
		at, line, ends, ok := l.next(recordPiece)
		if !ok {
			return
		}
		recordsAny(some, values[int(at)*size:], size, ends, at, line, uint64(to)-l.at)
		sendAny(all, cursors, some, size, indices[int(at)*isize:int(l.at)*isize], isize)
	}
}

// countAny adds to counts how often each index occurs.
func countAny(counts []uint32, indices []byte, isize int) {
	switch isize {
	case 1:
		countColumns(counts, indices)
	case 2:
		countColumns(counts, view[uint16](indices))
	case 4:
		countColumns(counts, view[uint32](indices))
	default:
		countColumns(counts, view[uint64](indices))
	}
}

func countColumns[I uint8 | uint16 | uint32 | uint64](counts []uint32, indices []I) {
	for _, j := range indices {
		counts[j]++
	}
}

// writeRecords is Write for records.
func (c *Columns) writeRecords(values, rows []byte, t Index, pointers []byte, pt Index, base uint64) {
	ends := c.ends
	switch pt.Size() {
	case 1:
		writeEnds(pointers, ends, uint8(base))
	case 2:
		writeEnds(view[uint16](pointers), ends, uint16(base))
	case 4:
		writeEnds(view[uint32](pointers), ends, uint32(base))
	default:
		writeEnds(view[uint64](pointers), ends, base)
	}
	splitRecordsAny(values, rows, t.Size(), c.records[2*c.size*(recordPiece+recordSlack):], c.size, c.n)
}

func writeEnds[P uint8 | uint16 | uint32 | uint64](pointers []P, ends []uint32, base P) {
	pointers = pointers[:len(ends)]
	for j, end := range ends {
		pointers[j] = base + P(end)
	}
}

// recordsGo makes records of the values of lines, the first of which is number at, and which end with the given numbers.
func recordsGo(dst []byte, src []byte, size int, ends []uint64, at, line uint64) {
	if size == 4 {
		records(view[[2]uint32](dst), view[uint32](src), ends, at, uint32(line))
	} else {
		records(view[[2]uint64](dst), view[uint64](src), ends, at, line)
	}
}

func records[T uint32 | uint64](dst [][2]T, src []T, ends []uint64, at uint64, line T) {
	for _, end := range ends {
		n := end - at
		out := dst[:n]
		for k, v := range src[:n] {
			out[k] = [2]T{line, v}
		}
		dst, src, at, line = dst[n:], src[n:], end, line+1
	}
}

// sendGo stores records at the places that the cursors of their indices say, and moves these on.
func sendGo(dst []byte, cursors []uint32, src []byte, size int, indices []byte, isize int) {
	if size == 4 {
		sendRecords(view[[2]uint32](dst), cursors, view[[2]uint32](src), indices, isize)
	} else {
		sendRecords(view[[2]uint64](dst), cursors, view[[2]uint64](src), indices, isize)
	}
}

func sendRecords[T any](dst []T, cursors []uint32, src []T, indices []byte, isize int) {
	switch isize {
	case 1:
		send(dst, cursors, src, indices)
	case 2:
		send(dst, cursors, src, view[uint16](indices))
	case 4:
		send(dst, cursors, src, view[uint32](indices))
	default:
		send(dst, cursors, src, view[uint64](indices))
	}
}

func send[T any, I uint8 | uint16 | uint32 | uint64](dst []T, cursors []uint32, src []T, indices []I) {
	src = src[:len(indices)]
	for i, j := range indices {
		at := cursors[j]
		cursors[j] = at + 1
		dst[at] = src[i]
	}
}

// splitRecordsGo takes n records apart.
func splitRecordsGo(values, lines []byte, psize int, src []byte, size, n int) {
	if size == 4 {
		splitRecords(view[uint32](values), lines, psize, view[[2]uint32](src)[:n])
	} else {
		splitRecords(view[uint64](values), lines, psize, view[[2]uint64](src)[:n])
	}
}

func splitRecords[T uint32 | uint64](values []T, lines []byte, psize int, src [][2]T) {
	switch psize {
	case 1:
		split(values, lines, src)
	case 2:
		split(values, view[uint16](lines), src)
	case 4:
		split(values, view[uint32](lines), src)
	default:
		split(values, view[uint64](lines), src)
	}
}

func split[T uint32 | uint64, P uint8 | uint16 | uint32 | uint64](values []T, lines []P, src [][2]T) {
	values, lines = values[:len(src)], lines[:len(src)]
	for i, r := range src {
		lines[i], values[i] = P(r[0]), r[1]
	}
}
