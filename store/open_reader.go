package store

import (
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

// reader follows a store that another process may be writing to, by its segment
// files alone. It takes no lock and touches no catalog.
type reader struct {
	set    fileSet
	replay *replay // nil while the store has no log
}

// missingTries is how often a reader reads the logs again because a segment is
// missing.
const missingTries = 3

// listingTries is how often a reader lists the segments again because they
// changed while it opened them.
const listingTries = 100

// openReader opens the segments and replays all logs.
func (s *Store) openReader() error {
	exists, err := isStore(s.path)
	if err != nil {
		return err
	}
	if !exists {
		return ErrNoStore
	}
	s.reader = &reader{set: s.newFileSet()}
	s.published.Store(&state{})
	if err := s.refresh(); err != nil {
		s.reader.set.retire()
		return err
	}
	return nil
}

// Refresh takes in what was committed since the store was opened for reading or
// last refreshed, by another process or another Store. What snapshots and
// transactions see stays as it is. In a store opened for writing there is nothing
// to take in.
func (s *Store) Refresh() error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	if s.closed.Load() {
		return ErrClosed
	}
	if !s.opts.ReadOnly || s.pkg != nil {
		return nil
	}
	if err := s.refresh(); err != nil {
		return fmt.Errorf("refreshing store %s: %w", s.path, err)
	}
	return nil
}

// refresh replays the logs from where it stopped the last time, and again as long
// as the writer starts new ones meanwhile.
func (s *Store) refresh() error {
	r := s.reader
	before, missing := r.replay, 0
	for range listingTries {
		newest, err := s.list()
		if err != nil {
			return err
		}
		if newest == nil {
			return nil // created, but nothing in it yet
		}
		err = r.advance(newest)
		if errors.Is(err, errMissing) && missing < missingTries {
			missing++ // it may have been replaced since the log was read
			continue
		}
		if err != nil {
			return err
		}
		again, err := s.list()
		if err != nil {
			return err
		}
		if again == newest {
			if old := s.published.Load(); r.replay.seq != old.seq || old.segs == nil {
				next := r.replay.state()
				next.views = s.views
				s.published.Store(next)
			}
			gone := r.replay.gone(before)
			for _, f := range gone {
				delete(r.set.files, f.Number)
			}
			s.uses.retire(gone)
			return nil
		}
	}
	return fmt.Errorf("the writer started a new log %d times while the segments were listed", listingTries)
}

// dropGivenUp lets go of segments that the writer has given up before a batch named
// them: it may use their numbers again.
func (s *Store) dropGivenUp() error {
	r, published := s.reader, s.published.Load()
	var dropped []*segment.File
	for n, f := range r.set.files {
		if published.segs[n] == f || r.replay != nil && r.replay.segs[n] == f {
			continue
		}
		there, err := f.AtPath()
		if err != nil {
			return err
		}
		if !there {
			delete(r.set.files, n)
			dropped = append(dropped, f)
		}
	}
	s.uses.retire(dropped)
	return nil
}

// list opens what is new in the directory and returns the newest log.
func (s *Store) list() (*segment.File, error) {
	r := s.reader
	err := s.dropGivenUp()
	if err != nil {
		return nil, err
	}
	for range listingTries {
		// A file that is listed may be gone before it is opened.
		if err = r.set.openMissing(); err == nil || !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	var id segment.ID
	if r.replay != nil {
		id = r.replay.newest.Header.StoreID
	}
	return r.set.newestLog(id)
}

// advance replays what is new in the logs up to newest.
func (r *reader) advance(newest *segment.File) error {
	if err := newest.RefreshSize(); err != nil {
		return err
	}
	next, err := newReplay(r.set, newest)
	if err != nil {
		return err
	}
	from := commitRef{}
	if old := r.replay; old != nil {
		from = old.end()
		if newest == old.newest && newest.EndsAt(from.end) {
			return nil
		}
		next.seq = from.seq
		next.follow(old)
	}
	if err := next.openSealed(); err != nil {
		return err
	}
	if old := r.replay; old != nil {
		next.edit = next.keep(old).Edit()
	}
	if err := next.logs(from); err != nil {
		return err
	}
	r.replay = next
	return nil
}

// follow takes over what an earlier replay knows of the segments that still count.
func (r *replay) follow(old *replay) {
	if r.newest == old.newest {
		// The batches that old has seen have changed what the header says.
		r.live, r.segs = maps.Clone(old.live), maps.Clone(old.segs)
		clear(r.missing)
	}
	for n, l := range old.sealed {
		if r.segs[n] != nil {
			r.sealed[n] = l
		}
	}
}

// keep is what an earlier replay has in memory, without the entries of logs that
// have been sealed or replaced since.
func (r *replay) keep(old *replay) index.Table {
	open := old.edit.Table()
	for n, f := range old.segs {
		if f.Header.Kind != segment.KindLog || old.sealed[n] != nil || (r.segs[n] != nil && r.sealed[n] == nil) {
			continue
		}
		last := old.seq
		if f != old.newest {
			last = logEnd(old.segs, n)
		}
		open = withoutRange(open, f.Header.BaseSeq, last)
	}
	return open
}

// gone are the segments of old that count no longer.
func (r *replay) gone(old *replay) []*segment.File {
	var files []*segment.File
	if old != nil {
		for n, f := range old.segs {
			if r.segs[n] != f {
				files = append(files, f)
			}
		}
	}
	return files
}
