package layout

import (
	"slices"
	"unsafe"
)

// ToDenseInto is [ToDense] into memory that is there already: dst becomes the result and its memory, where it is
// large enough, that of the result, so that a loop of conversions into one tensor takes new memory only while
// its results grow. The other …Into functions do the same with the index arrays as well.
//
// What dst held is overwritten, and so is what shares its memory: views of it, slices of its elements. That
// memory must not be read-only, as that of a stored tensor is, and nobody else may read it meanwhile. A dst that
// came out of a conversion lends all the memory that it has; one that was made by a constructor, whose
// memory may lie among other things, lends that of its elements and index arrays; a dense one that is not
// contiguous lends none. Memory in which t lies is left alone and replaced, so that t may even be dst itself. A zero
// dst takes new memory.
//
// If there is an error, dst is not set any more, or as it was if it is t; what its memory holds is undefined.
func ToDenseInto(dst *Dense, t Tensor, o *ConvertOptions) error {
	c, err := begin(t, o)
	if err == nil {
		defer c.end()
		switch {
		case dst.owned:
			c.oldData = lent(dst.data, true, t)
		case dst.order&rowMajor != 0:
			c.oldData = lent(dst.data[dst.offset:dst.offset+dst.NumBytes()], false, t)
		}
		var data []byte
		if data, err = c.toDense(t); err == nil {
			dst.become(t, data)
			return nil
		}
	}
	if t != Tensor(dst) {
		dst.drop()
	}
	return err
}

// ToCOOInto is [ToCOO] into memory that is there already; see [ToDenseInto].
func ToCOOInto(dst *COO, t Tensor, o *ConvertOptions) error {
	c, err := begin(t, o)
	if err == nil {
		defer c.end()
		c.lend(&dst.sparse, t)
		c.lendLevel(0, Index{}, dst.indices, dst.owned, t)
		var r COO
		if r, err = c.toCOO(t); err == nil {
			dst.sparse.become(t, r.data)
			w := int64(r.indices.typ.Size())
			dst.indices, dst.strides, dst.canonical = r.indices, [2]int64{int64(len(dst.shape)) * w, w}, r.canonical
			return nil
		}
	}
	if t != Tensor(dst) {
		*dst = COO{sparse: dst.dropped(), indices: dst.indices.dropped(dst.owned)}
	}
	return err
}

// ToCSRInto is [ToCSR] into memory that is there already; see [ToDenseInto].
func ToCSRInto(dst *CSR, t Tensor, o *ConvertOptions) error {
	return linesInto(&dst.compressed, t, 0, t == Tensor(dst), o)
}

// ToCSCInto is [ToCSC] into memory that is there already; see [ToDenseInto].
func ToCSCInto(dst *CSC, t Tensor, o *ConvertOptions) error {
	return linesInto(&dst.compressed, t, 1, t == Tensor(dst), o)
}

func linesInto(dst *compressed, t Tensor, axis int, same bool, o *ConvertOptions) error {
	c, err := begin(t, o)
	if err == nil {
		defer c.end()
		c.lend(&dst.sparse, t)
		c.lendLevel(0, dst.indptr, dst.indices, dst.owned, t)
		var r compressed
		if r, err = c.toLines(t, axis); err == nil {
			dst.sparse.become(t, r.data)
			dst.indptr, dst.indices = r.indptr, r.indices
			return nil
		}
	}
	if !same {
		*dst = compressed{sparse: dst.dropped(), indptr: dst.indptr.dropped(dst.owned), indices: dst.indices.dropped(dst.owned)}
	}
	return err
}

// ToCSFInto is [ToCSF] into memory that is there already; see [ToDenseInto].
func ToCSFInto(dst *CSF, t Tensor, o *ConvertOptions) error {
	c, err := begin(t, o)
	if err == nil {
		defer c.end()
		c.lend(&dst.sparse, t)
		for l := range dst.indices {
			var indptr Index
			if l < len(dst.indptr) {
				indptr = dst.indptr[l]
			}
			c.lendLevel(l, indptr, dst.indices[l], dst.owned, t)
		}
		var order []int
		var data []byte
		if order, data, err = c.toCSF(t); err == nil {
			dst.become(t, order, c.indptr[:len(order)-1], c.indices[:len(order)], data)
			return nil
		}
	}
	if t != Tensor(dst) {
		dst.drop()
	}
	return err
}

// lend takes the memory of the elements of s for the result of a conversion of t.
func (c *conversion) lend(s *sparse, t Tensor) { c.oldData = lent(s.data, s.owned, t) }

// lendLevel takes the memory of two index arrays for the result of a conversion of t.
func (c *conversion) lendLevel(l int, indptr, indices Index, owned bool, t Tensor) {
	c.oldIndptr[l], c.oldIndices[l] = lent(indptr.data, owned, t), lent(indices.data, owned, t)
	c.oldLevels = l + 1
	if owned {
		c.oldType = indices.typ
	}
}

// lent returns the memory of an array of a tensor that is to be the result of a conversion of t, or nil if t
// needs it. The memory behind the array belongs to it only if a conversion has made it.
func lent(b []byte, owned bool, t Tensor) []byte {
	if !owned {
		b = b[:len(b):len(b)]
	}
	if cap(b) == 0 || liesIn(t, b[:cap(b)]) {
		return nil
	}
	return b[:0]
}

// liesIn reports whether any of the arrays of t has a byte in common with b.
func liesIn(t Tensor, b []byte) bool {
	switch t := t.(type) {
	case *Dense:
		return overlap(t.data, b)
	case *COO:
		return overlap(t.data, b) || overlap(t.indices.data, b)
	case *CSR:
		return overlap(t.data, b) || overlap(t.indices.data, b) || overlap(t.indptr.data, b)
	case *CSC:
		return overlap(t.data, b) || overlap(t.indices.data, b) || overlap(t.indptr.data, b)
	case *CSF:
		for _, x := range t.indptr {
			if overlap(x.data, b) {
				return true
			}
		}
		for _, x := range t.indices {
			if overlap(x.data, b) {
				return true
			}
		}
		return overlap(t.data, b)
	}
	return false
}

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// become makes d a row-major tensor of data like t, in memory of its own.
func (d *Dense) become(t Tensor, data []byte) {
	shape, strides, names := d.shape[:0], d.strides[:0], d.names
	ndim := len(t.Shape())
	if !d.owned || cap(shape) < ndim || cap(strides) < ndim {
		shape, strides = make([]int64, 0, ndim), make([]int64, 0, ndim)
	}
	shape, strides = append(shape, t.Shape()...), strides[:ndim]
	RowMajorStrides(strides, shape, int64(t.DType().width))
	if !slices.Equal(names, t.DimNames()) {
		names = cloneNames(t.DimNames())
	}
	n, _ := CheckedProduct(shape, 1)
	d.set(t.DType(), shape, strides, 0, n, data, names)
	d.owned = true
}

// drop leaves d unset; it keeps memory that a conversion gave it, for the next one.
func (d *Dense) drop() {
	if !d.owned {
		*d = Dense{}
		return
	}
	*d = Dense{shape: d.shape[:0], strides: d.strides[:0], data: d.data[:0], owned: true}
}

// become makes s what a sparse tensor of the stored elements in data, with the shape and the names of t, has in
// common with others.
func (s *sparse) become(t Tensor, data []byte) {
	shape := s.shape[:0]
	if !s.owned {
		shape = nil
	}
	shape = append(shape, t.Shape()...)
	names := s.names
	if !slices.Equal(names, t.DimNames()) {
		names = cloneNames(t.DimNames())
	}
	dt := t.DType()
	*s = sparse{dtype: dt, shape: shape, names: names, nnz: int64(len(data) / int(dt.width)), data: data, owned: true}
}

// dropped returns what is left of s when it is unset.
func (s *sparse) dropped() sparse {
	if !s.owned {
		return sparse{}
	}
	return sparse{shape: s.shape[:0], data: s.data[:0], owned: true}
}

func (x Index) dropped(owned bool) Index {
	if !owned {
		return Index{}
	}
	return Index{data: x.data[:0]}
}

// become makes c a tensor with the shape and names of t, and these levels and elements.
func (c *CSF) become(t Tensor, order []int, indptr, indices []Index, data []byte) {
	axes, ptr, idx := c.order[:0], c.indptr[:0], c.indices[:0]
	if !c.owned {
		axes, ptr, idx = nil, nil, nil
	}
	c.order, c.indptr, c.indices = append(axes, order...), append(ptr, indptr...), append(idx, indices...)
	c.sparse.become(t, data)
}

// drop leaves c unset; it keeps memory that a conversion gave it, for the next one.
func (c *CSF) drop() {
	if !c.owned {
		*c = CSF{}
		return
	}
	for l := range c.indptr {
		c.indptr[l] = c.indptr[l].dropped(true)
	}
	for l := range c.indices {
		c.indices[l] = c.indices[l].dropped(true)
	}
	*c = CSF{sparse: c.dropped(), order: c.order[:0], indptr: c.indptr, indices: c.indices}
}
