package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// Batch is one committed batch of a log.
type Batch struct {
	Start   int64 // where its first record begins
	End     int64 // just past its commit record
	CRC     uint32
	Commit  *Commit
	Records []Record // the put records of the batch, by offset
}

// Record is a put record that Walk stepped over.
type Record struct {
	Offset int64
	Length int64
	Info   codec.Info
	Attrs  []layout.Attr
}

// Record returns the put record of b that l names, or nil.
func (b *Batch) Record(l Location) *Record {
	lo, hi := 0, len(b.Records)
	for lo < hi {
		if mid := (lo + hi) / 2; b.Records[mid].Offset < l.Offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(b.Records) || b.Records[lo].Offset != l.Offset || b.Records[lo].Length != l.Length {
		return nil
	}
	return &b.Records[lo]
}

// WalkOptions say which part of which log to walk.
type WalkOptions struct {
	Number uint64
	UUID   ID
	// From is where to start: the end of the header, or of a commit record.
	From int64
	// Limit is the length of the file, or of the part of it that counts.
	Limit int64
	// Exact says that batches fill the log up to Limit, as a later segment's
	// header has recorded.
	Exact bool
	// Seq is the sequence number of the last batch before From, and Closed says that
	// its commit record was the mark of a clean close.
	Seq    uint64
	Closed bool
}

// Tail is how a log ends.
type Tail struct {
	End     int64  // just past the last batch that counts
	Seq     uint64 // its sequence number
	Offset  int64  // of its commit record; 0 if Walk saw none
	CRC     uint32 // of its commit record
	Durable int64  // all before was known to be on disk by the last record that says so
	Clean   bool   // the log was closed properly after its last batch
	Torn    bool   // there are bytes behind End that were never acknowledged
}

// Walk goes through a log by pread and hands over its batches in order. It
// stops at the first thing that is no message, then decides which it is: the
// tail of a write that a crash tore, which ends the log, or damage to what was
// durable, which is ErrCorrupt with its offset.
//
// What is durable is told by commit records alone, those behind the stop
// included: it searches on for them in steps of 64 bytes. A batch before that
// position counts; behind it a batch counts if each of its records has the CRC
// that its commit record gives, and every batch before it counts, since one
// sync gives no order among the blocks it writes.
func Walk(r io.ReaderAt, o WalkOptions, yield func(*Batch) error) (Tail, error) {
	w := walker{window: newWindow(r, o.Limit), o: o, yield: yield}
	w.tail = Tail{End: o.From, Seq: o.Seq, Durable: o.From, Clean: o.Closed}
	if o.Exact {
		w.tail.Durable = o.Limit
	}
	return w.walk()
}

type walker struct {
	*window
	o       WalkOptions
	yield   func(*Batch) error
	tail    Tail
	pending []*Batch // committed, but not known to be durable
}

// errNoMessage says that the log ends here: zeros, or no room for a message.
var errNoMessage = errors.New("no message")

func (w *walker) walk() (Tail, error) {
	batch, seq := &Batch{Start: w.o.From}, w.o.Seq
	again := int64(-1) // the start of the batch that was read a second time
	dirty := false
	for {
		pos, stop := w.batches(&batch, &seq)
		var final *finalError
		if errors.As(stop, &final) {
			return w.tail, final.err
		}
		if errors.Is(stop, ErrNewerFormat) {
			// Whole, with the right CRC, and beyond this version: not the end.
			return w.tail, fmt.Errorf("commit record at offset %d: %w", pos, stop)
		}
		if !w.o.Exact {
			durable, nonzero, err := w.searchOn(batch.Start)
			if err != nil {
				return w.tail, err
			}
			dirty = nonzero
			w.tail.Durable = max(w.tail.Durable, durable)
		}
		if w.tail.Durable <= batch.Start {
			break
		}
		// Beside a writer, what was read before it had written, and what is called
		// durable since, do not contradict each other: the bytes are there by now.
		if !w.o.Exact && again != batch.Start {
			again = batch.Start
			batch = &Batch{Start: batch.Start}
			w.forget()
			continue
		}
		if errors.Is(stop, errNoMessage) {
			stop = fmt.Errorf("%w: no message where one was", ErrCorrupt)
		}
		return w.tail, fmt.Errorf("damage at offset %d, where all up to %d was durable: %w", pos, w.tail.Durable, corrupt(stop))
	}
	if err := w.emitDurable(); err != nil {
		return w.tail, err
	}
	for _, b := range w.pending {
		whole, err := w.recordsWhole(b)
		if err != nil {
			return w.tail, err
		}
		if !whole {
			dirty = true
			break
		}
		if err := w.emit(b); err != nil {
			return w.tail, err
		}
	}
	w.tail.Torn = dirty
	w.tail.Clean = w.tail.Clean && !dirty
	return w.tail, nil
}

// batches goes through batches, the first of which is batch and follows the one
// with the sequence number seq, until there is something else, and returns what
// that is and where. It leaves the unfinished batch in batch.
func (w *walker) batches(batch **Batch, seq *uint64) (int64, error) {
	for pos := (*batch).Start; ; {
		m, err := w.messageAt(pos)
		if err != nil {
			return pos, err
		}
		b := *batch
		if m.commit == nil {
			m.record.Offset, m.record.Length = pos, m.length
			b.Records = append(b.Records, m.record)
			pos += m.length
			continue
		}
		switch c := m.commit; {
		case c.Seq != *seq+1:
			// None is left out: a record whose length is damaged could hide a batch.
			return pos, fmt.Errorf("%w: sequence number %d after %d", ErrCorrupt, c.Seq, *seq)
		case c.DurableTo > b.Start && !c.IsClose():
			return pos, fmt.Errorf("%w: commit record calls its own batch durable", ErrCorrupt)
		}
		b.Commit, b.End, b.CRC = m.commit, pos+m.length, m.crc
		if err := w.checkOps(b); err != nil {
			return pos, err
		}
		*seq = m.commit.Seq
		pos = b.End
		*batch = &Batch{Start: pos}
		w.pending = append(w.pending, b)
		w.tail.Durable = max(w.tail.Durable, m.commit.DurableTo)
		if err := w.emitDurable(); err != nil {
			return pos, err
		}
	}
}

// corrupt makes sure that err is ErrCorrupt, unless it says something else that
// a caller tests for.
func corrupt(err error) error {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewerFormat) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// message is what stands at an offset of a log.
type message struct {
	length int64
	commit *Commit // or nil, then it is a put record
	crc    uint32
	record Record
}

// finalError marks a failed read, or an error of who takes the batches: it says
// nothing about where the log ends.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

func (w *walker) look(off, n int64) ([]byte, error) {
	b, err := w.peek(off, n)
	if err != nil {
		return nil, &finalError{err}
	}
	return b, nil
}

// messageAt reads the head of the message at pos, and all of a commit record.
func (w *walker) messageAt(pos int64) (message, error) {
	first, err := w.look(pos, Alignment)
	if err != nil {
		return message{}, err
	}
	if first == nil || isZero(first) {
		return message{}, errNoMessage
	}
	headLen, err := codec.HeadSize(first)
	if err != nil {
		return message{}, err
	}
	headBytes, err := w.look(pos, headLen)
	if err != nil {
		return message{}, err
	}
	if headBytes == nil {
		return message{}, fmt.Errorf("%w: metadata of %d bytes where the log ends at %d", ErrCorrupt, headLen, w.size)
	}
	head, err := codec.ParseHead(headBytes)
	if err != nil {
		return message{}, err
	}
	m := message{length: head.Len()}
	if m.length%Alignment != 0 || m.length > w.size-pos {
		return message{}, fmt.Errorf("%w: message of %d bytes where the log ends at %d", ErrCorrupt, m.length, w.size)
	}
	switch head.Kind {
	case codec.HeaderTensor, codec.HeaderSparseTensor:
		if m.record.Info, err = head.Describe(); err != nil {
			return message{}, err
		}
		m.record.Attrs = codec.DecodeAttrs(&head)
		return m, nil
	case codec.HeaderNone:
		record, err := w.look(pos, m.length)
		if err != nil {
			return message{}, err
		}
		m.crc = RecordCRC(record)
		m.commit, err = parseCommit(record, w.o.UUID, pos)
		return m, err
	}
	return message{}, fmt.Errorf("%w: message of a kind that a log does not hold", ErrCorrupt)
}

// checkOps makes sure that each put of a batch in this log names one of its own
// records, and none lies in the future.
func (w *walker) checkOps(b *Batch) error {
	for i := range b.Commit.Ops {
		op := &b.Commit.Ops[i]
		l := &op.Location
		if !op.hasLocation() || l.Segment != w.o.Number {
			continue
		}
		if l.UUID != w.o.UUID || l.Offset+l.Length > b.Commit.Offset {
			return fmt.Errorf("%w: %q is said to lie at offset %d of segment %d (%v)", ErrCorrupt, op.Name, l.Offset, l.Segment, l.UUID)
		}
		if op.Kind == OpPut && b.Record(*l) == nil {
			return fmt.Errorf("%w: %q is said to lie at offset %d, where this batch has no record", ErrCorrupt, op.Name, l.Offset)
		}
	}
	return nil
}

func (w *walker) emit(b *Batch) error {
	if err := w.yield(b); err != nil {
		return &finalError{err}
	}
	w.tail.End, w.tail.Seq, w.tail.Offset, w.tail.CRC = b.End, b.Commit.Seq, b.Commit.Offset, b.CRC
	w.tail.Clean = b.Commit.IsClose()
	return nil
}

// emitDurable hands over the pending batches that are known to be durable.
func (w *walker) emitDurable() error {
	for len(w.pending) > 0 && w.pending[0].End <= w.tail.Durable {
		if err := w.emit(w.pending[0]); err != nil {
			return err
		}
		w.pending = w.pending[1:]
	}
	return nil
}

// recordsWhole reads the records of b and compares their CRCs.
func (w *walker) recordsWhole(b *Batch) (bool, error) {
	for i := range b.Commit.Ops {
		op := &b.Commit.Ops[i]
		if op.Kind != OpPut || op.Location.Segment != w.o.Number {
			continue
		}
		crc, err := checksumAt(w.r, op.Location.Offset, op.Location.Length, nil, nil)
		if err != nil {
			return false, fmt.Errorf("record at offset %d: %w", op.Location.Offset, err)
		}
		if crc != op.Location.CRC {
			return false, nil
		}
	}
	return true, nil
}

// checksumAt is the CRC-32C of n bytes of r from off, read by pread into buf, or memory of
// its own if that is nil. read, if not nil, is called with the bytes that were read.
func checksumAt(r io.ReaderAt, off, n int64, buf []byte, read func(n int64)) (uint32, error) {
	var crc uint32
	if buf == nil {
		buf = make([]byte, min(n, 1<<20))
	}
	for n > 0 {
		b := buf[:min(n, int64(len(buf)))]
		if err := readFull(r, b, off); err != nil {
			return 0, err
		}
		crc = UpdateChecksum(crc, b)
		off += int64(len(b))
		n -= int64(len(b))
		if read != nil {
			read(int64(len(b)))
		}
	}
	return crc, nil
}

// searchOn looks through the rest of the log, from the start of the batch that is
// not whole to the limit, for commit records of this log: also inside of what
// looks like records, since their lengths may be damaged. It returns the furthest
// position that one of them calls durable, and whether there is anything but zeros.
func (w *walker) searchOn(from int64) (durable int64, nonzero bool, err error) {
	// Each candidate is read whole once. Many that overlap can only be hostile.
	budget := 4*(w.size-from) + 1<<20
	for pos := from; pos < w.size; pos += Alignment {
		b, err := w.look(pos, min(Alignment, w.size-pos))
		if err != nil {
			return 0, false, err
		}
		if b == nil { // the file has become shorter
			pos -= Alignment
			continue
		}
		if isZero(b) {
			continue
		}
		nonzero = true
		if pos%Alignment != 0 || !bytes.HasPrefix(b, messagePrefix) {
			continue
		}
		commit, err := w.commitAt(pos, &budget)
		switch {
		case err != nil:
			return 0, false, err
		case budget < 0:
			return 0, false, fmt.Errorf("%w: commit records that overlap, the last at offset %d", ErrCorrupt, pos)
		case commit != nil:
			durable = max(durable, commit.DurableTo)
		}
	}
	return durable, nonzero, nil
}

var messagePrefix = []byte{0xff, 0xff, 0xff, 0xff}

// commitAt returns the valid commit record of this log at pos, or nil. A record
// that says it belongs elsewhere, as those do that are stored inside a tensor, is
// not read; what is read is taken off budget. An error is one of reading.
func (w *walker) commitAt(pos int64, budget *int64) (*Commit, error) {
	first, err := w.look(pos, min(controlHeadLen, w.size-pos))
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(first, []byte(KeyCommit)) {
		return nil, nil
	}
	head, err := codec.ParseHead(first)
	if err != nil || head.Len() > w.size-pos || head.HeaderLen+commitFixed > int64(len(first)) || !isCommitOf(first[head.HeaderLen:], w.o.UUID, pos) {
		return nil, nil
	}
	*budget -= head.Len()
	record, err := readRecord(w.r, pos, w.size, w.size)
	if errors.Is(err, ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, &finalError{err}
	}
	commit, err := parseCommit(record, w.o.UUID, pos)
	if errors.Is(err, ErrNewerFormat) {
		return nil, &finalError{fmt.Errorf("commit record at offset %d: %w", pos, err)}
	}
	if err != nil {
		return nil, nil
	}
	return commit, nil
}

// controlHeadLen is enough of a control record to see its key and what belongs to
// every commit.
const controlHeadLen = 512

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
