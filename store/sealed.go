package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

const (
	// defaultSealMin is the number of entries from which a log gets sealed. Those of smaller
	// logs stay in memory, where they are found faster than in many small indexes.
	defaultSealMin = 1 << 12
	// defaultLogMax is the number of entries from which the log goes on in a new file, so
	// that what is kept in memory stays bounded.
	defaultLogMax = 1 << 18
)

// sealedSegment is a segment whose names are found through its frozen index.
type sealedSegment struct {
	file     *segment.File
	frozen   *index.Frozen
	seal     *segment.Seal
	after    uint64      // of a log: the sequence number of the last batch before it
	last     uint64      // the highest sequence number in it
	attached *attachment // of a package in a store
}

// openSealed returns the segment f as a sealed one, or nil if it is not sealed.
// valid is how much of it counts, 0 if that is not known.
func openSealed(f *segment.File, valid int64) (*sealedSegment, error) {
	seal, err := f.FindSeal(valid)
	if err != nil || seal == nil {
		return nil, err
	}
	l := &sealedSegment{file: f, seal: seal, after: f.Header.BaseSeq, last: seal.MaxSeq}
	if l.frozen, err = openFrozen(f, seal); err != nil {
		return nil, fmt.Errorf("%s: frozen index at offset %d: %w", f.Path, seal.IndexOffset, fromIndex(err))
	}
	return l, nil
}

func openFrozen(f *segment.File, seal *segment.Seal) (*index.Frozen, error) {
	offset, n, err := f.FrozenRange(seal)
	if err != nil {
		return nil, err
	}
	if !f.Mapped() {
		return index.OpenFrozenAt(io.NewSectionReader(f, offset, n), n)
	}
	b, err := f.Bytes(offset, n)
	if err != nil {
		return nil, err
	}
	return index.OpenFrozen(b)
}

// fromIndex gives an error of the index the kind that callers of store test for.
func fromIndex(err error) error {
	switch {
	case errors.Is(err, index.ErrCorrupt):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case errors.Is(err, index.ErrNewerFormat):
		return fmt.Errorf("%w: %w", ErrNewerFormat, err)
	}
	return err
}

// lookup returns where the record of name lies, if the log says anything of it.
func (l *sealedSegment) lookup(name string) (ref index.Ref, ok bool, err error) {
	ok, err = l.lookupHash(name, index.Hash(name), &ref)
	return ref, ok, err
}

// lookupHash is lookup of a name whose hash is known. What it finds is put into ref.
func (l *sealedSegment) lookupHash(name string, hash uint64, ref *index.Ref) (ok bool, err error) {
	inner := name
	if a := l.attached; a != nil {
		if inner, ok = a.inside(name); !ok {
			return false, nil
		}
		hash = index.Hash(inner)
	}
	if ok, err = l.frozen.LookupHash(inner, hash, ref); err != nil {
		return false, l.wrap(name, err)
	}
	if !ok {
		return false, nil
	}
	if ref.Segment != 0 && l.file.Header.Kind == segment.KindPackage {
		return false, l.wrap(name, errElsewhere)
	}
	if ref.Segment == 0 {
		ref.Segment = l.file.Number
	}
	if l.attached != nil {
		ref.Seq = l.attached.seq
	}
	return true, nil
}

// entry returns all that the log says of what lookup has found.
func (l *sealedSegment) entry(name string, ref index.Ref) (*Entry, error) {
	e, err := l.frozen.Entry(ref)
	if err != nil {
		return nil, l.wrap(name, err)
	}
	e, _ = l.adapt(e)
	return e, nil
}

// adapt makes an entry of the index one of the store: it fills in the number of the
// segment, which an index does not repeat for its own records, and of an attached
// package the name and sequence number. It is false if the store leaves the name
// out.
func (l *sealedSegment) adapt(e *Entry) (*Entry, bool) {
	if e.Segment == 0 && !e.Deleted {
		e.Segment = l.file.Number
	}
	if l.attached == nil {
		return e, true
	}
	return l.attached.outside(e)
}

// errElsewhere says that a package places a record in another file.
var errElsewhere = fmt.Errorf("%w: the record lies in another segment, a package has but one", ErrCorrupt)

func (l *sealedSegment) wrap(name string, err error) error {
	return fmt.Errorf("tensor %q: %s: frozen index: %w", name, l.file.Path, fromIndex(err))
}

// bySeq orders sealed logs from the newest to the oldest.
func bySeq(a, b *sealedSegment) int {
	switch {
	case a.last > b.last:
		return -1
	case a.last < b.last:
		return 1
	}
	return 0
}

// withSealed is st with l among the sealed logs and its entries no longer among
// those of the unsealed ones.
func (st *state) withSealed(l *sealedSegment) *state {
	next := *st
	next.sealed = insertSealed(st.sealed, l)
	next.open = withoutRange(st.open, l.after, l.last)
	return &next
}

// insertSealed is list, which is not changed, with l at its place.
func insertSealed(list []*sealedSegment, l ...*sealedSegment) []*sealedSegment {
	return slices.SortedFunc(slices.Values(slices.Concat(list, l)), bySeq)
}

// withoutRange is table without the entries of the batches after one sequence number
// up to another.
func withoutRange(table index.Table, after, last uint64) index.Table {
	edit := index.Table{}.Edit()
	for e := range table.Ascend("") {
		if e.Seq <= after || e.Seq > last {
			edit.Set(e)
		}
	}
	return edit.Table()
}

// sealer seals logs in the background.
type sealer struct {
	store *Store
	one   sync.Mutex // one at a time, so that memory stays bounded

	jobs inFlight // under way or waiting
}

// sealJob is a log to seal.
type sealJob struct {
	file  *segment.File
	valid int64       // where its batches end
	last  uint64      // sequence number of its last batch
	table index.Table // in which its entries are

	// whole, if not nil, reads a table in which all of them are; table may lack some.
	whole func() (index.Table, error)
}

// entries are those of the log, by name, with its own number left out.
func (j *sealJob) entries(yield func(*Entry) bool) {
	for e := range j.table.Ascend("") {
		if j.file.Header.BaseSeq < e.Seq && e.Seq <= j.last {
			if e.Segment == j.file.Number {
				own := *e
				own.Segment = 0
				e = &own
			}
			if !yield(e) {
				return
			}
		}
	}
}

// worth reports whether there are at least min entries.
func (j *sealJob) worth(min int) bool {
	n := 0
	for range j.entries {
		if n++; n >= min {
			return true
		}
	}
	return false
}

// run writes the frozen index to the file and opens the log as a sealed one.
func (j *sealJob) run() (*sealedSegment, error) {
	frozen, err := index.BuildFrozen(j.entries)
	if err != nil {
		return nil, fmt.Errorf("sealing %s: %w", j.file.Path, err)
	}
	if _, err := j.file.Seal(j.valid, frozen, j.file.Header.BaseSeq+1, j.last); err != nil {
		return nil, fmt.Errorf("sealing %w", err)
	}
	return openSealed(j.file, j.valid)
}

// start seals a log in the background, if that pays. If it fails the log stays as
// it is, and the next opening tries again.
func (s *sealer) start(j sealJob) {
	s.jobs.add(1)
	go func() {
		defer s.jobs.add(-1)
		s.one.Lock()
		defer s.one.Unlock()
		if !j.worth(s.store.opts.sealMin) {
			return
		}
		if j.whole != nil {
			var err error
			if j.table, err = j.whole(); err != nil {
				return
			}
		}
		if l, err := j.run(); err == nil && l != nil {
			s.store.adopt(l)
		}
	}()
}

// adopt makes the store look up the names of l in its frozen index.
func (s *Store) adopt(l *sealedSegment) {
	s.writing.Lock()
	defer s.writing.Unlock()
	// With nothing pending, what is written and what is published are the same.
	if s.group.flush() != nil {
		return
	}
	s.written = s.written.withSealed(l)
	s.published.Store(s.written)
	s.catalog.sealed(l.file.Number)
}
