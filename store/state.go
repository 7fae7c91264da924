package store

import (
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// Entry is what the store knows of a tensor without touching its data. It is
// shared: what it refers to must not be changed. It stays valid for ever.
type Entry = index.Entry

// state is the contents of the store after one batch. It never changes; a
// transaction or snapshot holds one for its whole life, and needs no lock.
type state struct {
	seq  uint64                   // of the last batch in it
	open index.Table              // what the batches of the unsealed logs say, tombstones included
	segs map[uint64]*segment.File // every file that counts, by number
}

// lookup returns the entry of name, or ErrNotFound.
func (st *state) lookup(name string) (*Entry, error) { return st.resolve(name, st.open.Get(name)) }

// resolve returns the entry that counts for name, given what the unsealed logs
// have of it, which may be nil.
func (st *state) resolve(name string, open *Entry) (*Entry, error) {
	if open != nil && !open.Deleted {
		return open, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrNotFound, name)
}

// list yields the entries whose names begin with prefix, by name in byte order.
func (st *state) list(prefix string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for e := range st.open.Ascend(prefix) {
			if !strings.HasPrefix(e.Name, prefix) {
				return
			}
			if !e.Deleted && !yield(e, nil) {
				return
			}
		}
	}
}

// segment returns the file that e lies in.
func (st *state) segment(e *Entry) (*segment.File, error) {
	f := st.segs[e.Segment]
	if f == nil {
		return nil, fmt.Errorf("%w: %q lies in segment %d, which does not belong to the store", ErrCorrupt, e.Name, e.Segment)
	}
	return f, nil
}

// view returns the tensor of e as it lies in the map.
func (st *state) view(e *Entry) (layout.Tensor, error) {
	f, err := st.segment(e)
	if err != nil {
		return nil, err
	}
	record, err := f.Bytes(e.Offset, e.Length)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", e.Name, err)
	}
	return decode(f, e, record)
}

// read returns the tensor of e as a copy in memory of its own, read by pread and
// checked against its CRC.
func (st *state) read(e *Entry) (layout.Tensor, error) {
	f, err := st.segment(e)
	if err != nil {
		return nil, err
	}
	if e.Length > f.Size() { // before memory is asked for
		_, err := f.Bytes(e.Offset, e.Length)
		return nil, fmt.Errorf("tensor %q: %w", e.Name, err)
	}
	record := segment.AlignedBytes(e.Length)
	if err := f.ReadRange(record, e.Offset); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", e.Name, err)
	}
	if got := segment.Checksum(record); got != e.CRC {
		return nil, fmt.Errorf("tensor %q: %s: %w: record at offset %d of %d bytes has CRC-32C %08x, should have %08x",
			e.Name, f.Path, ErrCorrupt, e.Offset, e.Length, got, e.CRC)
	}
	return decode(f, e, record)
}

// decode makes a tensor of the bytes of e's record and checks that it is the one
// that e describes.
func decode(f *segment.File, e *Entry, record []byte) (t layout.Tensor, err error) {
	// The record may lie in a map of a file that somebody has cut short, or of a
	// bad sector: a fault, which must not end the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, faultError(p, f, e)
		}
	}()
	t, err = codec.Decode(record)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %s: %w: record at offset %d: %w", e.Name, f.Path, ErrCorrupt, e.Offset, err)
	}
	if t.DType() != e.DType || t.Layout() != e.Layout || t.NNZ() != e.NNZ || !slices.Equal(t.Shape(), e.Shape) {
		return nil, fmt.Errorf("tensor %q: %s: %w: record at offset %d holds %v %v %v, the index says %v %v %v",
			e.Name, f.Path, ErrCorrupt, e.Offset, t.Layout(), t.DType(), t.Shape(), e.Layout, e.DType, e.Shape)
	}
	return t, nil
}

// faultError makes ErrCorrupt of a memory fault in the map of f, and panics on
// with any other p.
func faultError(p any, f *segment.File, e *Entry) error {
	fault, ok := p.(interface {
		error
		Addr() uintptr
	})
	if !ok || !f.Contains(fault.Addr()) {
		panic(p)
	}
	return fmt.Errorf("tensor %q: %s: %w: the map can't be read near offset %d: the file was cut short or the disk has a bad sector", e.Name, f.Path, ErrCorrupt, e.Offset)
}
