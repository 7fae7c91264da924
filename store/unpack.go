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
	n, err := s.join(ctx, o.Prefix, o.Clash, func() (*segment.File, error) { return s.unpack(ctx, from, o) })
	if err != nil {
		return 0, fmt.Errorf("unpacking: %w", err)
	}
	return n, nil
}

// unpack writes what is to be unpacked into the directory of segments: as a package
// of its own, which the store takes in like one that is attached. So a batch of any
// size needs no memory for its records.
func (s *Store) unpack(ctx context.Context, from *Snapshot, o *UnpackOptions) (*segment.File, error) {
	for _, l := range from.tx.state.sealed {
		if l.attached == nil && l.file.Header.Kind == segment.KindPackage {
			if err := l.checkPackage(ctx, nil); err != nil {
				return nil, err
			}
		}
	}
	number := s.nextNumber.Add(1) - 1
	path := filepath.Join(s.segmentsDir(), segment.FileName(number))
	p, err := createPackage(s.opts.fs, path, path+segment.TempSuffix, nil)
	if err != nil {
		return nil, err
	}
	defer p.Abort()
	if err := from.PackTo(ctx, p, &PackOptions{Prefixes: o.Prefixes, Progress: o.Progress}); err != nil {
		return nil, err
	}
	if _, err := p.Close(); err != nil {
		s.opts.fs.Remove(path) // it may have come as far as that
		return nil, err
	}
	return s.broughtIn(number, path)
}
