package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tstore/tstore/codec"
)

// Salvage is what can be told of a segment file that may be damaged anywhere.
// Nothing in it depends on bytes before it being sound.
type Salvage struct {
	Path      string
	Size      int64
	Header    *Header // nil if it can't be read
	HeaderErr error
	Commits   []*Commit // every commit record that is whole, by offset
	Records   []Record  // every put record that was stepped on, by offset
	Index     []Span    // bodies of index records that were stepped on, without the CRC
	Gaps      []Span    // bytes that are no message and not zero

	raw RawFile
}

// Span is a range of a file.
type Span struct{ Offset, Length int64 }

// OpenSalvage looks through the whole file at path.
func OpenSalvage(path string) (*Salvage, error) {
	raw, err := OS.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	s := &Salvage{Path: path, raw: raw}
	if s.Size, err = raw.Size(); err == nil {
		s.Header, _, s.HeaderErr = ReadHeader(raw, s.Size)
		if err = s.messages(); err == nil {
			err = s.commits()
		}
	}
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Close ends the use of the file.
func (s *Salvage) Close() error { return s.raw.Close() }

// ReadAt reads from the file.
func (s *Salvage) ReadAt(b []byte, off int64) (int, error) { return s.raw.ReadAt(b, off) }

// messages steps from message to message, and where there is none goes on at the
// next multiple of Alignment that has one.
func (s *Salvage) messages() error {
	w := newWindow(s.raw, s.Size)
	gap := int64(-1)
	end := func(pos int64) {
		if gap >= 0 {
			s.Gaps = append(s.Gaps, Span{gap, pos - gap})
			gap = -1
		}
	}
	for pos := int64(0); pos < s.Size; {
		first, err := w.peek(pos, min(Alignment, s.Size-pos))
		if err != nil || first == nil {
			return err
		}
		if isZero(first) {
			end(pos)
			pos += int64(len(first))
			continue
		}
		head, err := s.headAt(w, pos)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, codec.ErrInvalid) && !errors.Is(err, codec.ErrUnsupported) && !errors.Is(err, codec.ErrTruncated) && !errors.Is(err, codec.ErrEndOfStream) {
				return err
			}
			if marker := codec.EndOfStream(); bytes.HasPrefix(first, marker) && isZero(first[len(marker):]) {
				end(pos)
			} else if gap < 0 {
				gap = pos
			}
			pos += int64(len(first))
			continue
		}
		end(pos)
		if head.Kind == codec.HeaderNone {
			if _, ok := head.LookupMetadata(KeyIndex); ok && head.BodyLen > Alignment {
				s.Index = append(s.Index, Span{pos + head.HeaderLen, head.BodyLen - Alignment})
			}
		} else if info, err := head.Describe(); err == nil {
			s.Records = append(s.Records, Record{Offset: pos, Length: head.Len(), Info: info, Attrs: codec.DecodeAttrs(head)})
		}
		pos += head.Len()
	}
	end(s.Size)
	return nil
}

// headAt parses the head of a message at pos that fits in the file.
func (s *Salvage) headAt(w *window, pos int64) (*codec.Head, error) {
	first, err := w.peek(pos, Alignment)
	if err != nil {
		return nil, err
	}
	if first == nil || !bytes.HasPrefix(first, messagePrefix) {
		return nil, ErrCorrupt
	}
	n, err := codec.HeadSize(first)
	if err != nil {
		return nil, err
	}
	b, err := w.peek(pos, n)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, ErrCorrupt
	}
	head, err := codec.ParseHead(b)
	if err != nil {
		return nil, err
	}
	if head.Len()%Alignment != 0 || head.Len() > s.Size-pos {
		return nil, ErrCorrupt
	}
	return &head, nil
}

// commits looks for commit records at every multiple of Alignment, since a damaged
// length may hide one from messages.
func (s *Salvage) commits() error {
	w := newWindow(s.raw, s.Size)
	budget := 4*s.Size + 1<<20
	for pos := int64(0); pos+Alignment <= s.Size; pos += Alignment {
		first, err := w.peek(pos, min(controlHeadLen, s.Size-pos))
		if err != nil {
			return err
		}
		if first == nil || !bytes.HasPrefix(first, messagePrefix) || !bytes.Contains(first, []byte(KeyCommit)) {
			continue
		}
		head, err := codec.ParseHead(first)
		if err != nil || head.Len() > s.Size-pos || head.HeaderLen+commitFixed > int64(len(first)) {
			continue
		}
		uuid := ID(first[head.HeaderLen+32:][:16])
		if s.Header != nil {
			uuid = s.Header.UUID
		}
		if !isCommitOf(first[head.HeaderLen:], uuid, pos) {
			continue
		}
		if budget -= head.Len(); budget < 0 {
			return fmt.Errorf("%w: commit records that overlap, the last at offset %d", ErrCorrupt, pos)
		}
		record, err := readRecord(s.raw, pos, s.Size, s.Size)
		if err != nil {
			if errors.Is(err, ErrCorrupt) {
				continue
			}
			return err
		}
		if c, err := parseCommit(record, uuid, pos); err == nil {
			s.Commits = append(s.Commits, c)
		}
	}
	return nil
}

// Section is a range of the file to read from.
func (s *Salvage) Section(x Span) *io.SectionReader {
	return io.NewSectionReader(s.raw, x.Offset, x.Length)
}

// RecordAt reads n bytes at off and compares them with crc, if that is not nil. It
// asks for no more memory than the file has bytes.
func (s *Salvage) RecordAt(off, n int64, crc *uint32) ([]byte, error) {
	if off < 0 || n < 0 || off > s.Size-n {
		return nil, fmt.Errorf("%s: %w: a record of %d bytes at offset %d ends behind the file's %d bytes", s.Path, ErrCorrupt, n, off, s.Size)
	}
	b := AlignedBytes(n)
	if err := readFull(s.raw, b, off); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	if crc != nil && Checksum(b) != *crc {
		return b, fmt.Errorf("%s: %w: record at offset %d of %d bytes has CRC-32C %08x, should have %08x", s.Path, ErrCorrupt, off, n, Checksum(b), *crc)
	}
	return b, nil
}
