package store

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// batch is what one Update is about to commit.
type batch struct {
	store *Store
	base  *state // what was written before, synced or not
	seq   uint64 // the batch's sequence number
	edit  *index.Editor
	own   map[string]layout.Tensor // put in this batch, as given

	ops     []segment.Op
	targets []*Entry   // what each of ops makes of its name; nil if it is about segments
	buried  []*Entry   // the tombstones of the old names of renames
	records []*encoded // in the order of the file; those with a file of their own included
	size    int64      // bytes of the records that go into the log

	summing  sync.Mutex
	unsummed []*encoded // records whose checksums are still to be computed

	attached []*sealedSegment // packages that become part of the store
}

func newBatch(s *Store, base *state) *batch {
	return &batch{store: s, base: base, seq: base.seq + 1, edit: base.open.Edit(), own: map[string]layout.Tensor{}}
}

// find returns where name is, the changes of the batch included.
func (b *batch) find(name string) (found, error) {
	open := b.edit.Get(name)
	if open != nil && open.Seq == b.seq && !open.Deleted {
		return found{entry: open}, nil // its segment may be one that only the batch has
	}
	return b.base.resolve(name, open)
}

// state is what the batch would make of the store. Entries of its own records
// have no place yet.
func (b *batch) state() *state {
	st := *b.base
	st.open = b.edit.Table()
	st.segs = b.segs()
	return &st
}

// segs are the files that count once the batch is committed.
func (b *batch) segs() map[uint64]*segment.File {
	add := map[uint64]*segment.File{}
	for _, r := range b.records {
		if r.file != nil {
			add[r.file.Number] = r.file
		}
	}
	for _, l := range b.attached {
		add[l.file.Number] = l.file
	}
	if len(add) == 0 {
		return b.base.segs
	}
	segs := maps.Clone(b.base.segs)
	maps.Copy(segs, add)
	return segs
}

func (b *batch) put(r *encoded) error {
	e := r.entry
	e.Seq = b.seq
	b.ops = append(b.ops, segment.Op{Kind: segment.OpPut, Name: e.Name})
	b.targets = append(b.targets, e)
	b.records = append(b.records, r)
	if r.file == nil {
		e.Offset = b.size // from the start of the batch, until it is placed
		b.size += e.Length
	}
	if r.large != nil {
		b.unsummed = append(b.unsummed, r)
	}
	b.edit.Set(e)
	b.own[e.Name] = r.given
	return nil
}

func (b *batch) delete(name string) error {
	if _, err := b.find(name); err != nil {
		return err
	}
	b.ops = append(b.ops, segment.Op{Kind: segment.OpDelete, Name: name})
	b.targets = append(b.targets, b.bury(name))
	return nil
}

// bury replaces the entry of name by a tombstone and returns that.
func (b *batch) bury(name string) *Entry {
	tombstone := &Entry{Name: name, Seq: b.seq, Deleted: true}
	b.edit.Set(tombstone)
	delete(b.own, name)
	return tombstone
}

func (b *batch) rename(from, to string) error {
	if err := CheckName(to); err != nil {
		return err
	}
	at, err := b.find(from)
	if err != nil {
		return err
	}
	if err := b.sum(); err != nil { // the entry is copied
		return err
	}
	old, err := at.describe(from)
	if err != nil {
		return err
	}
	if from == to {
		return nil
	}
	switch _, err := b.find(to); {
	case err == nil:
		return fmt.Errorf("%w: %q", ErrExists, to)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	t, own := b.own[from]
	tombstone := b.bury(from)
	e := *old
	e.Name, e.Seq = to, b.seq
	b.edit.Set(&e)
	if own {
		b.own[to] = t
	}
	b.ops = append(b.ops, segment.Op{Kind: segment.OpRename, Name: to, From: from})
	b.targets = append(b.targets, &e)
	b.buried = append(b.buried, tombstone)
	return nil
}

// sum computes the checksums that are missing. Whoever looks at what the batch knows of
// its tensors needs them, else they are computed while the batch is written.
func (b *batch) sum() error {
	b.summing.Lock() // several goroutines may look
	defer b.summing.Unlock()
	for i, r := range b.unsummed {
		var err error
		if r.entry.CRC, err = checksum(r.large); err != nil {
			b.unsummed = b.unsummed[i:]
			return fmt.Errorf("tensor %q: %w", r.entry.Name, err)
		}
	}
	b.unsummed = nil
	return nil
}

// place completes the operations and entries of the batch, which is to start at
// offset start of log.
func (b *batch) place(log *segment.File, start int64) error {
	uuids := map[uint64]segment.ID{log.Number: log.UUID}
	for _, r := range b.records {
		if r.file != nil {
			uuids[r.file.Number] = r.file.UUID
		}
	}
	for i, e := range b.targets {
		if e == nil || e.Deleted {
			continue
		}
		if e.Segment == 0 {
			e.Segment, e.Offset = log.Number, start+e.Offset
		}
		uuid, ok := uuids[e.Segment]
		if !ok {
			f, err := b.base.segment(e.Segment, e.Name)
			if err != nil {
				return err
			}
			uuid = f.UUID
		}
		b.ops[i].Location = segment.Location{Segment: e.Segment, UUID: uuid, Offset: e.Offset, Length: e.Length, CRC: e.CRC}
	}
	return nil
}

// writeAndSum is writeTo that computes missing checksums meanwhile. If there were any
// they are in the operations now, and late is true.
func (b *batch) writeAndSum(w io.Writer) (late bool, err error) {
	if len(b.unsummed) == 0 {
		return false, b.writeTo(w)
	}
	sum := beside(b.sum)
	err = b.writeTo(w)
	if failed := <-sum; err == nil {
		err = failed
	}
	for i, e := range b.targets {
		if e != nil && !e.Deleted {
			b.ops[i].Location.CRC = e.CRC
		}
	}
	return true, err
}

// writeTo writes the records that go into the log, in order.
func (b *batch) writeTo(w io.Writer) error {
	for _, r := range b.records {
		var err error
		switch {
		case r.file != nil:
		case r.large != nil:
			err = writeBorrowed(w, r.large)
		default:
			_, err = w.Write(r.bytes)
		}
		if err != nil {
			return fmt.Errorf("tensor %q: %w", r.entry.Name, err)
		}
	}
	return nil
}

// after is the state that the batch, once placed in log, makes of its base.
func (b *batch) after(log *segment.File) *state {
	st := &state{seq: b.seq, open: b.edit.Table(), sealed: b.base.sealed, segs: b.segs(), views: b.base.views}
	if len(b.attached) > 0 {
		st.sealed = insertSealed(st.sealed, b.attached...)
	}
	if st.segs[log.Number] == nil {
		st.segs = maps.Clone(st.segs)
		st.segs[log.Number] = log
	}
	return st
}

// exchanges are the segments that the batch makes part of the live set, and those
// that it takes out.
func (b *batch) exchanges() (add []segment.Live, gone []uint64) {
	for _, r := range b.records {
		if f := r.file; f != nil {
			add = append(add, segment.Live{Number: f.Number, UUID: f.UUID, Kind: segment.KindData, Valid: r.entry.Offset + r.entry.Length})
		}
	}
	for i := range b.ops {
		add = append(add, b.ops[i].New...)
		gone = append(gone, b.ops[i].Old...)
	}
	return add, gone
}

// changes are the last entries that the batch has made of each name it touched.
func (b *batch) changes() []*Entry {
	seen := make(map[string]bool, len(b.targets)+len(b.buried))
	var out []*Entry
	for _, list := range [][]*Entry{b.targets, b.buried} {
		for _, e := range list {
			if e != nil && !seen[e.Name] {
				seen[e.Name] = true
				out = append(out, b.edit.Get(e.Name))
			}
		}
	}
	return out
}

// abandon takes back what the batch has left on disk.
func (b *batch) abandon() {
	for _, r := range b.records {
		b.store.discard(r)
	}
}
