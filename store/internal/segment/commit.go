package segment

import (
	"encoding/binary"
	"fmt"
)

// OpKind says what an operation does. The numbers are disk format; 4 and 5 are
// taken by attach and replace.
type OpKind uint8

const (
	OpPut    OpKind = 1
	OpDelete OpKind = 2
	OpRename OpKind = 3
)

// Location is where a put record lies.
type Location struct {
	Segment uint64
	UUID    ID
	Offset  int64
	Length  int64
	CRC     uint32 // CRC-32C of the whole record
}

// Op is one operation of a batch.
type Op struct {
	Kind     OpKind
	Name     string
	From     string   // rename: the name that goes
	Location Location // put, rename: the record that Name stands for from now on
}

// Commit is what makes a batch true.
type Commit struct {
	Seq uint64 // sequence number of the batch, rising within a store
	// DurableTo is a position in this segment: all before it was on disk when the
	// record was written.
	DurableTo int64
	UUID      ID    // of the segment it stands in
	Offset    int64 // of the record itself
	Ops       []Op
}

// IsClose reports whether c is the mark of a clean close: no operations, and all
// before it durable.
func (c *Commit) IsClose() bool { return len(c.Ops) == 0 && c.DurableTo == c.Offset }

// Payload of a commit record, little endian:
//
//	 0  u32 number of operations   4  u32 zero       8  u64 sequence number
//	16  u64 durable_to            24  u64 offset    32  16 segment uuid
//	48  u64 bytes of operations   56  u64 zero      64  operations
//
// An operation, packed:
//
//	u8 kind  u8 zero  u16 length of name
//	put, rename: u64 segment  16 uuid  u64 offset  u64 length  u32 CRC-32C
//	rename: u16 length of the old name, the old name
//	name
const (
	commitFixed  = 64
	opFixed      = 4
	locationSize = 44
)

// AppendCommit appends the record of c to dst.
func AppendCommit(dst []byte, c *Commit) []byte {
	p := make([]byte, commitFixed, commitFixed+len(c.Ops)*(opFixed+locationSize+32))
	for i := range c.Ops {
		op := &c.Ops[i]
		p = append(p, byte(op.Kind), 0)
		p = binary.LittleEndian.AppendUint16(p, uint16(len(op.Name)))
		if op.Kind != OpDelete {
			l := &op.Location
			p = binary.LittleEndian.AppendUint64(p, l.Segment)
			p = append(p, l.UUID[:]...)
			p = binary.LittleEndian.AppendUint64(p, uint64(l.Offset))
			p = binary.LittleEndian.AppendUint64(p, uint64(l.Length))
			p = binary.LittleEndian.AppendUint32(p, l.CRC)
		}
		if op.Kind == OpRename {
			p = binary.LittleEndian.AppendUint16(p, uint16(len(op.From)))
			p = append(p, op.From...)
		}
		p = append(p, op.Name...)
	}
	binary.LittleEndian.PutUint32(p[0:], uint32(len(c.Ops)))
	binary.LittleEndian.PutUint64(p[8:], c.Seq)
	binary.LittleEndian.PutUint64(p[16:], uint64(c.DurableTo))
	binary.LittleEndian.PutUint64(p[24:], uint64(c.Offset))
	copy(p[32:], c.UUID[:])
	binary.LittleEndian.PutUint64(p[48:], uint64(len(p)-commitFixed))
	return appendControl(dst, KeyCommit, p)
}

// errElsewhere says that a commit record belongs to another place: bytes that
// were stored inside a tensor, or left over.
var errElsewhere = fmt.Errorf("%w: commit record of another segment or offset", ErrCorrupt)

// parseCommit reads the commit record that lies at off in segment uuid. Its
// names are copies.
func parseCommit(record []byte, uuid ID, off int64) (*Commit, error) {
	p, err := controlPayload(record, KeyCommit)
	if err != nil {
		return nil, err
	}
	if len(p) < commitFixed {
		return nil, fmt.Errorf("%w: commit record with a body of %d bytes, at least %d are needed", ErrCorrupt, len(p), commitFixed)
	}
	c := &Commit{
		Seq:       binary.LittleEndian.Uint64(p[8:]),
		DurableTo: int64(binary.LittleEndian.Uint64(p[16:])),
		Offset:    int64(binary.LittleEndian.Uint64(p[24:])),
		UUID:      ID(p[32:48]),
	}
	if c.UUID != uuid || c.Offset != off {
		return nil, errElsewhere
	}
	if c.DurableTo < 0 || c.DurableTo > c.Offset || c.DurableTo%Alignment != 0 {
		return nil, fmt.Errorf("%w: commit record at %d says durable up to %d", ErrCorrupt, c.Offset, c.DurableTo)
	}
	n := int(binary.LittleEndian.Uint32(p[0:]))
	opBytes := binary.LittleEndian.Uint64(p[48:])
	p = p[commitFixed:]
	if opBytes > uint64(len(p)) || uint64(n)*opFixed > opBytes {
		return nil, fmt.Errorf("%w: commit record of %d operations in %d bytes where %d are left", ErrCorrupt, n, opBytes, len(p))
	}
	p = p[:opBytes]
	c.Ops = make([]Op, n)
	for i := range c.Ops {
		if p, err = parseOp(p, &c.Ops[i]); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
	}
	if len(p) != 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the last operation", ErrCorrupt, len(p))
	}
	return c, nil
}

// parseOp reads the operation at the start of p into op and returns what follows.
func parseOp(p []byte, op *Op) ([]byte, error) {
	short := fmt.Errorf("%w: operation cut short", ErrCorrupt)
	if len(p) < opFixed {
		return nil, short
	}
	op.Kind = OpKind(p[0])
	nameLen := int(binary.LittleEndian.Uint16(p[2:]))
	if op.Kind < OpPut || op.Kind > OpRename || p[1] != 0 {
		return nil, fmt.Errorf("%w: operation %d, flags %#x", ErrNewerFormat, p[0], p[1])
	}
	p = p[opFixed:]
	if op.Kind != OpDelete {
		if len(p) < locationSize {
			return nil, short
		}
		op.Location = Location{
			Segment: binary.LittleEndian.Uint64(p[0:]),
			UUID:    ID(p[8:24]),
			Offset:  int64(binary.LittleEndian.Uint64(p[24:])),
			Length:  int64(binary.LittleEndian.Uint64(p[32:])),
			CRC:     binary.LittleEndian.Uint32(p[40:]),
		}
		l := &op.Location
		if l.Offset < Alignment || l.Length < Alignment || l.Offset%Alignment != 0 || l.Length%Alignment != 0 || l.Offset+l.Length < 0 {
			return nil, fmt.Errorf("%w: record of %d bytes at offset %d", ErrCorrupt, l.Length, l.Offset)
		}
		p = p[locationSize:]
	}
	if op.Kind == OpRename {
		if len(p) < 2 {
			return nil, short
		}
		fromLen := int(binary.LittleEndian.Uint16(p))
		p = p[2:]
		if len(p) < fromLen {
			return nil, short
		}
		if fromLen == 0 || fromLen > MaxName {
			return nil, fmt.Errorf("%w: old name of %d bytes", ErrCorrupt, fromLen)
		}
		op.From = string(p[:fromLen])
		p = p[fromLen:]
	}
	if len(p) < nameLen {
		return nil, short
	}
	if nameLen == 0 || nameLen > MaxName {
		return nil, fmt.Errorf("%w: name of %d bytes", ErrCorrupt, nameLen)
	}
	op.Name = string(p[:nameLen])
	return p[nameLen:], nil
}
