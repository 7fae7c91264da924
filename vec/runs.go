package vec

import "math"

// Where lines have their indices in order, those of a bucket lie side by side in each: they are found again when the bucket's turn
// comes, and nothing need be dealt out before.
const (
	runBits   = 7                      // a bucket has so few columns that the lines of the cache that are open for it fit a first-level cache
	shortRun  = 6                      // of a line in a bucket on average: for shorter ones it does not pay
	runLines  = 64                     // lines of a call
	runsAhead = 8                      // lines whose values are fetched ahead
	runValues = runLines<<runBits + 16 // room for their runs, and for what is written behind them
)

// startRuns is StartLines for lines with long runs in each bucket, whose pointers have been checked. It returns false if the indices
// are not in order, or if there are no such runs.
func (c *Columns) startRuns(pointers []byte, pt Index, indices []byte, t Index, values []byte, size, rows, n, count int) bool {
	buckets := (n + 1<<runBits - 1) >> runBits
	if !canTakeRuns(size, t.Size()) || c.wide || max(n, count) > math.MaxInt32 || count/shortRun/buckets < rows || !LinesInOrder(pointers, pt, indices, t, uint64(n)) {
		return false
	}
	c.runs, c.shift = true, runBits
	c.src, c.indices, c.isize = values, indices, t.Size()
	if len(c.lines) < 2*(rows+runsAhead) {
		c.lines = make([]uint64, 2*(rows+runsAhead))
	}
	clear(c.lines[rows : rows+runsAhead])
	widenPointers(c.lines[:rows], pointers, pt)
	widenPointers(c.lines[rows+runsAhead:2*rows+runsAhead], pointers[pt.Size():], pt)
	if cap(c.ends) < n {
		c.ends = make([]uint32, n)
	}
	c.ends = c.ends[:n]
	clear(c.ends)
	from := int(pt.At(pointers, 0))
	countAny(c.ends, indices[from*t.Size():(from+count)*t.Size()], t.Size())
	c.keys, c.values = grown(c.keys, 4*runValues), grown(c.values, size*runValues)
	return true
}

// countRuns returns how many values the columns from c.at to c.to have.
func (c *Columns) countRuns() int {
	n := 0
	for _, k := range c.ends[c.at:c.to] {
		n += int(k)
	}
	return n
}

// writeRuns is Write for runs. Those of some lines are taken at a time, while they stay in a cache.
func (c *Columns) writeRuns(values, rows []byte, t Index, pointers []byte, pt Index, base uint64) {
	at := c.bucketCursors()
	sum := uint64(0)
	for j, k := range c.ends[c.at:c.to] {
		at[j] = sum
		sum += uint64(k)
		putIndex(pointers[j*pt.Size():], pt, base+sum)
	}
	cursors, ends := c.lines[:c.rows+runsAhead], c.lines[c.rows+runsAhead:2*c.rows+runsAhead]
	for line := 0; line < c.rows; line += runLines {
		m := min(runLines, c.rows-line)
		n := takeRunsAny(c.values, c.keys, cursors[line:line+m+runsAhead], ends[line:line+m], c.indices, c.isize, c.src, c.size, line, c.at, c.to, c.shift)
		placeAny(values, rows, at, c.keys[:4*n], 4, c.values[:c.size*n], c.size, t.Size(), c.shift)
	}
}
