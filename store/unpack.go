package store

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tstore/tstore/store/internal/segment"
)

// UnpackOptions are what to unpack, and how. The zero value, or nil, stands for all
// tensors, under their own names, and refuses clashes.
type UnpackOptions struct {
	// Prefixes choose the tensors whose names begin with one of them. Without any,
	// all are chosen.
	Prefixes []string
	// Prefix is put before every name.
	Prefix string
	// Clash says what to do with names that the store has already.
	Clash Clash
	// Progress, if not nil, is called now and then with the bytes of records that
	// have been written and those that there are in all, by one goroutine at a time.
	Progress func(done, total int64)
	// Committing, if not nil, is called when all is written and the batch is about to
	// be committed. From then on a context that ends has no effect.
	Committing func()
}

// Unpack puts the tensors of a snapshot, that of a package or of another store, into
// the store as one batch, however many they are and however large. Each is compared
// with its checksum on the way. It returns how many tensors the store has got. After
// an error, that of ctx for instance, the store is as it was, unless the error is
// ErrOutcomeUnknown.
//
// A package from elsewhere is checked first: its tensors must not share bytes, so
// that nothing that is made of them is much larger than it.
func (s *Store) Unpack(ctx context.Context, from *Snapshot, o *UnpackOptions) (int, error) {
	if o == nil {
		o = &UnpackOptions{}
	}
	if from.tx.done.Load() {
		return 0, ErrTxDone
	}
	n, err := s.join(ctx, o.Prefix, o.Clash, o.Committing, func() (*segment.File, error) {
		for _, l := range from.tx.state.sealed {
			if l.attached == nil && l.file.Header.Kind == segment.KindPackage {
				if err := l.checkPackage(ctx, nil); err != nil {
					return nil, err
				}
			}
		}
		return s.gather(func(p *PackageWriter) error {
			return from.PackTo(ctx, p, &PackOptions{Prefixes: o.Prefixes, Progress: o.Progress})
		})
	})
	if err != nil {
		return 0, fmt.Errorf("unpacking: %w", err)
	}
	return n, nil
}

// SortedOptions are how to put tensors in the order of their names. The zero value, or
// nil, refuses clashes.
type SortedOptions struct {
	// Clash says what to do with names that the store has already.
	Clash Clash
	// Committing, if not nil, is called when all is written and the batch is about to
	// be committed. From then on a context that ends has no effect.
	Committing func()
}

// PutSorted puts the tensors that fill adds to p, in ascending order of their names, as
// one batch. Unlike an Update it needs no memory for them, however many they are and
// however large. It returns how many tensors the store has got. After an error, that of
// fill or of ctx for instance, the store is as it was, unless the error is
// ErrOutcomeUnknown. fill must not close or abort p.
func (s *Store) PutSorted(ctx context.Context, o *SortedOptions, fill func(p *PackageWriter) error) (int, error) {
	if o == nil {
		o = &SortedOptions{}
	}
	return s.join(ctx, "", o.Clash, o.Committing, func() (*segment.File, error) { return s.gather(fill) })
}

// gather writes what fill adds into the directory of segments: as a package, which the
// store takes in like one that is attached.
func (s *Store) gather(fill func(p *PackageWriter) error) (*segment.File, error) {
	number := s.nextNumber.Add(1) - 1
	path := filepath.Join(s.segmentsDir(), segment.FileName(number))
	// What a crash leaves of either file, the next writer removes.
	p, err := createPackage(s.opts.fs, path, path+segment.TempSuffix, "index-*"+segment.Suffix+segment.TempSuffix, nil)
	if err != nil {
		return nil, err
	}
	defer p.Abort()
	if err := fill(p); err != nil {
		return nil, err
	}
	if _, err := p.Close(); err != nil {
		s.opts.fs.Remove(path) // it may have come as far as that
		return nil, err
	}
	return s.broughtIn(number, path)
}
