package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// replay builds the contents of a store from its logs.
type replay struct {
	set     fileSet
	newest  *segment.File
	live    map[uint64]segment.Live   // what counts but for the newest log
	segs    map[uint64]*segment.File  // the files of live, and the newest log
	sealed  map[uint64]*sealedSegment // those of the logs that are sealed
	edit    *index.Editor
	seq     uint64
	changes map[uint64][]*Entry // by log: what was replayed of it
	drop    map[uint64]bool     // logs that the catalog need not keep

	// missing are segments that should be there and are not, each with the error
	// that this is unless a later batch of the newest log has replaced it.
	missing map[uint64]error

	last commitRef    // the last commit record replayed
	tail segment.Tail // of the newest log
}

// newReplay starts from the live set that the header of the newest log gives.
func newReplay(set fileSet, newest *segment.File) (*replay, error) {
	r := &replay{
		set:     set,
		newest:  newest,
		live:    map[uint64]segment.Live{},
		segs:    map[uint64]*segment.File{newest.Number: newest},
		sealed:  map[uint64]*sealedSegment{},
		edit:    index.Table{}.Edit(),
		changes: map[uint64][]*Entry{},
		drop:    map[uint64]bool{},
		missing: map[uint64]error{},
	}
	for _, l := range newest.Header.Live {
		f, err := set.liveFile(l)
		if errors.Is(err, errMissing) {
			r.missing[l.Number] = fmt.Errorf("%s: %w", newest.Path, err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", newest.Path, err)
		}
		r.live[l.Number], r.segs[l.Number] = l, f
	}
	return r, nil
}

// end is where the newest log ends.
func (r *replay) end() commitRef {
	return commitRef{log: r.newest.Header, seq: r.seq, end: r.tail.End}
}

func (r *replay) state() *state {
	st := &state{seq: r.seq, open: r.edit.Table(), segs: r.segs}
	st.sealed = slices.SortedFunc(maps.Values(r.sealed), bySeq)
	return st
}

// openSealed opens the frozen indexes of all segments that have one.
func (r *replay) openSealed() error {
	for n := range r.segs {
		if err := r.openOneSealed(n); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) openOneSealed(n uint64) error {
	f := r.segs[n]
	if f == r.newest || f.Header.Kind == segment.KindData || r.sealed[n] != nil {
		return nil // the newest log is never sealed
	}
	var l *sealedSegment
	var err error
	if f.Header.Kind == segment.KindPackage {
		l, err = openAttached(f, r.live[n])
	} else {
		l, err = openSealed(f, r.live[n].Valid)
	}
	switch {
	case err != nil:
		return err
	case l != nil:
		r.sealed[n] = l
	case f.Header.Kind == segment.KindCompacted:
		return fmt.Errorf("%s: %w: it has no trailer at its end, offset %d", f.Path, ErrCorrupt, r.live[n].Valid)
	}
	return nil
}

// logs replays the logs that are not sealed, from position on, which is zero for
// all of them.
func (r *replay) logs(from commitRef) error {
	for _, n := range slices.Sorted(maps.Keys(r.live)) {
		l := r.live[n]
		switch {
		case l.Kind != segment.KindLog:
		case r.sealed[n] != nil:
			r.seq = max(r.seq, r.sealed[n].last)
		case n < from.number():
		default:
			if _, err := r.log(r.segs[n], l.Valid, true, from); err != nil {
				return err
			}
		}
	}
	var err error
	r.tail, err = r.log(r.newest, r.newest.Size(), false, from)
	if err != nil {
		return err
	}
	for _, err := range r.missing {
		return err
	}
	return nil
}

// alone is what log f, which is at rest, says by itself of each name, whatever later
// ones say.
func (r *replay) alone(f *segment.File, valid int64) (index.Table, error) {
	one := &replay{
		set:     r.set,
		newest:  r.newest,
		live:    maps.Clone(r.live),
		segs:    maps.Clone(r.segs),
		sealed:  maps.Clone(r.sealed),
		edit:    index.Table{}.Edit(),
		changes: map[uint64][]*Entry{},
		drop:    map[uint64]bool{},
		missing: map[uint64]error{},
	}
	_, err := one.log(f, valid, true, commitRef{})
	return one.edit.Table(), err
}

// log replays one log.
func (r *replay) log(f *segment.File, limit int64, exact bool, from commitRef) (segment.Tail, error) {
	o := segment.WalkOptions{
		Number: f.Number,
		UUID:   f.UUID,
		From:   f.HeaderLen,
		Limit:  limit,
		Exact:  exact,
		Seq:    f.Header.BaseSeq,
	}
	if o.Seq < r.seq && from.number() != o.Number {
		return segment.Tail{}, fmt.Errorf("%s: %w: it begins after batch %d, an earlier log ends with %d", f.Path, ErrCorrupt, o.Seq, r.seq)
	}
	r.seq = max(r.seq, o.Seq)
	if from.number() == o.Number {
		o.From, o.Seq, o.Closed = from.end, from.seq, from.closed
	}
	tail, err := segment.Walk(f, o, func(b *segment.Batch) error { return r.apply(f, b) })
	if err != nil {
		return tail, fmt.Errorf("%s: %w", f.Path, err)
	}
	return tail, nil
}

// apply makes batch b of log f part of the state.
func (r *replay) apply(f *segment.File, b *segment.Batch) error {
	touched := make([]*Entry, 0, len(b.Commit.Ops))
	set := func(e *Entry) {
		e.Seq = b.Commit.Seq
		r.edit.Set(e)
		touched = append(touched, e)
	}
	for i := range b.Commit.Ops {
		op := &b.Commit.Ops[i]
		switch op.Kind {
		case segment.OpDelete:
			set(&Entry{Name: op.Name, Deleted: true})
			continue
		case segment.OpAttach, segment.OpReplace:
			// What earlier logs did to the live set, the newest one's header has.
			if f == r.newest {
				if err := r.exchange(op, b.Commit.Seq); err != nil {
					return fmt.Errorf("commit record at offset %d: %w", b.Commit.Offset, err)
				}
			}
			continue
		}
		e, err := r.entry(f, b, op)
		if op.Kind == segment.OpRename {
			set(&Entry{Name: op.From, Deleted: true})
		}
		switch {
		case err == nil:
			set(e)
		case !errors.Is(err, errMissing):
			return fmt.Errorf("commit record at offset %d: tensor %q: %w", b.Commit.Offset, op.Name, err)
		case f == r.newest:
			r.missing[op.Location.Segment] = fmt.Errorf("%s: commit record at offset %d: tensor %q: %w", f.Path, b.Commit.Offset, op.Name, err)
		default:
			// Replaced since: the newest log's header would name it.
		}
	}
	r.seq = b.Commit.Seq
	r.last = commitRef{log: f.Header, seq: b.Commit.Seq, offset: b.Commit.Offset, end: b.End, crc: b.CRC}
	n := f.Number
	r.changes[n] = append(r.changes[n], touched...)
	return nil
}

// exchange makes segments part of the live set, in place of others, as batch seq says.
func (r *replay) exchange(op *segment.Op, seq uint64) error {
	for _, n := range op.Old {
		delete(r.missing, n)
		f := r.segs[n]
		if f == nil {
			continue
		}
		if f.Header.Kind == segment.KindLog && r.sealed[n] == nil {
			r.edit = withoutRange(r.edit.Table(), f.Header.BaseSeq, logEnd(r.segs, n)).Edit()
		}
		delete(r.live, n)
		delete(r.segs, n)
		delete(r.sealed, n)
		r.drop[n] = true
	}
	want := segment.KindCompacted
	if op.Kind == segment.OpAttach {
		want = segment.KindPackage
	}
	for _, l := range op.New {
		if l.Kind != want {
			return fmt.Errorf("%w: segment %d is a %v segment, operation %d takes in %v segments", ErrCorrupt, l.Number, l.Kind, op.Kind, want)
		}
		f, err := r.set.liveFile(l)
		if errors.Is(err, errMissing) { // a later batch may replace it
			r.missing[l.Number] = err
			continue
		}
		if err != nil {
			return err
		}
		r.live[l.Number], r.segs[l.Number] = l, f
		if err := r.openOneSealed(l.Number); err != nil {
			return err
		}
		if p := r.sealed[l.Number]; op.Kind == segment.OpAttach && p.attached.seq != seq {
			return fmt.Errorf("%s: %w: it was attached by batch %d, and not by batch %d which says so", f.Path, ErrCorrupt, p.attached.seq, seq)
		}
	}
	return nil
}

// entry makes the entry for a put or rename.
func (r *replay) entry(f *segment.File, b *segment.Batch, op *segment.Op) (*Entry, error) {
	l := op.Location
	var e *Entry
	if rec := b.Record(l); l.Segment == f.Number && rec != nil {
		e = newEntry(op.Name, &rec.Info, rec.Attrs)
	} else if old := r.edit.Get(op.From); op.Kind == segment.OpRename && old != nil && old.Segment == l.Segment && old.Offset == l.Offset {
		renamed := *old
		renamed.Name = op.Name
		e = &renamed
	} else {
		info, attrs, err := r.describe(f, l)
		if err != nil {
			return nil, err
		}
		e = newEntry(op.Name, info, attrs)
	}
	e.Segment, e.Offset, e.Length, e.CRC = l.Segment, l.Offset, l.Length, l.CRC
	return e, nil
}

// describe reads the head of a record outside of the log being replayed. A data
// segment that it lies in becomes part of the live set.
func (r *replay) describe(from *segment.File, l segment.Location) (*codec.Info, []layout.Attr, error) {
	f := r.segs[l.Segment]
	if f == nil && from != r.newest {
		return nil, nil, errMissing
	}
	if f == nil {
		live := segment.Live{Number: l.Segment, UUID: l.UUID, Kind: segment.KindData, Valid: l.Offset + l.Length}
		var err error
		if f, err = r.set.liveFile(live); err != nil {
			return nil, nil, err
		}
		r.live[l.Segment], r.segs[l.Segment] = live, f
	}
	if f.UUID != l.UUID {
		return nil, nil, fmt.Errorf("%w: %s is segment %v, not %v", ErrCorrupt, f.Path, f.UUID, l.UUID)
	}
	head, err := f.Head(l.Offset)
	if err != nil {
		return nil, nil, err
	}
	if head.Len() != l.Length {
		return nil, nil, fmt.Errorf("%s: %w: record at offset %d has %d bytes, it should have %d", f.Path, ErrCorrupt, l.Offset, head.Len(), l.Length)
	}
	info, err := head.Describe()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: record at offset %d: %w", f.Path, ErrCorrupt, l.Offset, err)
	}
	return &info, codec.DecodeAttrs(head), nil
}

// errCatalogUseless says that the catalog can't be used for these logs, though
// nothing is wrong with them.
var errCatalogUseless = errors.New("the catalog belongs to another state of the store")

// replayWithCatalog takes what the catalog has and replays only what came later;
// without a usable catalog it replays everything and the catalog is made anew. One
// that is ahead of the logs stays, so that they are refused the next time, too.
func replayWithCatalog(set fileSet, newest *segment.File, c *catalog) (*replay, error) {
	position, ok := c.position()
	ok = ok && segment.ID(position.StoreID) == newest.Header.StoreID
	if ok {
		r, err := newReplay(set, newest)
		if err != nil {
			return nil, err
		}
		err = r.fromCatalog(c, position)
		if err == nil {
			return r, nil
		}
		if !errors.Is(err, errCatalogUseless) {
			return nil, err
		}
	}
	r, err := newReplay(set, newest)
	if err != nil {
		return nil, err
	}
	if err := r.openSealed(); err != nil {
		return nil, err
	}
	if err := r.logs(commitRef{}); err != nil {
		return nil, err
	}
	if ok && r.seq < position.Seq {
		return nil, fmt.Errorf("%s: %w: the catalog knows batch %d, the logs end with batch %d at offset %d: they have lost something", newest.Path, ErrCorrupt, position.Seq, r.seq, r.tail.End)
	}
	if err := c.reset(); err != nil {
		return nil, err
	}
	return r, nil
}

// fromCatalog loads the catalog and replays the logs from its position on.
func (r *replay) fromCatalog(c *catalog, p index.Position) error {
	header := r.newest.Header
	f, limit := r.newest, r.newest.Size()
	if p.Segment != header.Number {
		live, ok := r.live[p.Segment]
		switch {
		case p.Segment > header.Number:
			return fmt.Errorf("%w: the catalog knows batch %d in segment %d, the newest log is %s: the log has lost something", ErrCorrupt, p.Seq, p.Segment, r.newest.Path)
		case !ok || live.Kind != segment.KindLog:
			return errCatalogUseless
		}
		f, limit = r.segs[p.Segment], live.Valid
	}
	if f.UUID != segment.ID(p.SegmentUUID) {
		return errCatalogUseless
	}
	if p.End > limit {
		return fmt.Errorf("%s: %w: the catalog knows batch %d up to offset %d, the log ends at %d: it has lost something", f.Path, ErrCorrupt, p.Seq, p.End, limit)
	}
	commit, crc, err := f.Commit(p.Offset, p.End)
	if err != nil || crc != p.CRC || commit.Seq != p.Seq {
		return errCatalogUseless
	}
	from := commitRef{log: f.Header, seq: p.Seq, offset: p.Offset, end: p.End, crc: p.CRC, closed: commit.IsClose()}
	if f == r.newest {
		if err := r.takeLive(p.Live); err != nil {
			return err
		}
	}
	if err := r.openSealed(); err != nil {
		return err
	}
	known := map[uint64]bool{}
	for ce, err := range c.entries() {
		if err != nil {
			return errCatalogUseless
		}
		known[ce.Log] = true
		if l := r.sealed[ce.Log]; l != nil {
			r.drop[ce.Log] = true // sealed since, or before the catalog could be told
			continue
		}
		if err := r.known(ce.Entry); err != nil {
			return err
		}
		if old := r.edit.Get(ce.Entry.Name); old == nil || old.Seq <= ce.Entry.Seq {
			r.edit.Set(ce.Entry)
		}
	}
	for n, f := range r.segs {
		end := r.live[n].Valid
		if n == p.Segment {
			end = p.Offset
		}
		// A log without entries has no batches either; else the catalog has let go of
		// it because it was sealed, and its seal is damaged.
		if f.Header.Kind == segment.KindLog && n <= p.Segment && r.sealed[n] == nil && !known[n] && end > f.HeaderLen {
			return errCatalogUseless
		}
	}
	r.seq = p.Seq
	r.last = from
	return r.logs(from)
}

// takeLive makes the live set that the catalog has kept that of the store: what the
// batches up to its position have made of the one in the header.
func (r *replay) takeLive(b []byte) error {
	live, err := segment.DecodeLive(b)
	if err != nil {
		return errCatalogUseless
	}
	clear(r.live)
	clear(r.segs)
	clear(r.missing)
	r.segs[r.newest.Number] = r.newest
	for _, l := range live {
		f, err := r.set.liveFile(l)
		switch {
		case errors.Is(err, errMissing):
			r.missing[l.Number] = fmt.Errorf("%s: %w", r.newest.Path, err)
		case err != nil:
			return err
		default:
			r.live[l.Number], r.segs[l.Number] = l, f
		}
	}
	return nil
}

// known makes sure that the segment of a catalog's entry counts.
func (r *replay) known(e *Entry) error {
	if !e.Deleted && r.segs[e.Segment] == nil {
		return errCatalogUseless
	}
	return nil
}
