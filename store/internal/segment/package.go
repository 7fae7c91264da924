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
	w   io.Writer
	off int64
	crc uint32 // of the record being written
}

// NewPackageWriter writes the header of a package to w.
func NewPackageWriter(w io.Writer) (*PackageWriter, error) {
	p := &PackageWriter{w: w}
	_, err := p.Write(AppendHeader(nil, &Header{Kind: KindPackage}))
	return p, err
}

// Write passes bytes on and takes them into the CRC.
func (p *PackageWriter) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.off += int64(n)
	p.crc = UpdateChecksum(p.crc, b[:n])
	return n, err
}

// Put appends a put record, and returns where it lies and its CRC.
func (p *PackageWriter) Put(record io.WriterTo) (off, length int64, crc uint32, err error) {
	off, p.crc = p.off, 0
	if _, err := record.WriteTo(p); err != nil {
		return 0, 0, 0, err
	}
	return off, p.off - off, p.crc, nil
}

// PutBytes is Put for a record in memory whose CRC is known.
func (p *PackageWriter) PutBytes(record []byte) (off int64, err error) {
	off = p.off
	n, err := p.w.Write(record)
	p.off += int64(n)
	return off, err
}

// Finish appends the frozen index, of size bytes, which is a multiple of Alignment,
// and the end. Nothing may be written afterwards.
func (p *PackageWriter) Finish(size int64, writeIndex func(w io.Writer) error) error {
	s := &Seal{Kind: KindPackage, IndexOffset: p.off}
	p.crc = 0
	if _, err := p.Write(codec.ControlHead(KeyIndex, formatVersionText, size+Alignment)); err != nil {
		return err
	}
	start := p.off
	if err := writeIndex(p); err != nil {
		return err
	}
	if p.off-start != size || size%Alignment != 0 {
		return fmt.Errorf("frozen index of %d bytes where %d were announced", p.off-start, size)
	}
	var zeros [Alignment - crcSize]byte
	if _, err := p.Write(zeros[:]); err != nil {
		return err
	}
	end := binary.LittleEndian.AppendUint32(nil, p.crc)
	s.IndexLength = p.off + crcSize - s.IndexOffset
	_, err := p.Write(appendEnd(end, s))
	return err
}

// Offset is the number of bytes written so far.
func (p *PackageWriter) Offset() int64 { return p.off }

// NewChunkWriter returns a writer to a new file that writes whole chunks at
// multiples of their size, and what flushes it.
func NewChunkWriter(raw RawFile) (w io.Writer, flush func() error) {
	c := &writer{raw: raw}
	return c, c.Flush
}
