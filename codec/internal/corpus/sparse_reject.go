package main

import (
	"math"
	"slices"

	"github.com/tstore/tstore/codec"
)

// The contents of index arrays have rules of their own, which are not looked
// at when a message is decoded but when its tensor is validated.
const (
	ruleIndicesBounds codec.Rule = "indices-bounds"
	ruleIndicesOrder  codec.Rule = "indices-order"
	ruleIndptr        codec.Rule = "indptr"
)

// body returns the position of the body.
func (e *editor) body() int {
	return e.metadata() + int(e.get32(e.metadata()-4))
}

// Fields of the sparse tables.
const (
	fieldNNZ  = 3
	fieldData = 6

	cooType, cooStrides, cooBuffer                             = 0, 1, 2
	csxAxis, csxIndptrType, csxIndptr, csxIndType, csxInd      = 0, 1, 2, 3, 4
	csfIndptrType, csfIndptr, csfIndType, csfIndices, csfOrder = 0, 1, 2, 3, 4
)

func sparseRejects() []reject {
	return slices.Concat(sparseStructureRejects(), cooRejects(), csxRejects(), csfRejects())
}

func sparseStructureRejects() []reject {
	return []reject{
		{codec.RuleFieldRequired, "sparse-data", "coo", func(e *editor) { e.put16(e.header().slot(fieldData), 0) }},
		{codec.RuleFieldRequired, "sparse-index", "coo", func(e *editor) { e.put8(e.header().field(4), 0) }},
		{codec.RuleUnionValue, "sparse-index", "coo", func(e *editor) { e.put16(e.header().slot(5), 0) }},
		{codec.RuleSparseIndexKind, "", "coo", func(e *editor) { e.put8(e.header().field(4), 4) }},
		{codec.RuleHeaderKind, "sparse-none", "coo", func(e *editor) { e.put8(e.message().field(1), 0) }},
		{codec.RuleNonZeroLength, "", "coo", func(e *editor) { e.put64(e.header().field(fieldNNZ), -3) }},
		{codec.RuleNonZeroLength, "csr", "csr", func(e *editor) { e.put64(e.header().field(fieldNNZ), math.MinInt64) }},
		{codec.RuleDimNegative, "sparse", "coo", func(e *editor) { e.put64(e.dim(0).field(0), -2) }},
		{codec.RuleShapeOverflow, "sparse", "coo", func(e *editor) { e.put64(e.dim(0).field(0), math.MaxInt64/2) }},
		{codec.RuleDTypeStorage, "sparse-bool", "coo-type-bool", func(e *editor) { e.put32(e.elementType().field(0), 16) }},
		{codec.RuleDTypeStorage, "sparse-complex64", "coo-type-complex64", func(e *editor) { e.put32(e.elementType().field(0), 32) }},
		{codec.RuleDTypeStorage, "sparse-complex128", "coo-type-complex128", func(e *editor) { e.put32(e.elementType().field(0), 15) }},
		{codec.RuleTypeNotFixed, "sparse", "coo", func(e *editor) { e.put8(e.header().field(0), 4) }},
		{codec.RuleBufferNegative, "sparse-data", "coo", func(e *editor) { e.put64(e.header().field(fieldData), -64) }},
		{codec.RuleBufferBounds, "sparse-data", "coo", func(e *editor) { e.put64(e.header().field(fieldData), 117) }},
		{codec.RuleBufferBounds, "sparse-data-overflow", "coo", func(e *editor) { e.put64(e.header().field(fieldData), math.MaxInt64-4) }},
		{codec.RuleBufferBounds, "non-zero-length", "coo", func(e *editor) { e.put64(e.header().field(fieldNNZ), 17) }},
		{codec.RuleBufferBounds, "petabyte", "coo", func(e *editor) { e.put64(e.header().field(fieldNNZ), 1<<48) }},
		{codec.RuleBufferBounds, "non-zero-length-overflow", "coo", func(e *editor) { e.put64(e.header().field(fieldNNZ), math.MaxInt64) }},
		{codec.RuleBuffersOverlap, "", "coo", func(e *editor) { e.put64(e.header().field(fieldNNZ), 16) }},
		{codec.RuleBodyTruncated, "sparse", "coo", func(e *editor) { e.cut(len(e.msg) - 1) }},
	}
}

func cooRejects() []reject {
	index := func(k int, v uint32) func(e *editor) {
		return func(e *editor) { e.put32(e.body()+4*k, v) }
	}
	return []reject{
		{codec.RuleFieldRequired, "coo-indices-type", "coo", func(e *editor) { e.put16(e.index().slot(cooType), 0) }},
		{codec.RuleFieldRequired, "coo-indices-buffer", "coo", func(e *editor) { e.put16(e.index().slot(cooBuffer), 0) }},
		{codec.RuleVectorBounds, "coo-strides", "coo", func(e *editor) { e.put32(e.index().vector(cooStrides), math.MaxUint32) }},
		{codec.RuleIndexWidth, "coo", "coo", func(e *editor) { e.put32(e.index().table(cooType).field(0), 24) }},
		{codec.RuleBufferNegative, "coo-indices", "coo", func(e *editor) { e.put64(e.index().field(cooBuffer), -1) }},
		{codec.RuleBufferBounds, "coo-indices", "coo", func(e *editor) { e.put64(e.index().field(cooBuffer), 105) }},
		{codec.RuleBufferBounds, "coo-indices-width", "coo", func(e *editor) {
			e.put64(e.index().field(cooBuffer), 96) // where 24 bytes fit, not 48
			e.put32(e.index().table(cooType).field(0), 64)
		}},
		{codec.RuleIndexStridesCount, "one", "coo", func(e *editor) { e.put32(e.index().vector(cooStrides), 1) }},
		{codec.RuleIndexStridesCount, "three", "coo", func(e *editor) { e.put32(e.index().vector(cooStrides), 3) }},
		{codec.RuleIndexStrideNegative, "row", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+4, -8) }},
		{codec.RuleIndexStrideNegative, "column", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+12, -4) }},
		{codec.RuleIndexStrideMultiple, "row", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+4, 9) }},
		{codec.RuleIndexStrideMultiple, "column", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+12, 2) }},
		{codec.RuleIndexStridesBounds, "row", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+4, 64) }},
		{codec.RuleIndexStridesBounds, "column", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+12, 112) }},
		{codec.RuleIndexStridesBounds, "overflow", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+4, 1<<62) }},
		{codec.RuleIndexStridesBounds, "sum-overflow", "coo", func(e *editor) { e.put64(e.index().vector(cooStrides)+12, math.MaxInt64-3) }},
		{ruleIndicesBounds, "coo-row", "coo", index(4, 2)},
		{ruleIndicesBounds, "coo-column", "coo", index(5, 3)},
		{ruleIndicesBounds, "coo-negative", "coo", index(1, math.MaxUint32)},
		{ruleIndicesBounds, "coo-shape", "coo", func(e *editor) { e.put64(e.dim(1).field(0), 2) }},
		{ruleIndicesBounds, "coo-column-major", "coo-column-major", index(5, 3)},
		{ruleIndicesBounds, "coo-uint64", "coo-indices-uint64", func(e *editor) { e.put64(e.body(), math.MinInt64) }},
		{ruleIndicesBounds, "coo-not-in-order", "coo-not-in-order", index(0, 2)},
		{ruleIndicesOrder, "coo-rows", "coo", index(0, 1)},
		{ruleIndicesOrder, "coo-columns", "coo", index(3, 2)},
		{ruleIndicesOrder, "coo-twice", "coo", index(5, 0)},
	}
}

func csxRejects() []reject {
	// In "csr", indptr is 0 1 3 and indices, 64 bytes further, are 1 0 2.
	word := func(pos int, v uint32) func(e *editor) {
		return func(e *editor) { e.put32(e.body()+pos, v) }
	}
	return []reject{
		{codec.RuleFieldRequired, "csx-indptr-type", "csr", func(e *editor) { e.put16(e.index().slot(csxIndptrType), 0) }},
		{codec.RuleFieldRequired, "csx-indptr-buffer", "csr", func(e *editor) { e.put16(e.index().slot(csxIndptr), 0) }},
		{codec.RuleFieldRequired, "csx-indices-type", "csr", func(e *editor) { e.put16(e.index().slot(csxIndType), 0) }},
		{codec.RuleFieldRequired, "csx-indices-buffer", "csr", func(e *editor) { e.put16(e.index().slot(csxInd), 0) }},
		{codec.RuleCompressedAxis, "2", "csc", func(e *editor) { e.put16(e.index().field(csxAxis), 2) }},
		{codec.RuleCompressedAxis, "negative", "csc", func(e *editor) { e.put16(e.index().field(csxAxis), 0xFFFF) }},
		{codec.RuleCSXDims, "one", "csr", func(e *editor) { e.put32(e.header().vector(2), 1) }},
		{codec.RuleCSXDims, "none", "csr", func(e *editor) { e.put32(e.header().vector(2), 0) }},
		{codec.RuleIndexWidth, "csx-indptr", "csr", func(e *editor) { e.put32(e.index().table(csxIndptrType).field(0), 0) }},
		{codec.RuleIndexWidth, "csx-indices", "csr-types-differ", func(e *editor) { e.put32(e.index().table(csxIndType).field(0), 128) }},
		{codec.RuleBufferNegative, "csx-indptr", "csr", func(e *editor) { e.put64(e.index().field(csxIndptr)+8, -12) }},
		{codec.RuleBufferNegative, "csx-indices", "csr", func(e *editor) { e.put64(e.index().field(csxInd), math.MinInt64) }},
		{codec.RuleBufferBounds, "csx-rows", "csr", func(e *editor) { e.put64(e.dim(0).field(0), 48) }},
		{codec.RuleBufferBounds, "csx-rows-petabyte", "csr", func(e *editor) { e.put64(e.dim(0).field(0), 1<<50) }},
		{codec.RuleBufferBounds, "csx-rows-overflow", "csr-no-columns", func(e *editor) { e.put64(e.dim(0).field(0), math.MaxInt64) }},
		{codec.RuleBufferBounds, "csx-columns", "csc", func(e *editor) { e.put64(e.dim(1).field(0), 48) }},
		{codec.RuleBufferBounds, "csx-indptr", "csr", func(e *editor) { e.put64(e.index().field(csxIndptr), 181) }},
		{codec.RuleBufferBounds, "csx-indices", "csr", func(e *editor) { e.put64(e.index().field(csxInd), 181) }},
		{codec.RuleBuffersOverlap, "csx", "csr", func(e *editor) { e.put64(e.dim(0).field(0), 46) }},
		{ruleIndptr, "start", "csr", word(0, 1)},
		{ruleIndptr, "falls", "csr", word(4, 4)},
		{ruleIndptr, "negative", "csr", word(4, math.MaxUint32)},
		{ruleIndptr, "end-short", "csr", word(8, 2)},
		{ruleIndptr, "end-long", "csr", word(8, 4)},
		{ruleIndptr, "uint64", "csr-uint64", func(e *editor) { e.put64(e.body()+8, math.MinInt64) }},
		{ruleIndptr, "csc", "csc", word(4, 9)},
		{ruleIndptr, "no-elements", "csr-no-elements", word(8, 1)},
		{ruleIndptr, "no-rows", "csr-no-rows", word(0, 1)},
		{ruleIndicesBounds, "csr", "csr", word(64+8, 3)},
		{ruleIndicesBounds, "csr-negative", "csr", word(64, math.MaxUint32)},
		{ruleIndicesBounds, "csc", "csc", word(64, 2)},
		{ruleIndicesOrder, "csr", "csr", word(64+8, 0)},
		{ruleIndicesOrder, "csr-falls", "csr", word(64+4, 2)},
	}
}

func csfRejects() []reject {
	// In "csf", indptr is 0 1 3; from byte 64 on, indices are 0 1; from 128 on
	// 1 0 2.
	word := func(pos int, v uint32) func(e *editor) {
		return func(e *editor) { e.put32(e.body()+pos, v) }
	}
	// offset and length return the position of a field of a buffer.
	offset := func(e *editor, field, level int) int { return e.index().vector(field) + 4 + 16*level }
	length := func(e *editor, field, level int) int { return offset(e, field, level) + 8 }
	return []reject{
		{codec.RuleFieldRequired, "csf-indptr-type", "csf", func(e *editor) { e.put16(e.index().slot(csfIndptrType), 0) }},
		{codec.RuleFieldRequired, "csf-indptr-buffers", "csf", func(e *editor) { e.put16(e.index().slot(csfIndptr), 0) }},
		{codec.RuleFieldRequired, "csf-indices-type", "csf", func(e *editor) { e.put16(e.index().slot(csfIndType), 0) }},
		{codec.RuleFieldRequired, "csf-indices-buffers", "csf", func(e *editor) { e.put16(e.index().slot(csfIndices), 0) }},
		{codec.RuleFieldRequired, "csf-axis-order", "csf", func(e *editor) { e.put16(e.index().slot(csfOrder), 0) }},
		{codec.RuleVectorBounds, "csf-indptr-buffers", "csf", func(e *editor) { e.put32(e.index().vector(csfIndptr), 1<<28) }},
		{codec.RuleVectorBounds, "csf-indices-buffers", "csf", func(e *editor) { e.put32(e.index().vector(csfIndices), 1<<27) }},
		{codec.RuleVectorBounds, "csf-axis-order", "csf", func(e *editor) { e.put32(e.index().vector(csfOrder), 1<<30) }},
		{codec.RuleCSFDims, "one", "csf", func(e *editor) { e.put32(e.header().vector(2), 1) }},
		{codec.RuleCSFDims, "none", "csf", func(e *editor) { e.put32(e.header().vector(2), 0) }},
		{codec.RuleCSFBuffersCount, "indptr", "csf-three-axes", func(e *editor) { e.put32(e.index().vector(csfIndptr), 1) }},
		{codec.RuleCSFBuffersCount, "indices", "csf", func(e *editor) { e.put32(e.index().vector(csfIndices), 1) }},
		{codec.RuleCSFAxisOrder, "count", "csf", func(e *editor) { e.put32(e.index().vector(csfOrder), 1) }},
		{codec.RuleCSFAxisOrder, "twice", "csf", func(e *editor) { e.put32(e.index().vector(csfOrder)+8, 0) }},
		{codec.RuleCSFAxisOrder, "outside", "csf", func(e *editor) { e.put32(e.index().vector(csfOrder)+8, 2) }},
		{codec.RuleCSFAxisOrder, "negative", "csf", func(e *editor) { e.put32(e.index().vector(csfOrder)+4, math.MaxUint32) }},
		{codec.RuleIndexWidth, "csf-indptr", "csf", func(e *editor) { e.put32(e.index().table(csfIndptrType).field(0), 12) }},
		{codec.RuleIndexWidth, "csf-indices", "csf-indptr-8-indices-64", func(e *editor) { e.put32(e.index().table(csfIndType).field(0), 0x80000040) }},
		{codec.RuleCSFLevels, "indptr-short", "csf", func(e *editor) { e.put64(length(e, csfIndptr, 0), 2) }},
		{codec.RuleCSFLevels, "indptr-negative", "csf", func(e *editor) { e.put64(length(e, csfIndptr, 0), math.MinInt64) }},
		{codec.RuleCSFLevels, "level", "csf", func(e *editor) { e.put64(length(e, csfIndices, 0), 3) }},
		{codec.RuleCSFLevels, "level-negative", "csf", func(e *editor) { e.put64(length(e, csfIndices, 0), -1) }},
		{codec.RuleCSFLevels, "last-level", "csf", func(e *editor) { e.put64(length(e, csfIndices, 1), 4) }},
		{codec.RuleCSFLevels, "non-zero-length", "csf", func(e *editor) { e.put64(e.header().field(fieldNNZ), 2) }},
		{codec.RuleCSFLevels, "some-in-bytes", "csf", func(e *editor) { e.put64(length(e, csfIndices, 1), 12) }},
		{codec.RuleCSFLevels, "no-elements", "csf-no-elements", func(e *editor) { e.put64(length(e, csfIndptr, 0), 2) }},
		{codec.RuleBufferNegative, "csf-indptr", "csf", func(e *editor) { e.put64(offset(e, csfIndptr, 0), -1) }},
		{codec.RuleBufferNegative, "csf-indices", "csf", func(e *editor) { e.put64(offset(e, csfIndices, 1), -64) }},
		{codec.RuleBufferBounds, "csf-indptr", "csf", func(e *editor) { e.put64(offset(e, csfIndptr, 0), 245) }},
		{codec.RuleBufferBounds, "csf-indices", "csf", func(e *editor) { e.put64(offset(e, csfIndices, 1), 245) }},
		{codec.RuleBufferBounds, "csf-indices-overflow", "csf", func(e *editor) { e.put64(offset(e, csfIndices, 0), math.MaxInt64) }},
		{ruleIndptr, "csf-start", "csf", word(0, 1)},
		{ruleIndptr, "csf-falls", "csf", word(4, 4)},
		{ruleIndptr, "csf-end", "csf", word(8, 2)},
		{ruleIndptr, "csf-second-level", "csf-three-axes", func(e *editor) { e.put32(e.body()+64+12, 5) }},
		{ruleIndicesBounds, "csf-first-level", "csf", word(64+4, 2)},
		{ruleIndicesBounds, "csf-last-level", "csf", word(128+8, 3)},
		{ruleIndicesBounds, "csf-negative", "csf", word(128, math.MaxUint32)},
		{ruleIndicesOrder, "csf-first-level", "csf", word(64, 1)},
		{ruleIndicesOrder, "csf-last-level", "csf", word(128+4, 2)},
	}
}
