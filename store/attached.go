package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

// attachment is how a package belongs to a store. It is the extra of its live
// entry, little endian:
//
//	 0  u64 base sequence number, which every name in it has   8  32 digest
//	40  u32 number of names that are left out                 44  u16 length of prefix
//	46  prefix, then for each name left out: u16 length, name
//
// The names left out are those in the package, without prefix, in ascending order.
type attachment struct {
	seq    uint64
	digest Digest
	prefix string
	hidden []string
}

const attachmentFixed = 46

func (a *attachment) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, a.seq)
	b = append(b, a.digest[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(a.hidden)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(a.prefix)))
	b = append(b, a.prefix...)
	for _, name := range a.hidden {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
	}
	return b
}

func decodeAttachment(b []byte) (*attachment, error) {
	short := fmt.Errorf("%w: attachment of %d bytes is cut short", ErrCorrupt, len(b))
	if len(b) < attachmentFixed {
		return nil, short
	}
	a := &attachment{seq: binary.LittleEndian.Uint64(b), digest: Digest(b[8:40])}
	n := binary.LittleEndian.Uint32(b[40:])
	take := func(b []byte, length uint16) (string, []byte, error) {
		if int(length) > len(b) || length > MaxNameLen {
			return "", nil, short
		}
		return string(b[:length]), b[length:], nil
	}
	prefix, rest, err := take(b[attachmentFixed:], binary.LittleEndian.Uint16(b[44:]))
	if err != nil {
		return nil, err
	}
	a.prefix = prefix
	for range n {
		if len(rest) < 2 {
			return nil, short
		}
		var name string
		if name, rest, err = take(rest[2:], binary.LittleEndian.Uint16(rest)); err != nil {
			return nil, err
		}
		a.hidden = append(a.hidden, name)
	}
	if !slices.IsSorted(a.hidden) || len(rest) > 0 {
		return nil, fmt.Errorf("%w: attachment with names out of order, or %d bytes too many", ErrCorrupt, len(rest))
	}
	return a, nil
}

// inside is the name in the package of what the store calls name, if it can be one.
func (a *attachment) inside(name string) (string, bool) {
	inner, ok := strings.CutPrefix(name, a.prefix)
	if !ok || inner == "" {
		return "", false
	}
	_, hidden := slices.BinarySearch(a.hidden, inner)
	return inner, !hidden
}

// outside is the entry of the store for one of the package; false if it is left out.
func (a *attachment) outside(e *index.Entry) (*index.Entry, bool) {
	if _, hidden := slices.BinarySearch(a.hidden, e.Name); hidden {
		return nil, false
	}
	out := *e
	out.Name = a.prefix + e.Name
	out.Seq = a.seq
	return &out, true
}

// openAttached opens the package that the live entry l names, as a part of a store.
func openAttached(f *segment.File, l segment.Live) (*sealedSegment, error) {
	a, err := decodeAttachment(l.Extra)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	s, err := openPackageIndex(f)
	if err != nil {
		return nil, err
	}
	if got := Digest(s.frozen.Digest()); got != a.digest {
		return nil, fmt.Errorf("%s: %w: it is the package with digest %v, it should be %v", f.Path, ErrCorrupt, got, a.digest)
	}
	s.attached, s.last = a, a.seq
	return s, nil
}
