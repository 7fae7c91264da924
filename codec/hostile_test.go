package codec_test

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// TestRefusalCostsNothing decodes what must be refused, petabytes that are not
// there among it, and counts the memory.
func TestRefusalCostsNothing(t *testing.T) {
	files, err := filepath.Glob(corpusDir + "/reject/*.msg")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		msg := readFile(t, file)
		before := allocated()
		tensor, err := codec.Decode(msg)
		if err == nil {
			err = codec.Validate(tensor)
		}
		if bytes := allocated() - before; bytes > 64<<10 {
			t.Errorf("%s: %d bytes allocated before %v", file, bytes, err)
		}
	}
}

// repeatPair returns the head of a message that refers to one pair of custom
// metadata n times.
func repeatPair(t *testing.T, n int, key, value string) []byte {
	t.Helper()
	head := codec.ControlHead(key, value, 0)
	metadata := head[8:]
	// The vector of pairs moves to the end, where there is room for it.
	message := binary.LittleEndian.Uint32(metadata)
	vtable := message - binary.LittleEndian.Uint32(metadata[message:])
	field := message + uint32(binary.LittleEndian.Uint16(metadata[vtable+4+2*4:]))
	vector := field + binary.LittleEndian.Uint32(metadata[field:])
	pair := vector + 4 + binary.LittleEndian.Uint32(metadata[vector+4:])

	// Offsets lead forwards, so the pair is copied behind the vector: its table
	// with its vtable, strings and all, is everything from its vtable on.
	pairVtable := pair - binary.LittleEndian.Uint32(metadata[pair:])
	start := uint32(len(metadata))
	out := append([]byte(nil), head...)
	out = binary.LittleEndian.AppendUint32(out, uint32(n))
	to := start + 4 + 4*uint32(n)
	to += (8 - (to-pairVtable)%8) % 8
	for i := range uint32(n) {
		at := start + 4 + 4*i
		out = binary.LittleEndian.AppendUint32(out, to+pair-pairVtable-at)
	}
	for uint32(len(out)) < 8+to {
		out = append(out, 0)
	}
	out = append(out, metadata[pairVtable:]...)
	binary.LittleEndian.PutUint32(out[8+field:], start-field)
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

func TestSharedPairs(t *testing.T) {
	// A short pair may occur as often as there are slots for it.
	head := repeatPair(t, 100_000, "key", "value")
	h, err := codec.ParseHead(head)
	if err != nil {
		t.Fatal(err)
	}
	before := allocated()
	attrs := codec.DecodeAttrs(&h)
	if bytes := allocated() - before; bytes > 16*uint64(len(head)) {
		t.Errorf("%d bytes allocated for a head of %d", bytes, len(head))
	}
	if len(attrs) != 100_000 || attrs[99_999] != (layout.Attr{Key: "key", Value: "value"}) {
		t.Errorf("%d attributes", len(attrs))
	}
	// A long one would cost many times its bytes.
	head = repeatPair(t, 100_000, "key", string(make([]byte, 1000)))
	var broken *codec.Error
	if _, err := codec.ParseHead(head); !errors.As(err, &broken) || broken.Rule != codec.RuleStringsShared {
		t.Errorf("100 MB of strings in a head of %d bytes: %v", len(head), err)
	}
}

// TestSharedBuffers reads a CSF with 64 levels that all have the same bytes, as
// many as the body has: checking it would cost 127 times its length.
func TestSharedBuffers(t *testing.T) {
	const nodes = 1000
	shape := make([]int64, layout.MaxDims)
	order := make([]int, layout.MaxDims)
	for i := range shape {
		shape[i], order[i] = 1, i
	}
	shape[63] = nodes
	ones := make([]layout.Index, layout.MaxDims)
	ptrs := make([]layout.Index, layout.MaxDims-1)
	for i := range ones {
		ones[i] = layout.IndexOf(make([]int32, nodes))
		if i < len(ptrs) {
			ptrs[i] = layout.IndexOf(make([]int32, nodes+1))
		}
	}
	csf := must(layout.NewCSF(layout.Int8, shape, order, ptrs, ones, make([]byte, nodes)))
	msg := encode(t, csf)
	h, err := codec.ParseHead(msg)
	if err != nil {
		t.Fatal(err)
	}
	// All offsets of buffers become 0, and the body ends after the longest.
	for pos := int64(8); pos+16 <= h.HeaderLen; pos += 4 {
		if n := binary.LittleEndian.Uint64(msg[pos+8:]); n == nodes || n == nodes+1 {
			if offset := binary.LittleEndian.Uint64(msg[pos:]); offset%codec.Alignment == 0 && offset < uint64(h.BodyLen) {
				binary.LittleEndian.PutUint64(msg[pos:], 0)
			}
		}
	}
	body := int64(4 * (nodes + 1))
	replaced := false
	for pos := int64(8); pos+8 <= h.HeaderLen; pos += 4 {
		if binary.LittleEndian.Uint64(msg[pos:]) == uint64(h.BodyLen) {
			binary.LittleEndian.PutUint64(msg[pos:], uint64(body))
			replaced = true
		}
	}
	if !replaced {
		t.Fatal("the body length was not found")
	}
	var broken *codec.Error
	if _, err := codec.Decode(msg[:h.HeaderLen+body]); !errors.As(err, &broken) || broken.Rule != codec.RuleBuffersOverlap {
		t.Errorf("127 buffers in the place of one: %v", err)
	}
}
