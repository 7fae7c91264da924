package store

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

// openWriter takes the lock, brings the state up to date from the catalog and the
// logs, and makes the store ready for writing.
func (s *Store) openWriter() (err error) {
	exists, err := isStore(s.path)
	if err != nil {
		return err
	}
	if !exists {
		if s.opts.MustExist {
			return ErrNoStore
		}
		if err := s.makeParents(); err != nil {
			return err
		}
	}
	if s.lock, err = acquireLock(s.path, s.opts.LockWait); err != nil {
		return err
	}
	opened := s.newFileSet()
	defer func() {
		if err != nil {
			opened.retire()
			if s.catalog != nil {
				s.catalog.close(false)
			}
			s.lock.release()
		}
	}()
	if err := s.makeDirectories(); err != nil {
		return err
	}
	if err := s.removeTemporary(); err != nil {
		return err
	}
	if err = opened.openMissing(); err != nil {
		return err
	}
	if len(opened.files) == 0 {
		// Before there is a catalog, which nothing but a store may have.
		if err := s.syncDirectories(); err != nil {
			return err
		}
	}
	if s.catalog, err = openCatalog(filepath.Join(s.path, catalogName)); err != nil {
		return err
	}
	position, _ := s.catalog.position()
	newest, err := opened.newestLog(position.StoreID)
	if err == nil && newest == nil && position.Seq > 0 {
		newest, err = opened.newestLog(segment.ID{}) // the catalog is that of another store
	}
	if err != nil {
		return err
	}
	if newest == nil {
		if position.Seq > 0 {
			return fmt.Errorf("%w: the catalog knows of batch %d, but %s holds no log", ErrCorrupt, position.Seq, s.segmentsDir())
		}
		return s.create(opened)
	}
	s.id = newest.Header.StoreID
	r, err := replayWithCatalog(opened, newest, s.catalog)
	if err != nil {
		return err
	}
	return s.takeUp(opened, newest, r)
}

// makeParents makes the directory of the store and those above it. They are durable,
// but for the store's own.
func (s *Store) makeParents() error {
	path, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	var missing []string
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	for _, dir := range missing {
		if dir == path {
			continue // syncDirectories does it
		}
		if err := s.opts.fs.SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) makeDirectories() error {
	err := os.Mkdir(s.segmentsDir(), 0o777)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// syncDirectories makes durable that the store is where it is and has the segments
// that it has. A writer which was killed may have made the directories, or a log, and
// not have come to that.
func (s *Store) syncDirectories() error {
	path, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	for _, dir := range []string{s.segmentsDir(), path, filepath.Dir(path)} {
		// Who may not read the directory around the store has not made the store.
		if err := s.opts.fs.SyncDir(dir); err != nil && (dir == s.segmentsDir() || !errors.Is(err, os.ErrPermission)) {
			return err
		}
	}
	return nil
}

// removeTemporary removes what was never finished: segments, and indexes of compacted
// ones. What can't be removed does no harm, and is no reason to keep a store shut.
func (s *Store) removeTemporary() error {
	for dir, temporary := range map[string]func(name string) bool{s.segmentsDir(): segment.IsTemp, s.path: isCompactSpool} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if temporary(e.Name()) {
				s.opts.fs.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// create starts a new store with an empty log.
func (s *Store) create(opened fileSet) error {
	s.id = newID()
	s.nextNumber.Store(opened.highest() + 1)
	s.live = &liveSet{}
	s.written = &state{segs: map[uint64]*segment.File{}, views: s.views}
	if err := s.startLog(); err != nil {
		return err
	}
	opened.add(s.log.File)
	s.start(nil)
	return nil
}

// takeUp makes the store ready to go on after what r has found.
func (s *Store) takeUp(opened fileSet, newest *segment.File, r *replay) error {
	s.nextNumber.Store(opened.highest() + 1)
	s.live = &liveSet{r.live}
	s.written = r.state()
	s.written.views = s.views
	s.clean = r.tail.Clean
	s.log = segment.NewLog(newest, r.tail.End)
	// The mark of a clean close says that all before it is on disk, not that it is
	// there itself.
	if !r.tail.Clean || r.tail.Durable < r.tail.End {
		if err := s.syncDirectories(); err != nil {
			return err
		}
		if err := s.log.Rewrite(r.tail.Durable); err != nil {
			return err
		}
	}
	if r.tail.Torn {
		// What is behind the end stays as it is; the next header says that it does
		// not count.
		h := newest.Header
		s.live = s.live.with(segment.Live{Number: h.Number, UUID: h.UUID, Kind: segment.KindLog, Valid: r.tail.End})
		if err := s.startLog(); err != nil {
			return err
		}
		opened.add(s.log.File)
		s.clean = false
	}
	if err := s.removeOrphans(opened); err != nil {
		return err
	}
	r.last.live = s.live
	for e := range s.written.open.Ascend("") {
		if e.Seq > s.log.Header.BaseSeq {
			s.logEntries++
		}
	}
	s.start(r)
	s.sealOld(r)
	return nil
}

// sealOld seals the logs that could have been sealed in an earlier life. Of names that
// later logs have overwritten or deleted, memory does not have what these logs say, but
// their indexes have to: so they are read once more.
func (s *Store) sealOld(r *replay) {
	st := s.written // which changes as soon as the first one is sealed
	for _, l := range s.live.sorted() {
		if l.Kind == segment.KindLog && r.sealed[l.Number] == nil {
			f := st.segs[l.Number]
			s.sealer.start(sealJob{file: f, valid: l.Valid, last: st.logEnd(l.Number), table: st.open,
				whole: func() (index.Table, error) { return r.alone(f, l.Valid) }})
		}
	}
}

// removeOrphans closes the files that do not count, and removes those of them that
// are this store's: data segments of batches which never came to be, packages which
// were not attached after all, and what was replaced just before a crash. A package
// does not say whose it is, but nothing else puts one there under a segment's name.
// One that can't be removed is ignored as long as it is there: its number is not used
// again.
func (s *Store) removeOrphans(opened fileSet) error {
	for n, f := range opened.files {
		if s.written.segs[n] != nil || f == s.log.File {
			continue
		}
		orphan := f.Header.StoreID == s.id || f.Header.Kind == segment.KindPackage
		if err := f.Retire(); err != nil {
			return err
		}
		delete(opened.files, n)
		if orphan {
			s.opts.fs.Remove(f.Path)
		}
	}
	return nil
}

// start publishes the state and sets the machinery of writing in motion. r is nil
// in a new store.
func (s *Store) start(r *replay) {
	st := *s.written
	st.segs = maps.Clone(st.segs)
	st.segs[s.log.Number] = s.log.File
	s.written = &st
	s.published.Store(s.written)
	s.sealer.store = s
	s.catalog.start()
	if r != nil {
		s.catalog.add(r.changes, r.last)
		s.catalog.sealed(slices.Collect(maps.Keys(r.drop))...)
	}
	s.group = newGroup(s.written.seq, s.opts.Sync == SyncNever, func(lot []written) {
		if s.opts.Sync != SyncNever {
			s.published.Store(lot[len(lot)-1].state)
		}
		for _, w := range lot {
			s.catalog.add(map[uint64][]*Entry{w.log.Number: w.names}, w.last)
		}
	})
}

// closeWriter makes all durable, marks the clean close and brings the catalog up
// to date. The caller has the lock s.writing, and nothing is being sealed.
func (s *Store) closeWriter() error {
	err := s.group.flush()
	if err == nil {
		err = s.sealLast()
	}
	if err == nil && s.ended {
		err = s.nextLog()
	}
	if err == nil && !s.clean {
		// On a full disk there may be no room for the mark. Everything is as durable
		// without it; the next opening only looks more closely.
		if err = s.appendClose(); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) {
			err = nil
		}
	}
	if err == nil {
		// What puts have left free for deletes stays so if the disk is full.
		keep := int64(0)
		if s.diskFull {
			keep = segment.Reserve
		}
		err = s.log.Trim(keep)
	}
	s.catalog.close(err == nil)
	return err
}

// sealLast goes on in a new log and seals the last one, if that pays. The mark of
// the clean close then stands in the new one.
func (s *Store) sealLast() error {
	j := s.sealJob()
	if s.diskFull || !j.worth(s.opts.sealMin) {
		return nil
	}
	if err := s.nextLog(); err != nil {
		return nil // a full disk, perhaps; the log is as good as before
	}
	if l, err := j.run(); err == nil && l != nil {
		s.catalog.sealed(l.file.Number)
	}
	return nil
}

// appendClose appends and syncs the empty commit record that says that all before
// it is durable.
func (s *Store) appendClose() error {
	offset := s.log.Tail()
	record := segment.AppendCommit(nil, &segment.Commit{
		Seq:       s.written.seq + 1,
		DurableTo: offset,
		UUID:      s.log.UUID,
		Offset:    offset,
	})
	err := s.log.Append(int64(len(record)), false, false, func(w io.Writer) error {
		_, err := w.Write(record)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.log.Sync(); err != nil {
		return err
	}
	s.catalog.add(nil, s.commitRef(record, offset, s.written.seq+1))
	return nil
}
