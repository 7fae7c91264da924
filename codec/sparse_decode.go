package codec

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// Sparse tensors, like dense ones, are decoded into one block of memory with
// all that has an entry for each dimension, if there are few of them.
type (
	cooBlock struct {
		tensor layout.COO
		dims   dimsBlock
	}
	linesBlock[T any] struct {
		tensor T
		dims   dimsBlock
	}
	csfBlock struct {
		tensor  layout.CSF
		dims    dimsBlock
		order   [denseDims]int
		indptr  [denseDims]layout.Index
		indices [denseDims]layout.Index
	}
	dimsBlock struct {
		shape [denseDims]int64
		name  [denseDims]string
	}
)

// decodeSparse returns a view of the body of a SparseTensor message.
func decodeSparse(h *Head, body []byte) (layout.Tensor, error) {
	var table flatbuffers.Table
	h.message.Header(&table)
	var m fb.SparseTensor
	m.Init(table.Bytes, table.Pos)

	var s sparseBuffers
	switch m.SparseIndexType() {
	case fb.SparseTensorIndexSparseMatrixIndexCSX:
		var x fb.SparseMatrixIndexCSX
		m.SparseIndex(&table)
		x.Init(table.Bytes, table.Pos)
		if x.CompressedAxis() == fb.CompressedAxisColumn {
			return decodeLines[layout.CSC](h, body, &s)
		}
		return decodeLines[layout.CSR](h, body, &s)
	case fb.SparseTensorIndexSparseTensorIndexCSF:
		return decodeCSF(h, body, &s)
	}
	return decodeCOO(h, body, &s)
}

// tensor returns a sparseTensor that will use the block's memory.
func (b *dimsBlock) tensor() sparseTensor {
	return sparseTensor{shape: b.shape[:0], names: b.name[:0]}
}

func decodeCOO(h *Head, body []byte, s *sparseBuffers) (layout.Tensor, error) {
	block := new(cooBlock)
	t := block.dims.tensor()
	if err := h.sparse(&t, s); err != nil {
		return nil, err
	}
	indices, err := t.index(body, s.indices[0], t.indexType)
	if err != nil {
		return nil, err
	}
	if err := block.tensor.Init(t.dtype, t.shape, indices, t.strides, t.canonical, t.values(body, s), t.names); err != nil {
		return nil, err
	}
	return &block.tensor, nil
}

// decodeLines decodes a CSR or CSC, which is T.
func decodeLines[T any, P interface {
	*T
	layout.Tensor
	Init(dt layout.DType, shape []int64, indptr, indices layout.Index, data []byte, names []string) error
}](h *Head, body []byte, s *sparseBuffers) (layout.Tensor, error) {
	block := new(linesBlock[T])
	t := block.dims.tensor()
	if err := h.sparse(&t, s); err != nil {
		return nil, err
	}
	indptr, err := t.index(body, s.indptr[0], t.indptrType)
	if err != nil {
		return nil, err
	}
	indices, err := t.index(body, s.indices[0], t.indexType)
	if err != nil {
		return nil, err
	}
	tensor := P(&block.tensor)
	if err := tensor.Init(t.dtype, t.shape, indptr, indices, t.values(body, s), t.names); err != nil {
		return nil, err
	}
	return tensor, nil
}

func decodeCSF(h *Head, body []byte, s *sparseBuffers) (layout.Tensor, error) {
	block := new(csfBlock)
	t := block.dims.tensor()
	t.order = block.order[:0]
	if err := h.sparse(&t, s); err != nil {
		return nil, err
	}
	var err error
	indptr := grow(block.indptr[:0], len(t.shape)-1)
	for level := range indptr {
		if indptr[level], err = t.index(body, s.indptr[level], t.indptrType); err != nil {
			return nil, err
		}
	}
	indices := grow(block.indices[:0], len(t.shape))
	for level := range indices {
		if indices[level], err = t.index(body, s.indices[level], t.indexType); err != nil {
			return nil, err
		}
	}
	if err := block.tensor.Init(t.dtype, t.shape, t.order, indptr, indices, t.values(body, s), t.names); err != nil {
		return nil, err
	}
	return &block.tensor, nil
}

// index returns a buffer as integers, copied if they are misaligned.
func (t *sparseTensor) index(body []byte, at stretch, typ layout.IndexType) (layout.Index, error) {
	return layout.NewIndex(typ, aligned(at.of(body), typ.Size()))
}

// values returns the stored elements, copied if they are misaligned.
func (t *sparseTensor) values(body []byte, s *sparseBuffers) []byte {
	return aligned(s.data.of(body), naturalAlignment(t.dtype))
}
