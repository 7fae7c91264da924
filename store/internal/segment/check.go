package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// CheckHeader reads the header again, all of it.
func (f *File) CheckHeader() error {
	_, _, err := ReadHeader(f.raw, f.Size())
	return f.wrap(err)
}

// CheckRecord compares the record at off with its CRC-32C, and says whether it is a
// message of that length with a tensor. read is called with the bytes that were read.
func (f *File) CheckRecord(off, length int64, crc uint32, read func(n int64)) error {
	got, err := checksumAt(f.raw, off, length, read)
	if err != nil {
		return f.wrap(err)
	}
	if got != crc {
		return f.wrap(fmt.Errorf("%w: record at offset %d of %d bytes has CRC-32C %08x, should have %08x", ErrCorrupt, off, length, got, crc))
	}
	head, err := f.Head(off)
	if err != nil {
		return err
	}
	if _, err := head.Describe(); err != nil || head.Len() != length {
		return f.wrap(fmt.Errorf("%w: record at offset %d: %d bytes where %d should be, or %w", ErrCorrupt, off, head.Len(), length, err))
	}
	return nil
}

// CheckSeal reads what ends a sealed segment: the record of the index, the
// end-of-stream marker, the trailer.
func (f *File) CheckSeal(s *Seal, read func(n int64)) error {
	n := s.IndexLength - crcSize
	got, err := checksumAt(f.raw, s.IndexOffset, n, read)
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
