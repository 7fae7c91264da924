package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/store/internal/segment"
)

// fileSet is the open segment files of a directory, by number.
type fileSet struct {
	fs       segment.FS
	dir      string
	writable bool
	files    map[uint64]*segment.File
}

func (s *Store) newFileSet() fileSet {
	return fileSet{fs: s.opts.fs, dir: s.segmentsDir(), writable: !s.opts.ReadOnly, files: map[uint64]*segment.File{}}
}

// openMissing opens the segments in the directory that are not open yet.
func (set fileSet) openMissing() error {
	entries, err := os.ReadDir(set.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		n, ok := segment.ParseFileName(e.Name())
		if !ok || set.files[n] != nil {
			continue
		}
		if _, err := set.open(n); err != nil {
			return err
		}
	}
	return nil
}

func (set fileSet) open(n uint64) (*segment.File, error) {
	f, err := segment.Open(set.fs, filepath.Join(set.dir, segment.FileName(n)), set.writable)
	if err == nil {
		f.Number = n // a package does not know it
		set.files[n] = f
	}
	return f, err
}

func (set fileSet) add(f *segment.File) { set.files[f.Number] = f }

func (set fileSet) retire() {
	for _, f := range set.files {
		f.Retire()
	}
}

func (set fileSet) highest() uint64 {
	var n uint64
	for k := range set.files {
		n = max(n, k)
	}
	return n
}

// newestLog returns the log with the highest number, nil if there is none. Logs of
// several stores in one directory are told apart by the id of the store, if that
// is known.
func (set fileSet) newestLog(id segment.ID) (*segment.File, error) {
	var newest, other *segment.File
	for _, f := range set.files {
		h := f.Header
		switch {
		case h.Kind != segment.KindLog || (!id.IsZero() && h.StoreID != id):
		case newest == nil || h.Number > newest.Number:
			newest, other = f, newest
		default:
			other = f
		}
		if other != nil && other.Header.StoreID != newest.Header.StoreID {
			return nil, fmt.Errorf("%w: %s and %s belong to different stores, move one of them away", ErrCorrupt, newest.Path, other.Path)
		}
	}
	return newest, nil
}

// errMissing says that a segment which counts is not there.
var errMissing = fmt.Errorf("%w: a segment is missing", ErrCorrupt)

// liveFile returns the file that l names, if it is there and long enough. It opens
// one that has come since the directory was listed.
func (set fileSet) liveFile(l segment.Live) (*segment.File, error) {
	f := set.files[l.Number]
	path := filepath.Join(set.dir, segment.FileName(l.Number))
	if f == nil {
		var err error
		if f, err = set.open(l.Number); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s", errMissing, path)
		} else if err != nil {
			return nil, err
		}
	}
	if f.Size() < l.Valid {
		if err := f.RefreshSize(); err != nil {
			return nil, err
		}
	}
	switch {
	case f.Header.Kind == segment.KindPackage && l.Kind == segment.KindPackage:
		// Which package it is, its digest says.
		f.UUID = l.UUID
	case f.UUID != l.UUID || f.Header.Kind != l.Kind:
		return nil, fmt.Errorf("%w: %s is %v segment %v, it should be %v segment %v", ErrCorrupt, path, f.Header.Kind, f.UUID, l.Kind, l.UUID)
	}
	if f.Size() < l.Valid {
		return nil, fmt.Errorf("%w: %s has %d bytes, it should have %d", ErrCorrupt, path, f.Size(), l.Valid)
	}
	return f, nil
}
