package codec

import (
	"encoding/binary"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// decodePlain is [Decode] for the messages that are met most by far: dense
// tensors of integers or floats with up to eight dimensions. It checks each
// part of the metadata in the moment it reads it, where the verifier goes
// through all of it before the accessors do so again, and takes a third of the
// time: that is most of what looking up a small tensor costs.
//
// It does not judge. All that it does not expect, broken messages among it, it
// leaves to those, and returns nil. What it does return is what they would.
func decodePlain(msg []byte) *layout.Dense {
	if len(msg) < prefixLen || fetch(msg) == 0 || binary.LittleEndian.Uint32(msg) != continuation {
		return nil
	}
	size := int(int32(binary.LittleEndian.Uint32(msg[4:])))
	if size < 8 || size > MaxMetadata || size > len(msg)-prefixLen {
		return nil
	}
	p := plainReader{buf: msg[prefixLen : prefixLen+size : prefixLen+size], strings: maxSharing * size}
	body := msg[prefixLen+size:]

	m := p.table(0)
	version, kind, header := p.field(m, 0, 2, 2), p.field(m, 1, 1, 1), p.field(m, 2, 4, 4)
	bodyLen, pairs := p.field(m, 3, 8, 8), p.field(m, 4, 4, 4)
	if version == 0 || kind == 0 || header == 0 || bodyLen == 0 || fb.MessageHeader(p.buf[kind]) != fb.MessageHeaderTensor {
		return nil
	}
	if v := fb.MetadataVersion(p.uint16(version)); v != fb.MetadataVersionV4 && v != fb.MetadataVersionV5 {
		return nil
	}
	if n := p.int64(bodyLen); n < 0 || n > int64(len(body)) {
		return nil
	} else {
		body = body[:n]
	}
	if !p.plainMetadata(pairs) {
		return nil
	}

	t := p.table(header)
	dtype := p.elementType(t)
	shapeAt, stridesAt, data := p.field(t, 2, 4, 4), p.field(t, 3, 4, 4), p.field(t, 4, 16, 8)
	if !dtype.Valid() || shapeAt == 0 || stridesAt == 0 || data == 0 {
		return nil
	}
	dims, ndim := p.vector(shapeAt, 4, 4)
	steps, n := p.vector(stridesAt, 8, 8)
	if p.broken || ndim != n || ndim > denseDims {
		return nil
	}
	var shape, strides [denseDims]int64
	var names [denseDims][]byte
	named := false
	for i := range ndim {
		dim := p.table(dims + 4*i)
		length, name := p.field(dim, 0, 8, 8), p.field(dim, 1, 4, 4)
		if length == 0 {
			return nil
		}
		if shape[i] = p.int64(length); shape[i] <= 0 {
			return nil
		}
		if name != 0 {
			names[i] = p.string(name)
			named = named || len(names[i]) > 0
		}
		strides[i] = p.int64(steps + 8*i)
	}
	if p.broken {
		return nil
	}
	elements, ok := elementsIn(body, dtype, shape[:ndim], strides[:ndim], p.int64(data), p.int64(data+8))
	if !ok {
		return nil
	}
	if !named && ndim <= smallDenseDims {
		block := new(smallDenseBlock)
		copy(block.shape[:], shape[:])
		copy(block.stride[:], strides[:])
		if block.tensor.Init(dtype, block.shape[:ndim], block.stride[:ndim], 0, elements, nil) != nil {
			return nil
		}
		return &block.tensor
	}
	block := new(denseBlock)
	block.shape, block.stride = shape, strides
	var dimNames []string
	if named {
		for i := range ndim {
			block.name[i] = borrow(names[i])
		}
		dimNames = block.name[:ndim]
	}
	if block.tensor.Init(dtype, block.shape[:ndim], block.stride[:ndim], 0, elements, dimNames) != nil {
		return nil
	}
	return &block.tensor
}

// smallDenseDims is the number of dimensions up to which a tensor without names
// takes a smaller allocation.
const smallDenseDims = 4

// A smallDenseBlock is a tensor with the memory of its shape and strides.
type smallDenseBlock struct {
	tensor layout.Dense
	shape  [smallDenseDims]int64
	stride [smallDenseDims]int64
}

// elementsIn returns the bytes of the elements of a tensor without empty
// dimensions in the body of its message, from the first to the end of the last.
func elementsIn(body []byte, dtype layout.DType, shape, strides []int64, offset, length int64) ([]byte, bool) {
	size := int64(dtype.Size())
	bytes, ok := layout.CheckedProduct(shape, size)
	if !ok || bytes > int64(len(body)) || offset < 0 || length < 0 {
		return nil, false
	}
	span := size
	for i, stride := range strides {
		reach, ok := layout.CheckedMul(shape[i]-1, stride)
		if !ok || stride < 0 {
			return nil, false
		}
		if span, ok = layout.CheckedAdd(span, reach); !ok {
			return nil, false
		}
	}
	end, ok := layout.CheckedAdd(offset, span)
	if !ok || end > int64(len(body)) {
		return nil, false
	}
	return aligned(body[offset:end:end], naturalAlignment(dtype)), true
}

// fetch touches the cache lines in which the metadata of a small tensor lies.
// Reading it goes from one line to the next; asked for together, lines that are
// not in a cache arrive in the time of one. The result is not 0 for a message
// that begins with the continuation.
func fetch(msg []byte) (x byte) {
	const line, lines = 64, 5
	for i := 0; i < min(len(msg), line*lines); i += line {
		x |= msg[i]
	}
	return x
}

// A plainReader reads a metadata FlatBuffer and checks what it reads, by the
// rules of the verifier. The first that is broken sets broken and makes the
// result 0, which is a position that can be read.
type plainReader struct {
	buf     []byte // 8 bytes at least
	strings int    // bytes of strings that may still be referred to
	broken  bool
}

func (p *plainReader) uint16(pos int) int  { return int(binary.LittleEndian.Uint16(p.buf[pos:])) }
func (p *plainReader) uint32(pos int) int  { return int(binary.LittleEndian.Uint32(p.buf[pos:])) }
func (p *plainReader) int64(pos int) int64 { return int64(binary.LittleEndian.Uint64(p.buf[pos:])) }

// follow returns where the offset at pos leads, which must be a multiple of 4.
func (p *plainReader) follow(pos int) int {
	offset := p.uint32(pos)
	if at := pos + offset; offset >= 4 && offset <= len(p.buf)-pos-4 && at%4 == 0 {
		return at
	}
	p.broken = true
	return 0
}

// table returns the table that the offset at pos leads to, without fields if a
// rule is broken.
func (p *plainReader) table(pos int) tableRef {
	at := p.follow(pos)
	vtable := at - int(int32(p.uint32(at)))
	if p.broken || vtable < 0 || vtable > len(p.buf)-4 || vtable%2 != 0 {
		p.broken = true
		return tableRef{}
	}
	slots := p.uint16(vtable)
	if slots < 4 || slots%2 != 0 || slots > len(p.buf)-vtable {
		p.broken = true
		return tableRef{}
	}
	return tableRef{pos: at, vtable: vtable, slots: slots}
}

// field returns the position of a field of t, 0 if it is absent.
func (p *plainReader) field(t tableRef, id, width, alignment int) int {
	slot := 4 + 2*id
	if slot >= t.slots {
		return 0
	}
	offset := p.uint16(t.vtable + slot)
	if offset == 0 {
		return 0
	}
	pos := t.pos + offset
	if offset < 4 || offset+width > len(p.buf)-t.pos || pos&(alignment-1) != 0 {
		p.broken = true
		return 0
	}
	return pos
}

// vector returns where the elements of the vector begin that the offset at pos
// leads to, and how many there are.
func (p *plainReader) vector(pos, width, alignment int) (start, n int) {
	at := p.follow(pos)
	n = p.uint32(at)
	if p.broken || n > (len(p.buf)-at-4)/width || n > 0 && (at+4)&(alignment-1) != 0 {
		p.broken = true
		return 0, 0
	}
	return at + 4, n
}

// string returns the string that the offset at pos leads to.
func (p *plainReader) string(pos int) []byte {
	at := p.follow(pos)
	n := p.uint32(at)
	if p.broken || n > len(p.buf)-at-4-1 || p.buf[at+4+n] != 0 || n > p.strings {
		p.broken = true
		return nil
	}
	p.strings -= n
	return p.buf[at+4 : at+4+n]
}

// plainMetadata reports whether the custom metadata, whose field is at pos, is
// as it should be and names no element type.
func (p *plainReader) plainMetadata(pos int) bool {
	if pos == 0 {
		return !p.broken
	}
	start, n := p.vector(pos, 4, 4)
	for i := range n {
		pair := p.table(start + 4*i)
		key, value := p.field(pair, 0, 4, 4), p.field(pair, 1, 4, 4)
		if key == 0 || value == 0 || string(p.string(key)) == keyDType {
			return false
		}
		p.string(value)
		if p.broken {
			return false
		}
	}
	return !p.broken
}

// elementType returns the element type of the Tensor t if it is an integer or
// a float, else the zero DType.
func (p *plainReader) elementType(t tableRef) layout.DType {
	kind, value := p.field(t, 0, 1, 1), p.field(t, 1, 4, 4)
	if kind == 0 || value == 0 {
		return layout.DType{}
	}
	typ := p.table(value)
	switch fb.Type(p.buf[kind]) {
	case fb.TypeFloatingPoint:
		precision := p.field(typ, 0, 2, 2)
		if precision == 0 { // absent: half
			return layout.Float16
		}
		switch fb.Precision(p.uint16(precision)) {
		case fb.PrecisionHALF:
			return layout.Float16
		case fb.PrecisionSINGLE:
			return layout.Float32
		case fb.PrecisionDOUBLE:
			return layout.Float64
		}
	case fb.TypeInt:
		width, sign := p.field(typ, 0, 4, 4), p.field(typ, 1, 1, 1)
		if width == 0 {
			return layout.DType{}
		}
		i := 0
		if sign != 0 {
			i = int(p.buf[sign])
		}
		if i > 1 {
			return layout.DType{}
		}
		switch p.uint32(width) {
		case 8:
			return [...]layout.DType{layout.Uint8, layout.Int8}[i]
		case 16:
			return [...]layout.DType{layout.Uint16, layout.Int16}[i]
		case 32:
			return [...]layout.DType{layout.Uint32, layout.Int32}[i]
		case 64:
			return [...]layout.DType{layout.Uint64, layout.Int64}[i]
		}
	}
	return layout.DType{}
}
