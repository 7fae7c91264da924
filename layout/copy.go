package layout

import (
	"fmt"
	"iter"
	"unsafe"
)

// CopyRowMajor copies all elements in row-major order to dst, which must have [Dense.NumBytes]
// bytes or more, and returns how many bytes it copied. The error is [ErrBounds] if dst is too
// short.
func (d *Dense) CopyRowMajor(dst []byte) (int64, error) {
	n := d.NumBytes()
	if int64(len(dst)) < n {
		return 0, fmt.Errorf("%w: %d bytes do not hold a tensor of %d", ErrBounds, len(dst), n)
	}
	d.CopyRange(dst[:n], 0)
	return n, nil
}

// AppendRowMajor appends all elements in row-major order to dst.
func (d *Dense) AppendRowMajor(dst []byte) []byte {
	if d.order&rowMajor != 0 {
		return append(dst, d.data[d.offset:d.offset+d.NumBytes()]...)
	}
	start := len(dst)
	dst = append(dst, make([]byte, d.NumBytes())...)
	d.CopyRange(dst[start:], 0)
	return dst
}

// CopyRange copies elements in row-major order to dst, beginning with element number first: as
// many whole elements as dst has room for and as there are. It returns the number of elements.
func (d *Dense) CopyRange(dst []byte, first int64) int64 {
	if first < 0 || first >= d.len {
		return 0
	}
	width := int64(d.dtype.width)
	total := min(int64(len(dst))/width, d.len-first)
	if d.order&rowMajor != 0 {
		off := d.offset + first*width
		copy(dst, d.data[off:off+total*width])
		return total
	}
	// Cut the range into boxes: from the current element on, as many whole sub-tensors of as many
	// trailing axes as possible. There are at most two boxes per axis.
	for left := total; left > 0; {
		axis, inner := len(d.shape)-1, int64(1)
		at := first // element number within the sub-tensor of the axes from axis on
		for axis > 0 {
			n := d.shape[axis]
			if at%n != 0 || inner*n > left {
				break
			}
			at /= n
			inner *= n
			axis--
		}
		count := min(d.shape[axis]-at%d.shape[axis], left/inner)
		copyBox(dst, d.data, d.at(first), count, d.shape[axis+1:], d.strides[axis], d.strides[axis+1:], width)
		n := count * inner
		dst = dst[n*width:]
		first += n
		left -= n
	}
	return total
}

// Runs calls yield for the pieces of [Dense.Data] that make up the elements in row-major order:
// n bytes that begin at off. Pieces are as long as the strides allow. It is a
// range function: for off, n := range d.Runs { … }. For tensors whose last axis is strided, which
// have a piece per element, [Dense.Chunks] is the faster way.
func (d *Dense) Runs(yield func(off, n int64) bool) {
	if d.len == 0 {
		return
	}
	run := int64(d.dtype.width)
	axis := len(d.shape)
	for axis > 0 && (d.shape[axis-1] == 1 || d.strides[axis-1] == run) {
		axis--
		run *= d.shape[axis]
	}
	var b box
	for k := range axis {
		b.push(d.shape[k], d.strides[k])
	}
	for off := range b.offsets(d.offset) {
		if !yield(off, run) {
			return
		}
	}
}

// Chunks returns the elements in row-major order, piece by piece. Where they lie in that order for
// at least the length of buf, a chunk is a piece of the tensor's own memory, however long;
// elsewhere elements are gathered in buf, and a chunk is valid until the next one. If buf has no
// room for an element, a buffer of 1 MiB (or of one element) is allocated for it.
func (d *Dense) Chunks(buf []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if d.len == 0 {
			return
		}
		width := int64(d.dtype.width)
		if d.order&rowMajor != 0 {
			yield(d.data[d.offset : d.offset+d.NumBytes()])
			return
		}
		if int64(len(buf)) < width {
			buf = make([]byte, min(max(width, 1<<20), d.NumBytes()))
		}
		run := width
		for axis := len(d.shape) - 1; axis >= 0 && (d.shape[axis] == 1 || d.strides[axis] == run); axis-- {
			run *= d.shape[axis]
		}
		if run >= int64(len(buf)) {
			for off, n := range d.Runs {
				if !yield(d.data[off : off+n]) {
					return
				}
			}
			return
		}
		// Whole sub-tensors of the trailing axes keep the copies large and regular.
		chunk := int64(len(buf)) / width
		unit := int64(1)
		for axis := len(d.shape) - 1; axis >= 0 && unit <= chunk/max(d.shape[axis], 1); axis-- {
			unit *= d.shape[axis]
		}
		chunk = chunk / unit * unit
		for first := int64(0); first < d.len; {
			n := d.CopyRange(buf[:chunk*width], first)
			if !yield(buf[:n*width]) {
				return
			}
			first += n
		}
	}
}

// box is a strided source with the fewest axes that describe it: none of length 1, and no two
// neighbours that could be one. Axis 0 is the slowest in row-major order.
type box struct {
	ndim    int
	shape   [MaxDims]int64
	strides [MaxDims]int64
}

func (b *box) push(n, stride int64) {
	if n == 1 {
		return
	}
	if k := b.ndim - 1; k >= 0 && b.strides[k] == n*stride {
		b.shape[k] *= n
		b.strides[k] = stride
		return
	}
	b.shape[b.ndim], b.strides[b.ndim] = n, stride
	b.ndim++
}

// offsets returns the byte offsets of all elements in row-major order, of which the first is off.
func (b *box) offsets(off int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		var index [MaxDims]int64
		for {
			if !yield(off) {
				return
			}
			k := b.ndim - 1
			for ; k >= 0; k-- {
				index[k]++
				off += b.strides[k]
				if index[k] < b.shape[k] {
					break
				}
				index[k] = 0
				off -= b.shape[k] * b.strides[k]
			}
			if k < 0 {
				return
			}
		}
	}
}

// copyBox copies count sub-tensors of the given shape, which lie stride apart from off on, to dst
// in row-major order. All of them must lie in src and fit in dst, and none may be empty.
func copyBox(dst, src []byte, off, count int64, shape []int64, stride int64, strides []int64, width int64) {
	var b box
	b.push(count, stride)
	for i, n := range shape {
		b.push(n, strides[i])
	}
	// A last axis without gaps makes longer elements.
	if k := b.ndim - 1; k >= 0 && b.strides[k] == width {
		width *= b.shape[k]
		b.ndim--
	}
	switch width {
	case 1:
		gather[uint8](dst, src, off, &b)
	case 2:
		gather[uint16](dst, src, off, &b)
	case 4:
		gather[uint32](dst, src, off, &b)
	case 8:
		gather[uint64](dst, src, off, &b)
	case 16:
		gather[[2]uint64](dst, src, off, &b)
	default:
		gatherBytes(dst, src, off, &b, width)
	}
}

// gatherBytes copies elements of any width.
func gatherBytes(dst, src []byte, off int64, b *box, width int64) {
	for off := range b.offsets(off) {
		copy(dst[:width], src[off:off+width])
		dst = dst[width:]
	}
}

// word is a machine type that stands for elements of its size. The values are only moved, so they
// may lie at any address.
type word interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// gather copies elements of the size of T. Where the last axis is not the one whose neighbours lie
// closest in src, the two are transposed tile by tile.
func gather[T word](dst, src []byte, off int64, b *box) {
	var zero T
	width := int64(unsafe.Sizeof(zero))
	base := unsafe.Pointer(unsafe.SliceData(src))
	out := unsafe.Pointer(unsafe.SliceData(dst))
	if b.ndim == 0 {
		*(*T)(out) = *(*T)(unsafe.Add(base, off))
		return
	}
	last := b.ndim - 1
	fast := last
	for k := range last {
		if s := abs(b.strides[k]); s != 0 && s < abs(b.strides[fast]) {
			fast = k
		}
	}
	// Row-major strides of dst, in elements, for the axes that are walked one by one.
	var pitch, index [MaxDims]int64
	p := int64(1)
	for k := last; k >= 0; k-- {
		pitch[k] = p
		p *= b.shape[k]
	}
	at := int64(0)
	for {
		o := unsafe.Add(out, at*width)
		s := unsafe.Add(base, off)
		if fast == last {
			gatherRow[T](o, s, b.shape[last], b.strides[last])
		} else {
			transpose[T](o, s, b.shape[fast], b.shape[last], pitch[fast], b.strides[fast], b.strides[last])
		}
		k := last - 1
		for ; k >= 0; k-- {
			if k == fast {
				continue
			}
			index[k]++
			off += b.strides[k]
			at += pitch[k]
			if index[k] < b.shape[k] {
				break
			}
			index[k] = 0
			off -= b.shape[k] * b.strides[k]
			at -= b.shape[k] * pitch[k]
		}
		if k < 0 {
			return
		}
	}
}

func gatherRow[T word](dst, src unsafe.Pointer, n, stride int64) {
	out := unsafe.Slice((*T)(dst), n)
	for i := range out {
		out[i] = *(*T)(unsafe.Add(src, int64(i)*stride))
	}
}

// Sides of the squares that transpose works in, in elements: a tile's columns are whole cache lines
// of 1-byte elements, and a block's are a cache line of 8-byte elements.
const (
	tile  = 64
	block = 8
)

// transpose writes rows × cols elements to dst, whose rows lie pitch elements apart. In src,
// neighbours in a row lie colStride bytes apart and neighbours in a column, which are closer,
// rowStride bytes.
func transpose[T word](dst, src unsafe.Pointer, rows, cols, pitch, rowStride, colStride int64) {
	var zero T
	width := int64(unsafe.Sizeof(zero))
	if width <= 4 && rows >= tile && cols >= tile {
		transposeTiles[T](dst, src, rows, cols, pitch, rowStride, colStride)
		return
	}
	for c0 := int64(0); c0 < cols; c0 += block {
		nc := min(block, cols-c0)
		for r0 := int64(0); r0 < rows; r0 += block {
			for r := r0; r < min(r0+block, rows); r++ {
				out := unsafe.Add(dst, (r*pitch+c0)*width)
				in := unsafe.Add(src, r*rowStride+c0*colStride)
				if nc < block {
					gatherRow[T](out, in, nc, colStride)
					continue
				}
				o := (*[block]T)(out)
				o[0] = *(*T)(in)
				o[1] = *(*T)(unsafe.Add(in, colStride))
				o[2] = *(*T)(unsafe.Add(in, 2*colStride))
				o[3] = *(*T)(unsafe.Add(in, 3*colStride))
				o[4] = *(*T)(unsafe.Add(in, 4*colStride))
				o[5] = *(*T)(unsafe.Add(in, 5*colStride))
				o[6] = *(*T)(unsafe.Add(in, 6*colStride))
				o[7] = *(*T)(unsafe.Add(in, 7*colStride))
			}
		}
	}
}

// transposeTiles is transpose for narrow elements. Each tile goes through a buffer in the
// first-level cache, so that lines of src and of dst are each touched once, even where the distance
// between them is a large power of two and a cache set has room for a few of them only.
func transposeTiles[T word](dst, src unsafe.Pointer, rows, cols, pitch, rowStride, colStride int64) {
	var zero T
	width := int64(unsafe.Sizeof(zero))
	var buf [tile][tile]T // column by column
	for c0 := int64(0); c0 < cols; c0 += tile {
		nc := min(tile, cols-c0)
		for r0 := int64(0); r0 < rows; r0 += tile {
			nr := min(tile, rows-r0)
			for c := range nc {
				in := unsafe.Add(src, (c0+c)*colStride+r0*rowStride)
				column := buf[c][:nr]
				if rowStride == width {
					copy(column, unsafe.Slice((*T)(in), nr))
					continue
				}
				for r := range column {
					column[r] = *(*T)(unsafe.Add(in, int64(r)*rowStride))
				}
			}
			for r := range nr {
				out := unsafe.Slice((*T)(unsafe.Add(dst, ((r0+r)*pitch+c0)*width)), nc)
				if nc == tile {
					for c := 0; c < tile; c += block {
						b := (*[block][tile]T)(unsafe.Pointer(&buf[c&(tile-1)]))
						o := (*[block]T)(unsafe.Pointer(&out[c]))
						o[0] = b[0][r&(tile-1)]
						o[1] = b[1][r&(tile-1)]
						o[2] = b[2][r&(tile-1)]
						o[3] = b[3][r&(tile-1)]
						o[4] = b[4][r&(tile-1)]
						o[5] = b[5][r&(tile-1)]
						o[6] = b[6][r&(tile-1)]
						o[7] = b[7][r&(tile-1)]
					}
					continue
				}
				for c := range out {
					out[c] = buf[c][r]
				}
			}
		}
	}
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
