package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/tstore/tstore/codec"
)

// Seal is what ends a sealed segment: behind its records the frozen index as a
// control record, Arrow's end-of-stream marker padded to Alignment, and a trailer.
type Seal struct {
	UUID        ID // of the segment
	Kind        Kind
	MinSeq      uint64 // lowest and highest sequence number of an entry
	MaxSeq      uint64
	IndexOffset int64 // of the control record; the records of the segment end there
	IndexLength int64 // of the control record
}

// End is the length of the sealed segment.
func (s *Seal) End() int64 { return s.IndexOffset + s.IndexLength + Alignment + trailerSize }

// The trailer, little endian:
//
//	 0  8 magic              8  u16 format version  10  u16 kind of segment
//	12 16 segment uuid      28  u64 lowest and  36  u64 highest sequence number
//	44  u64 index offset    52  u64 index length    60  u32 CRC-32C of all that
const (
	trailerSize  = 64
	trailerMagic = "TSTORE\r\n"
)

// appendEnd appends what follows the index record: the end-of-stream marker, and
// the trailer of s.
func appendEnd(dst []byte, s *Seal) []byte {
	marker := codec.EndOfStream()
	dst = append(dst, marker...)
	dst = append(dst, make([]byte, Alignment-len(marker))...)
	start := len(dst)
	dst = append(dst, trailerMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, FormatVersion)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.Kind))
	dst = append(dst, s.UUID[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, s.MinSeq)
	dst = binary.LittleEndian.AppendUint64(dst, s.MaxSeq)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.IndexOffset))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.IndexLength))
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[start:]))
}

// parseTrailer reads the trailer in b, which stood at offset off.
func parseTrailer(b []byte, off int64) (*Seal, error) {
	if string(b[:len(trailerMagic)]) != trailerMagic {
		return nil, fmt.Errorf("%w: no trailer at offset %d", ErrCorrupt, off)
	}
	if got, want := Checksum(b[:60]), binary.LittleEndian.Uint32(b[60:]); got != want {
		return nil, fmt.Errorf("%w: CRC-32C of the trailer at offset %d is %08x, its bytes give %08x", ErrCorrupt, off, want, got)
	}
	if v := binary.LittleEndian.Uint16(b[8:]); v != FormatVersion {
		return nil, fmt.Errorf("%w: trailer at offset %d of format version %d, this one reads %d", ErrNewerFormat, off, v, FormatVersion)
	}
	s := &Seal{
		Kind:        Kind(binary.LittleEndian.Uint16(b[10:])),
		UUID:        ID(b[12:28]),
		MinSeq:      binary.LittleEndian.Uint64(b[28:]),
		MaxSeq:      binary.LittleEndian.Uint64(b[36:]),
		IndexOffset: int64(binary.LittleEndian.Uint64(b[44:])),
		IndexLength: int64(binary.LittleEndian.Uint64(b[52:])),
	}
	switch {
	case s.IndexOffset < Alignment || s.IndexOffset%Alignment != 0 || s.IndexOffset > off,
		s.IndexLength < 2*Alignment || s.IndexLength%Alignment != 0 || s.IndexLength > off,
		s.End() != off+trailerSize:
		return nil, fmt.Errorf("%w: the trailer at offset %d places the index at %d with %d bytes", ErrCorrupt, off, s.IndexOffset, s.IndexLength)
	case s.MinSeq > s.MaxSeq:
		return nil, fmt.Errorf("%w: the trailer at offset %d gives sequence numbers %d to %d", ErrCorrupt, off, s.MinSeq, s.MaxSeq)
	}
	return s, nil
}

// Seal makes the segment, whose records end at valid, a sealed one with the given
// frozen index, and returns where that lies. What is behind valid is overwritten;
// the caller has made sure that it does not count. A crash at any moment leaves
// the segment sealed, or unsealed and as good as before: the trailer, which makes
// the difference, is written when the index is on disk.
func (f *File) Seal(valid int64, frozen []byte, minSeq, maxSeq uint64) (*Seal, error) {
	s := &Seal{UUID: f.Header.UUID, Kind: f.Header.Kind, MinSeq: minSeq, MaxSeq: maxSeq, IndexOffset: valid}
	record := appendControl(nil, KeyIndex, frozen)
	s.IndexLength = int64(len(record))
	end := appendEnd(nil, s)
	w := &writer{raw: f.raw, off: valid}
	for _, part := range [][]byte{record, end[:Alignment]} {
		if _, err := w.Write(part); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if err := f.raw.Datasync(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if err := w.put(end[Alignment:]); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if err := f.raw.Datasync(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return s, f.grow(max(f.Size(), s.End()))
}

// FindSeal returns how the segment is sealed, or nil if it is not. valid is how much
// of the file counts: of a log, the end of its batches, of others, all of it. Where
// that is not known, in a package on its own, it is 0, and the seal is looked for
// at the end of the file. The newest log of a store is never sealed.
//
// A trailer that is not whole makes an unsealed segment: the sealing of a log may
// have been interrupted. All that it says can be had from the commit records.
func (f *File) FindSeal(valid int64) (*Seal, error) {
	at := f.Size() - trailerSize
	switch {
	case valid > 0 && f.Header.Kind == KindLog:
		head, err := f.Head(valid)
		if err != nil {
			return nil, ioErrorOnly(err)
		}
		if _, ok := head.LookupMetadata(KeyIndex); !ok || head.Len() > f.Size()-valid {
			return nil, nil
		}
		at = valid + head.Len() + Alignment
	case valid > 0:
		at = valid - trailerSize
	}
	if at < 0 || at > f.Size()-trailerSize || at%Alignment != 0 {
		return nil, nil
	}
	var b [trailerSize]byte
	if err := f.ReadRange(b[:], at); err != nil {
		return nil, ioErrorOnly(err)
	}
	s, err := parseTrailer(b[:], at)
	if err != nil || s.UUID != f.Header.UUID || s.Kind != f.Header.Kind || (valid > 0 && f.Header.Kind == KindLog && s.IndexOffset != valid) {
		return nil, f.wrap(onlyNewer(err))
	}
	return s, nil
}

// ioErrorOnly drops an error that says what bytes are there, and keeps one that
// says they can't be read.
func ioErrorOnly(err error) error {
	if (errors.Is(err, ErrCorrupt) && !errors.Is(err, syscall.EIO)) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func onlyNewer(err error) error {
	if errors.Is(err, ErrNewerFormat) {
		return err
	}
	return nil
}

// FrozenRange is where the frozen index of s lies in the file. Its length is a
// multiple of Alignment, so exactly that much of the body follows it: zeros and
// the CRC.
func (f *File) FrozenRange(s *Seal) (offset, n int64, err error) {
	head, err := f.Head(s.IndexOffset)
	if err != nil {
		return 0, 0, err
	}
	if _, ok := head.LookupMetadata(KeyIndex); !ok || head.Len() != s.IndexLength || head.BodyLen < 2*Alignment {
		return 0, 0, fmt.Errorf("%s: %w: no frozen index of %d bytes at offset %d", f.Path, ErrCorrupt, s.IndexLength, s.IndexOffset)
	}
	return s.IndexOffset + head.HeaderLen, head.BodyLen - Alignment, nil
}
