package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"

	"github.com/tstore/tstore/layout"
)

// Spool is where a [FrozenBuilder] keeps entries until it knows how many there are: a temporary
// file, as a rule. It is written from offset 0 on.
type Spool interface {
	io.WriterAt
	io.ReaderAt
}

// FrozenBuilder makes a frozen index of entries that come in ascending order of their names. In
// memory it keeps 12 bytes for each of them, and 13 more while it finishes; the rest is spooled.
// Equal entries give equal bytes.
type FrozenBuilder struct {
	spool   Spool
	buf     []byte // not spooled yet
	spooled int64

	header  frozenHeader
	last    string
	hashes  chunks[uint64]
	lengths chunks[uint32] // of the entries
	attrs   []byte         // of the dataset
	err     error          // of the spool
}

// spoolBuffer is how much is written to the spool at once.
const spoolBuffer = 256 << 10

// NewFrozenBuilder returns a builder without entries that uses spool until it is no longer needed.
func NewFrozenBuilder(spool Spool) *FrozenBuilder {
	return &FrozenBuilder{spool: spool, buf: make([]byte, 0, spoolBuffer)}
}

// Len returns the number of entries.
func (b *FrozenBuilder) Len() int { return int(b.header.entries) }

// Seqs returns the lowest and the highest sequence number, 0 and 0 if there are no entries.
func (b *FrozenBuilder) Seqs() (lowest, highest uint64) { return b.header.minSeq, b.header.maxSeq }

// Add adds an entry, put or tombstone. Its name must be greater than the last one's. The entry is
// not kept. After an error of the spool the builder is of no use; an entry that can't be is
// refused and changes nothing.
func (b *FrozenBuilder) Add(e *Entry) error {
	if err := b.check(e); err != nil {
		return fmt.Errorf("frozen index, entry of %.100q: %w", e.Name, err)
	}
	start := len(b.buf)
	b.buf = b.appendEntry(b.buf, e)
	length := len(b.buf) - start
	if length > maxDescription {
		b.buf = b.buf[:start]
		return fmt.Errorf("frozen index, entry of %.100q: shape and attributes of %d bytes, at most %d are possible", e.Name, length, maxDescription)
	}

	h := &b.header
	h.entriesCRC = crc32.Update(h.entriesCRC, castagnoli, b.buf[start:])
	if h.entries == 0 || e.Seq < h.minSeq {
		h.minSeq = e.Seq
	}
	h.maxSeq = max(h.maxSeq, e.Seq)
	if e.Deleted {
		h.tombstones++
	}
	h.entries++
	h.entriesLen += int64(length)
	b.last = e.Name
	b.hashes.append(hashName(e.Name))
	b.lengths.append(uint32(length))
	if len(b.buf) >= spoolBuffer {
		return b.flush()
	}
	return nil
}

func (b *FrozenBuilder) check(e *Entry) error {
	if b.err != nil {
		return b.err
	}
	if err := CheckName(e.Name); err != nil {
		return err
	}
	if b.header.entries > 0 && e.Name <= b.last {
		return fmt.Errorf("it comes after %.100q; the names must ascend", b.last)
	}
	if b.header.entries == math.MaxUint32 {
		return fmt.Errorf("there are %d entries already, which is all that is possible", b.header.entries)
	}
	if e.Deleted {
		return nil
	}
	if err := checkDescription(e); err != nil {
		return err
	}
	return checkLocation(e.Offset, e.Length)
}

func (b *FrozenBuilder) appendEntry(dst []byte, e *Entry) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, frozenEntryHead)...)
	dst = append(dst, e.Name...)
	nameEnd := len(dst)
	if !e.Deleted {
		dst = appendDescription(dst, e)
	}
	head, description := dst[start:nameEnd], dst[nameEnd:]
	head[4] = kindPut
	binary.LittleEndian.PutUint16(head[6:], uint16(len(e.Name)))
	binary.LittleEndian.PutUint32(head[8:], uint32(b.header.entries))
	binary.LittleEndian.PutUint32(head[12:], uint32(len(description)))
	binary.LittleEndian.PutUint64(head[16:], e.Seq)
	if e.Deleted {
		head[4] = kindTombstone
	} else {
		binary.LittleEndian.PutUint64(head[24:], e.Segment)
		binary.LittleEndian.PutUint64(head[32:], uint64(e.Offset))
		binary.LittleEndian.PutUint64(head[40:], uint64(e.Length))
		binary.LittleEndian.PutUint32(head[48:], e.CRC)
		binary.LittleEndian.PutUint32(head[52:], crc32.Checksum(description, castagnoli))
	}
	binary.LittleEndian.PutUint32(head, crc32.Checksum(head[4:], castagnoli))
	return append(dst, make([]byte, -(len(dst)-start)&7)...)
}

func (b *FrozenBuilder) flush() error {
	if b.err == nil {
		_, b.err = b.spool.WriteAt(b.buf, b.spooled)
	}
	if b.err != nil {
		return fmt.Errorf("spool a frozen index: %w", b.err)
	}
	b.spooled += int64(len(b.buf))
	b.buf = b.buf[:0]
	return nil
}

// SetDigest puts the digest of a package into the header.
func (b *FrozenBuilder) SetDigest(digest [32]byte) { b.header.digest = digest }

// SetDataset puts the attributes of a package, which are not those of one tensor, into the index.
func (b *FrozenBuilder) SetDataset(attrs []layout.Attr) {
	b.attrs = nil
	if len(attrs) > 0 {
		b.attrs = appendAttrs(nil, attrs)
	}
}

// Size returns how many bytes Finish will write, a multiple of 64.
func (b *FrozenBuilder) Size() int64 {
	h := b.place()
	return h.length
}

func (b *FrozenBuilder) place() frozenHeader {
	h := b.header
	h.buckets = bucketsFor(h.entries)
	h.datasetLen = int64(len(b.attrs))
	h.place() // fits, since the spool has it all
	return h
}

// Finish writes the index to w. It may be called again, for another writer.
func (b *FrozenBuilder) Finish(w io.Writer) error {
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.write(w); err != nil {
		return fmt.Errorf("write a frozen index: %w", err)
	}
	return nil
}

func (b *FrozenBuilder) write(w io.Writer) error {
	h := b.place()
	if h.dataset >= slotOffsetMask*slotUnit {
		return errors.New("it would have more than 8 TiB")
	}
	table, order := newFrozenTable(h.entries), make([]byte, 0, spoolBuffer)
	b.offsets(func(hash uint64, offset int64) error {
		table.insert(hash, offset)
		if order = binary.LittleEndian.AppendUint64(order, uint64(offset)); len(order) == cap(order) {
			h.orderCRC = crc32.Update(h.orderCRC, castagnoli, order)
			order = order[:0]
		}
		return nil
	})
	table.finish()
	h.orderCRC = crc32.Update(h.orderCRC, castagnoli, order)
	h.bucketsCRC = crc32.Checksum(table, castagnoli)
	h.datasetCRC = crc32.Checksum(b.attrs, castagnoli)

	if _, err := w.Write(h.encode()); err != nil {
		return err
	}
	if _, err := w.Write(table); err != nil {
		return err
	}
	order = order[:0]
	err := b.offsets(func(_ uint64, offset int64) (err error) {
		if order = binary.LittleEndian.AppendUint64(order, uint64(offset)); len(order) == cap(order) {
			_, err = w.Write(order)
			order = order[:0]
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := w.Write(pad64(order)); err != nil {
		return err
	}
	if err := b.copySpool(w); err != nil {
		return err
	}
	_, err = w.Write(pad64(append(make([]byte, 0, len(b.attrs)+63), b.attrs...)))
	return err
}

// offsets calls f with the hash and the offset of every entry, in order.
func (b *FrozenBuilder) offsets(f func(hash uint64, offset int64) error) error {
	h := b.place()
	offset := h.first
	for i := range int(h.entries) {
		if err := f(b.hashes.at(i), offset); err != nil {
			return err
		}
		offset += int64(b.lengths.at(i))
	}
	return nil
}

// copySpool writes the entries, padded. The spool is read again, so its bytes are checked.
func (b *FrozenBuilder) copySpool(w io.Writer) error {
	crc, buf := uint32(0), make([]byte, spoolBuffer)
	for offset := int64(0); offset < b.spooled; {
		n := min(b.spooled-offset, spoolBuffer)
		if got, err := b.spool.ReadAt(buf[:n], offset); int64(got) < n {
			return fmt.Errorf("read the spool: %w", err)
		}
		crc = crc32.Update(crc, castagnoli, buf[:n])
		offset += n
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
	}
	if crc != b.header.entriesCRC {
		return errors.New("the spool does not give back what was written to it")
	}
	_, err := w.Write(make([]byte, -b.spooled&63))
	return err
}

// pad64 appends zeros up to a multiple of 64.
func pad64(b []byte) []byte { return append(b, make([]byte, -len(b)&63)...) }

// BuildFrozen returns the frozen index of entries that come in ascending order of their names. All
// of it is in memory; see [FrozenBuilder] for many entries.
func BuildFrozen(entries iter.Seq[*Entry]) ([]byte, error) {
	b := NewFrozenBuilder(new(memory))
	for e := range entries {
		if err := b.Add(e); err != nil {
			return nil, err
		}
	}
	out := memory{b: make([]byte, 0, b.Size())}
	if err := b.Finish(&out); err != nil {
		return nil, err
	}
	return out.b, nil
}

// memory is a Spool, or an io.Writer, that takes bytes in order.
type memory struct{ b []byte }

func (m *memory) Write(p []byte) (int, error) {
	m.b = append(m.b, p...)
	return len(p), nil
}

func (m *memory) WriteAt(p []byte, _ int64) (int, error) { return m.Write(p) }

func (m *memory) ReadAt(p []byte, offset int64) (int, error) {
	n := copy(p, m.b[min(offset, int64(len(m.b))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// chunks is a list that grows without moving what it has, so that it never takes twice its size.
type chunks[T any] struct{ full [][]T }

const chunkLen = 8192

func (c *chunks[T]) append(v T) {
	if n := len(c.full); n == 0 || len(c.full[n-1]) == chunkLen {
		c.full = append(c.full, make([]T, 0, chunkLen))
	}
	last := &c.full[len(c.full)-1]
	*last = append(*last, v)
}

func (c *chunks[T]) at(i int) T { return c.full[i/chunkLen][i%chunkLen] }
