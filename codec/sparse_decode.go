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
	csrBlock struct {
		tensor layout.CSR
		dims   dimsBlock
	}
	cscBlock struct {
		tensor layout.CSC
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

	// Where the buffers lie is forgotten once they have been sliced.
	var indptr, indices [denseDims]stretch
	t := sparseTensor{indptr: indptr[:0], indices: indices[:0]}
	switch m.SparseIndexType() {
	case fb.SparseTensorIndexSparseMatrixIndexCSX:
		var x fb.SparseMatrixIndexCSX
		m.SparseIndex(&table)
		x.Init(table.Bytes, table.Pos)
		if x.CompressedAxis() == fb.CompressedAxisColumn {
			return decodeCSC(h, body, &t)
		}
		return decodeCSR(h, body, &t)
	case fb.SparseTensorIndexSparseTensorIndexCSF:
		return decodeCSF(h, body, &t)
	}
	return decodeCOO(h, body, &t)
}

// use makes the head fill in the block's memory.
func (b *dimsBlock) use(h *Head, t *sparseTensor) error {
	t.shape, t.names = b.shape[:0], b.name[:0]
	return h.sparse(t)
}

func decodeCOO(h *Head, body []byte, t *sparseTensor) (layout.Tensor, error) {
	block := new(cooBlock)
	if err := block.dims.use(h, t); err != nil {
		return nil, err
	}
	indices, err := t.index(body, t.indices[0], t.indexType)
	if err != nil {
		return nil, err
	}
	if err := block.tensor.Init(t.dtype, t.shape, indices, t.strides, t.canonical, t.values(body), t.names); err != nil {
		return nil, err
	}
	return &block.tensor, nil
}

func decodeCSR(h *Head, body []byte, t *sparseTensor) (layout.Tensor, error) {
	block := new(csrBlock)
	if err := block.dims.use(h, t); err != nil {
		return nil, err
	}
	indptr, indices, err := t.lines(body)
	if err != nil {
		return nil, err
	}
	if err := block.tensor.Init(t.dtype, t.shape, indptr, indices, t.values(body), t.names); err != nil {
		return nil, err
	}
	return &block.tensor, nil
}

func decodeCSC(h *Head, body []byte, t *sparseTensor) (layout.Tensor, error) {
	block := new(cscBlock)
	if err := block.dims.use(h, t); err != nil {
		return nil, err
	}
	indptr, indices, err := t.lines(body)
	if err != nil {
		return nil, err
	}
	if err := block.tensor.Init(t.dtype, t.shape, indptr, indices, t.values(body), t.names); err != nil {
		return nil, err
	}
	return &block.tensor, nil
}

func decodeCSF(h *Head, body []byte, t *sparseTensor) (layout.Tensor, error) {
	block := new(csfBlock)
	t.order = block.order[:0]
	if err := block.dims.use(h, t); err != nil {
		return nil, err
	}
	var err error
	indptr := grow(block.indptr[:0], len(t.indptr))
	for level, s := range t.indptr {
		if indptr[level], err = t.index(body, s, t.indptrType); err != nil {
			return nil, err
		}
	}
	indices := grow(block.indices[:0], len(t.indices))
	for level, s := range t.indices {
		if indices[level], err = t.index(body, s, t.indexType); err != nil {
			return nil, err
		}
	}
	if err := block.tensor.Init(t.dtype, t.shape, t.order, indptr, indices, t.values(body), t.names); err != nil {
		return nil, err
	}
	return &block.tensor, nil
}

// lines returns the index arrays of a CSR or CSC.
func (t *sparseTensor) lines(body []byte) (indptr, indices layout.Index, err error) {
	if indptr, err = t.index(body, t.indptr[0], t.indptrType); err != nil {
		return indptr, indices, err
	}
	indices, err = t.index(body, t.indices[0], t.indexType)
	return indptr, indices, err
}

// index returns a buffer as integers, copied if they are misaligned.
func (t *sparseTensor) index(body []byte, s stretch, typ layout.IndexType) (layout.Index, error) {
	return layout.NewIndex(typ, aligned(s.of(body), typ.Size()))
}

// values returns the stored elements, copied if they are misaligned.
func (t *sparseTensor) values(body []byte) []byte {
	return aligned(t.data.of(body), naturalAlignment(t.dtype))
}
