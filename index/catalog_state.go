package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// Position is the last commit whose operations a catalog contains.
type Position struct {
	StoreID     [16]byte
	SegmentUUID [16]byte // of the log that the commit is in
	Segment     uint64   // number of that log
	Offset      int64    // of the commit record
	End         int64    // just past the commit record
	CRC         uint32   // of the commit record
	Seq         uint64   // the commit's sequence number
	Live        []byte   // the segments that count as of the commit, in whatever form the store likes
}

// catalogState is what the catalog knows of itself: where it stands, and of each log how much of
// it there must be.
//
//	 0  u32       version 1
//	 4  u32       number of logs n
//	 8  [16]byte  store id
//	24  [16]byte  uuid of the segment
//	40  u64       number of the segment
//	48  u64       offset of the commit record
//	56  u64       its end
//	64  u64       sequence number
//	72  u64       length of the live set m
//	80  u32       CRC of the commit record
//	84  u32       0
//	88  n × 24    u64 number, u64 entries, u64 sum of the values' CRCs, by ascending number
//	    m         the live set
//	    u32       CRC-32C of all that
type catalogState struct {
	position Position
	logs     []logState // by ascending number
}

// logState has the number of entries of a log and the sum of their values' checksums, modulo 2⁶⁴:
// an entry that is missing, or comes from an older page, shows.
type logState struct {
	number, entries, sum uint64
}

func (l *logState) add(crc uint32)    { l.entries++; l.sum += uint64(crc) }
func (l *logState) remove(crc uint32) { l.entries--; l.sum -= uint64(crc) }

const (
	catalogVersion   = 1
	catalogStateSize = 88
	logStateSize     = 24
)

// numbers returns the numbers of the logs.
func (s *catalogState) numbers() []uint64 {
	var n []uint64
	for _, l := range s.logs {
		n = append(n, l.number)
	}
	return n
}

// log returns the state of a log, which is made if there is none. It may be changed until the next
// call of log or dropLog.
func (s *catalogState) log(number uint64) *logState {
	i, found := s.find(number)
	if !found {
		s.logs = slices.Insert(s.logs, i, logState{number: number})
	}
	return &s.logs[i]
}

func (s *catalogState) dropLog(number uint64) {
	if i, found := s.find(number); found {
		s.logs = slices.Delete(s.logs, i, i+1)
	}
}

func (s *catalogState) find(number uint64) (int, bool) {
	return slices.BinarySearchFunc(s.logs, number, func(l logState, n uint64) int {
		switch {
		case l.number < n:
			return -1
		case l.number > n:
			return 1
		}
		return 0
	})
}

func (s *catalogState) append(dst []byte) []byte {
	start, p := len(dst), &s.position
	dst = binary.LittleEndian.AppendUint32(dst, catalogVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.logs)))
	dst = append(dst, p.StoreID[:]...)
	dst = append(dst, p.SegmentUUID[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, p.Segment)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Offset))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.End))
	dst = binary.LittleEndian.AppendUint64(dst, p.Seq)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(p.Live)))
	dst = binary.LittleEndian.AppendUint32(dst, p.CRC)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	for _, l := range s.logs {
		dst = binary.LittleEndian.AppendUint64(dst, l.number)
		dst = binary.LittleEndian.AppendUint64(dst, l.entries)
		dst = binary.LittleEndian.AppendUint64(dst, l.sum)
	}
	dst = append(dst, p.Live...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func decodeCatalogState(b []byte) (s catalogState, err error) {
	if len(b) < catalogStateSize+4 {
		return s, fmt.Errorf("%w: its state has %d bytes", ErrCatalog, len(b))
	}
	if v := binary.LittleEndian.Uint32(b); v != catalogVersion {
		return s, fmt.Errorf("%w: version %d, this program knows %d", ErrCatalog, v, catalogVersion)
	}
	n, live := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[72:])
	body := b[:len(b)-4]
	if rest := int64(len(body)) - catalogStateSize - logStateSize*int64(n); rest < 0 || uint64(rest) != live {
		return s, fmt.Errorf("%w: its state has %d bytes for %d logs and a live set of %d bytes", ErrCatalog, len(b), n, live)
	}
	if got, want := crc32.Checksum(body, castagnoli), binary.LittleEndian.Uint32(b[len(body):]); got != want {
		return s, fmt.Errorf("%w: its state has CRC %#x, not %#x", ErrCatalog, got, want)
	}
	p := &s.position
	copy(p.StoreID[:], b[8:])
	copy(p.SegmentUUID[:], b[24:])
	p.Segment = binary.LittleEndian.Uint64(b[40:])
	p.Offset = int64(binary.LittleEndian.Uint64(b[48:]))
	p.End = int64(binary.LittleEndian.Uint64(b[56:]))
	p.Seq = binary.LittleEndian.Uint64(b[64:])
	p.CRC = binary.LittleEndian.Uint32(b[80:])
	if p.Offset < 0 || p.End < p.Offset {
		return s, fmt.Errorf("%w: it stands at a commit from %d to %d", ErrCatalog, p.Offset, p.End)
	}
	logs := body[catalogStateSize : int64(len(body))-int64(live)]
	p.Live = bytes.Clone(body[len(body)-int(live):])
	for b := logs; len(b) > 0; b = b[logStateSize:] {
		l := logState{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
		if len(s.logs) > 0 && s.logs[len(s.logs)-1].number >= l.number {
			return s, fmt.Errorf("%w: its logs are not in order", ErrCatalog)
		}
		s.logs = append(s.logs, l)
	}
	return s, nil
}

// A value of the catalog is a CRC-32C and what AppendEntry makes of the entry. The CRC covers the
// number of the log, the length of the name, both as u64, the name, and the encoded entry: so a
// value that got under another name, or into another log, is found out.

const valueHead = 16 // number of the log, length of the name

func encodeCatalogValue(log uint64, e *Entry) (value []byte, crc uint32) {
	b := make([]byte, 0, valueHead+len(e.Name)+4+entryPutSize+64)
	b = appendValueHead(b, log, e.Name)
	n := len(b)
	b = AppendEntry(b, e)
	crc = crc32.Checksum(b, castagnoli)
	// The value goes where the end of the covered head was, so that both fit one buffer.
	value = b[n-4:]
	binary.LittleEndian.PutUint32(value, crc)
	return value, crc
}

func appendValueHead(dst []byte, log uint64, name string) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, log)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(name)))
	return append(dst, name...)
}

// decodeCatalogValue decodes and checks a value. It returns scratch, grown, to be used again.
func decodeCatalogValue(scratch []byte, log uint64, key, value []byte) (*Entry, uint32, []byte, error) {
	if len(value) < 4 || len(key) > math.MaxInt32 {
		return nil, 0, scratch, fmt.Errorf("%w: the value of %.100q has %d bytes", ErrCatalog, key, len(value))
	}
	name := string(key)
	scratch = appendValueHead(scratch[:0], log, name)
	crc := crc32.Update(crc32.Checksum(scratch, castagnoli), castagnoli, value[4:])
	if want := binary.LittleEndian.Uint32(value); crc != want {
		return nil, 0, scratch, fmt.Errorf("%w: the entry of %.100q in log %d has CRC %#x, not %#x", ErrCatalog, name, log, crc, want)
	}
	e, err := DecodeEntry(name, value[4:])
	if err != nil {
		return nil, 0, scratch, fmt.Errorf("%w: %w", ErrCatalog, err)
	}
	return e, crc, scratch, nil
}
