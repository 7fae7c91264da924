package main

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
)

// A message is what another writer might have written. It is put together
// without package codec, so that the corpus also tests what that package
// writes.
type message struct {
	version  fb.MetadataVersion // V5 if zero
	old      bool               // without the 0xFFFFFFFF
	sizeOnly bool               // metadata of a multiple of 8 bytes, not padded to 64
	meta     []pair
	shared   string // if not empty, the value of all pairs, written once
	header   func(b *flatbuffers.Builder) (fb.MessageHeader, flatbuffers.UOffsetT)
	body     []byte
}

type pair struct{ key, value string }

// A dim is a dimension; an absent name is a different thing from an empty one.
type dim struct {
	size int64
	name *string
}

func named(size int64, name string) dim { return dim{size: size, name: &name} }

func dims(sizes ...int64) []dim {
	d := make([]dim, len(sizes))
	for i, size := range sizes {
		d[i].size = size
	}
	return d
}

// A typ adds an element type to a message.
type typ func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT)

func intType(bits int32, signed bool) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		return fb.TypeInt, buildInt(b, bits, signed)
	}
}

func buildInt(b *flatbuffers.Builder, bits int32, signed bool) flatbuffers.UOffsetT {
	fb.IntStart(b)
	fb.IntAddBitWidth(b, bits)
	fb.IntAddIsSigned(b, signed)
	return fb.IntEnd(b)
}

func floatType(p fb.Precision) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		fb.FloatingPointStart(b)
		fb.FloatingPointAddPrecision(b, p)
		return fb.TypeFloatingPoint, fb.FloatingPointEnd(b)
	}
}

func decimalType(precision, scale, bits int32) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		fb.DecimalStart(b)
		fb.DecimalAddPrecision(b, precision)
		fb.DecimalAddScale(b, scale)
		fb.DecimalAddBitWidth(b, bits)
		return fb.TypeDecimal, fb.DecimalEnd(b)
	}
}

func dateType(unit fb.DateUnit) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		fb.DateStart(b)
		fb.DateAddUnit(b, unit)
		return fb.TypeDate, fb.DateEnd(b)
	}
}

func timeType(unit fb.TimeUnit, bits int32) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		fb.TimeStart(b)
		fb.TimeAddUnit(b, unit)
		fb.TimeAddBitWidth(b, bits)
		return fb.TypeTime, fb.TimeEnd(b)
	}
}

func timestampType(unit fb.TimeUnit, zone string) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		z := b.CreateString(zone)
		fb.TimestampStart(b)
		fb.TimestampAddUnit(b, unit)
		fb.TimestampAddTimezone(b, z)
		return fb.TypeTimestamp, fb.TimestampEnd(b)
	}
}

func durationType(unit fb.TimeUnit) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		fb.DurationStart(b)
		fb.DurationAddUnit(b, unit)
		return fb.TypeDuration, fb.DurationEnd(b)
	}
}

func intervalType(unit fb.IntervalUnit) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		fb.IntervalStart(b)
		fb.IntervalAddUnit(b, unit)
		return fb.TypeInterval, fb.IntervalEnd(b)
	}
}

func binaryType(width int32) typ {
	return func(b *flatbuffers.Builder) (fb.Type, flatbuffers.UOffsetT) {
		fb.FixedSizeBinaryStart(b)
		fb.FixedSizeBinaryAddByteWidth(b, width)
		return fb.TypeFixedSizeBinary, fb.FixedSizeBinaryEnd(b)
	}
}

// A buffer is a stretch of the body.
type buffer struct{ offset, length int64 }

// dense returns the header of a Tensor message; strides may be nil.
func dense(t typ, shape []dim, strides []int64, data buffer) func(b *flatbuffers.Builder) (fb.MessageHeader, flatbuffers.UOffsetT) {
	return func(b *flatbuffers.Builder) (fb.MessageHeader, flatbuffers.UOffsetT) {
		dims := buildDims(b, shape)
		var steps flatbuffers.UOffsetT
		if strides != nil {
			steps = buildLongs(b, strides)
		}
		kind, typ := t(b)
		fb.TensorStart(b)
		fb.TensorAddTypeType(b, kind)
		fb.TensorAddType(b, typ)
		fb.TensorAddShape(b, dims)
		if strides != nil {
			fb.TensorAddStrides(b, steps)
		}
		fb.TensorAddData(b, fb.CreateBuffer(b, data.offset, data.length))
		return fb.MessageHeaderTensor, fb.TensorEnd(b)
	}
}

func buildDims(b *flatbuffers.Builder, shape []dim) flatbuffers.UOffsetT {
	var offsets []flatbuffers.UOffsetT
	for _, d := range shape {
		var name flatbuffers.UOffsetT
		if d.name != nil {
			name = b.CreateString(*d.name)
		}
		fb.TensorDimStart(b)
		fb.TensorDimAddSize(b, d.size)
		if d.name != nil {
			fb.TensorDimAddName(b, name)
		}
		offsets = append(offsets, fb.TensorDimEnd(b))
	}
	return b.CreateVectorOfTables(offsets)
}

func buildLongs(b *flatbuffers.Builder, v []int64) flatbuffers.UOffsetT {
	b.StartVector(8, len(v), 8)
	for i := len(v) - 1; i >= 0; i-- {
		b.PrependInt64(v[i])
	}
	return b.EndVector(len(v))
}

// bytes returns the message. Fields with their default value are absent.
func (m message) bytes() []byte {
	b := flatbuffers.NewBuilder(0)
	kind, header := m.header(b)
	var custom flatbuffers.UOffsetT
	if m.meta != nil {
		var shared flatbuffers.UOffsetT
		if m.shared != "" {
			shared = b.CreateString(m.shared)
		}
		var pairs []flatbuffers.UOffsetT
		for _, p := range m.meta {
			key, value := b.CreateString(p.key), shared
			if value == 0 {
				value = b.CreateString(p.value)
			}
			fb.KeyValueStart(b)
			fb.KeyValueAddKey(b, key)
			fb.KeyValueAddValue(b, value)
			pairs = append(pairs, fb.KeyValueEnd(b))
		}
		custom = b.CreateVectorOfTables(pairs)
	}
	version := fb.MetadataVersionV5
	if m.version != 0 {
		version = m.version
	}
	fb.MessageStart(b)
	fb.MessageAddVersion(b, version)
	fb.MessageAddHeaderType(b, kind)
	fb.MessageAddHeader(b, header)
	fb.MessageAddBodyLength(b, int64(len(m.body)))
	if custom != 0 {
		fb.MessageAddCustomMetadata(b, custom)
	}
	b.Finish(fb.MessageEnd(b))

	metadata := b.FinishedBytes()
	prefix := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}
	if m.old {
		prefix = prefix[4:]
	}
	to := 64
	if m.sizeOnly || m.old {
		to = 8
	}
	for (len(prefix)+len(metadata))%to != 0 {
		metadata = append(metadata, 0)
	}
	binary.LittleEndian.PutUint32(prefix[len(prefix)-4:], uint32(len(metadata)))
	return append(append(prefix, metadata...), m.body...)
}
