package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"strings"

	"github.com/tstore/tstore/layout"
)

// Frozen is the index of a sealed segment or a package, read where it lies. Opening it reads the
// header; from then on each call reads, and checks, what it needs. Any number of goroutines may
// use one.
type Frozen struct {
	b []byte      // the index, or nil:
	r io.ReaderAt // then it is read from here
	h frozenHeader
}

// Ref is what a frozen index says of a name short of its description: enough to read the record.
type Ref struct {
	Deleted bool   // a tombstone; of the other fields only Seq is set
	Seq     uint64 // sequence number
	Segment uint64 // number of the segment the record is in; 0 is the one that the index is in
	Offset  int64  // where the record starts in its segment; a multiple of 64
	Length  int64  // bytes of the record, a positive multiple of 64; Offset+Length does not overflow
	CRC     uint32 // CRC-32C of the record

	at int64 // offset of the entry in the index
}

// OpenFrozen returns the index b, the body of a segment's index message. It keeps b, which must
// neither change nor go away while the index, or a sequence that it returned, is used; what the
// methods return shares no memory with b. Only the header is looked at, so errors of the rest come
// out when it is used, or from [Frozen.Verify].
//
// The errors of all methods are [ErrCorrupt] and [ErrNewerFormat], with the offset in the index.
func OpenFrozen(b []byte) (*Frozen, error) {
	h, err := decodeFrozenHeader(b, int64(len(b)))
	if err != nil {
		return nil, err
	}
	return &Frozen{b: b, h: h}, nil
}

// OpenFrozenAt is [OpenFrozen] for an index that is not in memory: size bytes, of which offset 0
// of r is the first. A lookup takes two or three reads and, unlike in memory, allocates. The
// errors of r come back as they are, wrapped.
func OpenFrozenAt(r io.ReaderAt, size int64) (*Frozen, error) {
	var b [frozenHeaderSize]byte
	if size >= frozenHeaderSize {
		if n, err := r.ReadAt(b[:], 0); n < len(b) {
			return nil, fmt.Errorf("frozen index, offset %d: %w", n, err)
		}
	}
	h, err := decodeFrozenHeader(b[:], size)
	if err != nil {
		return nil, err
	}
	return &Frozen{r: r, h: h}, nil
}

// Len returns the number of entries, tombstones included.
func (f *Frozen) Len() int { return int(f.h.entries) }

// Tombstones returns the number of entries that are tombstones.
func (f *Frozen) Tombstones() int { return int(f.h.tombstones) }

// MinSeq returns the lowest sequence number of all entries, 0 if there are none.
func (f *Frozen) MinSeq() uint64 { return f.h.minSeq }

// MaxSeq returns the highest sequence number of all entries, 0 if there are none.
func (f *Frozen) MaxSeq() uint64 { return f.h.maxSeq }

// Digest returns the digest of a package. A segment has zeros.
func (f *Frozen) Digest() [32]byte { return f.h.digest }

// Dataset returns the attributes of a package as a whole, nil if it has none.
func (f *Frozen) Dataset() ([]layout.Attr, error) {
	if f.h.datasetLen == 0 {
		return nil, nil
	}
	b, err := f.view(f.h.dataset, f.h.datasetLen)
	if err != nil {
		return nil, err
	}
	if got := crc32.Checksum(b, castagnoli); got != f.h.datasetCRC {
		return nil, f.corrupt(f.h.dataset, "dataset attributes with CRC %#x, not %#x", got, f.h.datasetCRC)
	}
	c := cursor{b: b}
	attrs := c.attrs()
	if c.err == nil && c.pos != len(b) {
		c.fail("%d bytes too many", len(b)-c.pos)
	}
	if c.err != nil {
		return nil, fmt.Errorf("frozen index, offset %d: dataset attributes: %w", f.h.dataset, c.err)
	}
	return attrs, nil
}

func (f *Frozen) corrupt(offset int64, format string, args ...any) error {
	return fmt.Errorf("%w: frozen index, offset %d: %s", ErrCorrupt, offset, fmt.Sprintf(format, args...))
}

// view returns n bytes from an offset, which the caller knows to be inside.
func (f *Frozen) view(offset, n int64) ([]byte, error) {
	if f.b != nil {
		return f.b[offset : offset+n : offset+n], nil
	}
	return f.readAt(offset, n)
}

// readChunk is how much memory is asked for before any of it was read: the size of an index that
// is not in memory is a claim.
const readChunk = 1 << 20

func (f *Frozen) readAt(offset, n int64) ([]byte, error) {
	var b []byte
	for int64(len(b)) < n {
		start, want := len(b), min(n-int64(len(b)), readChunk)
		b = append(b, make([]byte, want)...)
		if got, err := f.r.ReadAt(b[start:], offset+int64(start)); int64(got) < want {
			return nil, fmt.Errorf("frozen index, offset %d: %w", offset+int64(start+got), err)
		}
	}
	return b, nil
}

// Lookup finds a name. In memory it takes no allocation, and two or three cache misses: a bucket
// of the hash table, the head of the entry, its name. A tombstone is found, too.
func (f *Frozen) Lookup(name string) (ref Ref, found bool, err error) {
	found, err = f.LookupHash(name, hashName(name), &ref)
	return ref, found, err
}

// Hash returns the hash of a name for [Frozen.LookupHash]: who looks into several indexes computes
// it once.
func Hash(name string) uint64 { return hashName(name) }

// Touch reads a byte of the bucket that LookupHash begins with. Buckets of several indexes that are
// touched one right after the other come from memory at the same time.
func (f *Frozen) Touch(hash uint64) byte {
	if f.b == nil || f.h.buckets == 0 {
		return 0
	}
	return f.b[frozenHeaderSize+bucketBytes*int64(home(hash, f.h.buckets))]
}

// LookupHash is [Frozen.Lookup] of a name with the given [Hash]. What it finds is put into ref, which
// is zero if it finds nothing.
func (f *Frozen) LookupHash(name string, hash uint64, ref *Ref) (found bool, err error) {
	*ref = Ref{}
	n := f.h.buckets
	if n == 0 {
		return f.lookupInOrder(name, ref)
	}
	i, tag := home(hash, n), hash&(1<<(64-slotOffsetBits)-1)
	for range min(maxProbes, n) {
		at := frozenHeaderSize + bucketBytes*int64(i)
		b, err := f.view(at, bucketBytes)
		if err != nil {
			return false, err
		}
		b = b[:bucketBytes:bucketBytes]
		if crc32.Checksum(b[:bucketCRC], castagnoli) != binary.LittleEndian.Uint32(b[bucketCRC:]) {
			return false, f.corrupt(at, "bucket has CRC %#x, not %#x", crc32.Checksum(b[:bucketCRC], castagnoli), binary.LittleEndian.Uint32(b[bucketCRC:]))
		}
		for s := 0; s < bucketCount; s += 8 {
			slot := binary.LittleEndian.Uint64(b[s:])
			if slot>>slotOffsetBits != tag || slot == 0 {
				continue
			}
			at := int64(slot&slotOffsetMask) * slotUnit
			head, err := f.head(at)
			if err != nil {
				return false, err
			}
			if string(head[frozenEntryHead:]) == name {
				err := f.ref(at, head, ref)
				return err == nil, err
			}
		}
		if b[bucketSpilled] == 0 {
			return false, nil
		}
		if i++; i == n {
			i = 0
		}
	}
	return f.lookupInOrder(name, ref)
}

// lookupInOrder finds a name that may have no place in the hash table.
func (f *Frozen) lookupInOrder(name string, ref *Ref) (bool, error) {
	rank, found, err := f.search(name)
	if !found || err != nil {
		return false, err
	}
	at, head, err := f.ranked(rank)
	if err != nil {
		return false, err
	}
	err = f.ref(at, head, ref)
	return err == nil, err
}

// search returns how many names are less than name, and whether the next one is name. Each step
// checks one entry, so it ends after at most 32.
func (f *Frozen) search(name string) (rank uint64, found bool, err error) {
	low, high := uint64(0), f.h.entries
	for low < high {
		mid := (low + high) / 2
		_, head, err := f.ranked(mid)
		if err != nil {
			return 0, false, err
		}
		switch other := head[frozenEntryHead:]; { // conversions in comparisons do not allocate
		case string(other) == name:
			return mid, true, nil
		case string(other) < name:
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false, nil
}

// ranked returns the offset and the head of the entry with a rank.
func (f *Frozen) ranked(rank uint64) (at int64, head []byte, err error) {
	b, err := f.view(f.h.order+8*int64(rank), 8)
	if err != nil {
		return 0, nil, err
	}
	v := binary.LittleEndian.Uint64(b)
	if v > uint64(f.h.length) {
		return 0, nil, f.corrupt(f.h.order+8*int64(rank), "entry %d is at offset %d of %d", rank, v, f.h.length)
	}
	at = int64(v)
	if head, err = f.head(at); err != nil {
		return 0, nil, err
	}
	if got := binary.LittleEndian.Uint32(head[8:]); uint64(got) != rank {
		return 0, nil, f.corrupt(at, "entry has rank %d, the order says %d", got, rank)
	}
	return at, head, nil
}

// head returns the head of the entry at an offset together with the name, checked against their
// CRC. No offset is taken for granted.
func (f *Frozen) head(at int64) ([]byte, error) {
	end := f.h.first + f.h.entriesLen
	if at < f.h.first || at > end-frozenEntryHead || at%slotUnit != 0 {
		return nil, f.corrupt(at, "no entry can be here, they are at %d to %d", f.h.first, end)
	}
	var b []byte
	if f.b != nil {
		b = f.b[at:end:end]
	} else {
		var err error
		if b, err = f.readAt(at, min(frozenEntryHead+MaxName, end-at)); err != nil {
			return nil, err
		}
	}
	n := frozenEntryHead + int64(binary.LittleEndian.Uint16(b[6:]))
	if n > int64(len(b)) || n > frozenEntryHead+MaxName {
		return nil, f.corrupt(at, "entry with a name of %d bytes", n-frozenEntryHead)
	}
	b = b[:n:n]
	if got := crc32.Checksum(b[4:], castagnoli); got != binary.LittleEndian.Uint32(b) {
		return nil, f.corrupt(at, "entry has CRC %#x, not %#x", got, binary.LittleEndian.Uint32(b))
	}
	return b, nil
}

// ref reads the head of the entry at an offset into r, which is zero after an error.
func (f *Frozen) ref(at int64, head []byte, r *Ref) error {
	if head[5] != 0 {
		return fmt.Errorf("frozen index, offset %d: %w: a reserved byte of the entry is %d", at, ErrNewerFormat, head[5])
	}
	seq := binary.LittleEndian.Uint64(head[16:])
	if seq < f.h.minSeq || seq > f.h.maxSeq {
		return f.corrupt(at, "sequence number %d is not between %d and %d", seq, f.h.minSeq, f.h.maxSeq)
	}
	offset, length := int64(binary.LittleEndian.Uint64(head[32:])), int64(binary.LittleEndian.Uint64(head[40:]))
	switch head[4] {
	case kindPut:
		if err := checkLocation(offset, length); err != nil {
			return fmt.Errorf("frozen index, offset %d: %w", at, err)
		}
	case kindTombstone:
		if !isZero(head[24:frozenEntryHead]) || !isZero(head[12:16]) {
			return f.corrupt(at, "a tombstone with a record or a description")
		}
	default:
		return fmt.Errorf("frozen index, offset %d: %w: an entry of kind %d", at, ErrNewerFormat, head[4])
	}
	r.Seq, r.Deleted, r.at = seq, head[4] == kindTombstone, at
	r.Segment, r.Offset, r.Length = binary.LittleEndian.Uint64(head[24:]), offset, length
	r.CRC = binary.LittleEndian.Uint32(head[48:])
	return nil
}

// Entry returns all that the index knows of the name that ref was found under. The entry is the
// caller's.
func (f *Frozen) Entry(ref Ref) (*Entry, error) {
	head, err := f.head(ref.at)
	if err != nil {
		return nil, err
	}
	return f.entry(ref.at, head)
}

func (f *Frozen) entry(at int64, head []byte) (*Entry, error) {
	var r Ref
	if err := f.ref(at, head, &r); err != nil {
		return nil, err
	}
	e := &Entry{
		Name: string(head[frozenEntryHead:]), Seq: r.Seq, Deleted: r.Deleted,
		Segment: r.Segment, Offset: r.Offset, Length: r.Length, CRC: r.CRC,
	}
	if err := CheckName(e.Name); err != nil {
		return nil, f.corrupt(at, "%v", err)
	}
	if e.Deleted {
		return e, nil
	}
	start, n := at+int64(len(head)), int64(binary.LittleEndian.Uint32(head[12:]))
	if n > maxDescription || n > f.h.first+f.h.entriesLen-start {
		return nil, f.corrupt(at, "a description of %d bytes", n)
	}
	b, err := f.view(start, n)
	if err != nil {
		return nil, err
	}
	if got, want := crc32.Checksum(b, castagnoli), binary.LittleEndian.Uint32(head[52:]); got != want {
		return nil, f.corrupt(start, "description of %.100q has CRC %#x, not %#x", e.Name, got, want)
	}
	if err := decodeDescription(e, b); err != nil {
		return nil, fmt.Errorf("frozen index, offset %d: entry of %.100q: %w", start, e.Name, err)
	}
	return e, nil
}

// At returns the entry with the given rank in the order of names, 0 ≤ rank < Len. One that is
// damaged does not keep others from being read.
func (f *Frozen) At(rank int) (*Entry, error) {
	if rank < 0 || rank >= f.Len() {
		return nil, f.corrupt(f.h.order, "no entry %d of %d", rank, f.Len())
	}
	at, head, err := f.ranked(uint64(rank))
	if err != nil {
		return nil, err
	}
	return f.entry(at, head)
}

// Ascend returns the entries, tombstones included, whose names are at least from, in ascending
// order of their names. An error is the last thing that comes.
func (f *Frozen) Ascend(from string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		g := f.ahead()
		rank, _, err := g.search(from)
		if err != nil {
			yield(nil, err)
			return
		}
		last := ""
		for ; rank < g.h.entries; rank++ {
			at, head, err := g.ranked(rank)
			var e *Entry
			if err == nil {
				e, err = g.entry(at, head)
			}
			if err == nil && (e.Name <= last || e.Name < from) {
				err = g.corrupt(at, "%.100q comes after %.100q", e.Name, last)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(e, nil) {
				return
			}
			last = e.Name
		}
	}
}

// Prefix returns the entries, tombstones included, whose names begin with prefix.
func (f *Frozen) Prefix(prefix string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for e, err := range f.Ascend(prefix) {
			if err == nil && !strings.HasPrefix(e.Name, prefix) || !yield(e, err) {
				return
			}
		}
	}
}

// ahead returns f for one goroutine that goes through it in order: if it is not in memory, it is
// read in larger pieces than are asked for.
func (f *Frozen) ahead() *Frozen {
	if f.b != nil {
		return f
	}
	g := *f
	g.r = &readAhead{r: f.r}
	return &g
}

// readAhead keeps a few pieces of what it read last: one for each section that is gone through.
type readAhead struct {
	r      io.ReaderAt
	pieces [4]struct {
		offset int64
		b      []byte
	}
	next int
}

const readAheadSize = 32 << 10

func (a *readAhead) ReadAt(p []byte, offset int64) (int, error) {
	if len(p) > readAheadSize/2 {
		return a.r.ReadAt(p, offset)
	}
	for i := range a.pieces {
		c := &a.pieces[i]
		if start := offset - c.offset; start >= 0 && start+int64(len(p)) <= int64(len(c.b)) {
			return copy(p, c.b[start:]), nil
		}
	}
	c := &a.pieces[a.next]
	a.next = (a.next + 1) % len(a.pieces)
	if c.b == nil {
		c.b = make([]byte, readAheadSize)
	}
	n, err := a.r.ReadAt(c.b[:readAheadSize], offset)
	c.offset, c.b = offset, c.b[:n]
	if n < len(p) {
		return copy(p, c.b), err
	}
	return copy(p, c.b), nil
}
