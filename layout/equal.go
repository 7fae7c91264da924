package layout

import (
	"bytes"
	"slices"
)

// Equal reports whether two tensors have the same element type, the same shape, the same layout
// and bit for bit the same elements: a NaN equals itself, and +0 is not −0. How a dense tensor is
// strided does not matter. Sparse tensors are equal if the same elements are stored in the same order,
// of CSF with the same axis order, whatever the types of their index arrays; whether a COO says that it
// is canonical does not matter. Dimension names are not compared; see [SameDimNames]. To compare
// tensors of different layouts, convert one.
func Equal(a, b Tensor) bool {
	if a.DType() != b.DType() || !slices.Equal(a.Shape(), b.Shape()) || a.NNZ() != b.NNZ() {
		return false
	}
	switch a := a.(type) {
	case *Dense:
		b, ok := b.(*Dense)
		return ok && a.equalElements(b)
	case *COO:
		b, ok := b.(*COO)
		return ok && bytes.Equal(a.data, b.data) && a.equalCoordinates(b)
	case *CSR:
		b, ok := b.(*CSR)
		return ok && a.equal(&b.compressed)
	case *CSC:
		b, ok := b.(*CSC)
		return ok && a.equal(&b.compressed)
	case *CSF:
		b, ok := b.(*CSF)
		return ok && bytes.Equal(a.data, b.data) && slices.Equal(a.order, b.order) &&
			slices.EqualFunc(a.indptr, b.indptr, Index.equal) && slices.EqualFunc(a.indices, b.indices, Index.equal)
	}
	return false
}

// equalElements compares the bytes of two tensors of the same type and shape.
func (d *Dense) equalElements(o *Dense) bool {
	if d.order&rowMajor != 0 && o.order&rowMajor != 0 {
		n := d.NumBytes()
		return bytes.Equal(d.data[d.offset:d.offset+n], o.data[o.offset:o.offset+n])
	}
	width := int64(d.dtype.width)
	size := max(width, min(64<<10, d.NumBytes()))
	x, y := make([]byte, size), make([]byte, size)
	for first := int64(0); first < d.len; {
		n := d.CopyRange(x, first)
		o.CopyRange(y, first)
		if !bytes.Equal(x[:n*width], y[:n*width]) {
			return false
		}
		first += n
	}
	return true
}

func (c *COO) equalCoordinates(o *COO) bool {
	for k := range c.nnz {
		for axis := range c.shape {
			if c.Coordinate(k, axis) != o.Coordinate(k, axis) {
				return false
			}
		}
	}
	return true
}

func (c *compressed) equal(o *compressed) bool {
	return bytes.Equal(c.data, o.data) && c.indptr.equal(o.indptr) && c.indices.equal(o.indices)
}

// SameDimNames reports whether the axes of two tensors have the same names. No names and all
// names empty are the same.
func SameDimNames(a, b Tensor) bool {
	if len(a.Shape()) != len(b.Shape()) {
		return false
	}
	for axis := range a.Shape() {
		if dimName(a, axis) != dimName(b, axis) {
			return false
		}
	}
	return true
}

func dimName(t Tensor, axis int) string {
	if names := t.DimNames(); names != nil {
		return names[axis]
	}
	return ""
}
