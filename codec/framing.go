package codec

import "encoding/binary"

// Alignment is what the start of a message, of its body, and of every buffer
// in the body is a multiple of, in bytes, in what this package writes.
const Alignment = 64

// MaxMetadata is the largest metadata, in bytes, that this package reads or
// writes: what a message costs before anything in it has been looked at.
const MaxMetadata = 64 << 20

// PrefixLen is the number of bytes that [HeadSize] wants to see.
const PrefixLen = 8

// continuation opens a message since Arrow 0.15. Before, a message began with
// the size of its metadata, which can't be negative.
const continuation = 0xFFFFFFFF

const (
	prefixLen    = 8 // continuation and metadata size
	oldPrefixLen = 4 // metadata size alone
)

// EndOfStream returns Arrow's end-of-stream marker: the continuation and a
// metadata size of zero.
func EndOfStream() []byte { return []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0} }

// HeadSize returns how many bytes the head of a message takes, prefix and
// metadata, given its first [PrefixLen] bytes; more may follow in prefix. The
// body starts there. The result is at least 4 and at most MaxMetadata + 8; it
// is what the prefix claims, and nothing says that so many bytes are there.
//
// It returns [ErrEndOfStream] where the stream ends: for the marker and for
// four zero bytes.
func HeadSize(prefix []byte) (int64, error) {
	framing, size, err := readPrefix(prefix)
	return framing + size, err
}

// readPrefix returns the length of the prefix of a message and the size of its
// metadata.
func readPrefix(b []byte) (prefix, size int64, err error) {
	if len(b) < oldPrefixLen {
		return 0, 0, broken(RulePrefixTruncated, 0, "%d bytes where a message needs at least %d", len(b), prefixLen)
	}
	prefix = oldPrefixLen
	word := binary.LittleEndian.Uint32(b)
	if word == continuation {
		if len(b) < prefixLen {
			return 0, 0, broken(RulePrefixTruncated, 0, "%d bytes where a message needs at least %d", len(b), prefixLen)
		}
		prefix = prefixLen
		word = binary.LittleEndian.Uint32(b[4:])
	}
	size = int64(int32(word))
	switch {
	case size == 0:
		return 0, 0, ErrEndOfStream
	case size < 0:
		return 0, 0, broken(RuleMetadataSizeNegative, prefix-4, "a metadata size of %d", size)
	case size > MaxMetadata:
		return 0, 0, broken(RuleMetadataSizeLimit, prefix-4, "a metadata size of %d, more than the limit of %d", size, MaxMetadata)
	}
	return prefix, size, nil
}

// frame puts the prefix before metadata and zeros behind it, so that the whole
// is a multiple of Alignment.
func frame(metadata []byte) []byte {
	length := align(prefixLen + int64(len(metadata)))
	head := make([]byte, prefixLen, length)
	binary.LittleEndian.PutUint32(head, continuation)
	binary.LittleEndian.PutUint32(head[4:], uint32(length-prefixLen))
	head = append(head, metadata...)
	return head[:length]
}

// align rounds n, which is far from overflow, up to a multiple of Alignment.
func align(n int64) int64 { return (n + Alignment - 1) &^ (Alignment - 1) }

// zeros is the source of all padding.
var zeros [Alignment]byte
