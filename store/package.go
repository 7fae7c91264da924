package store

import (
	"fmt"
	"io"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// OpenPackage opens the package at path for reading, in place: it looks at the end
// of the file and at nothing else, whatever the number of tensors. The Store has
// all the methods that read. Nothing is locked, and the medium may be read-only.
//
// The file may come from anywhere: what is wrong with it is ErrCorrupt, at the
// latest when it is used. It must not be cut short while it is open.
func OpenPackage(path string) (*Store, error) {
	return openPackageFile(path, Options{ReadOnly: true})
}

func openPackageFile(path string, o Options) (*Store, error) {
	f, err := segment.Open(segment.OS, path, false)
	if err != nil {
		return nil, fmt.Errorf("opening package: %w", err)
	}
	return openPackage(f, path, o)
}

// OpenPackageAt opens a package of size bytes that r reads, embedded in a program
// for instance. It is not mapped: tensors are copies. name stands for a path in
// errors. r is used until Close, by several goroutines at once.
func OpenPackageAt(r io.ReaderAt, size int64, name string) (*Store, error) {
	f, err := segment.OpenReaderAt(r, size, name)
	if err != nil {
		return nil, fmt.Errorf("opening package: %w", err)
	}
	return openPackage(f, name, Options{ReadOnly: true})
}

func openPackage(f *segment.File, path string, o Options) (*Store, error) {
	s := newStore(path, o)
	l, err := openPackageIndex(f)
	if err != nil {
		f.Retire()
		return nil, fmt.Errorf("opening package %w", err)
	}
	f.Number = 0 // whatever its header says
	s.pkg = l
	s.published.Store(&state{sealed: []*sealedSegment{l}, segs: map[uint64]*segment.File{0: f}, views: s.views})
	return s, nil
}

// openPackageIndex opens the frozen index of the package f.
func openPackageIndex(f *segment.File) (*sealedSegment, error) {
	if f.Header.Kind != segment.KindPackage {
		return nil, fmt.Errorf("%s: %w: it is a %v segment of a store, not a package", f.Path, ErrNoStore, f.Header.Kind)
	}
	l, err := openSealed(f, 0)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, fmt.Errorf("%s: %w: no trailer of a package in the last 64 of %d bytes: the file is cut short or was never finished", f.Path, ErrCorrupt, f.Size())
	}
	return l, nil
}

// IsPackage reports whether the store is a package.
func (s *Store) IsPackage() bool { return s.pkg != nil }

// Attrs returns the attributes of a package as a whole, sorted by key. A store that
// is a directory has none.
func (s *Store) Attrs() ([]layout.Attr, error) {
	if s.pkg == nil {
		return nil, nil
	}
	use, err := s.beginCall()
	if err != nil {
		return nil, err
	}
	defer use.end()
	attrs, err := s.pkg.frozen.Dataset()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, fromIndex(err))
	}
	return attrs, nil
}

// Digest returns the identity of a package, as it was computed when the package was
// written, and false for a store that is a directory.
func (s *Store) Digest() (Digest, bool) {
	if s.pkg == nil {
		return Digest{}, false
	}
	return s.pkg.frozen.Digest(), true
}
