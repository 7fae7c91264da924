package store

import (
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/tstore/tstore/store/internal/segment"
)

// reader follows a store that another process may be writing to, by its segment
// files alone. It takes no lock and touches no catalog.
type reader struct {
	set    fileSet
	replay *replay // nil while the store has no log
}

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
	for range listingTries {
		newest, err := r.list()
		if err != nil {
			return err
		}
		if newest == nil {
			return nil // created, but nothing in it yet
		}
		if err := r.advance(newest); err != nil {
			return err
		}
		again, err := r.list()
		if err != nil {
			return err
		}
		if again == newest {
			if old := s.published.Load(); r.replay.seq != old.seq || old.segs == nil {
				s.published.Store(r.replay.state())
			}
			return nil
		}
	}
	return fmt.Errorf("the writer started a new log %d times while the segments were listed", listingTries)
}

// list opens what is new in the directory and returns the newest log.
func (r *reader) list() (*segment.File, error) {
	var err error
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
	from := commitRef{}
	next, err := newReplay(r.set, newest)
	if err != nil {
		return err
	}
	if old := r.replay; old != nil {
		from = old.end()
		if newest == old.newest && newest.EndsAt(from.end) {
			return nil
		}
		// What data segments the earlier logs have named stays live.
		for n, l := range old.live {
			if _, ok := next.live[n]; !ok && l.Kind == segment.KindData {
				next.live[n], next.segs[n] = l, old.segs[n]
			}
		}
		next.sealed, next.seq = maps.Clone(old.sealed), from.seq
	}
	if err := next.openSealed(); err != nil {
		return err
	}
	if old := r.replay; old != nil {
		open := old.state().open
		for n, l := range next.sealed {
			if l.file.Header.Kind == segment.KindLog && old.sealed[n] == nil {
				open = withoutRange(open, l.after, l.last)
			}
		}
		next.edit = open.Edit()
	}
	if err := next.logs(from); err != nil {
		return err
	}
	r.replay = next
	return nil
}
