package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tstore/tstore/codec"
)

// Alignment is the multiple at which every message starts and ends, in bytes.
const Alignment = codec.Alignment

// Keys of the custom_metadata pair that marks a control record.
const (
	KeyHeader = "tstore.segment"
	KeyCommit = "tstore.commit"
	KeyIndex  = "tstore.index"
)

// FormatVersion is the version of the disk format that this package writes, and
// the newest that it reads. It is the value of the pair that marks a control
// record too, so that a record says by itself how to read its body.
const FormatVersion = 1

const formatVersionText = "1"

// Errors that callers test for. They are wrapped with the offset and the rule
// that was broken.
var (
	// ErrCorrupt says that bytes which were durable are not what was written.
	ErrCorrupt = errors.New("corrupt data")
	// ErrNewerFormat says that the file uses something this version does not know.
	ErrNewerFormat = errors.New("written by a newer version of tstore")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C (Castagnoli) of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// UpdateChecksum extends the CRC-32C crc by the bytes of b.
func UpdateChecksum(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

const crcSize = 4

// appendControl appends a control record: head, payload, zeros, CRC-32C of all
// that. Its length is a multiple of Alignment.
func appendControl(dst []byte, key string, payload []byte) []byte {
	start := len(dst)
	bodyLen := align(int64(len(payload) + crcSize))
	dst = append(dst, codec.ControlHead(key, formatVersionText, bodyLen)...)
	dst = append(dst, payload...)
	dst = append(dst, make([]byte, bodyLen-int64(len(payload)+crcSize))...)
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[start:]))
}

// controlPayload checks that record, which must hold exactly one message, is a
// control record of the given key with an intact CRC, and returns its body
// without the CRC: the payload and the zeros behind it.
func controlPayload(record []byte, key string) ([]byte, error) {
	head, err := codec.ParseHead(record)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	version, ok := head.LookupMetadata(key)
	if head.Kind != codec.HeaderNone || !ok {
		return nil, fmt.Errorf("%w: not a %s record", ErrCorrupt, key)
	}
	if head.Len() != int64(len(record)) || head.BodyLen < Alignment {
		return nil, fmt.Errorf("%w: %s record is cut short: %d of %d bytes", ErrCorrupt, key, len(record), head.Len())
	}
	end := len(record) - crcSize
	if got, want := Checksum(record[:end]), binary.LittleEndian.Uint32(record[end:]); got != want {
		return nil, fmt.Errorf("%w: CRC-32C of the %s record is %08x, its bytes give %08x", ErrCorrupt, key, want, got)
	}
	if version != formatVersionText {
		return nil, fmt.Errorf("%w: %s record of version %q, this one reads up to %s", ErrNewerFormat, key, version, formatVersionText)
	}
	return record[head.HeaderLen:end], nil
}

// RecordCRC is the CRC-32C that a control record ends in.
func RecordCRC(record []byte) uint32 { return binary.LittleEndian.Uint32(record[len(record)-crcSize:]) }

// align rounds n up to a multiple of Alignment. n is a length in memory or in a
// file, far from overflow.
func align(n int64) int64 { return (n + Alignment - 1) &^ (Alignment - 1) }
