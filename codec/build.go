package codec

import (
	"fmt"
	"sync"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// uoffset returns the offset at the start of b.
func uoffset(b []byte) flatbuffers.UOffsetT { return flatbuffers.GetUOffsetT(b) }

// builders keeps the memory that metadata is built in.
var builders = sync.Pool{New: func() any { return flatbuffers.NewBuilder(1 << 10) }}

// maxPooled is the largest buffer that a builder may take back to the pool.
const maxPooled = 64 << 10

func releaseBuilder(b *flatbuffers.Builder) {
	if cap(b.Bytes) <= maxPooled {
		b.Reset()
		builders.Put(b)
	}
}

// checkMetadataSize makes sure that metadata with these strings stays within
// MaxMetadata, far below which the builder would panic.
func checkMetadataSize(names []string, meta []layout.Attr) error {
	// A string takes its length, a zero, up to three zeros more to align it,
	// its offset; a pair a table on top of that.
	const fixed, perString, perPair = 32 << 10, 16, 24
	size := int64(fixed)
	for _, name := range names {
		size += int64(len(name)) + perString
	}
	for _, a := range meta {
		size += int64(len(a.Key)) + int64(len(a.Value)) + 2*perString + perPair
	}
	if size > MaxMetadata {
		return fmt.Errorf("codec: dimension names and custom metadata take about %d bytes, more than the limit of %d", size, MaxMetadata)
	}
	return nil
}

// buildMessage finishes a message around a header that b already holds and
// returns its framed head. The first pair of custom metadata is keyDType with
// dtype, unless dtype is empty.
func buildMessage(b *flatbuffers.Builder, kind fb.MessageHeader, header flatbuffers.UOffsetT, bodyLen int64, dtype string, meta []layout.Attr) []byte {
	custom := buildCustomMetadata(b, dtype, meta)
	fb.MessageStart(b)
	fb.MessageAddBodyLength(b, bodyLen)
	if custom != 0 {
		fb.MessageAddCustomMetadata(b, custom)
	}
	if kind != fb.MessageHeaderNONE {
		fb.MessageAddHeader(b, header)
	}
	fb.MessageAddVersion(b, fb.MetadataVersionV5)
	fb.MessageAddHeaderType(b, kind)
	b.Finish(fb.MessageEnd(b))
	return frame(b.FinishedBytes())
}

func buildCustomMetadata(b *flatbuffers.Builder, dtype string, meta []layout.Attr) flatbuffers.UOffsetT {
	n := len(meta)
	if dtype != "" {
		n++
	}
	if n == 0 {
		return 0
	}
	pairs := make([]flatbuffers.UOffsetT, 0, 8)
	if dtype != "" {
		pairs = append(pairs, buildPair(b, keyDType, dtype))
	}
	for _, a := range meta {
		pairs = append(pairs, buildPair(b, a.Key, a.Value))
	}
	return b.CreateVectorOfTables(pairs)
}

func buildPair(b *flatbuffers.Builder, key, value string) flatbuffers.UOffsetT {
	k := b.CreateString(key)
	v := b.CreateString(value)
	fb.KeyValueStart(b)
	fb.KeyValueAddValue(b, v)
	fb.KeyValueAddKey(b, k)
	return fb.KeyValueEnd(b)
}

// The builder gives a table the vtable of an earlier one if their fields have
// the same places, even if the tables differ in length, which the vtable also
// has. The tables that could meet this way are built so that they don't: a pair
// with the value first, an Int or a Decimal with all fields, a dimension with a
// name. What is written is then right to the last byte.

// buildShape adds the dimensions of a tensor; names is nil or has one name for
// each of the first dimensions.
func buildShape(b *flatbuffers.Builder, shape []int64, names []string) flatbuffers.UOffsetT {
	var dims [maxStoredDims]flatbuffers.UOffsetT
	var noName flatbuffers.UOffsetT // shared by all dimensions without one
	for i, size := range shape {
		name := noName
		switch {
		case i < len(names) && names[i] != "":
			name = b.CreateString(names[i])
		case name == 0:
			noName = b.CreateString("")
			name = noName
		}
		fb.TensorDimStart(b)
		fb.TensorDimAddSize(b, size)
		fb.TensorDimAddName(b, name)
		dims[i] = fb.TensorDimEnd(b)
	}
	return b.CreateVectorOfTables(dims[:len(shape)])
}

// buildLongs adds a vector of longs.
func buildLongs(b *flatbuffers.Builder, v []int64) flatbuffers.UOffsetT {
	b.StartVector(8, len(v), 8)
	for i := len(v) - 1; i >= 0; i-- {
		b.PrependInt64(v[i])
	}
	return b.EndVector(len(v))
}

// ControlHead returns the head of a message that is none of Arrow's: it has no
// header, one pair of custom metadata and a body of bodyLen bytes, which the
// caller writes behind it. Equal arguments give equal bytes. The length of the
// result is a multiple of [Alignment].
//
// bodyLen must be a multiple of Alignment, and key and value together must be
// shorter than 32 MiB; ControlHead panics if they aren't.
func ControlHead(key, value string, bodyLen int64) []byte {
	if bodyLen < 0 || bodyLen%Alignment != 0 || len(key)+len(value) >= MaxMetadata/2 {
		panic(fmt.Sprintf("codec: control message with a key of %d bytes, a value of %d bytes and a body of %d bytes", len(key), len(value), bodyLen))
	}
	b := builders.Get().(*flatbuffers.Builder)
	defer releaseBuilder(b)
	return buildMessage(b, fb.MessageHeaderNONE, 0, bodyLen, "", []layout.Attr{{Key: key, Value: value}})
}
