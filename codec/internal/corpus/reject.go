package main

import (
	"math"
	"slices"

	"github.com/tstore/tstore/codec"
)

// A reject is a change that makes an accepted message break a rule.
type reject struct {
	rule    codec.Rule
	variant string // tells rejects of the same rule apart
	base    string // the accepted message
	edit    func(e *editor)
}

func rejects() []reject {
	return slices.Concat(framingRejects(), flatbufferRejects(), messageRejects(), typeRejects(), denseRejects(), sparseRejects())
}

func framingRejects() []reject {
	return []reject{
		{codec.RulePrefixTruncated, "three-bytes", "dense", func(e *editor) { e.cut(3) }},
		{codec.RulePrefixTruncated, "seven-bytes", "dense", func(e *editor) { e.cut(7) }},
		{codec.RuleMetadataSizeNegative, "", "dense", func(e *editor) { e.put32(4, 0x80000000) }},
		{codec.RuleMetadataSizeNegative, "old-framing", "framing-old", func(e *editor) { e.put32(0, 0xFFFFFFFE) }},
		{codec.RuleMetadataSizeLimit, "", "dense", func(e *editor) { e.put32(4, codec.MaxMetadata+8) }},
		{codec.RuleMetadataSizeLimit, "old-framing", "framing-old", func(e *editor) { e.put32(0, math.MaxInt32) }},
		{codec.RuleMetadataTruncated, "", "dense", func(e *editor) { e.put32(4, uint32(len(e.msg)-7)) }},
		{codec.RuleMetadataTruncated, "cut", "dense", func(e *editor) { e.cut(len(e.msg) - 64 - 1) }},
		{codec.RuleBodyTruncated, "", "dense", func(e *editor) { e.cut(len(e.msg) - 1) }},
		{codec.RuleBodyTruncated, "no-body", "dense", func(e *editor) { e.cut(len(e.msg) - 64) }},
	}
}

// flatbufferRejects break the structure of the metadata.
func flatbufferRejects() []reject {
	return []reject{
		{codec.RuleRootOffset, "zero", "dense", func(e *editor) { e.put32(8, 0) }},
		{codec.RuleRootOffset, "outside", "dense", func(e *editor) { e.put32(8, math.MaxUint32) }},
		{codec.RuleTableAlignment, "", "dense", func(e *editor) {
			pos := e.message().field(2)
			e.put32(pos, e.get32(pos)+2)
		}},
		{codec.RuleVtableBounds, "before", "dense", func(e *editor) { e.put32(e.header().pos, math.MaxInt32) }},
		{codec.RuleVtableBounds, "behind", "dense", func(e *editor) { e.put32(e.header().pos, 0x80000000) }},
		{codec.RuleVtableBounds, "long", "dense", func(e *editor) { e.put16(e.header().vtable(), 0xFFFE) }},
		{codec.RuleVtableAlignment, "", "dense", func(e *editor) {
			pos := e.header().pos
			e.put32(pos, e.get32(pos)-1)
		}},
		{codec.RuleVtableSize, "short", "dense", func(e *editor) { e.put16(e.header().vtable(), 2) }},
		{codec.RuleVtableSize, "odd", "dense", func(e *editor) { e.put16(e.header().vtable(), 9) }},
		{codec.RuleFieldBounds, "behind-the-table", "dense", func(e *editor) { e.put16(e.header().slot(4), 0x7FFC) }},
		{codec.RuleFieldBounds, "in-the-offset-to-the-vtable", "dense", func(e *editor) { e.put16(e.message().slot(0), 2) }},
		{codec.RuleFieldBounds, "half-inside", "dense", func(e *editor) {
			t := e.header() // which starts in the metadata, but its last field ends behind it
			e.put16(t.slot(4), uint16(len(e.msg)-64-8-t.pos))
		}},
		{codec.RuleFieldAlignment, "", "dense", func(e *editor) { e.put16(e.dim(0).slot(0), 5) }},
		{codec.RuleFieldRequired, "shape", "dense", func(e *editor) { e.put16(e.header().slot(2), 0) }},
		{codec.RuleFieldRequired, "data", "dense", func(e *editor) { e.put16(e.header().slot(4), 0) }},
		{codec.RuleFieldRequired, "type", "dense", func(e *editor) { e.put8(e.header().field(0), 0) }},
		{codec.RuleOffsetBounds, "zero", "dense", func(e *editor) { e.put32(e.header().field(2), 0) }},
		{codec.RuleOffsetBounds, "far", "dense", func(e *editor) { e.put32(e.header().field(2), math.MaxInt32) }},
		{codec.RuleOffsetBounds, "backwards", "dense", func(e *editor) { e.put32(e.header().field(3), 0xFFFFFFF0) }},
		{codec.RuleVectorAlignment, "length", "dense", func(e *editor) {
			pos := e.header().field(2)
			e.put32(pos, e.get32(pos)+2)
		}},
		{codec.RuleVectorAlignment, "elements", "dense", func(e *editor) {
			// The word before the strides' length is padding or something
			// else; as a length it only has to be there.
			pos := e.header().field(3)
			e.put32(pos, e.get32(pos)+4)
		}},
		{codec.RuleVectorBounds, "shape", "dense", func(e *editor) { e.put32(e.header().vector(2), math.MaxUint32) }},
		{codec.RuleVectorBounds, "strides", "dense", func(e *editor) { e.put32(e.header().vector(3), 1<<29) }},
		{codec.RuleVectorBounds, "custom-metadata", "dense", func(e *editor) { e.put32(e.message().vector(4), 1<<30) }},
		{codec.RuleStringBounds, "", "dense", func(e *editor) { e.put32(e.dim(0).vector(1), math.MaxUint32) }},
		{codec.RuleStringBounds, "value", "dense", func(e *editor) { e.put32(e.pair(1).vector(1), 1<<20) }},
		{codec.RuleStringTerminator, "", "dense", func(e *editor) { e.put32(e.dim(0).vector(1), 2) }},
		{codec.RuleStringsShared, "", "metadata-shared-value", func(e *editor) { e.put32(e.pair(0).vector(1), 1005) }},
		{codec.RuleUnionValue, "header", "dense", func(e *editor) { e.put16(e.message().slot(2), 0) }},
		{codec.RuleUnionValue, "type", "dense", func(e *editor) { e.put16(e.header().slot(1), 0) }},
	}
}

func messageRejects() []reject {
	return []reject{
		{codec.RuleVersion, "3", "dense", func(e *editor) { e.put16(e.message().field(0), 2) }},
		{codec.RuleVersion, "6", "dense", func(e *editor) { e.put16(e.message().field(0), 5) }},
		{codec.RuleVersion, "absent", "dense", func(e *editor) { e.put16(e.message().slot(0), 0) }},
		{codec.RuleHeaderKind, "none", "dense", func(e *editor) { e.put8(e.message().field(1), 0) }},
		{codec.RuleHeaderKind, "record-batch", "dense", func(e *editor) { e.put8(e.message().field(1), 3) }},
		{codec.RuleHeaderKind, "unknown", "dense", func(e *editor) { e.put8(e.message().field(1), 6) }},
		{codec.RuleBodyLengthNegative, "", "dense", func(e *editor) { e.put64(e.message().field(3), -64) }},
		{codec.RuleBodyLengthLimit, "", "dense", func(e *editor) { e.put64(e.message().field(3), math.MaxInt64) }},
		{codec.RuleBodyTruncated, "petabyte", "dense", func(e *editor) { e.put64(e.message().field(3), 1<<50) }},
		{codec.RuleMetadataKey, "", "dense", func(e *editor) { e.put16(e.pair(0).slot(0), 0) }},
		{codec.RuleMetadataValue, "", "dense", func(e *editor) { e.put16(e.pair(0).slot(1), 0) }},
	}
}

func typeRejects() []reject {
	return []reject{
		{codec.RuleTypeUnknown, "", "dense", func(e *editor) { e.put8(e.header().field(0), 99) }},
		{codec.RuleTypeNotFixed, "utf8", "dense", func(e *editor) { e.put8(e.header().field(0), 5) }},
		{codec.RuleTypeNotFixed, "struct", "dense", func(e *editor) { e.put8(e.header().field(0), 13) }},
		{codec.RuleTypeBool, "", "dense", func(e *editor) { e.put8(e.header().field(0), 6) }},
		{codec.RuleIntWidth, "7", "dense-type-int8", func(e *editor) { e.put32(e.elementType().field(0), 7) }},
		{codec.RuleIntWidth, "0", "dense-type-int8", func(e *editor) { e.put32(e.elementType().field(0), 0) }},
		{codec.RuleIntWidth, "128", "dense-type-int8", func(e *editor) { e.put32(e.elementType().field(0), 128) }},
		{codec.RuleFloatPrecision, "", "dense", func(e *editor) { e.put16(e.elementType().field(0), 3) }},
		{codec.RuleDecimal, "width", "dense-type-decimal64-18--2", func(e *editor) { e.put32(e.elementType().field(2), 96) }},
		{codec.RuleDecimal, "precision-0", "dense-type-decimal128-38-10", func(e *editor) { e.put32(e.elementType().field(0), 0) }},
		{codec.RuleDecimal, "precision-39", "dense-type-decimal128-38-10", func(e *editor) { e.put32(e.elementType().field(0), 39) }},
		{codec.RuleTimeUnit, "date", "dense-type-date-day", func(e *editor) { e.put16(e.elementType().field(0), 2) }},
		{codec.RuleTimeUnit, "time", "dense-type-time32-s", func(e *editor) { e.put16(e.elementType().field(0), 4) }},
		{codec.RuleTimeUnit, "timestamp", "dense-type-timestamp-ns-UTC", func(e *editor) { e.put16(e.elementType().field(0), 0xFFFF) }},
		{codec.RuleTimeUnit, "duration", "dense-type-duration-us", func(e *editor) { e.put16(e.elementType().field(0), 4) }},
		{codec.RuleTimeUnit, "interval", "dense-type-interval-day_time", func(e *editor) { e.put16(e.elementType().field(0), 3) }},
		{codec.RuleTimeWidth, "seconds-64", "dense-type-time64-ns", func(e *editor) { e.put16(e.elementType().field(0), 0) }},
		{codec.RuleTimeWidth, "nanoseconds-32", "dense-type-time64-ns", func(e *editor) { e.put32(e.elementType().field(1), 32) }},
		{codec.RuleByteWidth, "zero", "dense-type-fixed_size_binary-3", func(e *editor) { e.put32(e.elementType().field(0), 0) }},
		{codec.RuleByteWidth, "negative", "dense-type-fixed_size_binary-3", func(e *editor) { e.put32(e.elementType().field(0), 0xFFFFFFFD) }},
		{codec.RuleDTypeRepeated, "", "dense-type-bool", func(e *editor) { copy(e.msg[e.pair(1).vector(0)+4:], "tstore.dtype") }},
		{codec.RuleDTypeUnknown, "", "dense-type-bool", func(e *editor) { copy(e.msg[e.pair(0).vector(1)+4:], "boom") }},
		{codec.RuleDTypeStorage, "width", "dense-type-bool", func(e *editor) { e.put32(e.elementType().field(0), 16) }},
		{codec.RuleDTypeStorage, "half-for-single", "dense-type-complex64", func(e *editor) { e.put16(e.elementType().field(0), 0) }},
		{codec.RuleDTypeComplexAxis, "length", "dense-type-complex64", func(e *editor) { e.put64(e.dim(1).field(0), 1) }},
		{codec.RuleDTypeComplexAxis, "stride", "dense-type-complex64", func(e *editor) { e.put64(e.header().vector(3)+12, 8) }},
		{codec.RuleDimsLimit, "65", "dense-complex-64-axes", func(e *editor) { copy(e.msg[e.pair(0).vector(0)+4:], "tstore.other") }},
		{codec.RuleDimsLimit, "66", "dense-complex-64-axes", func(e *editor) { e.put32(e.header().vector(2), 66) }},
		{codec.RuleDimNegative, "", "dense", func(e *editor) { e.put64(e.dim(1).field(0), -3) }},
		{codec.RuleDimNegative, "beside-an-empty-one", "dense-empty", func(e *editor) { e.put64(e.dim(1).field(0), math.MinInt64) }},
		{codec.RuleShapeOverflow, "", "dense", func(e *editor) { e.put64(e.dim(0).field(0), math.MaxInt64/8) }},
		{codec.RuleShapeOverflow, "bytes", "dense", func(e *editor) { e.put64(e.dim(0).field(0), math.MaxInt64/12+1) }},
	}
}

func denseRejects() []reject {
	return []reject{
		{codec.RuleBufferNegative, "offset", "dense", func(e *editor) { e.put64(e.header().field(4), -8) }},
		{codec.RuleBufferNegative, "length", "dense", func(e *editor) { e.put64(e.header().field(4)+8, -1) }},
		{codec.RuleStridesCount, "one", "dense", func(e *editor) { e.put32(e.header().vector(3), 1) }},
		{codec.RuleStridesCount, "three", "dense", func(e *editor) { e.put32(e.header().vector(3), 3) }},
		{codec.RuleStrideNegative, "", "dense", func(e *editor) { e.put64(e.header().vector(3)+4, -12) }},
		{codec.RuleStridesBounds, "stride", "dense", func(e *editor) { e.put64(e.header().vector(3)+4, 56) }},
		{codec.RuleStridesBounds, "stride-overflow", "dense", func(e *editor) { e.put64(e.header().vector(3)+12, math.MaxInt64-3) }},
		{codec.RuleStridesBounds, "reach-overflow", "dense", func(e *editor) { e.put64(e.header().vector(3)+4, math.MaxInt64-3) }},
		{codec.RuleStridesBounds, "shape", "dense", func(e *editor) { e.put64(e.dim(0).field(0), 6) }},
		{codec.RuleStridesBounds, "shape-without-strides", "dense-strides-absent", func(e *editor) { e.put64(e.dim(1).field(0), 9) }},
		{codec.RuleStridesBounds, "petabyte", "dense-strides-absent", func(e *editor) { e.put64(e.dim(0).field(0), 1<<47) }},
		{codec.RuleStridesBounds, "data-offset", "dense-data-offset", func(e *editor) { e.put64(e.header().field(4), 41) }},
		{codec.RuleStridesBounds, "data-offset-overflow", "dense-data-offset", func(e *editor) { e.put64(e.header().field(4), math.MaxInt64) }},
		{codec.RuleStridesBounds, "body-length", "dense", func(e *editor) { e.put64(e.message().field(3), 20) }},
		{codec.RuleStridesBounds, "scalar", "dense-scalar", func(e *editor) { e.put64(e.message().field(3), 3) }},
		{codec.RuleStridesOverlap, "", "dense-axis-of-one-any-stride", func(e *editor) { e.put64(e.dim(0).field(0), 1<<40) }},
	}
}
