package codec

import (
	"fmt"
	"math"
	"unsafe"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// encodeDense makes a Tensor message of d.
func encodeDense(d *layout.Dense, meta []layout.Attr) (*Record, error) {
	var s storedDense
	if err := s.of(d); err != nil {
		return nil, err
	}
	return newRecord(s.head(d.DimNames(), meta), s.body), nil
}

// A storedDense is how a dense tensor is stored.
type storedDense struct {
	dtype   layout.DType // that of the message
	ext     *extension   // nil if that is the tensor's own
	shape   [maxStoredDims]int64
	strides [maxStoredDims]int64
	ndim    int
	bytes   int64 // of the elements
	bodyLen int64
	body    piece
}

// of makes s that of d.
func (s *storedDense) of(d *layout.Dense) error {
	s.dtype, s.ext, s.bytes = d.DType(), extensionOf(d.DType()), d.NumBytes()
	if s.ext != nil {
		s.dtype = s.ext.dense
	}
	var ok bool
	s.bodyLen, ok = layout.CheckedAlign64(s.bytes)
	if !ok || s.bodyLen > math.MaxInt64-2*MaxMetadata {
		return fmt.Errorf("codec: %w: a tensor of %d bytes leaves no room for its message", layout.ErrShape, s.bytes)
	}

	// Strides are those of the order alone, whatever d has for axes of length
	// 0 or 1, so that equal tensors make equal messages.
	ndim := copy(s.shape[:], d.Shape())
	size := int64(d.DType().Size())
	switch {
	case d.IsContiguous():
		layout.RowMajorStrides(s.strides[:ndim], s.shape[:ndim], size)
		s.body = inMemory(elements(d))
	case d.IsColumnMajor():
		layout.ColumnMajorStrides(s.strides[:ndim], s.shape[:ndim], size)
		s.body = inMemory(elements(d))
	default:
		layout.RowMajorStrides(s.strides[:ndim], s.shape[:ndim], size)
		s.body = inOrder(d)
	}
	if s.ext != nil && s.ext.parts > 0 {
		s.shape[ndim] = int64(s.ext.parts)
		s.strides[ndim] = int64(s.dtype.Size())
		ndim++
	}
	s.ndim = ndim
	return nil
}

// head makes the head of the message.
func (s *storedDense) head(names []string, meta []layout.Attr) []byte {
	b := builders.Get().(*flatbuffers.Builder)
	defer releaseBuilder(b)
	dims := buildShape(b, s.shape[:s.ndim], names)
	steps := buildLongs(b, s.strides[:s.ndim])
	kind, typ := buildType(b, s.dtype)
	fb.TensorStart(b)
	fb.TensorAddType(b, typ)
	fb.TensorAddShape(b, dims)
	fb.TensorAddStrides(b, steps)
	fb.TensorAddData(b, fb.CreateBuffer(b, 0, s.bytes))
	fb.TensorAddTypeType(b, kind)
	name := ""
	if s.ext != nil {
		name = s.ext.dtype.String()
	}
	return buildMessage(b, fb.MessageHeaderTensor, fb.TensorEnd(b), s.bodyLen, name, meta)
}

// elements returns the bytes of a tensor whose elements have no gaps.
func elements(d *layout.Dense) []byte {
	return d.Data()[d.Offset():][:d.NumBytes()]
}

// A denseTensor is what the head of a Tensor message says.
type denseTensor struct {
	dtype   layout.DType
	shape   []int64
	strides []int64
	names   []string // nil if all are empty; borrowed
	offset  int64    // of element [0, …, 0] in the body
	span    int64    // bytes from there to the end of the last element
}

// denseDims is the number of dimensions up to which a decoded tensor is one
// allocation.
const denseDims = 8

// A denseBlock is a tensor with the memory of its shape, strides and names.
type denseBlock struct {
	tensor layout.Dense
	shape  [denseDims]int64
	stride [denseDims]int64
	name   [denseDims]string
}

// decodeDense returns a view of the body of a Tensor message.
func decodeDense(h *Head, body []byte) (*layout.Dense, error) {
	block := new(denseBlock)
	t := denseTensor{shape: block.shape[:0], strides: block.stride[:0], names: block.name[:0]}
	if err := h.dense(&t); err != nil {
		return nil, err
	}
	data := aligned(body[t.offset:t.offset+t.span:t.offset+t.span], naturalAlignment(t.dtype))
	if err := block.tensor.Init(t.dtype, t.shape, t.strides, 0, data, t.names); err != nil {
		return nil, err
	}
	return &block.tensor, nil
}

// dense reads the head of a Tensor message into t, whose slices are used as
// far as they have room, and checks that all elements lie in the body.
func (h *Head) dense(t *denseTensor) error {
	var table flatbuffers.Table
	h.message.Header(&table)
	var m fb.Tensor
	m.Init(table.Bytes, table.Pos)

	m.Type(&table)
	stored, err := h.storageType(m.TypeType(), table)
	if err != nil {
		return err
	}
	ext, err := h.extension()
	if err != nil {
		return err
	}
	ndim := m.ShapeLength()
	t.dtype = stored
	if ext != nil {
		if stored != ext.dense {
			return h.broken(RuleDTypeStorage, "%s is %v, which a dense tensor has as %v, not as %v", keyDType, ext.dtype, ext.dense, stored)
		}
		t.dtype = ext.dtype
	}
	parts := 0
	if ext != nil && ext.parts > 0 {
		parts = ext.parts
		ndim--
		var dim fb.TensorDim
		if ndim < 0 || !m.Shape(&dim, ndim) || dim.Size() != int64(parts) {
			return h.broken(RuleDTypeComplexAxis, "%s is %v, but the last axis has not length %d", keyDType, t.dtype, parts)
		}
	}
	if ndim > layout.MaxDims {
		return h.broken(RuleDimsLimit, "%d dimensions, more than the limit of %d", ndim, layout.MaxDims)
	}

	t.shape, t.names, err = h.shape(&m, ndim, t.shape, t.names)
	if err != nil {
		return err
	}
	size := int64(t.dtype.Size())
	bytes, ok := layout.CheckedProduct(t.shape, size)
	if !ok {
		return h.broken(RuleShapeOverflow, "%v of shape %v has more than 2^63-1 bytes", t.dtype, clone(t.shape))
	}

	t.strides = grow(t.strides, ndim)
	switch n := m.StridesLength(); n {
	case 0:
		layout.RowMajorStrides(t.strides, t.shape, size)
	case m.ShapeLength():
		for i := range t.strides {
			t.strides[i] = m.Strides(i)
		}
		if parts > 0 && bytes > 0 && m.Strides(ndim) != int64(stored.Size()) {
			return h.broken(RuleDTypeComplexAxis, "%s is %v, but the last axis has stride %d", keyDType, t.dtype, m.Strides(ndim))
		}
	default:
		return h.broken(RuleStridesCount, "%d strides for %d dimensions", n, m.ShapeLength())
	}

	var data fb.Buffer
	m.Data(&data)
	if data.Offset() < 0 || data.Length() < 0 {
		return h.broken(RuleBufferNegative, "data of %d bytes at %d", data.Length(), data.Offset())
	}
	if bytes == 0 {
		return nil // no element, so nothing to be found anywhere
	}
	t.offset = data.Offset()
	t.span = size
	for i, stride := range t.strides {
		if stride < 0 {
			return h.broken(RuleStrideNegative, "stride %d of axis %d", stride, i)
		}
		reach, ok := layout.CheckedMul(t.shape[i]-1, stride)
		if ok {
			t.span, ok = layout.CheckedAdd(t.span, reach)
		}
		if !ok {
			return h.broken(RuleStridesBounds, "strides %v of shape %v reach further than 2^63-1 bytes", clone(t.strides), clone(t.shape))
		}
	}
	if end, ok := layout.CheckedAdd(t.offset, t.span); !ok || end > h.BodyLen {
		return h.broken(RuleStridesBounds, "elements of shape %v with strides %v from byte %d of a body of %d", clone(t.shape), clone(t.strides), t.offset, h.BodyLen)
	}
	// Strides of 0, or so small that elements overlap, could claim a tensor
	// of any size in a body of a few bytes.
	if bytes > h.BodyLen {
		return h.broken(RuleStridesOverlap, "%d bytes of elements in a body of %d", bytes, h.BodyLen)
	}
	return nil
}

// shape reads the first ndim dimensions into dims, and their names, if there
// are any, into names.
func (h *Head) shape(m *fb.Tensor, ndim int, dims []int64, names []string) ([]int64, []string, error) {
	dims, names = grow(dims, ndim), grow(names, ndim)
	named := false
	var dim fb.TensorDim
	for i := range ndim {
		m.Shape(&dim, i)
		dims[i] = dim.Size()
		if dims[i] < 0 {
			return nil, nil, h.broken(RuleDimNegative, "dimension %d is %d", i, dims[i])
		}
		names[i] = borrow(dim.Name())
		named = named || names[i] != ""
	}
	if !named {
		names = nil
	}
	return dims, names, nil
}

// grow returns s with length n, the same memory if that is enough.
func grow[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n)
}

// clone keeps a slice from escaping to the heap because an error prints it.
func clone(s []int64) []int64 { return append([]int64(nil), s...) }

// aligned returns b if it starts at a multiple of alignment, else a copy that
// starts at a multiple of 8.
func aligned(b []byte, alignment int) []byte {
	if len(b) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(alignment) == 0 {
		return b
	}
	words := make([]uint64, (len(b)+7)/8)
	c := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(b))
	copy(c, b)
	return c
}
