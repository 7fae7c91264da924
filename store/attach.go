package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/store/internal/segment"
)

// Clash says what to do with a name that is in a package and in the store.
type Clash int

const (
	ClashFails    Clash = iota // nothing is attached: ErrExists
	ClashReplaces              // the package's tensor takes the place of the store's
	ClashKeeps                 // the store keeps its own
)

// AttachOptions are how to attach a package. The zero value, or nil, copies the file
// and refuses clashes.
type AttachOptions struct {
	// Prefix is put before every name of the package.
	Prefix string
	// Clash says what to do with names that the store has already.
	Clash Clash
	// Link makes a hard link instead of a copy. The file must then never be changed
	// by others, and be on the same file system.
	Link bool
}

// Attach makes the tensors of the package at path a part of the store, as one
// batch, without decoding or rewriting them: the file becomes a segment. It returns
// how many tensors the store has got from it.
func (s *Store) Attach(path string, o *AttachOptions) (int, error) {
	if o == nil {
		o = &AttachOptions{}
	}
	n, err := s.attach(path, o)
	if err != nil {
		return 0, fmt.Errorf("attaching %s: %w", path, err)
	}
	return n, nil
}

func (s *Store) attach(path string, o *AttachOptions) (int, error) {
	if s.opts.ReadOnly {
		return 0, fmt.Errorf("%w: %s was opened for reading", ErrReadOnly, s.path)
	}
	use, err := s.beginCall()
	if err != nil {
		return 0, err
	}
	f, err := s.takeIn(path, o)
	use.end()
	if err != nil {
		return 0, err
	}
	count := 0
	written, err := s.write(func(b *batch) error {
		l, err := openPackageIndex(f)
		if err != nil {
			return err
		}
		l.attached = &attachment{seq: b.seq, digest: l.frozen.Digest(), prefix: o.Prefix}
		l.last = b.seq
		err = guarded(f, o.Prefix, func() (err error) {
			defer b.base.rescue(o.Prefix, &err)
			count, err = l.attached.settle(l, b, o.Clash)
			return err
		})
		if err != nil || count == 0 {
			return err
		}
		return b.attach(l)
	})
	switch {
	case errors.Is(err, ErrOutcomeUnknown):
		return 0, err
	case err != nil || written == nil: // written is nil if the store has got nothing
		f.Retire()
		s.opts.fs.Remove(f.Path)
		return 0, err
	}
	return count, s.await(written)
}

// takeIn brings the file into the directory of segments under a number of its own.
func (s *Store) takeIn(path string, o *AttachOptions) (*segment.File, error) {
	p, err := segment.Open(s.opts.fs, path, false)
	if err != nil {
		return nil, err
	}
	defer p.Retire()
	l, err := openPackageIndex(p)
	if err != nil {
		return nil, err
	}
	if err := guarded(p, "", l.frozen.Verify); err != nil {
		return nil, fmt.Errorf("%s: %w", path, fromIndex(err))
	}
	if err := l.checkPackage(nil); err != nil {
		return nil, err
	}
	number := s.nextNumber.Add(1) - 1
	final := filepath.Join(s.segmentsDir(), segment.FileName(number))
	if o.Link {
		err = linkFile(path, final)
	} else {
		err = segment.CopyFile(s.opts.fs, p, final)
	}
	if err != nil {
		return nil, err
	}
	err = s.opts.fs.SyncDir(s.segmentsDir())
	var f *segment.File
	if err == nil {
		f, err = segment.Open(s.opts.fs, final, false)
	}
	if err != nil {
		s.opts.fs.Remove(final)
		return nil, err
	}
	f.Number, f.UUID = number, newID()
	return f, nil
}

// linkFile makes to a hard link of from, whose bytes are durable then.
func linkFile(from, to string) error {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) {
		f, err = os.Open(from)
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Link(from, to)
}

// settle looks for names of the package l that the store has, and counts those that
// it will get.
func (a *attachment) settle(l *sealedSegment, b *batch, clash Clash) (int, error) {
	count := 0
	for e, err := range l.frozen.Ascend("") {
		if err != nil {
			return 0, l.wrap(a.prefix, err)
		}
		name := a.prefix + e.Name
		if err := CheckName(name); err != nil {
			return 0, err
		}
		if clash != ClashReplaces {
			switch _, err := b.find(name); {
			case err == nil && clash == ClashFails:
				return 0, fmt.Errorf("%w: %q", ErrExists, name)
			case err == nil:
				a.hidden = append(a.hidden, e.Name)
				continue
			case !errors.Is(err, ErrNotFound):
				return 0, err
			}
		}
		count++
	}
	return count, nil
}

// attach makes the package l a part of the store.
func (b *batch) attach(l *sealedSegment) error {
	live := segment.Live{
		Number: l.file.Number,
		UUID:   l.file.UUID,
		Kind:   segment.KindPackage,
		Valid:  l.file.Size(),
		Extra:  l.attached.encode(),
	}
	if n := len(b.store.live.with(live).encoded()); n > segment.MaxLive {
		return fmt.Errorf("%d names would be left out: the list of segments, which has them, would grow to %d bytes, more than the %d that fit in a header; attach with a prefix, or pack what is missing alone",
			len(l.attached.hidden), n, segment.MaxLive)
	}
	b.ops = append(b.ops, segment.Op{Kind: segment.OpAttach, New: []segment.Live{live}})
	b.targets = append(b.targets, nil)
	b.attached = append(b.attached, l)
	return nil
}
