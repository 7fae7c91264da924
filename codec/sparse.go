package codec

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// A stretch is a buffer of a body: bytes offset to offset+size−1.
type stretch struct{ offset, size int64 }

// of returns the bytes of the buffer.
func (s stretch) of(body []byte) []byte {
	return body[s.offset : s.offset+s.size : s.offset+s.size]
}

// A sparseTensor is what the head of a SparseTensor message says. The fields
// that its layout has no use for are zero.
type sparseTensor struct {
	layout layout.Layout
	dtype  layout.DType
	shape  []int64
	names  []string // nil if all are empty; borrowed
	nnz    int64

	indexType, indptrType layout.IndexType

	// COO
	strides   [2]int64 // bytes between the rows and columns of the index matrix
	canonical bool

	order []int // CSF: the axis of each level
}

// A sparseBuffers says where the buffers of a sparse tensor lie in its body.
type sparseBuffers struct {
	data stretch

	// One buffer for COO, CSR and CSC, except that COO has no indptr. One for
	// each level for CSF, except that the last one has no indptr.
	indptr, indices [layout.MaxDims]stretch

	bytes int64 // of all buffers
}

// sparse reads the head of a SparseTensor message into t, whose slices are used
// as far as they have room, and s. All buffers lie in the body and are as long
// as shape, nnz and each other ask for; their contents are not looked at.
func (h *Head) sparse(t *sparseTensor, s *sparseBuffers) error {
	var table flatbuffers.Table
	h.message.Header(&table)
	var m fb.SparseTensor
	m.Init(table.Bytes, table.Pos)

	m.Type(&table)
	var err error
	if t.dtype, err = h.storageType(m.TypeType(), table); err != nil {
		return err
	}
	ext, err := h.extension()
	if err != nil {
		return err
	}
	if ext != nil {
		if t.dtype != ext.sparse {
			return h.broken(RuleDTypeStorage, "%s is %v, which a sparse tensor has as %v, not as %v", keyDType, ext.dtype, ext.sparse, t.dtype)
		}
		t.dtype = ext.dtype
	}

	ndim := m.ShapeLength()
	if ndim > layout.MaxDims {
		return h.broken(RuleDimsLimit, "%d dimensions, more than the limit of %d", ndim, layout.MaxDims)
	}
	// A SparseTensor begins with the same fields as a Tensor.
	var dense fb.Tensor
	dense.Init(m.Table().Bytes, m.Table().Pos)
	if t.shape, t.names, err = h.shape(&dense, ndim, t.shape, t.names); err != nil {
		return err
	}
	if _, ok := layout.CheckedProduct(t.shape, 1); !ok {
		return h.broken(RuleShapeOverflow, "shape %v has more than 2^63-1 elements", clone(t.shape))
	}
	t.nnz = m.NonZeroLength()
	if t.nnz < 0 {
		return h.broken(RuleNonZeroLength, "%d stored elements", t.nnz)
	}
	var data fb.Buffer
	m.Data(&data)
	if s.data, err = h.buffer(s, "data", &data, t.nnz, int64(t.dtype.Size())); err != nil {
		return err
	}

	m.SparseIndex(&table)
	switch m.SparseIndexType() {
	case fb.SparseTensorIndexSparseTensorIndexCOO:
		err = h.indexCOO(t, s, table)
	case fb.SparseTensorIndexSparseMatrixIndexCSX:
		err = h.indexCSX(t, s, table)
	case fb.SparseTensorIndexSparseTensorIndexCSF:
		err = h.indexCSF(t, s, table)
	default:
		err = h.broken(RuleSparseIndexKind, "a sparse index of unknown kind %d", m.SparseIndexType())
	}
	if err != nil {
		return err
	}
	// Buffers that share bytes could make a small body cost many times its
	// size, level by level of a CSF.
	if s.bytes > h.BodyLen {
		return h.broken(RuleBuffersOverlap, "buffers of %d bytes together in a body of %d", s.bytes, h.BodyLen)
	}
	return nil
}

// buffer returns where n items of size bytes lie in the body, and adds them to
// s.bytes. The length that b claims is not used; see each index for what it
// counts.
func (h *Head) buffer(s *sparseBuffers, name string, b *fb.Buffer, n, size int64) (stretch, error) {
	if b.Offset() < 0 || b.Length() < 0 {
		return stretch{}, h.broken(RuleBufferNegative, "%s of length %d at %d", name, b.Length(), b.Offset())
	}
	bytes, ok := layout.CheckedMul(n, size)
	if bytes == 0 && ok {
		return stretch{}, nil // wherever it may be
	}
	if end, fits := layout.CheckedAdd(b.Offset(), bytes); !ok || !fits || end > h.BodyLen {
		return stretch{}, h.broken(RuleBufferBounds, "%s of %d times %d bytes at %d in a body of %d", name, n, size, b.Offset(), h.BodyLen)
	}
	if s.bytes, ok = layout.CheckedAdd(s.bytes, bytes); !ok {
		s.bytes = math.MaxInt64 // more than any body has
	}
	return stretch{offset: b.Offset(), size: bytes}, nil
}

// indexType returns the type of the integers of an index array.
func (h *Head) indexType(name string, x *fb.Int) (layout.IndexType, error) {
	dt, err := h.intType(x.Table())
	if err != nil {
		return 0, h.broken(RuleIndexWidth, "%s with integers of %d bits", name, x.BitWidth())
	}
	return layout.IndexTypeOf(dt)
}

func (h *Head) indexCOO(t *sparseTensor, s *sparseBuffers, table flatbuffers.Table) error {
	var x fb.SparseTensorIndexCOO
	x.Init(table.Bytes, table.Pos)
	t.layout = layout.LayoutCOO
	t.canonical = x.IsCanonical()
	var typ fb.Int
	var err error
	if t.indexType, err = h.indexType("indices", x.IndicesType(&typ)); err != nil {
		return err
	}
	var b fb.Buffer
	x.IndicesBuffer(&b)
	ndim, w := int64(len(t.shape)), int64(t.indexType.Size())
	matrix, err := h.buffer(s, "indices", &b, t.nnz, ndim*w)
	if err != nil {
		return err
	}
	t.strides = [2]int64{ndim * w, w}
	switch n := x.IndicesStridesLength(); n {
	case 0:
	case 2:
		t.strides = [2]int64{x.IndicesStrides(0), x.IndicesStrides(1)}
	default:
		return h.broken(RuleIndexStridesCount, "%d strides of the indices, not 2", n)
	}
	s.indices[0] = matrix
	if matrix.size == 0 {
		t.strides = [2]int64{w, w}
		return nil
	}
	if t.strides[0] < 0 || t.strides[1] < 0 {
		return h.broken(RuleIndexStrideNegative, "strides %v of the indices", t.strides)
	}
	if t.strides[0]%w != 0 || t.strides[1]%w != 0 {
		return h.broken(RuleIndexStrideMultiple, "strides %v of indices of %d bytes", t.strides, w)
	}
	rows, ok1 := layout.CheckedMul(t.nnz-1, t.strides[0])
	columns, ok2 := layout.CheckedMul(ndim-1, t.strides[1])
	span, ok3 := layout.CheckedAdd(rows, columns)
	if ok1 && ok2 && ok3 {
		span, ok3 = layout.CheckedAdd(span, w)
	}
	if end, ok := layout.CheckedAdd(b.Offset(), span); !ok || !ok1 || !ok2 || !ok3 || end > h.BodyLen {
		return h.broken(RuleIndexStridesBounds, "%d indices of %d axes with strides %v at %d in a body of %d", t.nnz, ndim, t.strides, b.Offset(), h.BodyLen)
	}
	s.indices[0].size = span
	return nil
}

func (h *Head) indexCSX(t *sparseTensor, s *sparseBuffers, table flatbuffers.Table) error {
	var x fb.SparseMatrixIndexCSX
	x.Init(table.Bytes, table.Pos)
	if len(t.shape) != 2 {
		return h.broken(RuleCSXDims, "a compressed matrix of %d dimensions", len(t.shape))
	}
	axis := x.CompressedAxis()
	switch axis {
	case fb.CompressedAxisRow:
		t.layout = layout.LayoutCSR
	case fb.CompressedAxisColumn:
		t.layout = layout.LayoutCSC
	default:
		return h.broken(RuleCompressedAxis, "compressed axis %d", axis)
	}
	var typ fb.Int
	var err error
	if t.indptrType, err = h.indexType("indptr", x.IndptrType(&typ)); err != nil {
		return err
	}
	if t.indexType, err = h.indexType("indices", x.IndicesType(&typ)); err != nil {
		return err
	}
	var b fb.Buffer
	lines := t.shape[axis]
	if lines == math.MaxInt64 {
		return h.broken(RuleBufferBounds, "indptr for %d lines", lines)
	}
	x.IndptrBuffer(&b)
	if s.indptr[0], err = h.buffer(s, "indptr", &b, lines+1, int64(t.indptrType.Size())); err != nil {
		return err
	}
	x.IndicesBuffer(&b)
	s.indices[0], err = h.buffer(s, "indices", &b, t.nnz, int64(t.indexType.Size()))
	return err
}

func (h *Head) indexCSF(t *sparseTensor, s *sparseBuffers, table flatbuffers.Table) error {
	var x fb.SparseTensorIndexCSF
	x.Init(table.Bytes, table.Pos)
	t.layout = layout.LayoutCSF
	ndim := len(t.shape)
	if ndim < 2 {
		return h.broken(RuleCSFDims, "a tree for %d dimensions, fewer than 2", ndim)
	}
	if x.IndptrBuffersLength() != ndim-1 || x.IndicesBuffersLength() != ndim {
		return h.broken(RuleCSFBuffersCount, "%d indptr and %d indices for %d dimensions", x.IndptrBuffersLength(), x.IndicesBuffersLength(), ndim)
	}
	if x.AxisOrderLength() != ndim {
		return h.broken(RuleCSFAxisOrder, "an axis order of %d axes for %d dimensions", x.AxisOrderLength(), ndim)
	}
	t.order = grow(t.order, ndim)
	var seen uint64
	for level := range ndim {
		axis := int(x.AxisOrder(level))
		if axis < 0 || axis >= ndim || seen>>axis&1 != 0 {
			return h.broken(RuleCSFAxisOrder, "axis %d of level %d, which is no axis or one of an earlier level", axis, level)
		}
		seen |= 1 << axis
		t.order[level] = axis
	}
	var typ fb.Int
	var err error
	if t.indptrType, err = h.indexType("indptr", x.IndptrType(&typ)); err != nil {
		return err
	}
	if t.indexType, err = h.indexType("indices", x.IndicesType(&typ)); err != nil {
		return err
	}
	// The lengths count elements, as Arrow C++ writes and reads them, or bytes,
	// as the text of the format has it. Both can fit at once only where they
	// mean the same.
	perIndptr, perIndex := int64(1), int64(1)
	if !csfLevelsFit(&x, t.nnz, perIndptr, perIndex) {
		perIndptr, perIndex = int64(t.indptrType.Size()), int64(t.indexType.Size())
		if !csfLevelsFit(&x, t.nnz, perIndptr, perIndex) {
			return h.broken(RuleCSFLevels, "lengths of indptr and indices that do not fit each other and %d stored elements, counted in elements or in bytes", t.nnz)
		}
	}
	var b fb.Buffer
	for level := range ndim - 1 {
		x.IndptrBuffers(&b, level)
		if s.indptr[level], err = h.buffer(s, "indptr", &b, b.Length()/perIndptr, int64(t.indptrType.Size())); err != nil {
			return err
		}
	}
	for level := range ndim {
		x.IndicesBuffers(&b, level)
		if s.indices[level], err = h.buffer(s, "indices", &b, b.Length()/perIndex, int64(t.indexType.Size())); err != nil {
			return err
		}
	}
	return nil
}

// csfLevelsFit reports whether the lengths of a CSF's buffers, in units of
// which an integer of an indptr has perIndptr and one of the indices perIndex,
// are possible: the last level has nnz nodes, and each indptr is one longer
// than its level.
func csfLevelsFit(x *fb.SparseTensorIndexCSF, nnz, perIndptr, perIndex int64) bool {
	var indptr, indices fb.Buffer
	for level := range x.IndicesBuffersLength() {
		x.IndicesBuffers(&indices, level)
		nodes := indices.Length() / perIndex
		if indices.Length() < 0 || indices.Length()%perIndex != 0 {
			return false
		}
		if level == x.IndptrBuffersLength() {
			return nodes == nnz
		}
		x.IndptrBuffers(&indptr, level)
		if indptr.Length()%perIndptr != 0 || indptr.Length()/perIndptr-1 != nodes {
			return false
		}
	}
	return false
}
