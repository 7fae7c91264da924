package codec

import "iter"

// Buffers yields the buffers of the message's body in their order, each with its
// size in bytes, without the zeros between them. What the inner sequence yields
// is as in [Record.Parts].
func (r *Record) Buffers() iter.Seq2[int64, iter.Seq[[]byte]] {
	return func(yield func(int64, iter.Seq[[]byte]) bool) {
		for i := range r.body {
			if p := &r.body[i]; !yield(p.size, p.bytes) {
				return
			}
		}
	}
}

// bytes yields the bytes of the buffer.
func (p *piece) bytes(yield func([]byte) bool) { p.each(yield) }
