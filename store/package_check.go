package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// checkPackage goes through the index of the package l and checks what makes it one:
// its records fill the file from the header to the index, one after the other in the
// order of their names. So none shares bytes with another, and nothing that is made
// of a package from elsewhere has more tensor bytes than the package has. fn, if not
// nil, is called with each entry; nothing of the records is read. It ends early, with
// the error of ctx, when ctx does.
func (l *sealedSegment) checkPackage(ctx context.Context, fn func(e *Entry) error) error {
	return guarded(l.file, "", func() error {
		h, s := l.file.Header, l.seal
		if !h.StoreID.IsZero() || !h.UUID.IsZero() || h.Number != 0 || h.BaseSeq != 0 || len(h.Live) > 0 {
			return fmt.Errorf("%s: %w: its header is that of segment %d (%v) of store %v, a package has zeros there", l.file.Path, ErrCorrupt, h.Number, h.UUID, h.StoreID)
		}
		if s.MaxSeq != 0 || l.frozen.MaxSeq() != 0 {
			return fmt.Errorf("%s: %w: sequence numbers up to %d in the trailer and %d in the index, a package has none", l.file.Path, ErrCorrupt, s.MaxSeq, l.frozen.MaxSeq())
		}
		if n := l.frozen.Tombstones(); n > 0 {
			return fmt.Errorf("%s: %w: %d deleted names, a package has none", l.file.Path, ErrCorrupt, n)
		}
		at, i := l.file.HeaderLen, 0
		for e, err := range l.frozen.Ascend("") {
			if i%ctxEntries == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			i++
			switch {
			case err != nil:
				return l.wrap("", err)
			case e.Deleted:
				return fmt.Errorf("%s: %w: %q is deleted, a package has no deleted names", l.file.Path, ErrCorrupt, e.Name)
			case e.Segment != 0:
				return l.wrap(e.Name, errElsewhere)
			case e.Offset != at || e.Length > s.IndexOffset-at:
				return fmt.Errorf("%s: %w: the record of %q is said to lie at offset %d with %d bytes, where the last one ends at %d and the index begins at %d",
					l.file.Path, ErrCorrupt, e.Name, e.Offset, e.Length, at, s.IndexOffset)
			}
			at += e.Length
			if fn != nil {
				if err := fn(e); err != nil {
					return err
				}
			}
		}
		if at != s.IndexOffset {
			return fmt.Errorf("%s: %w: %d bytes at offset %d belong to no record", l.file.Path, ErrCorrupt, s.IndexOffset-at, at)
		}
		return nil
	})
}

// checkDescription makes sure that the record of e, an entry of f's own index or of
// a log, says of itself what e says of it.
func checkDescription(f *segment.File, e *Entry) error {
	return guarded(f, e.Name, func() error {
		head, err := headOf(f, e)
		if err != nil {
			return err
		}
		info, err := head.Describe()
		if err != nil {
			return fmt.Errorf("%s: %w: record at offset %d: %w", f.Path, ErrCorrupt, e.Offset, err)
		}
		got := newEntry(e.Name, &info, codec.DecodeAttrs(head))
		got.Seq, got.Segment, got.Offset, got.Length, got.CRC = e.Seq, e.Segment, e.Offset, e.Length, e.CRC
		if !bytes.Equal(index.AppendEntry(nil, got), index.AppendEntry(nil, e)) {
			return fmt.Errorf("%s: %w: the record of %q at offset %d is %v %v %v with attributes %.200q, the index says %v %v %v with %.200q",
				f.Path, ErrCorrupt, e.Name, e.Offset, got.Layout, got.DType, got.Shape, got.Attrs, e.Layout, e.DType, e.Shape, e.Attrs)
		}
		return nil
	})
}

// checkMember makes sure that the record of e, which is in the package f, is as a
// package has it: its name comes first, then its attributes in order.
func checkMember(f *segment.File, e *Entry) error {
	if err := checkDescription(f, e); err != nil {
		return err
	}
	return guarded(f, e.Name, func() error {
		head, err := headOf(f, e)
		if err != nil {
			return err
		}
		var pairs []layout.Attr
		for key, value := range head.Metadata() {
			if key != codec.ReservedPrefix+"dtype" {
				pairs = append(pairs, layout.Attr{Key: key, Value: value})
			}
		}
		if len(pairs) == 0 || pairs[0] != (layout.Attr{Key: nameKey, Value: e.Name}) || !slices.IsSortedFunc(pairs[1:], compareAttrs) {
			return fmt.Errorf("%s: %w: the record of %q at offset %d has the pairs %.200q: its name should come first, then the attributes in order", f.Path, ErrCorrupt, e.Name, e.Offset, pairs)
		}
		return nil
	})
}

func headOf(f *segment.File, e *Entry) (*codec.Head, error) {
	if !f.Mapped() {
		return f.Head(e.Offset)
	}
	b, err := f.Bytes(e.Offset, e.Length)
	if err != nil {
		return nil, err
	}
	head, err := codec.ParseHead(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: record at offset %d: %w", f.Path, ErrCorrupt, e.Offset, err)
	}
	return &head, nil
}
