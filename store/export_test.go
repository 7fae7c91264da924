package store

import (
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

// WithFS is o with fs in place of the operating system's file system.
func WithFS(o Options, fs segment.FS) *Options {
	o.fs = fs
	return &o
}

// WithSealing is o with logs that are sealed from min entries on and go on in a
// new file from max entries on.
func WithSealing(o Options, min, max int) *Options {
	o.sealMin, o.logMax = min, max
	return &o
}

// SetSegmentSize makes segments smaller than Options allow.
func SetSegmentSize(s *Store, n int64) { s.opts.SegmentSize = n }

// CatalogPosition is where the catalog of s stands.
func CatalogPosition(s *Store) (index.Position, bool) { return s.catalog.position() }

// PendingBatches is how many batches of s are kept until the next sync.
func PendingBatches(s *Store) int {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	return len(s.group.pending)
}

// Rotate goes on in a new log, if the last one says anything, and returns when the old
// one is sealed or was found not to be worth it.
func Rotate(s *Store) error {
	s.lockWithoutSealer()
	var err error
	if s.logEntries > 0 {
		err = s.rotate()
	}
	s.writing.Unlock()
	s.sealer.jobs.wait()
	return err
}
