package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

// VerifyOptions say how to verify. The zero value, or nil, checks everything.
type VerifyOptions struct {
	// Quick checks of a package only the trailer and the index.
	Quick bool
	// Progress, if not nil, is called now and then with the bytes that have been
	// read and those that there are.
	Progress func(done, total int64)
}

// Problem is one thing that Verify has found wrong.
type Problem struct {
	Err     error    // what it is, with file and offset
	Tensors []string // the names that it hits, as far as is known
}

// VerifyReport is what Verify has looked at and found.
type VerifyReport struct {
	Segments int   // files read
	Records  int   // put records compared with their checksum
	Tensors  int   // names looked up
	Bytes    int64 // bytes read
	Problems []Problem
}

// Verify reads every byte of the store, or package, with system calls, and checks
// every checksum, message, commit record and index against each other. It works
// beside a writer, on what was committed when it began. What is wrong is in the
// report; the error is about something that kept it from looking.
func (s *Store) Verify(ctx context.Context, o *VerifyOptions) (VerifyReport, error) {
	if o == nil {
		o = &VerifyOptions{}
	}
	use, err := s.beginView()
	if err != nil {
		return VerifyReport{}, err
	}
	defer use.end()
	v := verification{ctx: ctx, options: o, state: s.published.Load(), checkers: map[uint64]*checker{}, told: map[string]bool{}}
	if err := v.run(); err != nil {
		return v.report, fmt.Errorf("verifying %s: %w", s.path, err)
	}
	switch {
	case s.pkg != nil:
	case s.opts.ReadOnly:
		err = v.closedCatalog(s.path)
	default:
		v.openCatalog(s)
	}
	return v.report, err
}

// verification is one run of Verify.
type verification struct {
	ctx      context.Context
	options  *VerifyOptions
	state    *state
	report   VerifyReport
	total    int64
	tail     segment.Tail        // of the newest log
	newest   string              // its path
	checkers map[uint64]*checker // by number of the segment
	names    map[place][]string  // which names stand for a record; nil until something is wrong
	told     map[string]bool     // problems that are in the report
}

// checker checks the records of one segment, each once.
type checker struct {
	*segment.Checker
	done []uint64 // a bit for each record that was compared, by offset
}

// first reports whether it is asked for the record at off for the first time.
func (c *checker) first(off int64) bool {
	i := off / segment.Alignment
	word, bit := i/64, uint64(1)<<(i%64)
	if n := int(word) + 1 - len(c.done); n > 0 {
		c.done = append(c.done, make([]uint64, n)...)
	}
	was := c.done[word]&bit != 0
	c.done[word] |= bit
	return !was
}

func (v *verification) checker(f *segment.File) *checker {
	c := v.checkers[f.Number]
	if c == nil {
		c = &checker{Checker: segment.NewChecker(f)}
		v.checkers[f.Number] = c
	}
	return c
}

func (v *verification) run() error {
	if err := v.lookUp(); err != nil {
		return err
	}
	for _, f := range v.state.segs {
		v.total += f.Size()
	}
	for _, n := range slices.Sorted(maps.Keys(v.state.segs)) {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		v.report.Segments++
		v.segment(v.state.segs[n])
	}
	if v.options.Quick {
		return v.ctx.Err()
	}
	// What no segment has named itself: large tensors in segments of their own, and
	// what an index names elsewhere.
	for e, err := range v.state.list("") {
		if err != nil {
			break // lookUp has reported it
		}
		f := v.state.segs[e.Segment]
		v.record(f, e.Offset, e.Length, e.CRC)
		if f.Header.Kind == segment.KindPackage {
			continue // pkg has done it
		}
		if err := checkDescription(f, e); err != nil {
			v.problem(err, e.Name)
		}
	}
	return v.ctx.Err()
}

// lookUp finds every name in two ways.
func (v *verification) lookUp() error {
	for e, err := range v.state.list("") {
		if err == nil {
			v.report.Tensors++
			var found *Entry
			found, err = v.state.stat(e.Name)
			if err == nil && (found.Segment != e.Segment || found.Offset != e.Offset || found.Seq != e.Seq) {
				err = fmt.Errorf("%w: tensor %q is found at offset %d of segment %d, and listed at offset %d of segment %d",
					ErrCorrupt, e.Name, found.Offset, found.Segment, e.Offset, e.Segment)
			}
			if err != nil {
				v.problem(err, e.Name)
			}
			continue
		}
		if !errors.Is(err, ErrCorrupt) {
			return err
		}
		v.problem(err)
	}
	return nil
}

// problem notes what is wrong, once.
func (v *verification) problem(err error, names ...string) {
	if v.told[err.Error()] {
		return
	}
	v.told[err.Error()] = true
	v.report.Problems = append(v.report.Problems, Problem{Err: err, Tensors: names})
}

// read takes note of bytes that were read.
func (v *verification) read(n int64) {
	v.report.Bytes += n
	if v.options.Progress != nil {
		v.options.Progress(v.report.Bytes, v.total)
	}
}

// record compares a record with its checksum, and of a sparse tensor checks that
// its indices are inside its shape and in order.
func (v *verification) record(f *segment.File, off, length int64, crc uint32) {
	if v.ctx.Err() != nil || v.options.Quick {
		return
	}
	c := v.checker(f)
	if within := off >= 0 && off < f.Size(); within && !c.first(off) {
		return
	}
	v.report.Records++
	record, err := c.Record(off, length, crc, v.read)
	if err == nil {
		err = v.validate(f, off, length, record)
	}
	if err != nil {
		v.problem(err, v.namesAt()[place{f.Number, off}]...)
	}
}

// namesAt are the names that stand for each record.
func (v *verification) namesAt() map[place][]string {
	if v.names == nil {
		v.names = map[place][]string{}
		for e, err := range v.state.list("") {
			if err != nil {
				break // lookUp has reported it
			}
			at := place{e.Segment, e.Offset}
			v.names[at] = append(v.names[at], e.Name)
		}
	}
	return v.names
}

// validate decodes the record, in the map if it was not read at once, and checks what a
// sparse tensor says of its indices.
func (v *verification) validate(f *segment.File, off, length int64, record []byte) error {
	return guarded(f, "", func() (err error) {
		if record == nil {
			if record, err = f.Bytes(off, length); err != nil {
				return err
			}
		}
		t, err := decode(f, "", off, record, nil)
		if err != nil {
			return err
		}
		if err := checkIndices(t); err != nil {
			return fmt.Errorf("%s: %w: record at offset %d: %w", f.Path, ErrCorrupt, off, err)
		}
		return nil
	})
}

// segment checks one file.
func (v *verification) segment(f *segment.File) {
	if err := f.CheckHeader(); err != nil {
		v.problem(err)
		return
	}
	v.read(f.HeaderLen)
	var sealed *sealedSegment
	for _, l := range v.state.sealed {
		if l.file == f {
			sealed = l
		}
	}
	switch f.Header.Kind {
	case segment.KindLog:
		v.log(f, sealed)
	case segment.KindCompacted, segment.KindPackage:
		v.tiled(f, sealed)
	}
	if sealed != nil {
		v.index(f, sealed)
	}
}

// log walks through a log, and compares each record that a batch names.
func (v *verification) log(f *segment.File, sealed *sealedSegment) {
	o := segment.WalkOptions{Number: f.Number, UUID: f.UUID, From: f.HeaderLen, Seq: f.Header.BaseSeq}
	if end, ok := v.end(f); ok {
		o.Limit, o.Exact = end, true
		if sealed == nil && f.LostSeal(end) && !sealedMeanwhile(f, end) {
			v.problem(fmt.Errorf("%s: %w: the index or the trailer behind offset %d is damaged; nothing is lost, opening the store for writing makes them anew", f.Path, ErrCorrupt, end))
		}
	} else {
		if err := f.RefreshSize(); err != nil {
			v.problem(err)
			return
		}
		o.Limit = f.Size()
	}
	said := batchesSaid{}
	tail, err := segment.Walk(f, o, func(b *segment.Batch) error {
		v.read(b.End - b.Start - recordsLength(b))
		if sealed != nil {
			said.add(b)
		}
		for i := range b.Commit.Ops {
			op := &b.Commit.Ops[i]
			// Large tensors lie in segments of their own. If a later batch has replaced
			// one, the segment may be there all the same until the next compaction.
			g := v.state.segs[op.Location.Segment]
			if op.Kind == segment.OpPut && g != nil && g.UUID == op.Location.UUID {
				v.record(g, op.Location.Offset, op.Location.Length, op.Location.CRC)
			}
		}
		return v.ctx.Err()
	})
	if err != nil && v.ctx.Err() == nil {
		v.problem(fmt.Errorf("%s: %w", f.Path, err), v.namesIn(f)...)
	}
	if err == nil && sealed != nil {
		if err := said.compare(sealed, v.state); err != nil {
			v.problem(err)
		}
	}
	if !o.Exact {
		v.tail, v.newest = tail, f.Path
	}
}

// sealedMeanwhile reports whether f, whose batches end at valid, has a seal by now, which
// it had not when the state that is being verified was made.
func sealedMeanwhile(f *segment.File, valid int64) bool {
	l, err := openSealed(f, valid)
	return err == nil && l != nil
}

// batchesSaid is the last thing that the batches of a log say of each name.
type batchesSaid map[string]said

type said struct {
	seq     uint64
	deleted bool
	at      segment.Location
}

func (s batchesSaid) add(b *segment.Batch) {
	for i := range b.Commit.Ops {
		op := &b.Commit.Ops[i]
		switch op.Kind {
		case segment.OpRename:
			s[op.From] = said{seq: b.Commit.Seq, deleted: true}
			fallthrough
		case segment.OpPut:
			s[op.Name] = said{seq: b.Commit.Seq, at: op.Location}
		case segment.OpDelete:
			s[op.Name] = said{seq: b.Commit.Seq, deleted: true}
		}
	}
}

// compare makes sure that the index of the log says the same. Records in segments that
// do not count any more may be missing from it.
func (s batchesSaid) compare(l *sealedSegment, st *state) error {
	return guarded(l.file, "", func() error {
		for e, err := range l.frozen.Ascend("") {
			if err != nil {
				return l.wrap("", err)
			}
			w, ok := s[e.Name]
			number := e.Segment
			if number == 0 && !e.Deleted {
				number = l.file.Number
			}
			if !ok || e.Seq != w.seq || e.Deleted != w.deleted ||
				number != w.at.Segment || e.Offset != w.at.Offset || e.Length != w.at.Length || e.CRC != w.at.CRC {
				return fmt.Errorf("%s: %w: the index says of %q what the batches of the log do not say", l.file.Path, ErrCorrupt, e.Name)
			}
			delete(s, e.Name)
		}
		for name, w := range s {
			if w.deleted || st.segs[w.at.Segment] != nil {
				return fmt.Errorf("%s: %w: the index does not have %q, of which the batches of the log say something", l.file.Path, ErrCorrupt, name)
			}
		}
		return nil
	})
}

func recordsLength(b *segment.Batch) (n int64) {
	for i := range b.Records {
		n += b.Records[i].Length
	}
	return n
}

// end is where the batches of log f end, if a later header says so.
func (v *verification) end(f *segment.File) (int64, bool) {
	var newest *segment.File
	for _, g := range v.state.segs {
		if g.Header.Kind == segment.KindLog && (newest == nil || g.Number > newest.Number) {
			newest = g
		}
	}
	for _, l := range newest.Header.Live {
		if l.Number == f.Number {
			return l.Valid, true
		}
	}
	return 0, false
}

// namesIn are the names whose records lie in f.
func (v *verification) namesIn(f *segment.File) []string {
	var names []string
	for at, list := range v.namesAt() {
		if at.segment == f.Number {
			names = append(names, list...)
		}
	}
	slices.Sort(names)
	return names
}

// tiled checks a compacted segment or package: the records that its index names fill
// it without gaps and without overlapping, and of a package make its digest.
func (v *verification) tiled(f *segment.File, sealed *sealedSegment) {
	if f.Header.Kind == segment.KindPackage {
		v.pkg(f, sealed)
		return
	}
	var own []*Entry
	err := guarded(f, "", func() error {
		for e, err := range sealed.frozen.Ascend("") {
			if err != nil {
				return sealed.wrap("", err)
			}
			if !e.Deleted && e.Segment == 0 {
				own = append(own, e)
			}
		}
		return nil
	})
	if err != nil {
		v.problem(err)
		return
	}
	slices.SortFunc(own, func(a, b *Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	at := f.HeaderLen
	for _, e := range own {
		if e.Offset != at || e.Length > sealed.seal.IndexOffset-at {
			v.problem(fmt.Errorf("%s: %w: the record of %q is said to lie at offset %d with %d bytes, where the last one ends at %d and the index begins at %d",
				f.Path, ErrCorrupt, e.Name, e.Offset, e.Length, at, sealed.seal.IndexOffset), e.Name)
			return
		}
		at += e.Length
		v.record(f, e.Offset, e.Length, e.CRC)
	}
	if at != sealed.seal.IndexOffset {
		v.problem(fmt.Errorf("%s: %w: %d bytes at offset %d belong to no record", f.Path, ErrCorrupt, sealed.seal.IndexOffset-at, at))
	}
}

// pkg checks a package.
func (v *verification) pkg(f *segment.File, sealed *sealedSegment) {
	attrs, err := sealed.frozen.Dataset()
	switch {
	case err != nil:
		v.problem(fmt.Errorf("%s: %w", f.Path, fromIndex(err)))
	case !slices.IsSortedFunc(attrs, compareAttrs):
		v.problem(fmt.Errorf("%s: %w: the attributes of the dataset are not sorted: %.200q", f.Path, ErrCorrupt, attrs))
	default:
		if err := checkAttrs(attrs); err != nil {
			v.problem(fmt.Errorf("%s: %w: the attributes of the dataset: %w", f.Path, ErrCorrupt, err))
		}
	}
	err = sealed.checkPackage(v.ctx, func(e *Entry) error {
		if v.options.Quick || v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		v.record(f, e.Offset, e.Length, e.CRC)
		if err := checkMember(f, e); err != nil {
			v.problem(err, e.Name)
		}
		return nil
	})
	if err != nil && v.ctx.Err() == nil {
		v.problem(err)
	}
	if err == nil && !v.options.Quick && v.ctx.Err() == nil {
		err := guarded(f, "", func() error {
			v.digest(f, sealed)
			return nil
		})
		if err != nil {
			v.problem(err)
		}
	}
}

// digest computes the digest of a package again.
func (v *verification) digest(f *segment.File, sealed *sealedSegment) {
	d, all := newDigester(), sha256.New()
	for e, err := range sealed.frozen.Ascend("") {
		if err != nil || v.ctx.Err() != nil {
			return // reported already
		}
		err := guarded(f, e.Name, func() error {
			b, err := f.Bytes(e.Offset, e.Length)
			if err != nil {
				return err
			}
			t, err := decode(f, e.Name, e.Offset, b, e)
			if err != nil {
				return err
			}
			m, err := newMember(e, t)
			if err != nil {
				return err
			}
			digest, err := d.largeTensor(v.ctx, e.Name, t, m.attrs, m.record)
			all.Write(digest[:])
			return err
		})
		if v.ctx.Err() != nil {
			return
		}
		if err != nil {
			v.problem(err, e.Name)
			return
		}
	}
	if got, want := Digest(all.Sum(nil)), Digest(sealed.frozen.Digest()); got != want {
		v.problem(fmt.Errorf("%s: %w: the digest is %v, the tensors give %v", f.Path, ErrCorrupt, want, got))
	}
}

// index checks the end of a sealed segment, and its index.
func (v *verification) index(f *segment.File, sealed *sealedSegment) {
	if err := f.CheckSeal(sealed.seal, v.read); err != nil {
		v.problem(err)
	}
	err := guarded(f, "", func() error {
		if err := sealed.frozen.VerifyContext(v.ctx); err != nil && v.ctx.Err() == nil {
			return fmt.Errorf("%s: index at offset %d: %w", f.Path, sealed.seal.IndexOffset, fromIndex(err))
		}
		return nil
	})
	if err != nil {
		v.problem(err)
	}
}

// openCatalog compares the catalog of a store that is open for writing with what
// the logs say.
func (v *verification) openCatalog(s *Store) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.group.flush() != nil || s.catalog.db == nil {
		return
	}
	s.catalog.write()
	v.catalog(s.catalog.path, s.catalog.db, s.written)
}

// closedCatalog looks at the catalog of a store that was closed properly and that
// nobody has open for writing: at a copy, so that a writer who comes meanwhile is
// not kept waiting.
func (v *verification) closedCatalog(dir string) error {
	names := []string{catalogName, catalogSumName}
	before, ok := modified(dir, names)
	if !ok {
		return nil // it is behind the logs, and not taken at its word
	}
	temp, err := os.MkdirTemp("", "tstore-verify-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil // a writer has come
		}
		if err := os.WriteFile(filepath.Join(temp, name), b, 0o600); err != nil {
			return err
		}
		v.read(int64(len(b)))
	}
	db, err := index.OpenCatalog(filepath.Join(temp, catalogName))
	if after, ok := modified(dir, names); !ok || !slices.Equal(before, after) {
		if err == nil {
			db.Close()
		}
		return nil // a writer has come
	}
	path := filepath.Join(dir, catalogName)
	if err != nil {
		v.problem(fmt.Errorf("%s: %w: %w: delete it while the store is closed, it is made anew", path, ErrCorrupt, err))
		return nil
	}
	defer db.Close()
	v.catalog(path, db, v.state)
	return nil
}

// modified are the times at which files were changed; false if one is missing.
func modified(dir string, names []string) ([]time.Time, bool) {
	var times []time.Time
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return nil, false
		}
		times = append(times, info.ModTime())
	}
	return times, true
}

// catalog compares a catalog that is up to date with what the logs say.
func (v *verification) catalog(path string, db *index.Catalog, st *state) {
	const remedy = "delete it while the store is closed, it is made anew"
	if p, ok := db.Position(); ok && p.Seq > st.seq+1 || ok && v.tail.Seq > 0 && p.Seq > v.tail.Seq {
		v.problem(fmt.Errorf("%s: %w: it knows batch %d, the log in %s ends with batch %d: that has lost something",
			path, ErrCorrupt, p.Seq, v.newest, max(v.tail.Seq, st.seq)))
	}
	seen := map[string]*Entry{}
	for ce, err := range db.Entries() {
		if err != nil {
			v.problem(fmt.Errorf("%s: %w: %w: %s", path, ErrCorrupt, err, remedy))
			return
		}
		if old := seen[ce.Entry.Name]; old == nil || old.Seq <= ce.Entry.Seq {
			seen[ce.Entry.Name] = ce.Entry
		}
	}
	for e := range st.open.Ascend("") {
		got := seen[e.Name]
		if got == nil || got.Seq != e.Seq || got.Deleted != e.Deleted || got.Segment != e.Segment || got.Offset != e.Offset || got.CRC != e.CRC {
			v.problem(fmt.Errorf("%s: %w: it is wrong about %q: %s", path, ErrCorrupt, e.Name, remedy), e.Name)
		}
	}
}
