package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"github.com/tstore/tstore/layout"
)

// The frozen index: five sections, each at a multiple of 64, zeros in between and at the end.
//
//	header    256 bytes, below
//	buckets   64 bytes each: the hash table
//	order     u64 for each entry: its offset, in ascending order of the names
//	entries   one after the other in ascending order of the names, each padded to 8
//	dataset   the attributes of a package, as in a description
//
// All numbers are little-endian, all offsets count from the start of the header.
//
//	  0  [8]byte   "tsfrozen"
//	  8  u32       version 1
//	 12  u32       0
//	 16  u64       length of the whole, a multiple of 64
//	 24  u64       entries, less than 2³²
//	 32  u64       tombstones among them
//	 40  u64       lowest sequence number
//	 48  u64       highest sequence number
//	 56  u64       offset of the buckets
//	 64  u64       number of buckets
//	 72  u64       offset of the order
//	 80  u64       offset of the entries
//	 88  u64       length of the entries
//	 96  u64       offset of the dataset attributes
//	104  u64       their length, 0 if there are none
//	112  u32       CRC-32C of the buckets
//	116  u32       CRC-32C of the order
//	120  u32       CRC-32C of the entries
//	124  u32       CRC-32C of the dataset attributes
//	128  [32]byte  digest of a package, zeros elsewhere
//	160  [92]byte  0
//	252  u32       CRC-32C of the 252 bytes before
const (
	frozenMagic      = "tsfrozen"
	frozenVersion    = 1
	frozenHeaderSize = 256
	frozenSpare      = 160 // from here to the header's CRC there are zeros
)

// A bucket:
//
//	 0  7 × u64    slots: bits 0–39 the offset of an entry divided by 8, bits 40–63 the tag, which
//	               is the low 24 bits of the name's hash; empty ones are 0 and come last
//	56  u8         slots in use
//	57  u8         1 if an entry went on past this bucket since it was full, else 0
//	58  u16        0
//	60  u32        CRC-32C of the 60 bytes before
//
// A name's home is bucket ⌊hash × buckets / 2⁶⁴⌋. Its slot is the first free one in its home or in
// one of the next seven buckets, the first bucket following the last; entries are put in in
// ascending order of their names. One that finds no place has no slot and is found by its order.
const (
	bucketBytes   = 64
	bucketSlots   = 7
	bucketCount   = 56
	bucketSpilled = 57
	bucketCRC     = 60

	maxProbes = 8 // buckets that a lookup reads at most

	slotOffsetBits = 40
	slotOffsetMask = 1<<slotOffsetBits - 1
	slotUnit       = 8
)

// bucketsFor returns the number of buckets for n entries: five in each, so that few are full.
func bucketsFor(n uint64) uint64 { return n/5 + min(n%5, 1) }

// An entry:
//
//	 0  u32       CRC-32C of what follows, up to the end of the name
//	 4  u8        kind: 1 put, 2 tombstone
//	 5  u8        0
//	 6  u16       length of the name
//	 8  u32       rank: how many names come before
//	12  u32       length of the description
//	16  u64       sequence number
//	24  u64       segment that the record is in, 0 for the one that the index is in
//	32  u64       offset of the record in it
//	40  u64       length of the record
//	48  u32       CRC-32C of the record
//	52  u32       CRC-32C of the description
//	56  name, description, zeros up to a multiple of 8
//
// A tombstone has zeros from 24 to 56, and no description.
const (
	frozenEntryHead = 56

	// maxDescription bounds a description: the metadata of a message is not larger.
	maxDescription = 64 << 20
)

// hashName is the hash of the frozen index. It folds the name, eight bytes at a time, into 64 bits
// by multiplication to 128 bits. The constants are digits of π.
func hashName(name string) uint64 {
	h := 0x243F6A8885A308D3 + uint64(len(name))
	for ; len(name) >= 8; name = name[8:] {
		w := uint64(name[0]) | uint64(name[1])<<8 | uint64(name[2])<<16 | uint64(name[3])<<24 |
			uint64(name[4])<<32 | uint64(name[5])<<40 | uint64(name[6])<<48 | uint64(name[7])<<56
		h = fold(h^w, 0x082EFA98EC4E6C89)
	}
	if len(name) > 0 {
		var w uint64
		for i := range len(name) {
			w |= uint64(name[i]) << (8 * i)
		}
		h = fold(h^w, 0x082EFA98EC4E6C89)
	}
	return fold(h^0x452821E638D01377, 0xBE5466CF34E90C6D)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// home returns the first bucket of a hash among n > 0 buckets.
func home(hash, n uint64) uint64 {
	hi, _ := bits.Mul64(hash, n)
	return hi
}

// frozenHeader is the header of a frozen index. Only counts, lengths and checksums are free: the
// offsets follow from them, since the sections leave no gaps.
type frozenHeader struct {
	entries, tombstones uint64
	minSeq, maxSeq      uint64
	buckets             uint64
	entriesLen          int64
	datasetLen          int64
	bucketsCRC          uint32
	orderCRC            uint32
	entriesCRC          uint32
	datasetCRC          uint32
	digest              [32]byte

	// Derived by place.
	order, first, dataset, length int64
}

// place computes the offsets of the sections and reports whether the whole fits in 63 bits.
func (h *frozenHeader) place() bool {
	if h.entries > math.MaxUint32 || h.buckets > h.entries || h.entriesLen < 0 || h.datasetLen < 0 {
		return false
	}
	h.order = frozenHeaderSize + bucketBytes*int64(h.buckets)
	h.first = layout.Align64(h.order + 8*int64(h.entries))
	end, ok := layout.CheckedAdd(h.first, h.entriesLen)
	if !ok {
		return false
	}
	if h.dataset, ok = layout.CheckedAlign64(end); !ok {
		return false
	}
	if end, ok = layout.CheckedAdd(h.dataset, h.datasetLen); !ok {
		return false
	}
	h.length, ok = layout.CheckedAlign64(end)
	return ok
}

func (h *frozenHeader) encode() []byte {
	b := make([]byte, frozenHeaderSize)
	copy(b, frozenMagic)
	binary.LittleEndian.PutUint32(b[8:], frozenVersion)
	for i, v := range []uint64{
		uint64(h.length), h.entries, h.tombstones, h.minSeq, h.maxSeq, frozenHeaderSize, h.buckets,
		uint64(h.order), uint64(h.first), uint64(h.entriesLen), uint64(h.dataset), uint64(h.datasetLen),
	} {
		binary.LittleEndian.PutUint64(b[16+8*i:], v)
	}
	for i, v := range []uint32{h.bucketsCRC, h.orderCRC, h.entriesCRC, h.datasetCRC} {
		binary.LittleEndian.PutUint32(b[112+4*i:], v)
	}
	copy(b[128:], h.digest[:])
	binary.LittleEndian.PutUint32(b[252:], crc32.Checksum(b[:252], castagnoli))
	return b
}

// decodeFrozenHeader reads the header of a frozen index of size bytes.
func decodeFrozenHeader(b []byte, size int64) (h frozenHeader, err error) {
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	switch {
	case size < frozenHeaderSize:
		return h, fmt.Errorf("%w: frozen index of %d bytes; the header alone has %d", ErrCorrupt, size, frozenHeaderSize)
	case string(b[:8]) != frozenMagic:
		return h, fmt.Errorf("%w: frozen index, offset 0: magic %q, not %q", ErrCorrupt, b[:8], frozenMagic)
	case crc32.Checksum(b[:252], castagnoli) != u32(252):
		return h, fmt.Errorf("%w: frozen index, offset 252: header has CRC %#x, not %#x", ErrCorrupt, crc32.Checksum(b[:252], castagnoli), u32(252))
	case u32(8) != frozenVersion:
		return h, fmt.Errorf("%w: frozen index of version %d, this program knows %d", ErrNewerFormat, u32(8), frozenVersion)
	case u32(12) != 0 || !isZero(b[frozenSpare:252]):
		return h, fmt.Errorf("%w: frozen index: reserved bytes of the header are in use", ErrNewerFormat)
	case u64(16) != uint64(size):
		return h, fmt.Errorf("%w: frozen index, offset 16: it says that it has %d bytes, there are %d", ErrCorrupt, u64(16), size)
	}
	h = frozenHeader{
		entries: u64(24), tombstones: u64(32), minSeq: u64(40), maxSeq: u64(48), buckets: u64(64),
		entriesLen: int64(u64(88)), datasetLen: int64(u64(104)),
		bucketsCRC: u32(112), orderCRC: u32(116), entriesCRC: u32(120), datasetCRC: u32(124),
	}
	copy(h.digest[:], b[128:])
	if !h.place() || h.length != size || u64(56) != frozenHeaderSize ||
		u64(72) != uint64(h.order) || u64(80) != uint64(h.first) || u64(96) != uint64(h.dataset) {
		return h, fmt.Errorf("%w: frozen index, offset 56: %d buckets at %d, %d entries in order at %d and in %d bytes at %d, %d bytes of attributes at %d don't make %d bytes",
			ErrCorrupt, u64(64), u64(56), u64(24), u64(72), u64(88), u64(80), u64(104), u64(96), size)
	}
	if h.tombstones > h.entries || h.minSeq > h.maxSeq {
		return h, fmt.Errorf("%w: frozen index, offset 32: %d tombstones among %d entries, sequence numbers from %d to %d",
			ErrCorrupt, h.tombstones, h.entries, h.minSeq, h.maxSeq)
	}
	return h, nil
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// frozenTable is a hash table while it is built.
type frozenTable []byte

func newFrozenTable(entries uint64) frozenTable {
	return make(frozenTable, bucketBytes*bucketsFor(entries))
}

// insert gives the entry at an offset a slot, if there is one for it.
func (t frozenTable) insert(hash uint64, offset int64) {
	n := uint64(len(t) / bucketBytes)
	i := home(hash, n)
	for range maxProbes {
		b := t[i*bucketBytes:][:bucketBytes]
		if used := b[bucketCount]; used < bucketSlots {
			binary.LittleEndian.PutUint64(b[8*used:], hash<<slotOffsetBits|uint64(offset)/slotUnit)
			b[bucketCount]++
			return
		}
		b[bucketSpilled] = 1
		if i++; i == n {
			i = 0
		}
	}
}

// finish sets the checksums of the buckets.
func (t frozenTable) finish() {
	for ; len(t) > 0; t = t[bucketBytes:] {
		binary.LittleEndian.PutUint32(t[bucketCRC:], crc32.Checksum(t[:bucketCRC], castagnoli))
	}
}
