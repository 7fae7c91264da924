package segment

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/tstore/tstore/codec"
)

// PackageWriter writes a package: a sealed segment in one go, to a writer that
// can't be rewound.
type PackageWriter struct {
	out *countingWriter
}

// NewPackageWriter writes the header of a package to w.
func NewPackageWriter(w io.Writer) (*PackageWriter, error) {
	p := &PackageWriter{out: &countingWriter{w: w}}
	_, err := p.out.Write(AppendHeader(nil, &Header{Kind: KindPackage}))
	return p, err
}

// Put appends a put record, and returns its CRC. each, if not nil, is called with
// the number of bytes whenever the file has grown by a chunk; an error of it ends
// the work.
func (p *PackageWriter) Put(record *codec.Record, each func(n int64) error) (crc uint32, err error) {
	p.out.crc = 0
	start, told := p.out.off, p.out.off
	for part := range record.Parts() {
		for len(part) > 0 {
			// Pieces end where those end that a file is written in.
			n := min(int64(len(part)), chunkSize-p.out.off%chunkSize)
			if _, err := p.out.Write(part[:n]); err != nil {
				return 0, err
			}
			part = part[n:]
			if each != nil && p.out.off%chunkSize == 0 {
				if err := each(p.out.off - told); err != nil {
					return 0, err
				}
				told = p.out.off
			}
		}
	}
	if each != nil && p.out.off > told {
		err = each(p.out.off - told)
	}
	if n := p.out.off - start; err == nil && n != record.Len() {
		err = fmt.Errorf("a record of %d bytes where %d were announced", n, record.Len())
	}
	return p.out.crc, err
}

// PutBytes is Put for a record in memory whose CRC is known.
func (p *PackageWriter) PutBytes(record []byte) error {
	n, err := p.out.w.Write(record)
	p.out.off += int64(n)
	return err
}

// Finish appends the frozen index, of size bytes, and the end. Nothing may be
// written afterwards.
func (p *PackageWriter) Finish(size int64, writeIndex func(w io.Writer) error) error {
	return writeEnd(p.out, &Seal{Kind: KindPackage}, size, writeIndex)
}

// Offset is the number of bytes written so far.
func (p *PackageWriter) Offset() int64 { return p.out.off }

// countingWriter passes bytes on, counts them and takes them into a CRC-32C.
type countingWriter struct {
	w   io.Writer
	off int64
	crc uint32
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.off += int64(n)
	c.crc = UpdateChecksum(c.crc, b[:n])
	return n, err
}

// writeEnd writes what ends a sealed segment: the frozen index, of size bytes, which
// is a multiple of Alignment, the end-of-stream marker and the trailer of s, whose
// offsets it fills in.
func writeEnd(out *countingWriter, s *Seal, size int64, writeIndex func(w io.Writer) error) error {
	s.IndexOffset = out.off
	out.crc = 0
	if _, err := out.Write(codec.ControlHead(KeyIndex, formatVersionText, size+Alignment)); err != nil {
		return err
	}
	start := out.off
	if err := writeIndex(out); err != nil {
		return err
	}
	if out.off-start != size || size%Alignment != 0 {
		return fmt.Errorf("frozen index of %d bytes where %d were announced", out.off-start, size)
	}
	if _, err := out.Write(make([]byte, Alignment-crcSize)); err != nil {
		return err
	}
	s.IndexLength = out.off + crcSize - s.IndexOffset
	_, err := out.Write(appendEnd(binary.LittleEndian.AppendUint32(nil, out.crc), s))
	return err
}

// NewChunkWriter returns a writer to a new file that writes whole chunks at
// multiples of their size, and what flushes it.
func NewChunkWriter(raw RawFile) (w io.Writer, flush func() error) {
	c := &writer{raw: raw}
	return c, c.Flush
}
