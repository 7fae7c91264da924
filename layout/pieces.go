package layout

import "sort"

const (
	// pieceBytes is how much of a dense tensor is looked at in one go: the positions found in it
	// and the piece itself stay in the cache.
	pieceBytes = 64 << 10
	// shortRun is the length in bytes below which runs are gathered before they are looked at.
	shortRun = 1 << 10
)

// pieceElements returns the number of elements in the largest piece.
func (d DType) pieceElements() int64 { return max(pieceBytes/int64(d.width), 1) }

// pieces calls yield for the elements of d in row-major order, in contiguous pieces of at most
// pieceElements, with the row-major number of the first one. Pieces are d's own memory where its
// runs are long enough and are gathered elsewhere. Only zeros may be left out.
func (d *Dense) pieces(yield func(src []byte, first int64) bool) {
	if d.len == 0 {
		return
	}
	if d.NumBytes() > int64(len(d.data)) && denseCount(d) == 0 {
		return // a view that repeats nothing but zeros, however often
	}
	width := int64(d.dtype.width)
	most := d.dtype.pieceElements() * width
	first := int64(0)
	cut := func(src []byte) bool {
		for len(src) > 0 {
			n := min(most, int64(len(src)))
			if !yield(src[:n], first) {
				return false
			}
			src = src[n:]
			first += n / width
		}
		return true
	}
	run := width
	for axis := len(d.shape) - 1; axis >= 0 && (d.shape[axis] == 1 || d.strides[axis] == run); axis-- {
		run *= d.shape[axis]
	}
	if run >= min(shortRun, d.NumBytes()) {
		for off, n := range d.Runs {
			if !cut(d.data[off : off+n]) {
				return
			}
		}
		return
	}
	for chunk := range d.Chunks(make([]byte, min(max(4*pieceBytes, width), d.NumBytes()))) {
		if !cut(chunk) {
			return
		}
	}
}

// memoryOrder returns the axes from the one with the longest stride to the one with the shortest.
func (d *Dense) memoryOrder() []int {
	order := make([]int, len(d.shape))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return abs(d.strides[order[i]]) > abs(d.strides[order[j]]) })
	return order
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
