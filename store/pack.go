package store

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// Pack writes the tensors whose names begin with one of the prefixes, all of them
// if there are none, to a package at path, with the given attributes of the
// dataset. The package shows the store as it was when Pack began. See
// CreatePackage.
func (s *Store) Pack(path string, attrs []layout.Attr, prefixes ...string) (Digest, error) {
	sn, err := s.Snapshot()
	if err != nil {
		return Digest{}, err
	}
	defer sn.Close()
	p, err := CreatePackage(path, attrs...)
	if err != nil {
		return Digest{}, err
	}
	defer p.Abort()
	if err := sn.PackTo(p, prefixes...); err != nil {
		return Digest{}, fmt.Errorf("packing into %s: %w", path, err)
	}
	return p.Close()
}

// PackTo adds the tensors of the snapshot whose names begin with one of the
// prefixes, all of them if there are none, to p. Each is compared with its
// checksum on the way.
func (sn *Snapshot) PackTo(p *PackageWriter, prefixes ...string) error {
	if sn.tx.done.Load() {
		return ErrTxDone
	}
	k := packer{state: sn.tx.state, to: p}
	for e, err := range selected(sn.tx.state, prefixes) {
		if err != nil {
			return err
		}
		if err := k.add(e); err != nil {
			return err
		}
	}
	return k.drain()
}

// selected yields the entries whose names begin with one of the prefixes, by name.
func selected(st *state, prefixes []string) iter.Seq2[*Entry, error] {
	if len(prefixes) == 1 {
		return st.list(prefixes[0])
	}
	return func(yield func(*Entry, error) bool) {
		for e, err := range st.list("") {
			if err == nil && len(prefixes) > 0 && !hasAnyPrefix(e.Name, prefixes) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func hasAnyPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// packer reads tensors and adds them to a package. Small ones are read and encoded
// by several goroutines, a lot at a time, while the lot before is written.
type packer struct {
	state *state
	to    *PackageWriter

	lot   *lot
	spare *lot
	busy  chan error // of the goroutine that writes the lot before; nil if there is none

	written *lot // by that goroutine
}

// lot is small tensors on their way.
type lot struct {
	entries []*Entry
	members []*member
	bytes   int64    // of the records
	arenas  [][]byte // one for each goroutine, where the records are put together
}

const (
	lotEntries = 1024
	lotBytes   = 4 << 20
)

func (k *packer) add(e *Entry) error {
	if e.Length > smallRecord {
		if err := k.drain(); err != nil {
			return err
		}
		return k.large(e)
	}
	if k.lot == nil {
		k.lot, k.spare = k.spare, nil
		if k.lot == nil {
			k.lot = &lot{}
		}
	}
	k.lot.entries = append(k.lot.entries, e)
	k.lot.bytes += e.Length
	if len(k.lot.entries) >= lotEntries || k.lot.bytes >= lotBytes {
		return k.send()
	}
	return nil
}

// send encodes the lot and has it written.
func (k *packer) send() error {
	l := k.lot
	if l == nil {
		return nil
	}
	k.lot = nil
	if err := k.encode(l); err != nil {
		return errors.Join(err, k.wait())
	}
	if err := k.wait(); err != nil {
		return err
	}
	k.busy = make(chan error, 1)
	go func(busy chan<- error) {
		for _, m := range l.members {
			if err := k.to.add(m); err != nil {
				busy <- err
				return
			}
		}
		busy <- nil
	}(k.busy)
	// The lot that was written before this one can be used again, once this has been.
	k.spare, k.written = k.written, l
	return nil
}

// drain adds everything that is under way.
func (k *packer) drain() error { return errors.Join(k.send(), k.wait()) }

// wait returns when the lot that is being written is.
func (k *packer) wait() error {
	if k.busy == nil {
		return nil
	}
	err := <-k.busy
	k.busy = nil
	if k.written != nil {
		k.written.entries, k.written.bytes = k.written.entries[:0], 0
	}
	return err
}

// encode makes the members of a lot.
func (k *packer) encode(l *lot) error {
	l.members = slices.Grow(l.members[:0], len(l.entries))[:len(l.entries)]
	workers := min(runtime.GOMAXPROCS(0), len(l.entries))
	for len(l.arenas) < workers {
		l.arenas = append(l.arenas, nil)
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			d := newDigester()
			arena := l.arenas[w][:0]
			for i := w * len(l.entries) / workers; i < (w+1)*len(l.entries)/workers; i++ {
				if l.members[i], arena, errs[w] = k.small(l.entries[i], d, arena); errs[w] != nil {
					return
				}
			}
			l.arenas[w] = arena
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// small reads a tensor by pread, compares it with its checksum and encodes it as it
// stands in a package. Both records are put into arena, which is returned longer.
func (k *packer) small(e *Entry, d *digester, arena []byte) (*member, []byte, error) {
	f, err := k.state.segment(e.Segment, e.Name)
	if err != nil {
		return nil, arena, err
	}
	d.record = slices.Grow(d.record[:0], int(e.Length)+segment.Alignment)
	record := segment.AlignedPart(d.record[:cap(d.record)])[:e.Length]
	if err := f.ReadRange(record, e.Offset); err != nil {
		return nil, arena, fmt.Errorf("tensor %q: %w", e.Name, err)
	}
	if got := segment.Checksum(record); got != e.CRC {
		return nil, arena, wrongChecksum(f, e, got)
	}
	t, err := decode(f, e.Name, e.Offset, record, e)
	if err != nil {
		return nil, arena, err
	}
	m, err := encodeMember(e.Name, t, e.Attrs)
	if err != nil {
		return nil, arena, err
	}
	m.describe(e)
	start := len(arena)
	arena = m.record.AppendTo(arena)
	m.finish(d, arena[start:len(arena):len(arena)])
	return m, arena, nil
}

// large writes a tensor from the map, while its digest and the checksum of what is
// read are computed beside.
func (k *packer) large(e *Entry) (err error) {
	f, err := k.state.segment(e.Segment, e.Name)
	if err != nil {
		return err
	}
	old, err := f.Bytes(e.Offset, e.Length)
	if err != nil {
		return fmt.Errorf("tensor %q: %w", e.Name, err)
	}
	var t layout.Tensor
	var m *member
	err = guarded(f, e.Name, func() (err error) {
		if t, err = decode(f, e.Name, e.Offset, old, e); err == nil {
			m, err = prepareMember(e.Name, t, e.Attrs)
		}
		return err
	})
	if err != nil {
		return err
	}
	beside := make(chan error, 1)
	go func() {
		beside <- guarded(f, e.Name, func() error {
			m.digest = newDigester().tensor(e.Name, t, m.attrs, m.record)
			if got := segment.Checksum(old); got != e.CRC {
				return wrongChecksum(f, e, got)
			}
			return nil
		})
	}()
	err = guarded(f, e.Name, func() error { return k.to.write(m) })
	if berr := <-beside; err == nil {
		err = berr
	}
	if err != nil {
		k.to.fail(err)
		return err
	}
	return k.to.index(m)
}
