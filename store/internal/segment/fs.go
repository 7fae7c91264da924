package segment

import (
	"errors"
	"io"
	"os"
)

// FS is how the store reaches its files. The tests put one that counts, orders
// and fails in its place; everything else uses OS.
type FS interface {
	// OpenFile is os.OpenFile.
	OpenFile(name string, flag int, perm os.FileMode) (RawFile, error)
	// Rename is os.Rename: atomic, durable once the directory is synced.
	Rename(oldpath, newpath string) error
	// Remove is os.Remove.
	Remove(name string) error
	// SyncDir makes the entries of directory name durable.
	SyncDir(name string) error
}

// RawFile is an open file.
type RawFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	// Size is the number of bytes in the file.
	Size() (int64, error)
	// Datasync makes the file's bytes and size durable.
	Datasync() error
	// File is the operating system's file, for mapping.
	File() *os.File
}

// OS is the operating system's file system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm os.FileMode) (RawFile, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(oldpath, newpath string) error { return os.Rename(oldpath, newpath) }
func (osFS) Remove(name string) error             { return os.Remove(name) }
func (osFS) SyncDir(name string) error            { return syncDir(name) }

type osFile struct{ f *os.File }

func (f osFile) ReadAt(b []byte, off int64) (int, error)  { return f.f.ReadAt(b, off) }
func (f osFile) WriteAt(b []byte, off int64) (int, error) { return f.f.WriteAt(b, off) }
func (f osFile) Close() error                             { return f.f.Close() }
func (f osFile) Truncate(size int64) error                { return f.f.Truncate(size) }
func (f osFile) Datasync() error                          { return datasync(f.f) }
func (f osFile) File() *os.File                           { return f.f }

func (f osFile) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// readerAt is a RawFile for reading alone.
type readerAt struct {
	io.ReaderAt
	size int64
}

func (r readerAt) Size() (int64, error)             { return r.size, nil }
func (readerAt) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }
func (readerAt) Truncate(int64) error               { return errors.ErrUnsupported }
func (readerAt) Datasync() error                    { return errors.ErrUnsupported }
func (readerAt) Close() error                       { return nil }
func (readerAt) File() *os.File                     { return nil }
