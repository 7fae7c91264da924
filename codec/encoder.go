package codec

import (
	"encoding/binary"

	"github.com/tstore/tstore/layout"
)

// An Encoder encodes many tensors, one after the other. It makes of each what
// [Encode] makes of it, and takes a fraction of the time for dense tensors that
// have one pair of metadata, their name for instance: the head of such a message
// is made from that of an earlier one, which differs from it in a few numbers
// and the value of the pair. The zero value is ready for use, by one goroutine
// at a time.
type Encoder struct {
	heads  map[plainKind]*plainHead
	form   storedDense
	record Record
}

// maxHeads bounds how many heads an Encoder keeps.
const maxHeads = 256

// A plainKind is what the heads have in common of which one can be made from
// another. All sizes are above zero, since the default of a number is left out.
type plainKind struct {
	dtype    layout.DType
	ndim     int
	key      string
	valueLen int
}

// Encode is the function [Encode]. The record, too, lives until the next call
// only.
func (e *Encoder) Encode(t layout.Tensor, meta []layout.Attr) (*Record, error) {
	d, ok := t.(*layout.Dense)
	if !ok || len(meta) != 1 || meta[0].Key == keyDType || len(meta[0].Value) > maxPooled || !plain(d) {
		return Encode(t, meta)
	}
	s := &e.form
	if err := s.of(d); err != nil {
		return nil, err
	}
	kind := plainKind{s.dtype, s.ndim, meta[0].Key, len(meta[0].Value)}
	h := e.heads[kind]
	if h == nil {
		if h = newPlainHead(s.head(nil, meta), s.ndim); h == nil {
			return Encode(t, meta)
		}
		if e.heads == nil || len(e.heads) == maxHeads {
			e.heads = make(map[plainKind]*plainHead)
		}
		e.heads[kind] = h
	}
	h.set(s, meta[0].Value)
	e.record.init(h.bytes, s.body)
	return &e.record, nil
}

// plain reports whether the head of d can be made from another one.
func plain(d *layout.Dense) bool {
	if len(d.Shape()) > denseDims || d.DimNames() != nil || extensionOf(d.DType()) != nil || !d.DType().Valid() {
		return false
	}
	for _, n := range d.Shape() {
		if n == 0 {
			return false
		}
	}
	return true
}

// A plainHead is the head of a message, and where in it those things are that tell
// it apart from others of its kind.
type plainHead struct {
	bytes   []byte
	bodyLen int
	data    int // length of the data
	dims    [denseDims]int
	strides int
	value   int
}

// newPlainHead finds them in a head that was built. It returns nil if it does not.
func newPlainHead(head []byte, ndim int) *plainHead {
	p := plainReader{buf: head[prefixLen:], strings: len(head)}
	h := &plainHead{bytes: head}
	m := p.table(0)
	header, pairs := p.field(m, 2, 4, 4), p.field(m, 4, 4, 4)
	h.bodyLen = p.field(m, 3, 8, 8)
	if header == 0 || pairs == 0 || h.bodyLen == 0 {
		return nil
	}
	t := p.table(header)
	shape, strides, data := p.field(t, 2, 4, 4), p.field(t, 3, 4, 4), p.field(t, 4, 16, 8)
	if shape == 0 || strides == 0 || data == 0 {
		return nil
	}
	h.data = data + 8
	dims, n := p.vector(shape, 4, 4)
	if n != ndim {
		return nil
	}
	for i := range ndim {
		if h.dims[i] = p.field(p.table(dims+4*i), 0, 8, 8); h.dims[i] == 0 {
			return nil
		}
	}
	if h.strides, n = p.vector(strides, 8, 8); n != ndim {
		return nil
	}
	pair, n := p.vector(pairs, 4, 4)
	if n != 1 {
		return nil
	}
	value := p.field(p.table(pair), 1, 4, 4)
	if value == 0 {
		return nil
	}
	h.value = p.follow(value) + 4
	if p.broken {
		return nil
	}
	return h
}

// set makes the head that of s, with the value of the pair.
func (h *plainHead) set(s *storedDense, value string) {
	metadata := h.bytes[prefixLen:]
	binary.LittleEndian.PutUint64(metadata[h.bodyLen:], uint64(s.bodyLen))
	binary.LittleEndian.PutUint64(metadata[h.data:], uint64(s.bytes))
	for i := range s.ndim {
		binary.LittleEndian.PutUint64(metadata[h.dims[i]:], uint64(s.shape[i]))
		binary.LittleEndian.PutUint64(metadata[h.strides+8*i:], uint64(s.strides[i]))
	}
	copy(metadata[h.value:], value)
}
