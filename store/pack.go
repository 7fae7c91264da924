package store

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// PackOptions are what to pack. The zero value, or nil, stands for all tensors.
type PackOptions struct {
	// Prefixes choose the tensors whose names begin with one of them. Without any,
	// all are chosen.
	Prefixes []string
	// Attrs are the attributes of the dataset as a whole. PackTo has no use for
	// them: it adds to a package that has its own.
	Attrs []layout.Attr
	// Progress, if not nil, is called now and then with the bytes of records that
	// have been packed and those that there are in all, by one goroutine at a time.
	// All names are then listed once more, beforehand.
	Progress func(done, total int64)
}

// Pack writes tensors to a package at path. It shows the store as it was when Pack
// began. See CreatePackage for what becomes of the file. After an error, that of ctx
// for instance, none is left.
func (s *Store) Pack(ctx context.Context, path string, o *PackOptions) (Digest, error) {
	if o == nil {
		o = &PackOptions{}
	}
	sn, err := s.Snapshot()
	if err != nil {
		return Digest{}, err
	}
	defer sn.Close()
	p, err := CreatePackage(path, o.Attrs...)
	if err != nil {
		return Digest{}, err
	}
	defer p.Abort()
	if err := sn.PackTo(ctx, p, o); err != nil {
		return Digest{}, fmt.Errorf("packing into %s: %w", path, err)
	}
	return p.Close()
}

// PackTo adds tensors of the snapshot to p, each compared with its checksum on the
// way. After an error, that of ctx for instance, p can only be aborted.
func (sn *Snapshot) PackTo(ctx context.Context, p *PackageWriter, o *PackOptions) error {
	if sn.tx.done.Load() {
		return ErrTxDone
	}
	if o == nil {
		o = &PackOptions{}
	}
	err := packTo(ctx, sn.tx.state, p, o)
	if err != nil {
		p.fail(err)
	}
	return err
}

func packTo(ctx context.Context, st *state, p *PackageWriter, o *PackOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := packer{ctx: ctx, cancel: cancel, state: st, to: p, progress: o.Progress}
	if len(st.sealed) == 1 && st.sealed[0].attached == nil && st.sealed[0].file.Header.Kind == segment.KindPackage {
		k.from = st.sealed[0].file
	}
	if k.progress != nil {
		for e, err := range selected(st, o.Prefixes) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			k.total += e.Length
		}
	}
	k.start()
	defer k.stop()
	for e, err := range selected(st, o.Prefixes) {
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

// add packs the tensor of e, which comes behind all that were added before.
func (k *packer) add(e *Entry) error {
	if k.from != nil {
		// In a package records have the order of the names. If they shared bytes, a
		// small file could become an endless one.
		if e.Offset < k.end {
			return fmt.Errorf("%s: %w: the record of %q at offset %d begins before the end of another one, %d", k.from.Path, ErrCorrupt, e.Name, e.Offset, k.end)
		}
		k.end = e.Offset + e.Length
	}
	if e.Length > smallRecord {
		if err := k.drainSmall(); err != nil {
			return err
		}
		return k.large(e)
	}
	if err := k.drainLarge(); err != nil {
		return err
	}
	return k.small(e)
}

// large writes a tensor from the map, while its digest, and the checksum of what is
// read if that is not what is written, are computed beside. That takes longer than
// writing: so the next one is begun before it is done.
func (k *packer) large(e *Entry) error {
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
	same := false
	err = guarded(f, e.Name, func() (err error) {
		if t, err = decodeSound(f, e, old); err != nil {
			return err
		}
		if m, err = newMember(e, t); err == nil {
			same = m.record.Equal(old)
		}
		return err
	})
	if err != nil {
		return err
	}
	for len(k.late) >= runtime.GOMAXPROCS(0) {
		if err := k.settle(); err != nil {
			return err
		}
	}
	l := lateMember{m, make(chan error, 1)}
	k.late = append(k.late, l)
	go func() {
		l.done <- guarded(f, e.Name, func() (err error) {
			if m.digest, err = newDigester().largeTensor(k.ctx, e.Name, t, m.attrs, m.record); err != nil || same {
				return err
			}
			if got, err := checksumOf(k.ctx, old); err != nil {
				return err
			} else if got != e.CRC {
				return wrongChecksum(f, e, got)
			}
			return nil
		})
	}()
	err = guarded(f, e.Name, func() error {
		return k.to.write(m, func(n int64) error {
			k.packed(n)
			return k.ctx.Err()
		})
	})
	if err == nil && same && m.entry.CRC != e.CRC {
		err = wrongChecksum(f, e, m.entry.CRC)
	}
	return err
}

// lateMember is a large tensor that is written, but may not have its digest yet.
type lateMember struct {
	*member
	done chan error
}

// settle takes the first tensor that is not in the index yet into it.
func (k *packer) settle() error {
	l := k.late[0]
	k.late = k.late[1:]
	if err := <-l.done; err != nil {
		return err
	}
	return k.to.index(l.member)
}

// decodeSound makes a tensor of the record of e, which may come from a package that
// was attached as it was: the indices of a sparse one are checked, and that e has no
// attributes which a tensor can't have.
func decodeSound(f *segment.File, e *Entry, record []byte) (layout.Tensor, error) {
	t, err := decode(f, e.Name, e.Offset, record, e)
	if err != nil {
		return nil, err
	}
	if err := checkIndices(t); err != nil {
		return nil, fmt.Errorf("tensor %q: %s: %w: record at offset %d: %w", e.Name, f.Path, ErrCorrupt, e.Offset, err)
	}
	for _, a := range e.Attrs {
		if strings.HasPrefix(a.Key, codec.ReservedPrefix) {
			return nil, fmt.Errorf("tensor %q: %s: %w: the index gives it the attribute %q, which no tensor has", e.Name, f.Path, ErrCorrupt, a.Key)
		}
	}
	return t, nil
}

// newMember is the tensor t of e as it stands in a package, without its digest.
func newMember(e *Entry, t layout.Tensor) (*member, error) {
	m := &member{attrs: sortedAttrs(e.Attrs)}
	var err error
	if m.record, err = codec.Encode(t, memberMetadata(nil, e.Name, m.attrs)); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", e.Name, err)
	}
	return m, m.describe(e.Name, t)
}

// checksumOf is the CRC-32C of b, unless ctx ends meanwhile.
func checksumOf(ctx context.Context, b []byte) (crc uint32, err error) {
	for len(b) > 0 && err == nil {
		n := min(len(b), digestPiece)
		crc = segment.UpdateChecksum(crc, b[:n])
		b, err = b[n:], ctx.Err()
	}
	return crc, err
}

// packed counts n bytes of records.
func (k *packer) packed(n int64) {
	if k.progress != nil {
		k.done = min(k.done+n, k.total) // heads may have become longer
		k.progress(k.done, k.total)
	}
}
