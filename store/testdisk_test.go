package store_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/tstore/tstore/store/internal/segment"
)

// diskOp is one thing that the store asks of the disk.
type diskOp struct {
	kind       diskOpKind
	path       string
	off, n     int64 // of a write
	begin, end int   // when, by the clock of the disk
	failed     bool
}

type diskOpKind string

const (
	opCreate   diskOpKind = "create"
	opOpen     diskOpKind = "open"
	opWrite    diskOpKind = "write"
	opSync     diskOpKind = "sync"
	opTruncate diskOpKind = "truncate"
	opRename   diskOpKind = "rename"
	opRemove   diskOpKind = "remove"
	opSyncDir  diskOpKind = "syncdir"
)

var diskOpKinds = []diskOpKind{opCreate, opOpen, opWrite, opSync, opTruncate, opRename, opRemove, opSyncDir}

// testDisk is the operating system's file system, which notes what is asked of it
// and fails where it is told to.
type testDisk struct {
	// fail returns the error that an operation is to fail with. nth counts those of
	// its kind, from 0.
	fail func(op diskOp, nth int) error
	// half makes writes that fail write their first half.
	half bool
	// drop makes a sync that fails lose what was written since the last one, as a
	// kernel may that could not write its pages.
	drop bool
	// during is called while a sync is under way.
	during func(op diskOp)

	// looking is called before a file is opened or read, with the number of times that
	// has been.
	looking func(n int64)

	looks atomic.Int64
	read  atomic.Int64 // bytes read by pread

	mu    sync.Mutex
	clock int // goes on with each thing that happens
	ops   []diskOp
	count map[diskOpKind]int
	undo  map[string][]undoWrite
}

// undoWrite is what a write has overwritten; zeros where the file had ended.
type undoWrite struct {
	off int64
	old []byte
}

// begin notes an operation and returns its number and the error it is to fail with.
func (d *testDisk) begin(op diskOp) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == nil {
		d.count = map[diskOpKind]int{}
		d.undo = map[string][]undoWrite{}
	}
	nth := d.count[op.kind]
	d.count[op.kind]++
	d.clock++
	op.begin = d.clock
	d.ops = append(d.ops, op)
	if d.fail == nil {
		return len(d.ops) - 1, nil
	}
	return len(d.ops) - 1, d.fail(op, nth)
}

// end notes that an operation has ended.
func (d *testDisk) end(i int, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock++
	d.ops[i].end = d.clock
	d.ops[i].failed = err != nil
	return err
}

// now is the time by the clock of the disk, which it moves on.
func (d *testDisk) now() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock++
	return d.clock
}

// recorded is everything that was asked so far.
func (d *testDisk) recorded() []diskOp {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]diskOp(nil), d.ops...)
}

// do runs an operation unless it is to fail.
func (d *testDisk) do(op diskOp, run func() error) error {
	i, err := d.begin(op)
	if err == nil {
		err = run()
	}
	return d.end(i, err)
}

func (d *testDisk) look() {
	if n := d.looks.Add(1) - 1; d.looking != nil {
		d.looking(n)
	}
}

func (d *testDisk) OpenFile(name string, flag int, perm os.FileMode) (segment.RawFile, error) {
	kind := opOpen
	if flag&os.O_CREATE != 0 {
		kind = opCreate
	}
	d.look()
	var raw segment.RawFile
	err := d.do(diskOp{kind: kind, path: name}, func() (err error) {
		raw, err = segment.OS.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return &testFile{RawFile: raw, disk: d, path: name}, nil
}

func (d *testDisk) Rename(from, to string) error {
	err := d.do(diskOp{kind: opRename, path: to}, func() error { return segment.OS.Rename(from, to) })
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func (d *testDisk) Remove(name string) error {
	return d.do(diskOp{kind: opRemove, path: name}, func() error { return segment.OS.Remove(name) })
}

func (d *testDisk) SyncDir(name string) error {
	return d.do(diskOp{kind: opSyncDir, path: name}, func() error { return nil })
}

type testFile struct {
	segment.RawFile
	disk *testDisk
	path string // when it was opened
}

// finalPath is the path that a file has or will have.
func finalPath(path string) string {
	if filepath.Ext(path) == ".tmp" {
		return path[:len(path)-len(".tmp")]
	}
	return path
}

func (f *testFile) ReadAt(b []byte, off int64) (int, error) {
	f.disk.look()
	n, err := f.RawFile.ReadAt(b, off)
	f.disk.read.Add(int64(n))
	return n, err
}

func (f *testFile) WriteAt(b []byte, off int64) (int, error) {
	i, err := f.disk.begin(diskOp{kind: opWrite, path: f.path, off: off, n: int64(len(b))})
	n := len(b)
	if err != nil {
		n = 0
		if f.disk.half {
			n = len(b) / 2
		}
	}
	if n > 0 {
		f.remember(off, n)
		if _, werr := f.RawFile.WriteAt(b[:n], off); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	return n, f.disk.end(i, err)
}

// remember keeps what the file has at [off, off+n).
func (f *testFile) remember(off int64, n int) {
	if !f.disk.drop {
		return
	}
	u := undoWrite{off: off, old: make([]byte, n)}
	if _, err := f.ReadAt(u.old, off); err != nil && err != io.EOF {
		panic(err)
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	key := finalPath(f.path)
	f.disk.undo[key] = append(f.disk.undo[key], u)
}

func (f *testFile) Datasync() error {
	i, err := f.disk.begin(diskOp{kind: opSync, path: f.path})
	if f.disk.during != nil {
		f.disk.during(diskOp{kind: opSync, path: f.path})
	}
	f.disk.mu.Lock()
	key := finalPath(f.path)
	undo := f.disk.undo[key]
	delete(f.disk.undo, key)
	f.disk.mu.Unlock()
	if err != nil && f.disk.drop {
		for k := len(undo) - 1; k >= 0; k-- {
			// The file keeps its length, which is metadata: the journal may have it.
			if _, werr := f.RawFile.WriteAt(undo[k].old, undo[k].off); werr != nil {
				panic(werr)
			}
		}
	}
	// In memory there is nothing to sync.
	return f.disk.end(i, err)
}

func (f *testFile) Truncate(size int64) error {
	return f.disk.do(diskOp{kind: opTruncate, path: f.path, off: size}, func() error { return f.RawFile.Truncate(size) })
}
