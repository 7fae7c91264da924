package store

import (
	"fmt"
	"iter"
	"runtime"
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
// by several goroutines, a lot at a time, and written in order.
type packer struct {
	state *state
	to    *PackageWriter

	lot   []*Entry
	bytes int64 // of the records in lot
}

const (
	lotEntries = 512
	lotBytes   = 8 << 20
)

func (k *packer) add(e *Entry) error {
	if e.Length > smallRecord {
		if err := k.drain(); err != nil {
			return err
		}
		return k.large(e)
	}
	k.lot = append(k.lot, e)
	k.bytes += e.Length
	if len(k.lot) >= lotEntries || k.bytes >= lotBytes {
		return k.drain()
	}
	return nil
}

// drain adds the lot.
func (k *packer) drain() error {
	members := make([]*member, len(k.lot))
	workers := min(runtime.GOMAXPROCS(0), len(k.lot))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			d := newDigester()
			for i := w; i < len(k.lot); i += workers {
				if members[i], errs[w] = k.small(k.lot[i], d); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for _, m := range members {
		if err := k.to.add(m); err != nil {
			return err
		}
	}
	k.lot, k.bytes = k.lot[:0], 0
	return nil
}

// small reads a tensor by pread, which compares it with its checksum.
func (k *packer) small(e *Entry, d *digester) (*member, error) {
	t, err := k.state.read(e)
	if err != nil {
		return nil, err
	}
	m, err := prepareMember(e.Name, t, e.Attrs)
	if err != nil {
		return nil, err
	}
	m.finish(d)
	return m, nil
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
			m.digest = newDigester().tensor(e.Name, t, m.entry.Attrs, m.record)
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
