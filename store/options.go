package store

import (
	"fmt"
	"time"

	"github.com/tstore/tstore/store/internal/segment"
)

// SyncPolicy says when a batch is made durable.
type SyncPolicy int

const (
	// SyncEveryCommit makes each batch durable before Put, Update, Delete or Rename
	// return. Batches that are committed at the same time share a sync.
	SyncEveryCommit SyncPolicy = iota
	// SyncNever leaves it to Sync and Close. The end of the process loses nothing, a
	// power cut may lose any number of the last batches, but never the middle of
	// the sequence.
	SyncNever
)

// Sizes of segments, in bytes.
const (
	DefaultSegmentSize = 1 << 30
	MinSegmentSize     = 64 << 10

	// ownSegmentSize is the size from which a tensor gets a segment file of its own.
	ownSegmentSize = 64 << 20
)

// Options are how to open a store. The zero value, or nil, opens for reading and
// writing, creates the store if there is none, fails at once if another writer
// has it, and makes every batch durable.
type Options struct {
	// ReadOnly opens the store beside a writer, in this or another process, without
	// waiting for it: it reads the segment files alone, takes no lock and works on
	// read-only media. It sees what was committed when it was opened; Refresh
	// takes in what came later.
	ReadOnly bool
	// MustExist makes it an error, ErrNoStore, if there is no store yet.
	MustExist bool
	// LockWait is how long to wait for another writer to go away before ErrLocked.
	LockWait time.Duration
	// Sync says when batches are made durable.
	Sync SyncPolicy
	// SegmentSize is the size in bytes from which the log goes on in a new file. Zero
	// stands for DefaultSegmentSize; the least is MinSegmentSize.
	SegmentSize int64

	// Checksums makes View and Snapshot compare each tensor with its checksum when it
	// is got, which reads all of it. Get always does.
	Checksums bool
	// CompactMinDead, if above 0, compacts segments in the background whose share of
	// dead bytes has come to at least that, 0 to 1, whenever a log is full.
	CompactMinDead float64

	// For tests; zero stands for the default.
	fs      segment.FS
	sealMin int // entries from which a log gets sealed
	logMax  int // entries from which the log goes on in a new file
}

// resolved returns o, or the default, with every zero filled in.
func (o *Options) resolved() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.SegmentSize == 0 {
		r.SegmentSize = DefaultSegmentSize
	}
	if r.SegmentSize < MinSegmentSize {
		return r, fmt.Errorf("segment size of %d bytes: the least is %d", r.SegmentSize, int64(MinSegmentSize))
	}
	if r.CompactMinDead < 0 || r.CompactMinDead > 1 {
		return r, fmt.Errorf("dead share of %v to compact from: it is between 0 and 1", r.CompactMinDead)
	}
	if r.LockWait < 0 {
		return r, fmt.Errorf("lock wait of %v: it can't be negative", r.LockWait)
	}
	if r.Sync != SyncEveryCommit && r.Sync != SyncNever {
		return r, fmt.Errorf("sync policy %d: there is none of that number", r.Sync)
	}
	if r.fs == nil {
		r.fs = segment.OS
	}
	if r.sealMin == 0 {
		r.sealMin = defaultSealMin
	}
	if r.logMax == 0 {
		r.logMax = defaultLogMax
	}
	return r, nil
}

// ownSegment is the size of a record from which it gets a segment of its own.
func (o *Options) ownSegment() int64 { return min(ownSegmentSize, o.SegmentSize/2) }
