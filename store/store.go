package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// Store is an open store. Its methods may be called by any number of goroutines.
type Store struct {
	path string
	opts Options
	id   segment.ID

	published atomic.Pointer[state] // what readers see
	views     *views
	uses      uses
	closed    atomic.Bool
	deciding  sync.Mutex // held while closed may still be taken back

	// For writing.
	lock       *writerLock
	group      *group
	catalog    *catalog
	nextNumber atomic.Uint64 // of the next segment
	writing    sync.Mutex    // guards what follows; held while a batch is made and written
	written    *state        // what the log holds, synced or not
	log        *segment.Log
	live       *liveSet // every segment that counts but the log
	clean      bool     // the log ends in the mark of a clean close
	diskFull   bool     // a write has failed for want of space
	ended      bool     // the log must not be appended to, see nextLog
	logEntries int      // entries that the log has made
	sealer     sealer
	compacting sync.Mutex // held by Compact

	stopCompacting atomic.Pointer[context.CancelFunc]

	pkg *sealedSegment // if the store is a package

	// For reading beside a writer.
	refreshing sync.Mutex
	reader     *reader
}

const segmentsName = "segments"

func (s *Store) segmentsDir() string { return filepath.Join(s.path, segmentsName) }

// Open opens the store in directory path, and creates it if there is none and
// opts allow. opts may be nil.
//
// One Store at a time can have it open for writing, in any process; a second one
// gets ErrLocked. Any number can have it open for reading. Other errors are
// ErrNoStore, ErrCorrupt, ErrNewerFormat and those of the file system. For reading,
// path may be that of a package; see OpenPackage.
func Open(path string, opts *Options) (*Store, error) {
	o, err := opts.resolved()
	if err != nil {
		return nil, fmt.Errorf("opening store %s: %w", path, err)
	}
	s := newStore(path, o)
	if o.ReadOnly {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return openPackageFile(path, o)
		}
		err = s.openReader()
	} else {
		err = s.openWriter()
	}
	if err != nil {
		return nil, fmt.Errorf("opening store %s: %w", path, err)
	}
	return s, nil
}

func newStore(path string, o Options) *Store {
	return &Store{path: path, opts: o, views: &views{checksums: o.Checksums}}
}

// Path is the directory that the store was opened with.
func (s *Store) Path() string { return s.path }

// isStore reports whether there is a store at path. If there is none it says by
// its error whether one could be created there: nil, or what is in the way.
func isStore(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, fmt.Errorf("%w: it is a file, a store is a directory", ErrNoStore)
	}
	if info, err := os.Stat(filepath.Join(path, segmentsName)); err == nil && info.IsDir() {
		return true, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Name() == catalogName {
			return false, fmt.Errorf("%w: it has the catalog of a store, %s, and no directory %s", ErrCorrupt, catalogName, segmentsName)
		}
	}
	for _, e := range entries {
		if e.Name() != lockName {
			return false, fmt.Errorf("%w: the directory has other files in it, %q for one", ErrNoStore, e.Name())
		}
	}
	return false, nil
}

// beginView counts a snapshot, transaction or listing, beginCall a call that can't
// be inside one. Close waits for calls and refuses views.
func (s *Store) beginView() (use, error) { return s.begin(&s.uses.views) }
func (s *Store) beginCall() (use, error) { return s.begin(&s.uses.calls) }

func (s *Store) begin(counters *[2]atomic.Int64) (use, error) {
	for {
		u := s.uses.begin(counters)
		if !s.closed.Load() {
			return u, nil
		}
		u.end()
		// Close may be about to find that it can't.
		s.deciding.Lock()
		closed := s.closed.Load()
		s.deciding.Unlock()
		if closed {
			return use{}, ErrClosed
		}
	}
}

// decideToClose makes the store a closed one unless somebody looks at it.
func (s *Store) decideToClose() error {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	if !s.closed.CompareAndSwap(false, true) {
		return ErrClosed
	}
	if n := total(&s.uses.views); n > 0 {
		s.closed.Store(false)
		return fmt.Errorf("%w: %d snapshots or transactions are open", ErrInUse, n)
	}
	return nil
}

// Get returns the tensor of the given name as a copy in memory of its own, which
// the caller may keep and change. What was read is compared with its checksum:
// ErrCorrupt says that they differ.
func (s *Store) Get(name string) (layout.Tensor, error) {
	use, err := s.beginCall()
	if err != nil {
		return nil, err
	}
	defer use.end()
	st := s.published.Load()
	e, err := st.stat(name)
	if err != nil {
		return nil, err
	}
	return st.read(e)
}

// Stat returns what is known of the tensor of the given name without touching
// its data.
func (s *Store) Stat(name string) (*Entry, error) {
	use, err := s.beginCall()
	if err != nil {
		return nil, err
	}
	defer use.end()
	return s.published.Load().stat(name)
}

// List yields the entries whose names begin with prefix, by name in byte order, as
// they are when the iteration begins.
func (s *Store) List(prefix string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		use, err := s.beginView()
		if err != nil {
			yield(nil, err)
			return
		}
		defer use.end()
		for e, err := range s.published.Load().list(prefix) {
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// View calls fn with a transaction that shows the last committed batch, and
// returns its error. It waits for nobody and keeps nobody waiting. Tensors from
// Tx.Get are views of the mapped files and valid until fn returns.
func (s *Store) View(fn func(tx *Tx) error) error {
	use, err := s.beginView()
	if err != nil {
		return err
	}
	tx := &Tx{state: s.published.Load()}
	defer func() {
		tx.done.Store(true)
		use.end()
	}()
	return fn(tx)
}

// Close makes everything durable and ends the use of the store. Every slice of its
// mapped files becomes inaccessible: a read of it is a fault. It is ErrInUse if
// snapshots, transactions or listings are open, and ErrClosed if the store was
// closed before. A compaction that is under way is given up.
func (s *Store) Close() error {
	if stop := s.stopCompacting.Load(); stop != nil {
		(*stop)()
	}
	s.compacting.Lock()
	defer s.compacting.Unlock()
	s.lockWithoutSealer()
	defer s.writing.Unlock()
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	if err := s.decideToClose(); err != nil {
		return err
	}
	for total(&s.uses.calls) > 0 { // short ones, that can't be inside each other
		time.Sleep(50 * time.Microsecond)
	}
	var err error
	if !s.opts.ReadOnly {
		err = s.closeWriter()
	}
	files := s.files()
	for _, f := range files {
		err = errors.Join(err, f.Retire())
	}
	if s.log != nil && files[s.log.Number] == nil { // no batch is in it yet
		err = errors.Join(err, s.log.Retire())
	}
	for _, f := range s.uses.rest() {
		err = errors.Join(err, f.Retire())
		if !removeMapped && !s.opts.ReadOnly {
			s.opts.fs.Remove(f.Path) // or when the store is opened the next time
		}
	}
	s.uses.retiring.wait()
	if s.lock != nil {
		err = errors.Join(err, s.lock.release())
	}
	return err
}

// lockWithoutSealer takes the lock s.writing at a moment when no log is being
// sealed: the sealer takes that lock too.
func (s *Store) lockWithoutSealer() {
	for {
		s.sealer.jobs.wait()
		s.writing.Lock()
		if s.sealer.jobs.idle() {
			return
		}
		s.writing.Unlock()
	}
}

// files are all open segments.
func (s *Store) files() map[uint64]*segment.File {
	switch {
	case s.pkg != nil:
		return s.published.Load().segs
	case s.opts.ReadOnly:
		return s.reader.set.files
	}
	return s.written.segs
}

func newID() segment.ID {
	var id segment.ID
	rand.Read(id[:]) // never fails
	return id
}
