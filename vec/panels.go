package vec

// A panel is a range of columns of a dense matrix: its rows are transposed, block after block, into short lines
// that are compacted like rows of a matrix, each to a place of its own in a staging buffer.

const (
	// panelBytes is the width of a panel. Its open lines, and the blocks that are fetched ahead, fit a second-level
	// cache.
	panelBytes = 512
	// stageMost is the size of the staging buffer.
	stageMost = 16 << 20
)

// PanelDensity returns the share of nonzeros from which [Columns] goes through a matrix panel by panel. Below it, it goes through it
// row by row, which takes less time then.
func PanelDensity(e Elem) float64 { return 0.04 + 0.006*float64(e.Size()) }

// setPanel decides for panels, and makes their buffers ready.
func (c *Columns) setPanel(density float64) bool {
	size := c.size
	if density < PanelDensity(c.elem) || !hasSquares(size) || c.rows < 256/size || c.cols < 64/size {
		return false
	}
	c.panel = panelBytes / size
	// What there is room for in each column: all rows, and a whole step more. An odd number of cache lines, so that
	// neighbouring columns do not all compete for the same places in the cache.
	c.line = (c.rows + 64 + 15) / 16 * 16
	if c.line/16%2 == 0 {
		c.line += 16
	}
	for c.panel*c.line*(size+4) > stageMost {
		if c.panel /= 2; c.panel < 64/size {
			c.panel = 0
			return false
		}
	}
	if need := c.panel * c.line * (size + 8); len(c.stage) < need {
		c.stage = make([]byte, need)
	}
	if need := c.panel*(256+64) + 64; len(c.squares) < need {
		c.squares = make([]byte, need)
	}
	if need := 256 / size * c.panel * size; len(c.edge) < need {
		c.edge = make([]byte, need)
	}
	if len(c.cursors) < max(c.panel, 1<<bucketBits) {
		c.cursors = make([]uint64, max(c.panel, 1<<bucketBits))
	}
	return true
}

// fillPanel finds the nonzeros of columns c.at to c.to.
func (c *Columns) fillPanel() {
	size := c.size
	lanes := 64 / size // rows and columns of a square
	block := 4 * lanes // rows of a step
	width := (c.to - c.at + lanes - 1) / lanes * lanes
	cursors := c.cursors[:width]
	for j := range cursors {
		cursors[j] = uint64(j * c.line)
	}
	squares := aligned64(c.squares)
	scratch := squares[c.panel*256:]
	values, rows := c.stage[:c.panel*c.line*size], c.stage[c.panel*c.line*size:]
	for r := 0; r < c.rows; r += block {
		src, stride := c.src[r*c.stride+c.at*size:], c.stride
		if r+block > c.rows || width > c.to-c.at {
			// The last rows or columns, filled up with zeros.
			stride = width * size
			edge := c.edge[:block*stride]
			clear(edge)
			for i := range min(block, c.rows-r) {
				copy(edge[i*stride:], src[i*c.stride:][:(c.to-c.at)*size])
			}
			src = edge
		}
		for q := range 4 {
			// The rows after these are fetched ahead; after the last ones, the first of the next panel.
			ahead := (r+(q+1)*lanes)*c.stride + c.at*size
			if r+(q+1)*lanes >= c.rows {
				ahead = min(c.to*size, len(c.src)-1)
			}
			transposeSquares(squares[q*64:], src[q*lanes*stride:], scratch, size, stride, width/lanes, ptr(c.src, ahead))
		}
		compactLines(values, rows, cursors, squares, c.elem, uint64(r))
	}
	c.n = 0
	for j := range c.to - c.at {
		c.n += int(cursors[j]) - j*c.line
	}
}

func (c *Columns) writePanel(values, rows []byte, t Index, pointers []byte, pt Index, base uint64) {
	const from = 4 // bytes of a staged row: there are not that many rows in a panel
	size, to := c.size, t.Size()
	stagedValues, stagedRows := c.stage[:c.panel*c.line*size], c.stage[c.panel*c.line*size:]
	move := func(dst, src []byte) { copy(dst, src) }
	if c.estimate*(size+to) >= streamFrom && canStream() {
		move = copyPast
		defer streamDone()
	}
	sum := 0
	for j := range c.to - c.at {
		n := int(c.cursors[j]) - j*c.line
		move(values[sum*size:(sum+n)*size], stagedValues[j*c.line*size:])
		staged := stagedRows[j*c.line*from:][:n*from]
		if from == to {
			move(rows[sum*to:(sum+n)*to], staged)
		} else {
			convertAny(rows[sum*to:(sum+n)*to], staged, to, from)
		}
		sum += n
		putIndex(pointers[j*pt.Size():], pt, base+uint64(sum))
	}
}
