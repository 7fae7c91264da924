package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/tstore/tstore/layout"
)

// Entry is what an index knows of a name: where its record lies and what is in it, so that a
// tensor can be described without touching its data. An Entry that was given to a [Table] or came
// out of one is shared and must not be changed.
type Entry struct {
	Name    string
	Seq     uint64 // sequence number of the commit that made it; the highest one of a name counts
	Deleted bool   // a tombstone: the name has no record; of the other fields only Name and Seq are set

	Segment uint64 // number of the segment that holds the record
	Offset  int64  // where the record starts in its segment, a multiple of 64
	Length  int64  // bytes of the whole record, a multiple of 64
	CRC     uint32 // CRC-32C of the whole record

	DType       layout.DType
	Layout      layout.Layout
	Shape       []int64       // empty for a scalar
	DimNames    []string      // nil, or one per axis
	NNZ         int64         // stored elements; of a dense tensor all of them
	Bytes       int64         // payload: values and indices, without padding and metadata
	Attrs       []layout.Attr // the user's attributes, in order
	IndptrType  layout.DType  // zero unless CSR, CSC or CSF
	IndicesType layout.DType  // zero when dense
}

const (
	entryVersion = 1

	kindPut       = 1
	kindTombstone = 2

	entryTombstoneSize = 16 // version, kind, 2 zeros, CRC, sequence number
	entryPutSize       = 40 // the same, segment, offset, length; then the description
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendEntry appends e, all but its name, to dst. Equal entries give equal bytes; a nil and an
// empty slice count as equal. DimNames must be nil or have a name for each axis.
func AppendEntry(dst []byte, e *Entry) []byte {
	if e.Deleted {
		dst = append(dst, entryVersion, kindTombstone, 0, 0, 0, 0, 0, 0)
		return binary.LittleEndian.AppendUint64(dst, e.Seq)
	}
	dst = append(dst, entryVersion, kindPut, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, e.CRC)
	dst = binary.LittleEndian.AppendUint64(dst, e.Seq)
	dst = binary.LittleEndian.AppendUint64(dst, e.Segment)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.Offset))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.Length))
	return appendDescription(dst, e)
}

// DecodeEntry is the inverse of [AppendEntry]. The bytes may come from anywhere and are not kept:
// what they lack is [ErrCorrupt], with the name and the offset in b. It does not judge the name.
func DecodeEntry(name string, b []byte) (*Entry, error) {
	e := &Entry{Name: name}
	if err := decodeEntry(e, b); err != nil {
		return nil, fmt.Errorf("entry of %.100q: %w", name, err)
	}
	return e, nil
}

func decodeEntry(e *Entry, b []byte) error {
	if len(b) < entryTombstoneSize {
		return fmt.Errorf("%w: %d bytes, the shortest entry has %d", ErrCorrupt, len(b), entryTombstoneSize)
	}
	if b[0] != entryVersion {
		return fmt.Errorf("%w: version %d, this program knows %d", ErrNewerFormat, b[0], entryVersion)
	}
	if b[2] != 0 || b[3] != 0 {
		return fmt.Errorf("%w: reserved bytes at offset 2 are not zero", ErrCorrupt)
	}
	e.Seq = binary.LittleEndian.Uint64(b[8:])
	switch b[1] {
	case kindTombstone:
		if len(b) != entryTombstoneSize || binary.LittleEndian.Uint32(b[4:]) != 0 {
			return fmt.Errorf("%w: a tombstone has %d bytes and no checksum, this one has %d bytes", ErrCorrupt, entryTombstoneSize, len(b))
		}
		e.Deleted = true
		return nil
	case kindPut:
	default:
		return fmt.Errorf("%w: kind %d", ErrNewerFormat, b[1])
	}
	if len(b) < entryPutSize {
		return fmt.Errorf("%w: %d bytes, a put has at least %d", ErrCorrupt, len(b), entryPutSize)
	}
	e.CRC = binary.LittleEndian.Uint32(b[4:])
	e.Segment = binary.LittleEndian.Uint64(b[16:])
	e.Offset = int64(binary.LittleEndian.Uint64(b[24:]))
	e.Length = int64(binary.LittleEndian.Uint64(b[32:]))
	if err := checkLocation(e.Offset, e.Length); err != nil {
		return err
	}
	return decodeDescription(e, b[entryPutSize:])
}

// checkLocation makes sure that a record can lie at offset: whether its segment is that long is
// known to the segment alone.
func checkLocation(offset, length int64) error {
	if offset < 0 || length <= 0 || offset%layout.Alignment != 0 || length%layout.Alignment != 0 || offset > math.MaxInt64-length {
		return fmt.Errorf("%w: a record of %d bytes at offset %d is not possible", ErrCorrupt, length, offset)
	}
	return nil
}
