package arrowfile

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

// The fields of the footer, in Arrow's File.fbs, and the size of what its lists are made of: where a message
// is, and how long.
const (
	footerSchema       = 1
	footerDictionaries = 2
	footerBatches      = 3
	blockSize          = 24
)

// findInFile finds the messages of a file by its footer. What a file has between the two is not looked at:
// polars does not write a schema there that can be read.
func findInFile(b []byte) (m *messages, err error) {
	defer asError(&err)
	const end = 4 + len(fileMagic)
	if len(b) < 8+end || !bytes.HasSuffix(b, []byte(fileMagic)) {
		return nil, fmt.Errorf("%w: it does not end with %s", ErrTruncated, fileMagic)
	}
	rest := b[:len(b)-end]
	length := int64(int32(binary.LittleEndian.Uint32(b[len(rest):])))
	if length < 8 || length > int64(len(rest)-8) {
		return nil, fmt.Errorf("%w: a footer of %d bytes", ErrInvalid, length)
	}
	footer := rest[int64(len(rest))-length:]
	root := flatbuffers.Table{Bytes: footer, Pos: flatbuffers.GetUOffsetT(footer)}
	schema, ok := child(root, footerSchema)
	if !ok {
		return nil, fmt.Errorf("%w: a footer without a schema", ErrInvalid)
	}
	m = &messages{
		schema:  message{kind: ipc.MessageSchema, meta: schemaMessage(footer, schema.Pos)},
		numbers: map[int64]bool{},
	}
	if err := checkMessage(m.schema.meta, ipc.MessageSchema); err != nil {
		return nil, err
	}
	total := 0 // so that a message can't be in it again and again
	for _, field := range []int{footerDictionaries, footerBatches} {
		start, n, err := list(root, field, blockSize)
		if err != nil {
			return nil, err
		}
		for i := range n {
			at := root.GetInt64(start + flatbuffers.UOffsetT(i*blockSize))
			if at < 0 || at > int64(len(rest)) {
				return nil, fmt.Errorf("%w: a message at byte %d of %d", ErrInvalid, at, len(rest))
			}
			next, size, err := parseMessage(rest[at:])
			if err != nil {
				return nil, fmt.Errorf("%w: the message at byte %d: %w", ErrInvalid, at, err)
			}
			if total += size; total > len(rest) {
				return nil, fmt.Errorf("%w: the footer lists the same bytes several times", ErrInvalid)
			}
			if (next.kind == ipc.MessageRecordBatch) != (field == footerBatches) || !m.add(next) {
				return nil, fmt.Errorf("%w: the message at byte %d is a %v", ErrInvalid, at, next.kind)
			}
		}
	}
	return m, nil
}

// schemaMessage makes the message that a stream would begin with of the schema in a footer: a table of a
// version, the kind of the message and what it is about, followed by the footer with that.
func schemaMessage(footer []byte, schema flatbuffers.UOffsetT) []byte {
	const (
		vtable  = 4
		table   = 16
		version = 4 // Arrow's V5, which is its number, too
		prefix  = 32
	)
	b := make([]byte, prefix, prefix+len(footer))
	binary.LittleEndian.PutUint32(b, table)
	for i, v := range []uint16{10, 12, 4, 6, 8} { // size of this, of the table, and where the fields are in it
		binary.LittleEndian.PutUint16(b[vtable+2*i:], v)
	}
	binary.LittleEndian.PutUint32(b[table:], table-vtable)
	binary.LittleEndian.PutUint16(b[table+4:], version)
	b[table+6] = byte(ipc.MessageSchema)
	binary.LittleEndian.PutUint32(b[table+8:], prefix+uint32(schema)-(table+8))
	return append(b, footer...)
}
