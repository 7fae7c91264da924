package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/tstore/tstore/codec"
)

// CheckHeader reads the header again, all of it.
func (f *File) CheckHeader() error {
	_, _, err := ReadHeader(f.raw, f.Size())
	return f.wrap(err)
}

// Checker compares records of a segment with their checksums. It reads by pread, forward
// in large pieces, into memory that it uses again: what it returns is valid until the next
// call. One goroutine at a time may use it.
type Checker struct {
	f   *File
	buf []byte // a piece of the file, at a multiple of Alignment in memory
	off int64  // where it begins
}

// checkPiece is the size of the pieces, and of the largest record that Record returns.
// checkSmall is what is read where the last look was elsewhere.
const (
	checkPiece = 1 << 20
	checkSmall = 32 << 10
)

// NewChecker returns a Checker of f.
func NewChecker(f *File) *Checker { return &Checker{f: f} }

// Record compares the record at off with its CRC-32C, and says whether it is a message
// of that length with a tensor. It returns the record, or nil if it is larger than what
// is read at once. read is called with the bytes that were compared.
func (c *Checker) Record(off, length int64, crc uint32, read func(n int64)) ([]byte, error) {
	if off < 0 || length < Alignment || off > c.f.Size()-length {
		return nil, c.f.beyondEnd(off, length)
	}
	var record []byte
	var got uint32
	var err error
	if length <= checkPiece {
		if record, err = c.piece(off, length); err == nil {
			got = Checksum(record)
			read(length)
		}
	} else {
		got, err = checksumAt(c.f.raw, off, length, c.memory(checkPiece), read)
	}
	if err != nil {
		return nil, c.f.wrap(unreadable(err))
	}
	if got != crc {
		return nil, c.f.wrap(fmt.Errorf("%w: record at offset %d of %d bytes has CRC-32C %08x, should have %08x", ErrCorrupt, off, length, got, crc))
	}
	var head *codec.Head
	if record == nil {
		if head, err = c.f.Head(off); err != nil {
			return nil, err
		}
	} else {
		h, err := codec.ParseHead(record)
		if err != nil {
			return nil, c.f.wrap(fmt.Errorf("%w: offset %d: %w", ErrCorrupt, off, err))
		}
		head = &h
	}
	if head.Len() != length {
		return nil, c.f.wrap(fmt.Errorf("%w: record at offset %d: %d bytes where %d should be", ErrCorrupt, off, head.Len(), length))
	}
	if _, err := head.Describe(); err != nil {
		return nil, c.f.wrap(fmt.Errorf("%w: record at offset %d: %w", ErrCorrupt, off, err))
	}
	return record, nil
}

// memory is n bytes, at most checkPiece, for another use.
func (c *Checker) memory(n int64) []byte {
	if int64(cap(c.buf)) < n {
		c.buf = AlignedBytes(max(n, min(checkPiece, c.f.Size())))
	}
	c.off, c.buf = 0, c.buf[:0]
	return c.buf[:n]
}

// piece returns n bytes at off, at most checkPiece of them.
func (c *Checker) piece(off, n int64) ([]byte, error) {
	end := c.off + int64(len(c.buf))
	if off < c.off || off+n > end {
		want := int64(checkSmall)
		if off >= c.off && off <= end+checkSmall {
			want = checkPiece
		}
		want = min(max(want, n), c.f.Size()-off)
		b := c.memory(want)
		err := readFull(c.f.raw, b, off)
		if err != nil && want > n {
			// It may be another record that can't be read.
			b = b[:n]
			err = readFull(c.f.raw, b, off)
		}
		if err != nil {
			return nil, err
		}
		c.off, c.buf = off, b
	}
	return c.buf[off-c.off:][:n:n], nil
}

// CheckSeal reads what ends a sealed segment: the record of the index, the
// end-of-stream marker, the trailer.
func (f *File) CheckSeal(s *Seal, read func(n int64)) error {
	n := s.IndexLength - crcSize
	got, err := checksumAt(f.raw, s.IndexOffset, n, nil, read)
	if err != nil {
		return f.wrap(err)
	}
	end := make([]byte, crcSize+Alignment+trailerSize)
	if err := readFull(f.raw, end, s.IndexOffset+n); err != nil {
		return f.wrap(err)
	}
	if want := binary.LittleEndian.Uint32(end); got != want {
		return f.wrap(fmt.Errorf("%w: the index at offset %d has CRC-32C %08x, should have %08x", ErrCorrupt, s.IndexOffset, got, want))
	}
	if want := appendEnd(nil, s); !bytes.Equal(end[crcSize:], want) {
		return f.wrap(fmt.Errorf("%w: the end-of-stream marker or the trailer behind offset %d is not as it was written", ErrCorrupt, s.IndexOffset+s.IndexLength))
	}
	return nil
}

// LostSeal reports whether the segment, whose batches end at valid, was sealed but
// FindSeal does not find its seal: either the index or the trailer is damaged. One
// whose sealing was interrupted, so that there is no trailer yet, has lost nothing.
func (f *File) LostSeal(valid int64) bool {
	var b [trailerSize]byte
	if head, err := f.Head(valid); err == nil {
		_, ok := head.LookupMetadata(KeyIndex)
		if ok && f.ReadRange(b[:], valid+head.Len()+Alignment) == nil && !isZero(b[:]) {
			return true
		}
	}
	at := f.Size() - trailerSize
	if at < valid || at%Alignment != 0 || f.ReadRange(b[:], at) != nil {
		return false
	}
	s, err := parseTrailer(b[:], at)
	return err == nil && s.UUID == f.UUID && s.IndexOffset == valid
}

func (f *File) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}
