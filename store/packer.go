package store

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// packer reads the tensors of a store and adds them to a package, in the order of
// their names. Small ones are gathered in lots. Several goroutines read and encode
// lots; one writes them, in order. All of them together hold a few MiB.
type packer struct {
	ctx      context.Context
	cancel   context.CancelFunc
	state    *state
	to       *PackageWriter
	progress func(done, total int64)
	done     int64
	total    int64

	from *segment.File // if the tensors are those of a package, its file
	end  int64         // of the last record in it that was packed

	lot     *lot      // that is being filled; nil if it is empty
	free    chan *lot // that can be filled
	encode  chan *lot // to the goroutines that encode
	ordered chan *lot // to the one that writes, in the order of the names
	ended   sync.WaitGroup
	pending sync.WaitGroup // lots that are not written yet
	late    []lateMember   // large tensors that are not in the index yet; then there are no lots

	mu  sync.Mutex
	err error // the first, by the order of the names
}

// lot is small tensors on their way.
type lot struct {
	entries []*Entry
	size    int64 // of the records
	members []member
	memory  []byte        // that their records are read into
	encoded chan struct{} // one value once they have been
	err     error         // in which that ended
}

// Lots are this large so that what is read is still in a cache when it is written.
const (
	lotEntries = 512
	lotBytes   = 1 << 20

	// Records that lie close to one another are read in one piece.
	runGap   = 4 << 10
	runBytes = 128 << 10
)

// start starts the goroutines. stop has to be called.
func (k *packer) start() {
	workers := runtime.GOMAXPROCS(0)
	lots := 2*workers + 2
	k.free, k.encode, k.ordered = make(chan *lot, lots), make(chan *lot, lots), make(chan *lot, lots)
	for range lots {
		k.free <- &lot{encoded: make(chan struct{}, 1)}
	}
	for range workers {
		k.ended.Go(func() {
			w := packWorker{state: k.state, digest: newDigester()}
			for l := range k.encode {
				if l.err = k.ctx.Err(); l.err == nil {
					l.err = w.encode(l)
				}
				l.encoded <- struct{}{}
			}
		})
	}
	k.ended.Go(func() {
		for l := range k.ordered {
			<-l.encoded
			k.write(l)
			l.entries, l.size = l.entries[:0], 0
			k.free <- l
			k.pending.Done()
		}
	})
}

// stop ends the goroutines, whatever they are at.
func (k *packer) stop() {
	k.cancel()
	for _, l := range k.late {
		<-l.done
	}
	close(k.encode)
	close(k.ordered)
	k.ended.Wait()
}

// small adds a tensor to the lot.
func (k *packer) small(e *Entry) error {
	if k.lot == nil {
		if err := k.failed(); err != nil {
			return err
		}
		k.lot = <-k.free
	}
	l := k.lot
	l.entries = append(l.entries, e)
	l.size += e.Length
	if len(l.entries) >= lotEntries || l.size >= lotBytes {
		k.send()
	}
	return nil
}

// send lets the lot go.
func (k *packer) send() {
	if l := k.lot; l != nil {
		k.lot = nil
		k.pending.Add(1)
		k.encode <- l
		k.ordered <- l
	}
}

// drain returns when everything is written and in the index.
func (k *packer) drain() error {
	if err := k.drainSmall(); err != nil {
		return err
	}
	return k.drainLarge()
}

func (k *packer) drainSmall() error {
	k.send()
	k.pending.Wait()
	return k.failed()
}

func (k *packer) drainLarge() error {
	for len(k.late) > 0 {
		if err := k.settle(); err != nil {
			return err
		}
	}
	return nil
}

// failed is the error in which the work of the goroutines ended.
func (k *packer) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// write adds the members of l to the package.
func (k *packer) write(l *lot) {
	if k.failed() != nil {
		return
	}
	err := l.err
	for i := 0; i < len(l.members) && err == nil; i++ {
		err = k.to.add(&l.members[i])
	}
	if err != nil {
		k.mu.Lock()
		k.err = err
		k.mu.Unlock()
		return
	}
	k.packed(l.size)
}

// packWorker encodes lots.
type packWorker struct {
	state   *state
	encoder codec.Encoder
	digest  *digester
	meta    []layout.Attr
}

// encode makes the members of a lot.
func (w *packWorker) encode(l *lot) error {
	l.members = slices.Grow(l.members[:0], len(l.entries))[:0]
	total := int64(0)
	for i := 0; i < len(l.entries); {
		n, size := run(l.entries[i:])
		total += size
		i += n
	}
	if need := total + segment.Alignment; int64(cap(l.memory)) < need {
		l.memory = make([]byte, need)
	}
	memory := segment.AlignedPart(l.memory[:cap(l.memory)])
	for i := 0; i < len(l.entries); {
		n, size := run(l.entries[i:])
		if err := w.run(l, l.entries[i:i+n], memory[:size:size]); err != nil {
			return err
		}
		memory = memory[size:]
		i += n
	}
	return nil
}

// run returns how many of the entries, the first and some that follow it, have their
// records so close to one another that they are read in one piece, and its size.
func run(entries []*Entry) (n int, size int64) {
	first := entries[0]
	end := first.Offset + first.Length
	for n = 1; n < len(entries); n++ {
		e := entries[n]
		if e.Segment != first.Segment || e.Offset < end || e.Offset-end > runGap || e.Offset+e.Length-first.Offset > runBytes {
			break
		}
		end = e.Offset + e.Length
	}
	return n, end - first.Offset
}

// run reads the records of entries, which run has chosen, by pread into memory, and
// makes members of them.
func (w *packWorker) run(l *lot, entries []*Entry, memory []byte) error {
	first := entries[0]
	f, err := w.state.segment(first.Segment, first.Name)
	if err != nil {
		return err
	}
	if err := f.ReadRange(memory, first.Offset); err != nil {
		return fmt.Errorf("tensor %q: %w", first.Name, err)
	}
	for _, e := range entries {
		at := e.Offset - first.Offset
		l.members = append(l.members, member{})
		if err := w.member(&l.members[len(l.members)-1], f, e, memory[at:at+e.Length:at+e.Length]); err != nil {
			return err
		}
	}
	return nil
}

// member makes m the tensor of e, whose record has been read, as it stands in a
// package. Most records stand there as they are in a store.
func (w *packWorker) member(m *member, f *segment.File, e *Entry, record []byte) error {
	if got := segment.Checksum(record); got != e.CRC {
		return wrongChecksum(f, e, got)
	}
	t, err := decodeSound(f, e, record)
	if err != nil {
		return err
	}
	m.attrs = sortedAttrs(e.Attrs)
	w.meta = memberMetadata(w.meta[:0], e.Name, m.attrs)
	if m.record, err = w.encoder.Encode(t, w.meta); err != nil {
		return fmt.Errorf("tensor %q: %w", e.Name, err)
	}
	if err := m.describe(e.Name, t); err != nil {
		return err
	}
	m.digest = w.digest.tensor(e.Name, t, m.attrs, m.record)
	if m.record.Equal(record) {
		m.bytes, m.entry.CRC = record, e.CRC
	} else {
		m.bytes = m.record.AppendTo(nil)
		m.entry.CRC = segment.Checksum(m.bytes)
	}
	m.record = nil // the encoder uses its memory again
	return nil
}
