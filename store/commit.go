package store

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// Update calls fn with a transaction and commits what it does as one batch: after
// a crash all of it is there or none. Closures run one at a time; while one runs,
// other writes wait, reads do not. If fn returns an error, which Update then
// returns, or panics, nothing changes. fn must not call methods of the Store that
// write, nor Close: they would wait for it.
//
// When Update returns without an error the batch is durable (with SyncNever: it
// is written). ErrOutcomeUnknown says that it may or may not be there after the
// store is reopened; every other error, that it is not.
func (s *Store) Update(fn func(tx *Tx) error) error {
	return s.commit(func(b *batch) error {
		if err := s.log.Flush(); err != nil { // fn may read what is in the last batches
			return err
		}
		tx := &Tx{state: b.base, batch: b}
		defer tx.done.Store(true)
		return fn(tx)
	})
}

// commit runs fill on a new batch, writes the batch and waits until it is durable.
func (s *Store) commit(fill func(b *batch) error) error {
	written, err := s.write(fill)
	if err != nil {
		return err
	}
	return s.await(written)
}

// await returns when the state that write has returned is durable.
func (s *Store) await(written *state) error {
	if written == nil || s.opts.Sync == SyncNever {
		return nil
	}
	return s.group.wait(written.seq)
}

// write runs fill on a new batch and appends the batch to the log. It returns the
// state that it leads to, or nil if the batch was empty.
func (s *Store) write(fill func(b *batch) error) (after *state, err error) {
	if s.opts.ReadOnly {
		return nil, fmt.Errorf("%w: %s was opened for reading", ErrReadOnly, s.path)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed.Load() {
		return nil, ErrClosed
	}
	if err := s.group.failure(); err != nil {
		return nil, err
	}
	b := newBatch(s, s.written)
	committed := false
	defer func() {
		s.diskFull = s.diskFull || errors.Is(err, syscall.ENOSPC)
		if !committed { // also when fill panics
			b.abandon()
		}
	}()
	if err := fill(b); err != nil {
		return nil, err
	}
	if len(b.ops) == 0 {
		return nil, nil
	}
	err = s.append(b)
	if errors.Is(err, segment.ErrLogBroken) {
		// The batch may be there after all when the store is reopened, so what it
		// has in segments of its own must stay.
		committed = true
		s.group.fail(err)
		return nil, s.group.failure()
	}
	if err != nil {
		return nil, err
	}
	committed = true
	return s.written, nil
}

// append writes b to the log. The caller has the lock s.writing.
func (s *Store) append(b *batch) error {
	full := s.log.Tail()+b.size > s.opts.SegmentSize || s.logEntries >= s.opts.logMax
	if s.ended || full && s.log.Tail() > s.log.HeaderLen {
		err := s.rotate()
		// What only takes away can go on where it is: the disk is full, perhaps.
		if err != nil && (s.ended || len(b.records) > 0 || errors.Is(err, ErrOutcomeUnknown)) {
			return err
		}
	}
	start := s.log.Tail()
	if err := b.place(s.log.File, start); err != nil {
		return err
	}
	commit := segment.Commit{
		Seq:       b.seq,
		DurableTo: s.group.durableTo(s.log),
		UUID:      s.log.UUID,
		Offset:    start + b.size,
		Ops:       b.ops,
	}
	record := segment.AppendCommit(nil, &commit)
	// Deletes may use the space that puts leave free.
	reserve := len(b.records) > 0
	s.clean = false
	// While others wait for the disk anyway, the next sync writes this batch too.
	hold := s.opts.Sync == SyncEveryCommit && s.group.busy()
	err := s.log.Append(b.size+int64(len(record)), reserve, hold, func(w io.Writer) error {
		late, err := b.writeAndSum(w)
		if err != nil {
			return err
		}
		if late {
			record = segment.AppendCommit(record[:0], &commit)
		}
		_, err = w.Write(record)
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range b.records {
		r.written()
	}
	if add, gone := b.exchanges(); len(add)+len(gone) > 0 {
		s.live = s.live.without(gone...).with(add...)
	}
	s.written = b.after(s.log.File)
	changed := b.changes()
	s.logEntries += len(changed)
	if s.opts.Sync == SyncNever {
		s.published.Store(s.written)
	}
	s.group.add(written{
		state: s.written,
		log:   s.log,
		last:  s.commitRef(record, start+b.size, b.seq),
		names: changed,
	})
	return nil
}

// commitRef names the commit record that was just written at offset.
func (s *Store) commitRef(record []byte, offset int64, seq uint64) commitRef {
	return commitRef{
		log:    s.log.Header,
		seq:    seq,
		offset: offset,
		end:    offset + int64(len(record)),
		crc:    segment.RecordCRC(record),
		live:   s.live,
	}
}

// rotate goes on in a new log and has the old one sealed.
func (s *Store) rotate() error {
	j := s.sealJob()
	if err := s.nextLog(); err != nil {
		return err
	}
	s.sealer.start(j)
	s.compactInBackground()
	return nil
}

// sealJob is how to seal the log as it is.
func (s *Store) sealJob() sealJob {
	return sealJob{file: s.log.File, valid: s.log.Tail(), last: s.written.seq, table: s.written.open}
}

// nextLog goes on in a new log. The header of the new one says how much of the old
// one counts, so all of that is made durable first. If it fails when the new log may
// be there, what is appended to the old one would not count after the store is
// opened again: then there is no way but to a newer one.
func (s *Store) nextLog() error {
	if err := s.group.flush(); err != nil {
		return err
	}
	old := s.log
	live := s.live
	s.live = live.with(segment.Live{Number: old.Number, UUID: old.UUID, Kind: segment.KindLog, Valid: old.Tail()})
	if err := s.startLog(); err != nil {
		s.live = live
		s.ended = s.ended || errors.Is(err, segment.ErrLeftBehind)
		return err
	}
	s.ended = false
	// The zeros behind the old one are of no more use. If they stay they do no harm.
	old.Trim(0)
	return nil
}

// startLog creates the next log and makes it the one to append to. Everything
// that counts so far, and s.live names, is durable.
func (s *Store) startLog() error {
	h := &segment.Header{
		Kind:    segment.KindLog,
		StoreID: s.id,
		UUID:    newID(),
		Number:  s.nextNumber.Add(1) - 1,
		BaseSeq: s.written.seq,
		Live:    s.live.sorted(),
	}
	// With the reserve from the start: else deletes would find none if the disk is
	// full before the first put.
	f, err := segment.Create(s.opts.fs, s.segmentsDir(), h, segment.WriteReserve)
	if err != nil {
		return err
	}
	s.log = segment.NewLog(f, f.HeaderLen)
	s.logEntries = 0
	s.clean = false
	return nil
}

// Sync makes durable all that was committed before the call. It is for SyncNever;
// otherwise there is nothing left to do.
func (s *Store) Sync() error {
	use, err := s.beginCall()
	if err != nil {
		return err
	}
	defer use.end()
	if s.opts.ReadOnly {
		return nil
	}
	return s.group.flush()
}

// Put stores t under name with the given attributes, in place of what was there,
// as a batch of its own. t is borrowed until Put returns. Attributes are ordered
// pairs with unique keys. See Update for durability and Tx.Put for the errors.
func (s *Store) Put(name string, t layout.Tensor, attrs ...layout.Attr) error {
	if s.opts.ReadOnly {
		return fmt.Errorf("%w: %s was opened for reading", ErrReadOnly, s.path)
	}
	// Encoded before the lock is taken, so that concurrent puts do it side by side.
	r, err := s.encodeBeside(name, t, attrs)
	if err != nil {
		return err
	}
	taken := false
	err = s.commit(func(b *batch) error {
		taken = true
		return b.put(r)
	})
	if !taken { // closed meanwhile, or failed
		s.discard(r)
	}
	return err
}

// encodeBeside is encode for a caller without the lock s.writing.
func (s *Store) encodeBeside(name string, t layout.Tensor, attrs []layout.Attr) (*encoded, error) {
	use, err := s.beginCall()
	if err != nil {
		return nil, err
	}
	defer use.end() // also when a tensor that is none makes encode panic
	if err := s.group.failure(); err != nil {
		return nil, err
	}
	return s.encode(name, t, attrs)
}

// Delete removes the tensor of the given name, or returns ErrNotFound.
func (s *Store) Delete(name string) error {
	return s.commit(func(b *batch) error { return b.delete(name) })
}

// Rename gives the tensor called from the name to, without moving its data. See
// Tx.Rename.
func (s *Store) Rename(from, to string) error {
	return s.commit(func(b *batch) error { return b.rename(from, to) })
}
