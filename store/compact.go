package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

// CompactOptions say what to compact. The zero value, or nil, compacts every segment
// that has anything to give back.
type CompactOptions struct {
	// MinDead is the share of dead bytes, 0 to 1, from which a segment is
	// compacted, so that the work is in proportion to what it gains.
	MinDead float64
	// Progress, if not nil, is called now and then with the bytes that have been
	// copied and those that there are to copy.
	Progress func(done, total int64)
}

// CompactResult says what a compaction has done.
type CompactResult struct {
	Removed int   // segments that are gone
	Created int   // segments that took their place
	Before  int64 // bytes of those that are gone
	After   int64 // bytes of those that took their place
}

// smallShare is the part of the segment size below which sealed segments are merged,
// so that their number stays small: each costs a lookup a little.
const smallShare = 8

// Compact copies the records that names stand for out of segments with dead ones, to
// new segments, and removes the old ones. It works beside readers and writers, who
// notice nothing; snapshots keep what they see. A crash at any moment, or the end of
// ctx, leaves the store with the same contents. Every record that is copied is
// compared with its checksum.
//
// On a full disk, segments without any live record are removed first; if the space
// is not enough for the others even then, the error says how much is missing.
func (s *Store) Compact(ctx context.Context, o *CompactOptions) (CompactResult, error) {
	if o == nil {
		o = &CompactOptions{}
	}
	if s.opts.ReadOnly {
		return CompactResult{}, fmt.Errorf("%w: %s was opened for reading", ErrReadOnly, s.path)
	}
	s.compacting.Lock()
	defer s.compacting.Unlock()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.stopCompacting.Store(&stop)
	defer s.stopCompacting.Store(nil)
	view, err := s.beginView()
	if err != nil {
		return CompactResult{}, err
	}
	c := compaction{store: s, use: view, ctx: ctx, options: o, own: map[uint64]bool{}}
	defer func() {
		if c.use != (use{}) { // unless the store was closed meanwhile
			c.use.end()
		}
	}()
	if err := c.run(); err != nil {
		return c.result, fmt.Errorf("compacting %s: %w", s.path, err)
	}
	return c.result, nil
}

// compactInBackground compacts what is dead enough, if the options say so and no
// compaction is under way. If it fails, the next full log is the next occasion.
func (s *Store) compactInBackground() {
	if s.opts.CompactMinDead == 0 || s.closed.Load() {
		return
	}
	go func() {
		if s.compacting.TryLock() {
			s.compacting.Unlock()
			s.Compact(context.Background(), &CompactOptions{MinDead: s.opts.CompactMinDead})
		}
	}()
}

// compaction is one run of Compact.
type compaction struct {
	store   *Store
	use     use
	ctx     context.Context
	options *CompactOptions
	result  CompactResult

	state   *state                     // what is being compacted
	victims map[uint64]*segment.File   // the segments that go
	moved   map[place]segment.Location // where their records have gone
	total   int64                      // bytes to copy, about
	done    int64
	own     map[uint64]bool // segments that this compaction has made
	inFiles int64           // bytes of the new segments that are finished
	out     *compacted      // being written, or nil
	failed  *compacted      // could not be finished
	created []*sealedSegment
	live    []segment.Live // of created
}

// place is where a record lies.
type place struct {
	segment uint64
	offset  int64
}

func (c *compaction) run() error {
	st, err := c.store.freeze()
	if err != nil {
		return err
	}
	infos, err := st.usage(c.store.path)
	if err != nil {
		return err
	}
	// What is wholly dead goes first: that takes hardly any space, and may give what
	// the rest needs.
	if err := c.pass(st, whollyDead(st, infos), infos); err != nil {
		return err
	}
	tombstones := c.created
	if len(c.victims) > 0 {
		if err := c.giveBack(); err != nil {
			return err
		}
	}
	now := c.store.current()
	victims := c.choose(st, infos)
	if len(victims) > 0 {
		// What the first pass had to keep of deleted names may have nothing left to
		// hide.
		for _, l := range tombstones {
			victims[l.file.Number] = l.file
		}
	}
	if err := c.addIdle(now, victims, infos); err != nil {
		return err
	}
	return c.pass(now, victims, infos)
}

// giveBack lets go of what has been removed so far, whose space is not free as long as it
// is open, unless others look at it.
func (c *compaction) giveBack() error {
	c.use.end()
	c.store.uses.retiring.wait()
	var err error
	c.use, err = c.store.beginView()
	return err
}

// pass compacts the victims, which are segments of st at rest.
func (c *compaction) pass(st *state, victims map[uint64]*segment.File, infos []SegmentInfo) error {
	c.created, c.live = nil, nil
	if len(victims) == 0 {
		return nil
	}
	c.state, c.victims = st, victims
	c.moved, c.total, c.done, c.inFiles = map[place]segment.Location{}, 0, 0, 0
	for _, i := range infos {
		if victims[i.Number] != nil {
			c.total += i.Live
		}
	}
	if err := c.copyLive(); err != nil {
		err = c.explain(err)
		c.abandon()
		return err
	}
	return c.commit()
}

// freeze goes on in a new log, if the last one says anything of names and there is room
// for one, so that all segments but that are at rest. It returns the state at that moment.
func (s *Store) freeze() (*state, error) {
	s.lockWithoutSealer()
	defer s.writing.Unlock()
	if s.closed.Load() {
		return nil, ErrClosed
	}
	if err := s.group.failure(); err != nil {
		return nil, err
	}
	if s.logEntries > 0 {
		// On a full disk there may be no room for another log. The others are at rest
		// all the same, and their space may be what is missing.
		if err := s.nextLog(); err != nil && (s.ended || !errors.Is(err, syscall.ENOSPC)) {
			return nil, err
		}
	}
	if s.written.segs[s.log.Number] == nil {
		next := *s.written
		next.segs = maps.Clone(next.segs)
		next.segs[s.log.Number] = s.log.File
		s.written = &next
		s.published.Store(s.written)
	}
	return s.written, nil
}

// current is what is written.
func (s *Store) current() *state {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.written
}

// whollyDead are the segments at rest that have records, or batches, and none that a name
// stands for.
func whollyDead(st *state, infos []SegmentInfo) map[uint64]*segment.File {
	dead := map[uint64]*segment.File{}
	for _, i := range infos {
		if i.Live == 0 && !i.Active && !i.onlyTombstones() {
			dead[i.Number] = st.segs[i.Number]
		}
	}
	return dead
}

// onlyTombstones reports whether the segment has nothing but an index that says which
// names were deleted: what an earlier compaction had to keep.
func (i *SegmentInfo) onlyTombstones() bool {
	return i.Kind == segment.KindCompacted.String() && i.Live == 0 && i.Dead == 0
}

// choose returns the other segments that are to go.
func (c *compaction) choose(st *state, infos []SegmentInfo) map[uint64]*segment.File {
	victims := map[uint64]*segment.File{}
	var small []uint64
	for _, i := range infos {
		f := st.segs[i.Number]
		if i.Active || f.Header.Kind == segment.KindData || i.Live == 0 && !i.onlyTombstones() {
			continue
		}
		if i.Dead > 0 && float64(i.Dead) >= c.options.MinDead*float64(i.Size) {
			victims[i.Number] = f
		} else if i.Size < c.store.opts.SegmentSize/smallShare && f.Header.Kind != segment.KindPackage {
			small = append(small, i.Number)
		}
	}
	if len(small)+len(victims) >= 2 {
		for _, n := range small {
			victims[n] = st.segs[n]
		}
	}
	return victims
}

// addIdle adds to the victims, of what has only tombstones, the segments with one that
// hides nothing any more once the victims are gone. The others would only be written
// again as they are.
func (c *compaction) addIdle(st *state, victims map[uint64]*segment.File, infos []SegmentInfo) error {
	c.state, c.victims = st, victims
	for _, i := range infos {
		f, l := st.segs[i.Number], c.sealedOf(i.Number)
		if f == nil || l == nil || victims[i.Number] != nil || !i.onlyTombstones() {
			continue
		}
		err := guarded(f, "", func() error {
			for e, err := range l.frozen.Ascend("") {
				if err != nil {
					return l.wrap("", err)
				}
				if !c.hidesOlder(e) {
					victims[i.Number] = f
					return nil
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// declares reports whether the victims say where e is: then a new segment has to.
func (c *compaction) declares(e *Entry) bool {
	if _, ok := c.victims[e.Segment]; ok {
		return true
	}
	return c.saidByVictim(e)
}

// saidByVictim reports whether the batch that made e is in a victim.
func (c *compaction) saidByVictim(e *Entry) bool {
	for n, f := range c.victims {
		switch f.Header.Kind {
		case segment.KindLog:
			if f.Header.BaseSeq < e.Seq && e.Seq <= c.state.logEnd(n) {
				return true
			}
		case segment.KindCompacted:
			if ref, ok, err := c.sealedOf(n).lookup(e.Name); err == nil && ok && ref.Seq == e.Seq {
				return true
			}
		}
	}
	return false
}

func (c *compaction) sealedOf(n uint64) *sealedSegment {
	for _, l := range c.state.sealed {
		if l.file.Number == n {
			return l
		}
	}
	return nil
}

// copyLive writes what the victims have to say into new segments: the records that
// names stand for, and the tombstones that hide older records elsewhere.
func (c *compaction) copyLive() error {
	for e, err := range c.state.listAll("") {
		if err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		switch {
		case e.Deleted:
			if !c.saidByVictim(e) || !c.hidesOlder(e) {
				continue
			}
		case !c.declares(e):
			continue
		}
		if err := c.add(e); err != nil {
			return fmt.Errorf("tensor %q: %w", e.Name, err)
		}
	}
	return c.finish()
}

// hidesOlder reports whether a segment that stays has a record of the name of a
// tombstone.
func (c *compaction) hidesOlder(tombstone *Entry) bool {
	for _, l := range c.state.sealed {
		if _, goes := c.victims[l.file.Number]; goes {
			continue
		}
		if ref, ok, err := l.lookup(tombstone.Name); err != nil || (ok && !ref.Deleted) {
			return true
		}
	}
	// An unsealed log that stays may have an older record, of which memory keeps
	// nothing once it is overwritten or deleted.
	for n, f := range c.state.segs {
		if f.Header.Kind != segment.KindLog || c.sealedOf(n) != nil {
			continue
		}
		if _, goes := c.victims[n]; !goes && f.Header.BaseSeq < tombstone.Seq {
			return true
		}
	}
	return false
}

// compacted is a new segment that is being written.
type compacted struct {
	header  *segment.Header
	builder *index.FrozenBuilder
	spool   *os.File
	writer  *segment.SealedWriter
}

// add puts e, and its record if that lies in a victim, into the segment that is being
// written.
func (c *compaction) add(e *Entry) error {
	copied := *e
	from, moves := c.victims[e.Segment]
	if moves && c.out != nil && c.out.writer.Offset() > c.store.opts.SegmentSize {
		if err := c.finish(); err != nil {
			return err
		}
	}
	if c.out == nil {
		if err := c.start(); err != nil {
			return err
		}
	}
	if moves && !e.Deleted {
		off, crc, err := c.out.writer.CopyRecord(from, e.Offset, e.Length)
		if err != nil {
			return err
		}
		if crc != e.CRC {
			return wrongChecksum(from, e, crc)
		}
		c.moved[place{e.Segment, e.Offset}] = segment.Location{
			Segment: c.out.header.Number, UUID: c.out.header.UUID, Offset: off, Length: e.Length, CRC: e.CRC,
		}
		copied.Segment, copied.Offset = 0, off // in the segment that the index is in
		c.done += e.Length
		if c.options.Progress != nil {
			c.options.Progress(c.done, max(c.done, c.total))
		}
	}
	return fromIndex(c.out.builder.Add(&copied))
}

// compactSpoolPrefix begins the names of the files, in the directory of the store, that
// the indexes of new segments grow in.
const compactSpoolPrefix = ".compact-"

func isCompactSpool(name string) bool { return strings.HasPrefix(name, compactSpoolPrefix) }

func (c *compaction) start() error {
	s := c.store
	h := &segment.Header{Kind: segment.KindCompacted, StoreID: s.id, UUID: newID(), Number: s.nextNumber.Add(1) - 1}
	spool, err := os.CreateTemp(s.path, compactSpoolPrefix+"*")
	if err != nil {
		return err
	}
	w, err := segment.NewSealedWriter(s.opts.fs, s.segmentsDir(), h)
	if err != nil {
		removeSpool(spool)
		return err
	}
	c.out = &compacted{header: h, builder: index.NewFrozenBuilder(spool), spool: spool, writer: w}
	return nil
}

// finish ends the segment that is being written, if any, and opens it.
func (c *compaction) finish() error {
	out := c.out
	if out == nil {
		return nil
	}
	c.out = nil
	defer removeSpool(out.spool)
	minSeq, maxSeq := out.builder.Seqs()
	f, err := out.writer.Finish(minSeq, maxSeq, out.builder.Size(), out.builder.Finish)
	if err != nil {
		c.failed = out
		return err
	}
	l, err := openSealed(f, f.Size())
	if err != nil {
		return err
	}
	c.inFiles += f.Size()
	c.created = append(c.created, l)
	c.live = append(c.live, segment.Live{Number: f.Number, UUID: f.UUID, Kind: segment.KindCompacted, Valid: f.Size()})
	return nil
}

// abandon removes what was created.
func (c *compaction) abandon() {
	if c.out != nil {
		c.out.writer.Abort()
		removeSpool(c.out.spool)
		c.out = nil
	}
	for _, l := range c.created {
		l.file.Retire()
		c.store.opts.fs.Remove(l.file.Path)
	}
}

// explain says how much space is missing, if that is what is wrong: what the new segments
// would have, about, without what there was room for.
func (c *compaction) explain(err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	there, index := c.inFiles, int64(0)
	out := c.out
	if out == nil {
		out = c.failed
	}
	if out != nil {
		there += out.writer.InFile()
		index = out.builder.Size()
	}
	if c.done > 0 {
		index = int64(float64(index) * max(1, float64(c.total)/float64(c.done)))
	}
	// Besides there are the next commit record and what the file system needs itself.
	missing := max(c.total+index-there, 0) + segment.Reserve
	return fmt.Errorf("about %d more bytes of free space are needed: %w", missing, err)
}

// commit makes the exchange true by one batch, and then removes the victims.
func (c *compaction) commit() error {
	s := c.store
	written, err := s.write(func(b *batch) error { return c.exchange(b) })
	if err != nil {
		if !errors.Is(err, ErrOutcomeUnknown) {
			c.abandon()
		}
		return c.explain(err)
	}
	if err := s.group.wait(written.seq); err != nil {
		return err
	}
	var logs []uint64
	var files []*segment.File
	for n, f := range c.victims {
		if f.Header.Kind == segment.KindLog {
			logs = append(logs, n)
		}
		files = append(files, f)
		if c.own[n] { // what an earlier pass has made is no part of the result
			c.result.After -= f.Size()
			c.result.Created--
			continue
		}
		c.result.Before += f.Size()
		c.result.Removed++
	}
	for _, l := range c.live {
		c.own[l.Number] = true
		c.result.After += l.Valid
		c.result.Created++
	}
	s.catalog.sealed(logs...)
	return errors.Join(s.unlink(files))
}

// unlink removes the files of segments that no longer count, and lets go of them
// when their last reader is done.
func (s *Store) unlink(files []*segment.File) error {
	var errs []error
	for _, f := range files {
		if err := s.opts.fs.Remove(f.Path); err != nil && removeMapped {
			errs = append(errs, err)
		}
	}
	s.uses.retire(files)
	return errors.Join(append(errs, s.opts.fs.SyncDir(s.segmentsDir()))...)
}

// exchange fills the batch that puts the new segments in the place of the victims.
func (c *compaction) exchange(b *batch) error {
	old := slices.Sorted(maps.Keys(c.victims))
	b.ops = append(b.ops, segment.Op{Kind: segment.OpReplace, Old: old, New: c.live})
	b.targets = append(b.targets, nil)
	before := b.base
	b.base = c.after(before)
	b.edit = b.base.open.Edit()
	strays, err := c.strays(before, b.base)
	if err != nil {
		return err
	}
	// They are put again, at the new places.
	for _, e := range strays {
		l, ok := c.moved[place{e.Segment, e.Offset}]
		if !ok {
			return fmt.Errorf("%w: the record of %q, at offset %d of segment %d, has not been copied", ErrCorrupt, e.Name, e.Offset, e.Segment)
		}
		again := *e
		again.Seq, again.Segment, again.Offset = b.seq, l.Segment, l.Offset
		b.ops = append(b.ops, segment.Op{Kind: segment.OpPut, Name: e.Name})
		b.targets = append(b.targets, &again)
		b.edit.Set(&again)
	}
	return nil
}

// strays are the entries that still count of logs that stay, whose records lie in the
// victims: renames since the compaction began have made them. In after, before
// without the victims, some are in memory, others in logs sealed meanwhile.
func (c *compaction) strays(before, after *state) (strays []*Entry, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer before.rescue("", &err)
	add := func(e *Entry) error {
		if _, ok := c.victims[e.Segment]; !ok || e.Deleted {
			return nil
		}
		// A log that was sealed may say something newer of a name than one that was
		// not.
		now, err := before.lookup(e.Name)
		if err == nil && now.Seq == e.Seq {
			strays = append(strays, e)
		}
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	for e := range after.open.Ascend("") {
		if err := add(e); err != nil {
			return nil, err
		}
	}
	for _, l := range after.sealed {
		if l.file.Header.Kind != segment.KindLog || slices.Contains(c.state.sealed, l) {
			continue // what was sealed before is in the new segments
		}
		for e, err := range l.frozen.Ascend("") {
			if err != nil {
				return nil, l.wrap("", err)
			}
			if err := add(e); err != nil {
				return nil, err
			}
		}
	}
	return strays, nil
}

// after is base with the new segments in the place of the victims. Entries that lie
// in the victims are left for exchange.
func (c *compaction) after(base *state) *state {
	st := *base
	st.segs = maps.Clone(base.segs)
	st.sealed = nil
	for _, l := range base.sealed {
		if _, goes := c.victims[l.file.Number]; !goes {
			st.sealed = append(st.sealed, l)
		}
	}
	st.sealed = insertSealed(st.sealed, c.created...)
	for n, f := range c.victims {
		if f.Header.Kind == segment.KindLog && c.sealedOf(n) == nil {
			st.open = withoutRange(st.open, f.Header.BaseSeq, c.state.logEnd(n))
		}
		delete(st.segs, n)
	}
	for _, l := range c.created {
		st.segs[l.file.Number] = l.file
	}
	return &st
}
