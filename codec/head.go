package codec

import (
	"iter"
	"math"
	"strings"
	"unsafe"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// HeaderKind is what a message is about, by the number that Arrow gives it.
type HeaderKind uint8

// The kinds of header.
const (
	HeaderNone            HeaderKind = 0 // nothing but custom metadata and a body
	HeaderSchema          HeaderKind = 1
	HeaderDictionaryBatch HeaderKind = 2
	HeaderRecordBatch     HeaderKind = 3
	HeaderTensor          HeaderKind = 4
	HeaderSparseTensor    HeaderKind = 5
)

// String returns Arrow's name of the kind: "Tensor", "SparseTensor", ….
func (k HeaderKind) String() string { return fb.MessageHeader(k).String() }

// Head is the part of a message before its body. It refers to the bytes that
// it was parsed from and lives as long as they do.
type Head struct {
	HeaderLen int64 // bytes before the body: prefix and metadata
	BodyLen   int64 // bytes of the body
	Kind      HeaderKind

	metadata []byte
	message  fb.Message
}

// Len returns the length of the whole message in bytes. It does not overflow.
func (h Head) Len() int64 { return h.HeaderLen + h.BodyLen }

// ParseHead reads the head of the message at the start of b, which may go on
// after it; the body need not be there. The metadata has been verified when
// ParseHead returns: nothing in it can be out of place, but a tensor in it may
// still be impossible, which [Head.Describe] and [Decode] find.
//
// The errors are [ErrEndOfStream], or an [*Error] that wraps [ErrTruncated],
// [ErrInvalid] or [ErrUnsupported]. The time is linear in the size of the
// metadata, and only an error allocates.
func ParseHead(b []byte) (Head, error) {
	var h Head
	prefix, size, err := readPrefix(b)
	if err != nil {
		return Head{}, err
	}
	if int64(len(b)) < prefix+size {
		return Head{}, broken(RuleMetadataTruncated, prefix, "%d bytes of metadata where the prefix says %d", int64(len(b))-prefix, size)
	}
	h.HeaderLen = prefix + size
	h.metadata = b[prefix : prefix+size : prefix+size]
	if err := verifyMessage(h.metadata, int(prefix)); err != nil {
		return Head{}, err
	}
	h.message.Init(h.metadata, uoffset(h.metadata))
	if v := h.message.Version(); v != fb.MetadataVersionV4 && v != fb.MetadataVersionV5 {
		return Head{}, h.broken(RuleVersion, "metadata version %v, which is neither V4 nor V5", v)
	}
	kind := h.message.HeaderType()
	if kind > fb.MessageHeaderSparseTensor {
		return Head{}, h.broken(RuleHeaderKind, "a header of unknown kind %d", kind)
	}
	h.Kind = HeaderKind(kind)
	h.BodyLen = h.message.BodyLength()
	switch {
	case h.BodyLen < 0:
		return Head{}, h.broken(RuleBodyLengthNegative, "a body length of %d", h.BodyLen)
	case h.BodyLen > math.MaxInt64-h.HeaderLen-Alignment:
		return Head{}, h.broken(RuleBodyLengthLimit, "a body length of %d", h.BodyLen)
	}
	return h, nil
}

// broken reports a broken rule somewhere in the metadata.
func (h *Head) broken(rule Rule, format string, args ...any) error {
	return broken(rule, h.HeaderLen-int64(len(h.metadata)), format, args...)
}

// Metadata yields the pairs of the custom metadata in their order, keys that
// occur twice included. The strings are borrowed: they live as long as the
// bytes that h was parsed from; [DecodeAttrs] makes copies. They need not be
// UTF-8 in a message from elsewhere.
func (h *Head) Metadata() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		var pair fb.KeyValue
		for i := range h.message.CustomMetadataLength() {
			h.message.CustomMetadata(&pair, i)
			if !yield(borrow(pair.Key()), borrow(pair.Value())) {
				return
			}
		}
	}
}

// LookupMetadata returns the value of the first pair of the custom metadata
// with the given key. The string is borrowed as those of [Head.Metadata].
func (h *Head) LookupMetadata(key string) (value string, ok bool) {
	for k, v := range h.Metadata() {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// ReservedPrefix begins the keys of custom metadata that tstore keeps for
// itself.
const ReservedPrefix = "tstore."

// DecodeAttrs returns copies of a message's attributes: of all pairs of its
// custom metadata, in order, whose keys don't begin with [ReservedPrefix].
func DecodeAttrs(h *Head) []layout.Attr {
	n := 0
	for k := range h.Metadata() {
		if !strings.HasPrefix(k, ReservedPrefix) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	attrs := make([]layout.Attr, 0, n)
	for k, v := range h.Metadata() {
		if !strings.HasPrefix(k, ReservedPrefix) {
			attrs = append(attrs, layout.Attr{Key: strings.Clone(k), Value: strings.Clone(v)})
		}
	}
	return attrs
}

// borrow returns b as a string that shares its memory.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
