package segment

import (
	"encoding/binary"
	"fmt"

	"github.com/tstore/tstore/index"
)

// OpKind says what an operation does. The numbers are disk format.
type OpKind uint8

const (
	OpPut     OpKind = 1
	OpDelete  OpKind = 2
	OpRename  OpKind = 3
	OpAttach  OpKind = 4 // a package becomes part of the store
	OpReplace OpKind = 5 // segments take the place of others, which no longer count
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
	Old      []uint64 // replace: the numbers of the segments that go
	New      []Live   // attach: the package; replace: the segments that come
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
//	put, delete, rename: name
//	attach: a live entry with its extra
//	replace: u32 number of old ones, their u64 numbers, u32 number of new ones, for
//	    each a live entry with its extra
//
// A live entry with its extra is the 40 bytes of a segment header's, and then the
// extra itself.
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
		if op.hasLocation() {
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
		if op.Kind == OpReplace {
			p = binary.LittleEndian.AppendUint32(p, uint32(len(op.Old)))
			for _, n := range op.Old {
				p = binary.LittleEndian.AppendUint64(p, n)
			}
			p = binary.LittleEndian.AppendUint32(p, uint32(len(op.New)))
		}
		for i := range op.New {
			p = append(appendLive(p, &op.New[i]), op.New[i].Extra...)
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

// hasLocation reports whether the operation names a record.
func (op *Op) hasLocation() bool { return op.Kind == OpPut || op.Kind == OpRename }

// errElsewhere says that a commit record belongs to another place: bytes that
// were stored inside a tensor, or left over.
var errElsewhere = fmt.Errorf("%w: commit record of another segment or offset", ErrCorrupt)

// isCommitOf reports whether the payload of a commit record says that it belongs to
// offset off of segment uuid.
func isCommitOf(payload []byte, uuid ID, off int64) bool {
	return ID(payload[32:48]) == uuid && int64(binary.LittleEndian.Uint64(payload[24:])) == off
}

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
	c := cursor{b: p}
	op.Kind = OpKind(c.u8())
	flags := c.u8()
	nameLen := int(c.u16())
	if c.short {
		return nil, errOpShort
	}
	if op.Kind < OpPut || op.Kind > OpReplace || flags != 0 {
		return nil, fmt.Errorf("%w: operation %d, flags %#x", ErrNewerFormat, op.Kind, flags)
	}
	if op.hasLocation() {
		l := &op.Location
		l.Segment = c.u64()
		copy(l.UUID[:], c.bytes(16))
		l.Offset, l.Length, l.CRC = int64(c.u64()), int64(c.u64()), c.u32()
		if !c.short && (l.Offset < Alignment || l.Length < Alignment || l.Offset%Alignment != 0 || l.Length%Alignment != 0 || l.Offset+l.Length < 0) {
			return nil, fmt.Errorf("%w: record of %d bytes at offset %d", ErrCorrupt, l.Length, l.Offset)
		}
	}
	var err error
	switch op.Kind {
	case OpRename:
		op.From, err = c.name(int(c.u16()))
	case OpAttach:
		op.New, err = c.lives(1)
	case OpReplace:
		op.Old = c.numbers(c.u32())
		op.New, err = c.lives(c.u32())
	}
	if err != nil {
		return nil, err
	}
	if op.Kind <= OpRename {
		op.Name, err = c.name(nameLen)
	} else if nameLen != 0 {
		err = fmt.Errorf("%w: operation %d with a name", ErrCorrupt, op.Kind)
	}
	if c.short {
		return nil, errOpShort
	}
	return c.b, err
}

var errOpShort = fmt.Errorf("%w: operation cut short", ErrCorrupt)

// cursor takes fields off the front of b. Once b is too short it gives zeros.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) bytes(n int) []byte {
	if c.short || n > len(c.b) {
		c.short = true
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() byte {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// name takes a tensor's name of n bytes.
func (c *cursor) name(n int) (string, error) {
	if !c.short && (n == 0 || n > index.MaxName) {
		return "", fmt.Errorf("%w: name of %d bytes", ErrCorrupt, n)
	}
	name := string(c.bytes(n))
	if c.short {
		return "", nil
	}
	if err := index.CheckName(name); err != nil {
		return "", fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return name, nil
}

func (c *cursor) numbers(n uint32) []uint64 {
	if uint64(n)*8 > uint64(len(c.b)) {
		c.short = true
		return nil
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = c.u64()
	}
	return out
}

// lives takes n live entries, each with its extra.
func (c *cursor) lives(n uint32) ([]Live, error) {
	if uint64(n)*liveEntrySize > uint64(len(c.b)) {
		c.short = true
		return nil, nil
	}
	out := make([]Live, n)
	for i := range out {
		b := c.bytes(liveEntrySize)
		if b == nil {
			return nil, nil
		}
		l, extra, err := parseLive(b)
		if err != nil {
			return nil, err
		}
		if extra > 0 {
			l.Extra = append([]byte(nil), c.bytes(int(extra))...)
		}
		out[i] = l
	}
	return out, nil
}
