package layout

import (
	"cmp"
	"slices"

	"github.com/tstore/tstore/vec"
)

// CountNonZero returns the number of elements of a tensor that are not zero. −0.0 is zero, NaN is not,
// and an opaque element is zero if all its bytes are. Zeros that a sparse tensor happens to store do not
// count; elements that it stores several times are summed first. Errors are those of the index arrays,
// as [Convert] has them.
func CountNonZero(t Tensor) (int64, error) {
	c, err := begin(t, &ConvertOptions{Goroutines: 1})
	if err != nil {
		return 0, err
	}
	defer c.end()
	switch t := t.(type) {
	case *Dense:
		return denseCount(t), nil
	case *COO:
		ordered, err := c.look(t, nil)
		if err != nil {
			return 0, err
		}
		if ordered {
			return countNonZero(t.dtype, t.data), nil
		}
	case *CSR:
		if err := t.Validate(); !isOrder(err) {
			return countStored(&t.sparse, err)
		}
	case *CSC:
		if err := t.Validate(); !isOrder(err) {
			return countStored(&t.sparse, err)
		}
	case *CSF:
		if err := t.Validate(); !isOrder(err) {
			return countStored(&t.sparse, err)
		}
	default:
		return 0, unknownTensor(t)
	}
	e, err := c.entriesOf(t, naturalOrder(len(t.Shape())))
	if err != nil {
		return 0, err
	}
	return countNonZero(t.DType(), e.data), nil
}

func countStored(s *sparse, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return countNonZero(s.dtype, s.data), nil
}

// denseCount counts where the elements lie, in whatever order that is: neither the sign nor the order
// of strides matters, and elements that a stride of 0 repeats are looked at once.
func denseCount(d *Dense) int64 {
	if d.len == 0 {
		return 0
	}
	type axis struct{ n, stride int64 }
	var all [MaxDims]axis
	axes := all[:0]
	off, times := d.offset, int64(1)
	for k, n := range d.shape {
		switch stride := d.strides[k]; {
		case n == 1:
		case stride == 0:
			times *= n
		case stride < 0:
			off += (n - 1) * stride
			axes = append(axes, axis{n, -stride})
		default:
			axes = append(axes, axis{n, stride})
		}
	}
	slices.SortFunc(axes, func(a, b axis) int { return cmp.Compare(b.stride, a.stride) })
	var b box
	for _, a := range axes {
		b.push(a.n, a.stride)
	}
	width := int64(d.dtype.width)
	e := d.dtype.elem()
	n, stride := int64(1), width
	if b.ndim > 0 {
		b.ndim--
		n, stride = b.shape[b.ndim], b.strides[b.ndim]
	}
	total := int64(0)
	for off := range b.offsets(off) {
		run := d.data[off : off+(n-1)*stride+width]
		switch {
		case stride == width:
			total += countNonZero(d.dtype, run)
		case e != 0:
			total += int64(vec.CountNonZeroStrided(run, e, int(n), int(stride)))
		default:
			for i := range n {
				total += countNonZero(d.dtype, run[i*stride:i*stride+width])
			}
		}
	}
	return times * total
}
