package codec

// Rule names a rule of the message format, in the words that docs/FORMAT.md
// and the files of testdata/corpus use.
type Rule string

// Framing: the eight (in old messages four) bytes before the metadata, and how
// much must follow them.
const (
	RulePrefixTruncated      Rule = "prefix-truncated"
	RuleMetadataSizeNegative Rule = "metadata-size-negative"
	RuleMetadataSizeLimit    Rule = "metadata-size-limit"
	RuleMetadataTruncated    Rule = "metadata-truncated"
	RuleBodyTruncated        Rule = "body-truncated"
)

// FlatBuffers: the structure of the metadata.
const (
	RuleRootOffset       Rule = "root-offset"
	RuleTableAlignment   Rule = "table-alignment"
	RuleVtableAlignment  Rule = "vtable-alignment"
	RuleVtableBounds     Rule = "vtable-bounds"
	RuleVtableSize       Rule = "vtable-size"
	RuleFieldBounds      Rule = "field-bounds"
	RuleFieldAlignment   Rule = "field-alignment"
	RuleFieldRequired    Rule = "field-required"
	RuleOffsetBounds     Rule = "offset-bounds"
	RuleVectorAlignment  Rule = "vector-alignment"
	RuleVectorBounds     Rule = "vector-bounds"
	RuleStringBounds     Rule = "string-bounds"
	RuleStringTerminator Rule = "string-terminator"
	RuleStringsShared    Rule = "strings-shared"
	RuleUnionValue       Rule = "union-value"
)

// Message: what every message has, whatever its header.
const (
	RuleVersion            Rule = "version"
	RuleHeaderKind         Rule = "header-kind"
	RuleBodyLengthNegative Rule = "body-length-negative"
	RuleBodyLengthLimit    Rule = "body-length-limit"
	RuleMetadataKey        Rule = "metadata-key"
	RuleMetadataValue      Rule = "metadata-value"
)

// Types and shapes: what dense and sparse tensors have in common.
const (
	RuleTypeUnknown      Rule = "type-unknown"
	RuleTypeNotFixed     Rule = "type-not-fixed-width"
	RuleTypeBool         Rule = "type-bool"
	RuleIntWidth         Rule = "int-width"
	RuleFloatPrecision   Rule = "float-precision"
	RuleDecimal          Rule = "decimal"
	RuleTimeUnit         Rule = "time-unit"
	RuleTimeWidth        Rule = "time-width"
	RuleByteWidth        Rule = "byte-width"
	RuleDTypeRepeated    Rule = "dtype-repeated"
	RuleDTypeUnknown     Rule = "dtype-unknown"
	RuleDTypeStorage     Rule = "dtype-storage"
	RuleDTypeComplexAxis Rule = "dtype-complex-axis"
	RuleDimsLimit        Rule = "dims-limit"
	RuleDimNegative      Rule = "dim-negative"
	RuleShapeOverflow    Rule = "shape-overflow"
	RuleBufferNegative   Rule = "buffer-negative"
)

// Dense tensors: where the elements lie in the body.
const (
	RuleStridesCount   Rule = "strides-count"
	RuleStrideNegative Rule = "stride-negative"
	RuleStridesBounds  Rule = "strides-bounds"
	RuleStridesOverlap Rule = "strides-overlap"
)

// Sparse tensors: the number of elements, and where they and their indices lie
// in the body.
const (
	RuleNonZeroLength       Rule = "non-zero-length"
	RuleSparseIndexKind     Rule = "sparse-index-kind"
	RuleIndexWidth          Rule = "index-width"
	RuleBufferBounds        Rule = "buffer-bounds"
	RuleBuffersOverlap      Rule = "buffers-overlap"
	RuleIndexStridesCount   Rule = "index-strides-count"
	RuleIndexStrideNegative Rule = "index-stride-negative"
	RuleIndexStrideMultiple Rule = "index-stride-multiple"
	RuleIndexStridesBounds  Rule = "index-strides-bounds"
	RuleCompressedAxis      Rule = "compressed-axis"
	RuleCSXDims             Rule = "csx-dims"
	RuleCSFDims             Rule = "csf-dims"
	RuleCSFBuffersCount     Rule = "csf-buffers-count"
	RuleCSFAxisOrder        Rule = "csf-axis-order"
	RuleCSFLevels           Rule = "csf-levels"
)

// kind returns the sentinel that an error about r wraps.
func (r Rule) kind() error {
	switch r {
	case RulePrefixTruncated, RuleMetadataTruncated, RuleBodyTruncated:
		return ErrTruncated
	case RuleMetadataSizeLimit, RuleBodyLengthLimit, RuleVersion, RuleHeaderKind,
		RuleTypeUnknown, RuleTypeNotFixed, RuleTypeBool, RuleDTypeUnknown, RuleDimsLimit, RuleSparseIndexKind:
		return ErrUnsupported
	}
	return ErrInvalid
}
