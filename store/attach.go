package store

import (
	"context"
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
	// Progress, if not nil, is called now and then with the bytes of the file that
	// have been copied and those that it has.
	Progress func(done, total int64)
	// Committing, if not nil, is called when all is ready and the batch is about to be
	// committed. From then on a context that ends has no effect.
	Committing func()
}

// Attach makes the tensors of the package at path a part of the store, as one
// batch, without decoding or rewriting them: the file becomes a segment. It returns
// how many tensors the store has got from it. After an error, that of ctx for
// instance, the store is as it was, unless the error is ErrOutcomeUnknown.
func (s *Store) Attach(ctx context.Context, path string, o *AttachOptions) (int, error) {
	if o == nil {
		o = &AttachOptions{}
	}
	n, err := s.attach(ctx, path, o)
	if err != nil {
		return 0, fmt.Errorf("attaching %s: %w", path, err)
	}
	return n, nil
}

func (s *Store) attach(ctx context.Context, path string, o *AttachOptions) (int, error) {
	return s.join(ctx, o.Prefix, o.Clash, o.Committing, func() (*segment.File, error) { return s.takeIn(ctx, path, o) })
}

// join makes the package that bring brings into the directory of segments a part of
// the store, as one batch. If it does not come to that, the file is removed.
func (s *Store) join(ctx context.Context, prefix string, clash Clash, committing func(), bring func() (*segment.File, error)) (int, error) {
	if s.opts.ReadOnly {
		return 0, fmt.Errorf("%w: %s was opened for reading", ErrReadOnly, s.path)
	}
	use, err := s.beginCall()
	if err != nil {
		return 0, err
	}
	f, err := bring()
	use.end()
	if err != nil || f == nil {
		return 0, err
	}
	count := 0
	written, err := s.write(func(b *batch) error {
		l, err := openPackageIndex(f)
		if err != nil {
			return err
		}
		l.attached = &attachment{seq: b.seq, digest: l.frozen.Digest(), prefix: prefix}
		l.last = b.seq
		err = guarded(f, prefix, func() (err error) {
			defer b.base.rescue(prefix, &err)
			count, err = l.attached.settle(ctx, l, b.find, clash)
			return err
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || count == 0 {
			return err
		}
		if committing != nil {
			committing()
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
// It returns nil if the store would get nothing from it.
func (s *Store) takeIn(ctx context.Context, path string, o *AttachOptions) (*segment.File, error) {
	p, err := segment.Open(s.opts.fs, path, false)
	if err != nil {
		return nil, err
	}
	defer p.Retire()
	l, err := openPackageIndex(p)
	if err != nil {
		return nil, err
	}
	if err := guarded(p, "", func() error { return l.frozen.VerifyContext(ctx) }); err != nil {
		return nil, fmt.Errorf("%s: %w", path, fromIndex(err))
	}
	if err := l.checkPackage(ctx, nil); err != nil {
		return nil, err
	}
	// Names are settled in the batch. But what will not come to anything should not
	// copy the file before it finds out.
	count, now := 0, s.published.Load()
	err = guarded(p, o.Prefix, func() (err error) {
		defer now.rescue(o.Prefix, &err)
		count, err = (&attachment{prefix: o.Prefix}).settle(ctx, l, now.find, o.Clash)
		return err
	})
	if err != nil || count == 0 {
		return nil, err
	}
	number := s.nextNumber.Add(1) - 1
	final := filepath.Join(s.segmentsDir(), segment.FileName(number))
	if o.Link {
		err = linkFile(path, final)
	} else {
		var progress func(done int64)
		if o.Progress != nil {
			progress = func(done int64) { o.Progress(done, p.Size()) }
		}
		err = segment.CopyFile(ctx, s.opts.fs, p, final, progress)
	}
	if err != nil {
		return nil, err
	}
	return s.broughtIn(number, final)
}

// broughtIn opens the package that has come into the directory of segments, durably.
func (s *Store) broughtIn(number uint64, path string) (*segment.File, error) {
	err := s.opts.fs.SyncDir(s.segmentsDir())
	var f *segment.File
	if err == nil {
		f, err = segment.Open(s.opts.fs, path, false)
	}
	if err != nil {
		s.opts.fs.Remove(path)
		return nil, err
	}
	f.Number, f.UUID = number, newID()
	return f, nil
}

// linkFile makes to a hard link of from, whose bytes are durable then. If from is a
// symbolic link, it is one of the file that this leads to: another link to the link
// would leave the store with a file that lies elsewhere.
func linkFile(from, to string) error {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
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

// ctxEntries is how many entries are gone through between two looks at a context.
const ctxEntries = 1024

// settle looks for names of the package l that the store has, as find tells, and
// counts those that it will get.
func (a *attachment) settle(ctx context.Context, l *sealedSegment, find func(name string) (found, error), clash Clash) (int, error) {
	count, i := 0, 0
	for e, err := range l.frozen.Ascend("") {
		if err != nil {
			return 0, l.wrap(a.prefix, err)
		}
		if i%ctxEntries == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		i++
		name := a.prefix + e.Name
		if err := CheckName(name); err != nil {
			return 0, err
		}
		if clash != ClashReplaces {
			switch _, err := find(name); {
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
