package layout

const (
	// pieceBytes is how much of a dense tensor is looked at in one go: the positions found in it
	// and the piece itself stay in the cache.
	pieceBytes = 64 << 10
	// largePiece is how many pieces are given at a time to kernels that have to make ready for each call, and cut
	// what they get to their own liking.
	largePiece = 16
	// shortRun is the length in bytes below which runs are gathered before they are looked at.
	shortRun = 1 << 10
)

// pieceElements returns the number of elements in the largest piece.
func (d DType) pieceElements() int64 { return max(pieceBytes/int64(d.width), 1) }

// walk goes through elements of a dense tensor in row-major order, in contiguous pieces. Pieces are the
// tensor's own memory where its runs are long enough and are gathered in a buffer elsewhere.
type walk struct {
	d          *Dense
	next, stop int64 // row-major numbers of elements
	most       int64 // elements in a piece
	run        int64 // elements that lie next to each other
	outer      int   // axes that lead from run to run
	index      [MaxDims]int64
	off        int64  // where the element next lies
	buffer     []byte // nil if pieces are the tensor's own memory
	chunk      int64  // elements that are gathered at a time
}

// bufferBytes returns how long a buffer to walk through d must be.
func bufferBytes(d *Dense) int64 {
	if d.len == 0 || d.runBytes() >= min(shortRun, d.NumBytes()) {
		return 0
	}
	return max(min(pieceBytes, d.NumBytes()), int64(d.dtype.width))
}

// runBytes returns how many bytes lie next to each other in row-major order, at least.
func (d *Dense) runBytes() int64 {
	run := int64(d.dtype.width)
	for axis := len(d.shape) - 1; axis >= 0 && (d.shape[axis] == 1 || d.strides[axis] == run); axis-- {
		run *= d.shape[axis]
	}
	return run
}

// begin sets out to go through elements first to stop−1 of d in pieces of at most so many elements. The buffer
// has bufferBytes(d).
func (w *walk) begin(d *Dense, first, stop, most int64, buffer []byte) {
	w.d, w.next, w.stop, w.most = d, first, stop, most
	width := int64(d.dtype.width)
	w.buffer = nil
	if first >= stop {
		return
	}
	if len(buffer) > 0 {
		w.buffer = buffer
		w.chunk = int64(len(buffer)) / width
		// Whole sub-tensors of the trailing axes keep the copies large and regular.
		unit := int64(1)
		for axis := len(d.shape) - 1; axis >= 0 && unit <= w.chunk/max(d.shape[axis], 1); axis-- {
			unit *= d.shape[axis]
		}
		w.chunk = min(w.chunk/unit*unit, most)
		return
	}
	w.run, w.outer = 1, len(d.shape)
	for w.outer > 0 && (d.shape[w.outer-1] == 1 || d.strides[w.outer-1] == w.run*width) {
		w.outer--
		w.run *= d.shape[w.outer]
	}
	line := first / w.run
	w.off = d.offset + first%w.run*width
	for axis := w.outer - 1; axis >= 0; axis-- {
		w.index[axis] = line % d.shape[axis]
		line /= d.shape[axis]
		w.off += w.index[axis] * d.strides[axis]
	}
}

// piece returns the next piece and the row-major number of its first element; nil at the end. It is valid
// until the next call.
func (w *walk) piece() (src []byte, first int64) {
	first = w.next
	left := w.stop - first
	if left <= 0 {
		return nil, first
	}
	width := int64(w.d.dtype.width)
	if w.buffer != nil {
		n := w.d.CopyRange(w.buffer[:min(w.chunk, left)*width], first)
		w.next += n
		return w.buffer[:n*width], first
	}
	n := min(left, w.most, w.run-first%w.run)
	src = w.d.data[w.off : w.off+n*width]
	w.next += n
	w.off += n * width
	if w.next%w.run == 0 {
		w.off -= w.run * width
		for axis := w.outer - 1; axis >= 0; axis-- {
			w.index[axis]++
			w.off += w.d.strides[axis]
			if w.index[axis] < w.d.shape[axis] {
				break
			}
			w.index[axis] = 0
			w.off -= w.d.shape[axis] * w.d.strides[axis]
		}
	}
	return src, first
}

// repeatsZeros reports whether a view repeats nothing but zeros, however often.
func (d *Dense) repeatsZeros() bool {
	return d.NumBytes() > int64(len(d.data)) && denseCount(d) == 0
}

// memoryOrder sets order to the axes from the one with the longest stride to the one with the shortest.
func (d *Dense) memoryOrder(order []int) {
	for k := range order {
		i := k
		for ; i > 0 && abs(d.strides[order[i-1]]) < abs(d.strides[k]); i-- {
			order[i] = order[i-1]
		}
		order[i] = k
	}
}

// lastAxisIsFastest reports whether neighbours along the last axis lie as close in memory as
// neighbours along any other.
func (d *Dense) lastAxisIsFastest() bool {
	fastest := len(d.shape) - 1
	for fastest >= 0 && d.shape[fastest] == 1 {
		fastest--
	}
	for axis := range fastest {
		if d.shape[axis] != 1 && abs(d.strides[axis]) < abs(d.strides[fastest]) {
			return false
		}
	}
	return true
}
