package codec

import (
	"encoding/binary"
	"fmt"
	"iter"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// A sparseBody is the body of a SparseTensor message that is being made: its
// pieces, and where the next one begins.
type sparseBody struct {
	pieces []piece
	offset int64
}

// add puts a buffer behind the others and returns where it begins.
func (s *sparseBody) add(p piece) (offset int64) {
	offset = s.offset
	s.pieces = append(s.pieces, p)
	s.offset += align(p.size)
	return offset
}

// encodeCOO makes a SparseTensor message of c, its index matrix in row-major
// order.
func encodeCOO(c *layout.COO, meta []layout.Attr) (*Record, error) {
	ndim := int64(len(c.Shape()))
	typ := writtenType(c.Indices().Type(), max(c.NNZ(), ndim))
	w := int64(typ.Size())
	strides := []int64{ndim * w, w}
	if c.NNZ() == 0 || ndim == 0 {
		strides[0] = w
	}

	var body sparseBody
	matrix, err := cooIndices(c, typ)
	if err != nil {
		return nil, err
	}
	offset := body.add(matrix)
	b := builders.Get().(*flatbuffers.Builder)
	defer releaseBuilder(b)
	steps := buildLongs(b, strides)
	indicesType := buildInt(b, typ.DType())
	fb.SparseTensorIndexCOOStart(b)
	fb.SparseTensorIndexCOOAddIndicesType(b, indicesType)
	fb.SparseTensorIndexCOOAddIndicesStrides(b, steps)
	fb.SparseTensorIndexCOOAddIndicesBuffer(b, fb.CreateBuffer(b, offset, matrix.size))
	fb.SparseTensorIndexCOOAddIsCanonical(b, c.IsCanonical())
	index := fb.SparseTensorIndexCOOEnd(b)
	return finishSparse(b, c, c.Data(), fb.SparseTensorIndexSparseTensorIndexCOO, index, &body, meta), nil
}

// cooIndices returns the index matrix of c in row-major order, as integers of
// the given type.
func cooIndices(c *layout.COO, typ layout.IndexType) (piece, error) {
	nnz, ndim := c.NNZ(), int64(len(c.Shape()))
	w := int64(typ.Size())
	row, column := c.IndexStrides()
	data := c.Indices().Bytes()
	if w == int64(c.Indices().Type().Size()) {
		if nnz == 0 || ndim == 0 {
			return inMemory(nil), nil
		}
		if (row == ndim*w || nnz == 1) && (column == w || ndim == 1) {
			return inMemory(data[:nnz*ndim*w]), nil
		}
		matrix, err := layout.NewStrided(typ.DType(), []int64{nnz, ndim}, []int64{row, column}, 0, data)
		if err != nil {
			return piece{}, fmt.Errorf("codec: indices of a COO: %w", err)
		}
		return inOrder(matrix), nil
	}
	return piece{size: nnz * ndim * w, chunks: integers(typ, nnz*ndim, func(i int64) uint64 {
		return c.Coordinate(i/ndim, int(i%ndim))
	})}, nil
}

// encodeCompressed makes a SparseTensor message of a CSR or CSC.
func encodeCompressed(t compressed, axis fb.CompressedAxis, meta []layout.Attr) *Record {
	var body sparseBody
	indptr, indptrType := indexPiece(t.Indptr(), t.Indptr().Len())
	indices, indexType := indexPiece(t.Indices(), t.NNZ())
	indptrOffset := body.add(indptr)
	indicesOffset := body.add(indices)

	b := builders.Get().(*flatbuffers.Builder)
	defer releaseBuilder(b)
	indptrInt := buildInt(b, indptrType.DType())
	indicesInt := buildInt(b, indexType.DType())
	fb.SparseMatrixIndexCSXStart(b)
	fb.SparseMatrixIndexCSXAddCompressedAxis(b, axis)
	fb.SparseMatrixIndexCSXAddIndptrType(b, indptrInt)
	fb.SparseMatrixIndexCSXAddIndptrBuffer(b, fb.CreateBuffer(b, indptrOffset, indptr.size))
	fb.SparseMatrixIndexCSXAddIndicesType(b, indicesInt)
	fb.SparseMatrixIndexCSXAddIndicesBuffer(b, fb.CreateBuffer(b, indicesOffset, indices.size))
	index := fb.SparseMatrixIndexCSXEnd(b)
	return finishSparse(b, t, t.Data(), fb.SparseTensorIndexSparseMatrixIndexCSX, index, &body, meta)
}

// compressed is a CSR or CSC.
type compressed interface {
	layout.Tensor
	Indptr() layout.Index
	Indices() layout.Index
	Data() []byte
}

// encodeCSF makes a SparseTensor message of c.
func encodeCSF(c *layout.CSF, meta []layout.Attr) *Record {
	ndim := len(c.Shape())
	longestIndptr, longestLevel := int64(0), int64(0)
	for level := range ndim {
		longestLevel = max(longestLevel, c.Indices(level).Len())
		if level < ndim-1 {
			longestIndptr = max(longestIndptr, c.Indptr(level).Len())
		}
	}
	var body sparseBody
	// The lengths of these buffers count integers, not bytes: Arrow C++ takes
	// the sizes of the levels from them.
	var indptr, indices [layout.MaxDims]stretch
	var indptrType, indexType layout.IndexType
	for level := range ndim - 1 {
		var p piece
		p, indptrType = indexPiece(c.Indptr(level), longestIndptr)
		indptr[level] = stretch{offset: body.add(p), size: c.Indptr(level).Len()}
	}
	for level := range ndim {
		var p piece
		p, indexType = indexPiece(c.Indices(level), longestLevel)
		indices[level] = stretch{offset: body.add(p), size: c.Indices(level).Len()}
	}

	b := builders.Get().(*flatbuffers.Builder)
	defer releaseBuilder(b)
	indptrInt := buildInt(b, indptrType.DType())
	indptrBuffers := buildBuffers(b, indptr[:ndim-1])
	indicesInt := buildInt(b, indexType.DType())
	indicesBuffers := buildBuffers(b, indices[:ndim])
	b.StartVector(4, ndim, 4)
	for level := ndim - 1; level >= 0; level-- {
		b.PrependInt32(int32(c.AxisOrder()[level]))
	}
	order := b.EndVector(ndim)
	fb.SparseTensorIndexCSFStart(b)
	fb.SparseTensorIndexCSFAddIndptrType(b, indptrInt)
	fb.SparseTensorIndexCSFAddIndptrBuffers(b, indptrBuffers)
	fb.SparseTensorIndexCSFAddIndicesType(b, indicesInt)
	fb.SparseTensorIndexCSFAddIndicesBuffers(b, indicesBuffers)
	fb.SparseTensorIndexCSFAddAxisOrder(b, order)
	index := fb.SparseTensorIndexCSFEnd(b)
	return finishSparse(b, c, c.Data(), fb.SparseTensorIndexSparseTensorIndexCSF, index, &body, meta)
}

func buildBuffers(b *flatbuffers.Builder, s []stretch) flatbuffers.UOffsetT {
	b.StartVector(16, len(s), 8)
	for i := len(s) - 1; i >= 0; i-- {
		fb.CreateBuffer(b, s[i].offset, s[i].size)
	}
	return b.EndVector(len(s))
}

// finishSparse makes the message of t, whose index b and body already hold.
func finishSparse(b *flatbuffers.Builder, t layout.Tensor, data []byte, kind fb.SparseTensorIndex, index flatbuffers.UOffsetT, body *sparseBody, meta []layout.Attr) *Record {
	stored, name := t.DType(), ""
	if ext := extensionOf(t.DType()); ext != nil {
		stored, name = ext.sparse, ext.dtype.String()
	}
	offset := body.add(inMemory(data))
	dims := buildShape(b, t.Shape(), t.DimNames())
	typeKind, typ := buildType(b, stored)
	fb.SparseTensorStart(b)
	fb.SparseTensorAddType(b, typ)
	fb.SparseTensorAddShape(b, dims)
	fb.SparseTensorAddNonZeroLength(b, t.NNZ())
	fb.SparseTensorAddSparseIndex(b, index)
	fb.SparseTensorAddData(b, fb.CreateBuffer(b, offset, int64(len(data))))
	fb.SparseTensorAddTypeType(b, typeKind)
	fb.SparseTensorAddSparseIndexType(b, kind)
	head := buildMessage(b, fb.MessageHeaderSparseTensor, fb.SparseTensorEnd(b), body.offset, name, meta)
	return newRecord(head, body.pieces...)
}

// writtenType returns the type in which integers of type typ are written, in an
// array that Arrow counts as length long. It demands that a type hold the
// length of its array, and takes no uint64; a valid index fits in int64.
func writtenType(typ layout.IndexType, length int64) layout.IndexType {
	if typ == layout.IndexUint64 {
		return layout.IndexInt64
	}
	if uint64(length) <= typ.Max() {
		return typ
	}
	// Signed types only, so that an integer that was negative stays so.
	for _, wider := range []layout.IndexType{layout.IndexInt16, layout.IndexInt32} {
		if wider.Size() > typ.Size() && uint64(length) <= wider.Max() {
			return wider
		}
	}
	return layout.IndexInt64
}

// indexPiece returns an index array as it is written, and its type there.
func indexPiece(x layout.Index, length int64) (piece, layout.IndexType) {
	typ := writtenType(x.Type(), length)
	if typ.Size() == x.Type().Size() {
		return inMemory(x.Bytes()), typ
	}
	return piece{size: x.Len() * int64(typ.Size()), chunks: integers(typ, x.Len(), x.At)}, typ
}

// integers produces n integers of the given type.
func integers(typ layout.IndexType, n int64, at func(int64) uint64) func() iter.Seq[[]byte] {
	return func() iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			w := int64(typ.Size())
			buf := make([]byte, 0, min(n*w, chunkSize))
			var word [8]byte
			for i := range n {
				binary.LittleEndian.PutUint64(word[:], at(i))
				buf = append(buf, word[:w]...)
				if len(buf) == cap(buf) {
					if !yield(buf) {
						return
					}
					buf = buf[:0]
				}
			}
			if len(buf) > 0 {
				yield(buf)
			}
		}
	}
}
