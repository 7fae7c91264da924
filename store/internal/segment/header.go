package segment

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/tstore/tstore/codec"
)

// ID is a random 16-byte identity, of a store or of a segment.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id is all zeros, which stands for none.
func (id ID) IsZero() bool { return id == ID{} }

// Kind says what a segment holds. The numbers are disk format.
type Kind uint16

const (
	KindLog       Kind = 1 // batches of puts and other operations, each with its commit record
	KindData      Kind = 2 // one large put record, made true by a commit in a log
	KindCompacted Kind = 3 // live records gathered from other segments; always sealed
	KindPackage   Kind = 4 // a dataset in a file of its own; always sealed
)

func (k Kind) String() string {
	switch k {
	case KindLog:
		return "log"
	case KindData:
		return "data"
	case KindCompacted:
		return "compacted"
	case KindPackage:
		return "package"
	}
	return fmt.Sprintf("kind %d", uint16(k))
}

// Live names one file that counts, and how much of it.
type Live struct {
	Number uint64
	UUID   ID
	Kind   Kind
	// Valid is the length in bytes up to which the file counts. Of a log it is
	// the end of its last commit record; the frozen index of a sealed one starts
	// there.
	Valid int64
	// Extra is what else belongs to a segment of its kind: nil but for packages.
	Extra []byte
}

// Header is the first message of a segment.
type Header struct {
	Kind    Kind
	StoreID ID // zero in a package
	UUID    ID // zero in a package
	Number  uint64
	// BaseSeq is the sequence number of the last batch before this segment was
	// started; the first batch in it has a higher one.
	BaseSeq uint64
	// Live lists every other segment that counted when this one was started, by
	// ascending number. Only a log has any.
	Live []Live
}

// Payload of a header record, little endian:
//
//	 0  u16 format version   2  u16 kind      4  u32 number of live entries
//	 8  u64 segment number  16  16 store id  32  16 segment uuid
//	48  u64 base sequence number             56  u64 zero
//	64  live entries of 40 bytes, then the extras of all, in the same order
//	     0 u64 number  8 16 uuid  24 u64 valid length  32 u16 kind  34 u16 zero
//	    36 u32 length of the extra
const (
	headerFixed   = 64
	liveEntrySize = 40
	// maxHeader bounds the header record, so that a damaged length can't ask for
	// more memory than a store of 100,000 segments with long extras needs.
	maxHeader = 64 << 20

	// MaxLive is how many bytes of live entries and extras a writer may put into a
	// header; the rest is for the segments that come without being asked for.
	MaxLive = maxHeader / 2
)

// AppendHeader appends the record of h to dst.
func AppendHeader(dst []byte, h *Header) []byte {
	p := make([]byte, headerFixed, headerFixed+len(h.Live)*liveEntrySize)
	binary.LittleEndian.PutUint16(p[0:], FormatVersion)
	binary.LittleEndian.PutUint16(p[2:], uint16(h.Kind))
	binary.LittleEndian.PutUint32(p[4:], uint32(len(h.Live)))
	binary.LittleEndian.PutUint64(p[8:], h.Number)
	copy(p[16:], h.StoreID[:])
	copy(p[32:], h.UUID[:])
	binary.LittleEndian.PutUint64(p[48:], h.BaseSeq)
	for i := range h.Live {
		p = appendLive(p, &h.Live[i])
	}
	for _, l := range h.Live {
		p = append(p, l.Extra...)
	}
	return appendControl(dst, KeyHeader, p)
}

// appendLive appends the live entry of l, without its extra.
func appendLive(p []byte, l *Live) []byte {
	p = binary.LittleEndian.AppendUint64(p, l.Number)
	p = append(p, l.UUID[:]...)
	p = binary.LittleEndian.AppendUint64(p, uint64(l.Valid))
	p = binary.LittleEndian.AppendUint16(p, uint16(l.Kind))
	p = append(p, 0, 0)
	return binary.LittleEndian.AppendUint32(p, uint32(len(l.Extra)))
}

// EncodeLive returns a live set in the form in which catalogs keep it: as an
// operation does.
func EncodeLive(live []Live) []byte {
	p := binary.LittleEndian.AppendUint32(nil, uint32(len(live)))
	for i := range live {
		p = append(appendLive(p, &live[i]), live[i].Extra...)
	}
	return p
}

// DecodeLive is the inverse of EncodeLive.
func DecodeLive(b []byte) ([]Live, error) {
	c := cursor{b: b}
	live, err := c.lives(c.u32())
	if err == nil && (c.short || len(c.b) > 0) {
		err = fmt.Errorf("%w: live set of %d bytes", ErrCorrupt, len(b))
	}
	return live, err
}

// parseLive reads the live entry in b, and how long its extra is.
func parseLive(b []byte) (Live, uint32, error) {
	l := Live{
		Number: binary.LittleEndian.Uint64(b[0:]),
		UUID:   ID(b[8:24]),
		Valid:  int64(binary.LittleEndian.Uint64(b[24:])),
		Kind:   Kind(binary.LittleEndian.Uint16(b[32:])),
	}
	switch {
	case l.Kind < KindLog || l.Kind > KindPackage:
		return l, 0, fmt.Errorf("%w: live segment %d of %v", ErrNewerFormat, l.Number, l.Kind)
	case l.Valid < Alignment || l.Valid%Alignment != 0:
		return l, 0, fmt.Errorf("%w: live segment %d has a valid length of %d", ErrCorrupt, l.Number, l.Valid)
	}
	return l, binary.LittleEndian.Uint32(b[36:]), nil
}

// ReadHeader reads the header of the segment of size bytes behind r and returns
// it with the length of its record.
func ReadHeader(r io.ReaderAt, size int64) (*Header, int64, error) {
	record, err := readRecord(r, 0, size, maxHeader)
	if err != nil {
		return nil, 0, fmt.Errorf("segment header at offset 0: %w", err)
	}
	h, err := parseHeader(record)
	if err != nil {
		return nil, 0, fmt.Errorf("segment header at offset 0: %w", err)
	}
	return h, int64(len(record)), nil
}

func parseHeader(record []byte) (*Header, error) {
	p, err := controlPayload(record, KeyHeader)
	if err != nil {
		return nil, err
	}
	if len(p) < headerFixed {
		return nil, fmt.Errorf("%w: body of %d bytes, a header has at least %d", ErrCorrupt, len(p), headerFixed)
	}
	if v := binary.LittleEndian.Uint16(p[0:]); v != FormatVersion {
		return nil, fmt.Errorf("%w: format version %d, this one reads %d", ErrNewerFormat, v, FormatVersion)
	}
	h := &Header{
		Kind:    Kind(binary.LittleEndian.Uint16(p[2:])),
		Number:  binary.LittleEndian.Uint64(p[8:]),
		StoreID: ID(p[16:32]),
		UUID:    ID(p[32:48]),
		BaseSeq: binary.LittleEndian.Uint64(p[48:]),
	}
	if h.Kind < KindLog || h.Kind > KindPackage {
		return nil, fmt.Errorf("%w: segment of %v", ErrNewerFormat, h.Kind)
	}
	n := int64(binary.LittleEndian.Uint32(p[4:]))
	if n*liveEntrySize > int64(len(p)-headerFixed) {
		return nil, fmt.Errorf("%w: %d live entries do not fit in a body of %d bytes", ErrCorrupt, n, len(p))
	}
	extras := p[headerFixed+n*liveEntrySize:]
	h.Live = make([]Live, n)
	for i := range h.Live {
		l, extra, err := parseLive(p[headerFixed+i*liveEntrySize:])
		if err != nil {
			return nil, err
		}
		if i > 0 && l.Number <= h.Live[i-1].Number {
			return nil, fmt.Errorf("%w: live segments out of order at %d", ErrCorrupt, l.Number)
		}
		if int64(extra) > int64(len(extras)) {
			return nil, fmt.Errorf("%w: live segment %d with an extra of %d bytes where %d are left", ErrCorrupt, l.Number, extra, len(extras))
		}
		if extra > 0 {
			l.Extra, extras = extras[:extra:extra], extras[extra:]
		}
		h.Live[i] = l
	}
	return h, nil
}

// readRecord reads the whole message at off of a file of size bytes. It is an
// error if the message is longer than limit or than the file.
func readRecord(r io.ReaderAt, off, size, limit int64) ([]byte, error) {
	if size-off < Alignment {
		return nil, fmt.Errorf("%w: the file ends at %d, inside the message", ErrCorrupt, size)
	}
	head := make([]byte, min(512, size-off))
	if err := readFull(r, head, off); err != nil {
		return nil, err
	}
	headLen, err := codec.HeadSize(head)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if headLen > min(limit, size-off) {
		return nil, fmt.Errorf("%w: metadata of %d bytes where %d are left", ErrCorrupt, headLen, min(limit, size-off))
	}
	if headLen > int64(len(head)) {
		head = make([]byte, headLen)
		if err := readFull(r, head, off); err != nil {
			return nil, err
		}
	}
	h, err := codec.ParseHead(head)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if h.Len() > min(limit, size-off) || h.Len()%Alignment != 0 {
		return nil, fmt.Errorf("%w: message of %d bytes where %d are left", ErrCorrupt, h.Len(), min(limit, size-off))
	}
	record := make([]byte, h.Len())
	if err := readFull(r, record, off); err != nil {
		return nil, err
	}
	return record, nil
}

// readFull fills b from offset off. A file that ends early is corrupt, since
// callers ask only for bytes that the file's size promises.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return fmt.Errorf("%w: the file ends at %d", ErrCorrupt, off+int64(n))
	}
	return fmt.Errorf("reading %d bytes at offset %d: %w", len(b), off, err)
}
