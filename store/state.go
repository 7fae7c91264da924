package store

import (
	"fmt"
	"runtime/debug"
	"slices"

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
//
// A name may be found in several places. The one with the highest sequence number
// counts.
type state struct {
	seq    uint64                   // of the last batch in it
	open   index.Table              // what the batches of the unsealed logs say, tombstones included
	sealed []*sealedSegment         // the others, the newest first
	segs   map[uint64]*segment.File // every file that counts, by number

	views *views // that of the store
}

// logEnd is the sequence number of the last batch of log n, which is not the newest.
func (st *state) logEnd(n uint64) uint64 { return logEnd(st.segs, n) }

func logEnd(segs map[uint64]*segment.File, n uint64) uint64 {
	var next *segment.File
	for m, f := range segs {
		if f.Header.Kind == segment.KindLog && m > n && (next == nil || m < next.Number) {
			next = f
		}
	}
	return next.Header.BaseSeq
}

// found is where a name was found: in the unsealed logs, or in a sealed one.
type found struct {
	entry *Entry // nil if it was in log
	log   *sealedSegment
	ref   index.Ref
}

// describe returns all that is known of the tensor.
func (f *found) describe(name string) (*Entry, error) {
	if f.entry != nil {
		return f.entry, nil
	}
	return f.log.entry(name, f.ref)
}

// find returns where name is, or ErrNotFound.
func (st *state) find(name string) (found, error) { return st.resolve(name, st.open.Get(name)) }

// resolve is find, given what the unsealed logs have of name, which may be nil.
func (st *state) resolve(name string, open *Entry) (f found, err error) {
	if open != nil && !st.counts(open.Deleted, open.Segment) {
		open = nil
	}
	f.entry = open
	exists := open != nil && !open.Deleted
	var seq uint64
	if open != nil {
		seq = open.Seq
	}
	var hash uint64
	if len(st.sealed) > 0 {
		hash = index.Hash(name)
	}
	if open == nil && len(st.sealed) > 1 { // else only the first is likely to be looked into
		var touched byte
		for _, l := range st.sealed {
			touched |= l.frozen.Touch(hash)
		}
		keepByte(touched)
	}
	var ref index.Ref
	for _, l := range st.sealed {
		if (open != nil || f.log != nil) && l.last <= seq {
			break // nor can an older log say anything newer
		}
		ok, err := l.lookupHash(name, hash, &ref)
		if err != nil {
			return found{}, err
		}
		if ok && ref.Seq >= seq && st.counts(ref.Deleted, ref.Segment) {
			f.entry, f.log, f.ref, seq, exists = nil, l, ref, ref.Seq, !ref.Deleted
		}
	}
	if !exists {
		return found{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	return f, nil
}

// keepByte does nothing with a byte that was read for the sake of reading it.
//
//go:noinline
func keepByte(byte) {}

// counts reports whether what was found of a name still stands: a tombstone does; a
// record that has been moved is named by another index, with the same sequence
// number, from its new place.
func (st *state) counts(deleted bool, segment uint64) bool {
	return deleted || segment == 0 || st.segs[segment] != nil
}

// lookup returns the entry of name, or ErrNotFound.
func (st *state) lookup(name string) (*Entry, error) {
	f, err := st.find(name)
	if err != nil {
		return nil, err
	}
	return f.describe(name)
}

// stat is lookup for callers who have not asked for panics on faults.
func (st *state) stat(name string) (e *Entry, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer st.rescue(name, &err)
	return st.lookup(name)
}

// segment returns the file with the given number, which name lies in.
func (st *state) segment(number uint64, name string) (*segment.File, error) {
	f := st.segs[number]
	if f == nil {
		return nil, fmt.Errorf("tensor %q: %w: it lies in segment %d, which does not belong to the store", name, ErrCorrupt, number)
	}
	return f, nil
}

// view returns the tensor of the given name as it lies in the map.
func (st *state) view(name string, at found) (layout.Tensor, error) {
	number, offset, length, crc := at.ref.Segment, at.ref.Offset, at.ref.Length, at.ref.CRC
	if e := at.entry; e != nil {
		number, offset, length, crc = e.Segment, e.Offset, e.Length, e.CRC
	}
	f, err := st.segment(number, name)
	if err != nil {
		return nil, err
	}
	record, err := f.Bytes(offset, length)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	if st.views.checksums {
		if got := segment.Checksum(record); got != crc {
			return nil, wrongChecksum(f, &Entry{Name: name, Offset: offset, Length: length, CRC: crc}, got)
		}
	}
	if !f.Mapped() {
		return decode(f, name, offset, record, at.entry)
	}
	if t := st.views.recentTensor(f, offset, record); t != nil {
		return t, nil
	}
	t, err := decode(f, name, offset, record, at.entry)
	if err != nil {
		return nil, err
	}
	st.views.keep(f, offset, t)
	return t, nil
}

// read returns the tensor of e as a copy in memory of its own, read by pread and
// checked against its CRC.
func (st *state) read(e *Entry) (layout.Tensor, error) {
	f, err := st.segment(e.Segment, e.Name)
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
		return nil, wrongChecksum(f, e, got)
	}
	return decode(f, e.Name, e.Offset, record, e)
}

func wrongChecksum(f *segment.File, e *Entry, got uint32) error {
	return fmt.Errorf("tensor %q: %s: %w: record at offset %d of %d bytes has CRC-32C %08x, should have %08x",
		e.Name, f.Path, ErrCorrupt, e.Offset, e.Length, got, e.CRC)
}

// decode makes a tensor of the record of name at an offset of f, and checks that it
// is the one that e, which may be nil, describes. The record may lie in the map.
func decode(f *segment.File, name string, offset int64, record []byte, e *Entry) (layout.Tensor, error) {
	t, err := codec.Decode(record)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %s: %w: record at offset %d: %w", name, f.Path, ErrCorrupt, offset, err)
	}
	if e != nil && (t.DType() != e.DType || t.Layout() != e.Layout || t.NNZ() != e.NNZ || !slices.Equal(t.Shape(), e.Shape)) {
		return nil, fmt.Errorf("tensor %q: %s: %w: record at offset %d holds %v %v %v, the index says %v %v %v",
			name, f.Path, ErrCorrupt, offset, t.Layout(), t.DType(), t.Shape(), e.Layout, e.DType, e.Shape)
	}
	return t, nil
}
