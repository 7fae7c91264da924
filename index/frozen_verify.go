package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
)

// Verify reads the whole index and checks everything about it: every checksum, that the entries
// and their order leave no gap and ascend, that each can be decoded, that the counts and sequence
// numbers of the header are right, that the padding is zeros, and that the hash table is the one
// that a builder makes of these entries. It takes as much memory as the hash table, about an
// eighth of the index.
//
// What it can't know: whether the records are where the entries say, and whether the digest is
// that of the package.
func (f *Frozen) Verify() error { return f.VerifyContext(context.Background()) }

// VerifyContext is Verify that ends early, with the error of ctx, when ctx does.
func (f *Frozen) VerifyContext(ctx context.Context) error {
	g := f.ahead()
	if want := bucketsFor(g.h.entries); g.h.buckets != want {
		return g.corrupt(64, "%d buckets for %d entries, there should be %d", g.h.buckets, g.h.entries, want)
	}
	for _, s := range []struct {
		name          string
		offset, n, to int64
		crc           uint32
	}{
		{"buckets", frozenHeaderSize, bucketBytes * int64(g.h.buckets), g.h.order, g.h.bucketsCRC},
		{"order", g.h.order, 8 * int64(g.h.entries), g.h.first, g.h.orderCRC},
		{"entries", g.h.first, g.h.entriesLen, g.h.dataset, g.h.entriesCRC},
		{"dataset attributes", g.h.dataset, g.h.datasetLen, g.h.length, g.h.datasetCRC},
	} {
		if err := g.verifySection(ctx, s.name, s.offset, s.n, s.to, s.crc); err != nil {
			return err
		}
	}
	if _, err := g.Dataset(); err != nil {
		return err
	}
	return g.verifyEntries(ctx)
}

// ctxEntries is how many entries are verified between two looks at a context.
const ctxEntries = 1024

// verifySection checks the n bytes of a section against their CRC, and the zeros up to the next.
func (f *Frozen) verifySection(ctx context.Context, name string, offset, n, to int64, want uint32) error {
	start, crc := offset, uint32(0)
	for end := offset + n; offset < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := f.view(offset, min(end-offset, readChunk))
		if err != nil {
			return err
		}
		crc = crc32.Update(crc, castagnoli, b)
		offset += int64(len(b))
	}
	if crc != want {
		return f.corrupt(start, "%s with CRC %#x, not %#x", name, crc, want)
	}
	padding, err := f.view(offset, to-offset)
	if err != nil {
		return err
	}
	if !isZero(padding) {
		return f.corrupt(offset, "the padding after the %s is not zero", name)
	}
	return nil
}

func (f *Frozen) verifyEntries(ctx context.Context) error {
	var (
		table          = newFrozenTable(f.h.entries)
		at             = f.h.first
		last           string
		tombstones     uint64
		minSeq, maxSeq uint64
	)
	for rank := range f.h.entries {
		if rank%ctxEntries == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		got, head, err := f.ranked(rank)
		if err != nil {
			return err
		}
		if got != at {
			return f.corrupt(f.h.order+8*int64(rank), "entry %d is at offset %d, the one before it ends at %d", rank, got, at)
		}
		e, err := f.entry(at, head)
		if err != nil {
			return err
		}
		if rank > 0 && e.Name <= last {
			return f.corrupt(at, "%.100q comes after %.100q", e.Name, last)
		}
		last = e.Name
		if e.Deleted {
			tombstones++
		}
		if rank == 0 || e.Seq < minSeq {
			minSeq = e.Seq
		}
		maxSeq = max(maxSeq, e.Seq)
		table.insert(hashName(e.Name), at)

		end := at + int64(len(head)) + int64(binary.LittleEndian.Uint32(head[12:]))
		padding := -(end - at) & (slotUnit - 1)
		if padding > f.h.first+f.h.entriesLen-end {
			return f.corrupt(end, "the last entry is cut short")
		}
		b, err := f.view(end, padding)
		if err != nil {
			return err
		}
		if !isZero(b) {
			return f.corrupt(end, "the padding of an entry is not zero")
		}
		at = end + padding
	}
	if end := f.h.first + f.h.entriesLen; at != end {
		return f.corrupt(at, "the entries end here and not at %d", end)
	}
	if tombstones != f.h.tombstones || minSeq != f.h.minSeq || maxSeq != f.h.maxSeq {
		return f.corrupt(32, "%d tombstones and sequence numbers from %d to %d, the entries have %d and %d to %d",
			f.h.tombstones, f.h.minSeq, f.h.maxSeq, tombstones, minSeq, maxSeq)
	}

	table.finish()
	for at := int64(0); at < int64(len(table)); at += bucketBytes {
		b, err := f.view(frozenHeaderSize+at, bucketBytes)
		if err != nil {
			return err
		}
		if !bytes.Equal(b, table[at:at+bucketBytes]) {
			return f.corrupt(frozenHeaderSize+at, "a bucket does not have the entries that belong there")
		}
	}
	return nil
}
