package codec

import (
	"bytes"
	"io"
	"iter"
	"slices"

	"github.com/tstore/tstore/layout"
)

// Record is one encoded message: its head, and its body as a list of pieces
// that borrow the memory of the tensor. It may be read as often as one likes
// until that memory changes, by one goroutine at a time or by many.
type Record struct {
	// Head is the message up to its body: prefix, metadata and padding, a
	// multiple of [Alignment] long.
	Head []byte

	body   []piece
	length int64
	inline [1]piece
}

// A piece is one buffer of a body, with zeros behind it.
type piece struct {
	data   []byte                  // the bytes, or
	chunks func() iter.Seq[[]byte] // something that produces them bit by bit
	size   int64                   // number of bytes
	pad    int64                   // zeros that follow, less than Alignment
}

// inMemory is a buffer that lies in memory as it is stored.
func inMemory(data []byte) piece { return piece{data: data, size: int64(len(data))} }

// inOrder is a buffer with the elements of d in row-major order.
func inOrder(d *layout.Dense) piece {
	return piece{size: d.NumBytes(), chunks: func() iter.Seq[[]byte] {
		return d.Chunks(make([]byte, max(min(chunkSize, d.NumBytes()), int64(d.DType().Size()))))
	}}
}

// each yields the bytes of the buffer and reports whether yield wants more.
func (p *piece) each(yield func([]byte) bool) bool {
	if p.chunks == nil {
		return len(p.data) == 0 || yield(p.data)
	}
	for chunk := range p.chunks() {
		if !yield(chunk) {
			return false
		}
	}
	return true
}

// chunkSize bounds the memory in which elements are put in order.
const chunkSize = 1 << 20

// newRecord puts a body behind a head. Each piece of it is padded to a multiple
// of Alignment.
func newRecord(head []byte, body ...piece) *Record {
	r := new(Record)
	r.init(head, body...)
	return r
}

// init makes r a record, in the memory that it has.
func (r *Record) init(head []byte, body ...piece) {
	r.Head, r.length = head, int64(len(head))
	r.body = append(r.inline[:0], body...)
	for i := range r.body {
		p := &r.body[i]
		p.pad = align(p.size) - p.size
		r.length += p.size + p.pad
	}
}

// Len returns the length of the message in bytes, a multiple of [Alignment].
func (r *Record) Len() int64 { return r.length }

// Parts yields the bytes of the message in order: the head, then the body with
// its padding. Buffers that lie in memory as they are stored are yielded
// whole, without a copy; what has to be put in order first comes in chunks of
// at most 1 MiB, or of one element if that is larger. The slices must not be
// modified and are valid until the next one.
func (r *Record) Parts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield(r.Head) {
			return
		}
		for i := range r.body {
			p := &r.body[i]
			if !p.each(yield) || (p.pad > 0 && !yield(zeros[:p.pad])) {
				return
			}
		}
	}
}

// AppendTo appends the message to dst.
func (r *Record) AppendTo(dst []byte) []byte {
	dst = slices.Grow(dst, int(r.length))
	for part := range r.Parts() {
		dst = append(dst, part...)
	}
	return dst
}

// Equal reports whether the message is msg. Buffers that lie in msg, where the
// message has them, are not looked at.
func (r *Record) Equal(msg []byte) bool {
	if int64(len(msg)) != r.length {
		return false
	}
	for part := range r.Parts() {
		if !bytes.Equal(part, msg[:len(part)]) { // which compares the addresses first
			return false
		}
		msg = msg[len(part):]
	}
	return true
}

// WriteTo writes the message to w, with one Write for each of [Record.Parts].
// It implements [io.WriterTo].
func (r *Record) WriteTo(w io.Writer) (int64, error) {
	var n int64
	for part := range r.Parts() {
		m, err := w.Write(part)
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
