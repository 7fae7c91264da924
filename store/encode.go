package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// nameKey is the custom_metadata key under which a record carries its name. It
// is for people and other readers: the commit record rules.
const nameKey = codec.ReservedPrefix + "name"

// smallRecord is the size in bytes up to which records are gathered in memory,
// to go out with their commit record in one write.
const smallRecord = 1 << 20

// encoded is a tensor on its way into a segment.
type encoded struct {
	entry *Entry        // all but Seq and, unless file is set, Segment and Offset
	given layout.Tensor // as it was put
	bytes []byte        // the whole record, if it is small
	buf   *recordBuffer // that bytes lie in
	large *codec.Record // otherwise; its entry has no checksum before batch.sum
	file  *segment.File // the segment of its own that it was written to, or nil
}

// encode checks and encodes t. A very large tensor is written to a segment of its
// own at once, while other batches go on.
func (s *Store) encode(name string, t layout.Tensor, attrs []layout.Attr) (*encoded, error) {
	if err := checkAttrs(attrs); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	return s.encodeUnchecked(name, t, attrs)
}

// encodeMessage is encode for an Arrow message from elsewhere.
func (s *Store) encodeMessage(name string, msg []byte, attrs []layout.Attr) (*encoded, error) {
	if err := checkAttrs(attrs); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	head, err := codec.ParseHead(msg)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	t, err := codec.Decode(msg)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	all := slices.Concat(codec.DecodeAttrs(&head), attrs)
	if err := checkForeignAttrs(all); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	return s.encodeUnchecked(name, t, all)
}

func (s *Store) encodeUnchecked(name string, t layout.Tensor, attrs []layout.Attr) (*encoded, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if t == nil {
		return nil, fmt.Errorf("tensor %q: the tensor is nil", name)
	}
	if err := checkIndices(t); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	meta := make([]layout.Attr, 0, 1+len(attrs))
	meta = append(append(meta, layout.Attr{Key: nameKey, Value: name}), attrs...)
	record, err := codec.Encode(t, meta)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	head, err := codec.ParseHead(record.Head)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	info, err := head.Describe()
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	r := &encoded{given: t, entry: newEntry(name, &info, codec.DecodeAttrs(&head))}
	r.entry.Length = record.Len()
	switch n := record.Len(); {
	case n >= s.opts.ownSegment():
		err = s.writeOwn(r, record)
	case n <= smallRecord:
		r.buf = newRecordBuffer(n)
		r.bytes = record.AppendTo(r.buf.bytes[:0])
		r.entry.CRC = segment.Checksum(r.bytes)
	default:
		r.large = record // whose checksum is computed while it is written
	}
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	return r, nil
}

// recordBuffer is memory for a record. It is used again: records are most of what
// a put of a small tensor would leave to the garbage collector.
type recordBuffer struct{ bytes []byte }

var recordBuffers sync.Pool

// newRecordBuffer returns memory for n bytes.
func newRecordBuffer(n int64) *recordBuffer {
	b, _ := recordBuffers.Get().(*recordBuffer)
	if b == nil {
		b = new(recordBuffer)
	}
	if int64(cap(b.bytes)) < n {
		b.bytes = make([]byte, 0, n)
	}
	return b
}

// written gives the memory of r back once it has been written.
func (r *encoded) written() {
	if r.buf != nil {
		recordBuffers.Put(r.buf)
		r.bytes, r.buf = nil, nil
	}
}

// checkIndices says whether the index arrays of a sparse tensor lead nowhere outside
// of it. Lines that are not in order, as SciPy has them, may be stored; a COO that
// claims to be canonical has to be.
func checkIndices(t layout.Tensor) error {
	err := codec.Validate(t)
	if errors.Is(err, layout.ErrOrder) && t.Layout() != layout.LayoutCOO {
		return nil
	}
	return err
}

// newEntry makes the entry of name from what its record says.
func newEntry(name string, info *codec.Info, attrs []layout.Attr) *index.Entry {
	return &index.Entry{
		Name:     name,
		DType:    info.DType,
		Layout:   info.Layout,
		Shape:    info.Shape,
		DimNames: info.DimNames,
		NNZ:      info.NNZ,
		Bytes:    info.Bytes,
		Attrs:    attrs,

		IndptrType:  info.IndptrType.DType(),
		IndicesType: info.IndexType.DType(),
	}
}

// writeOwn writes record to a new segment of its own. The file is durable when it
// returns, and belongs to the store once a batch names it.
func (s *Store) writeOwn(r *encoded, record *codec.Record) error {
	sum := beside(func() (err error) {
		r.entry.CRC, err = checksum(record)
		return err
	})
	header := &segment.Header{
		Kind:    segment.KindData,
		StoreID: s.id,
		UUID:    newID(),
		Number:  s.nextNumber.Add(1) - 1,
	}
	f, err := segment.Create(s.opts.fs, s.segmentsDir(), header, func(w io.Writer) error {
		return writeBorrowed(w, record)
	})
	failed := <-sum
	if err != nil {
		return err
	}
	r.file = f
	if failed != nil {
		s.discard(r)
		return failed
	}
	r.entry.Segment, r.entry.Offset = header.Number, f.HeaderLen
	return nil
}

// checksum is that of a record, whose tensor is borrowed.
func checksum(record *codec.Record) (sum uint32, err error) {
	err = borrowed(func() error {
		for part := range record.Parts() {
			sum = segment.UpdateChecksum(sum, part)
		}
		return nil
	})
	return sum, err
}

// writeBorrowed writes a record, whose tensor is borrowed.
func writeBorrowed(w io.Writer, record *codec.Record) error {
	return borrowed(func() error {
		_, err := record.WriteTo(w)
		return err
	})
}

// beside runs fn while the caller does something else and then receives what fn has
// returned.
func beside(fn func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- fn() }()
	return done
}

// discard removes the segment of its own that r may have, whose batch has come to
// nothing.
func (s *Store) discard(r *encoded) {
	if r.file != nil {
		r.file.Retire()
		s.opts.fs.Remove(r.file.Path)
		r.file = nil
	}
}
