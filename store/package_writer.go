package store

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// PackageWriter writes a package: a dataset in one file. Tensors are added in
// ascending order of their names, and go out at once; in memory it keeps a few
// bytes for each. Equal tensors, names and attributes give equal bytes.
type PackageWriter struct {
	segment *segment.PackageWriter
	builder *index.FrozenBuilder
	digest  *digester
	all     hash.Hash // over the digests of the tensors
	flush   func() error
	spool   *os.File

	// Memory for one tensor after the other.
	encoder codec.Encoder
	meta    []layout.Attr
	bytes   []byte

	// For a package that is a file.
	fs   segment.FS
	path string
	temp string
	raw  segment.RawFile
	err  error // why it can't be finished
	done bool
}

// CreatePackage begins a package at path with the given attributes of the dataset
// as a whole, such as title or license. The file has a temporary name beside path
// until Close has made it durable; then it takes the place of what was at path.
func CreatePackage(path string, attrs ...layout.Attr) (*PackageWriter, error) {
	return createPackage(segment.OS, path, fmt.Sprintf("%s.%016x.tmp", path, rand.Uint64()), spoolPattern, attrs)
}

// spoolPattern is what the temporary file of the index is called.
const spoolPattern = ".tstore-index-*"

// createPackage is CreatePackage in a given file system, with the name that the file
// has until then, and a pattern for that of the index.
func createPackage(fs segment.FS, path, temp, spool string, attrs []layout.Attr) (*PackageWriter, error) {
	raw, err := fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("creating package: %w", err)
	}
	raw = segment.Steady(raw)
	w, flush := segment.NewChunkWriter(raw)
	p, err := newPackageWriter(w, flush, filepath.Dir(path), spool, attrs)
	if err != nil {
		raw.Close()
		fs.Remove(temp)
		return nil, fmt.Errorf("creating package %s: %w", path, err)
	}
	p.fs, p.path, p.temp, p.raw = fs, path, temp, raw
	return p, nil
}

// NewPackageWriter begins a package that goes to w, front to back. A temporary file
// holds the index until Close.
func NewPackageWriter(w io.Writer, attrs ...layout.Attr) (*PackageWriter, error) {
	b := bufio.NewWriterSize(w, 1<<20)
	p, err := newPackageWriter(b, b.Flush, "", spoolPattern, attrs)
	if err != nil {
		return nil, fmt.Errorf("creating package: %w", err)
	}
	return p, nil
}

func newPackageWriter(w io.Writer, flush func() error, spoolDir, pattern string, attrs []layout.Attr) (*PackageWriter, error) {
	if err := checkAttrs(attrs); err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp(spoolDir, pattern)
	if err != nil {
		return nil, err
	}
	// It needs no name, so whatever becomes of the process, none is left behind.
	// Windows, which does not remove open files, gets an error here.
	os.Remove(spool.Name())
	sw, err := segment.NewPackageWriter(w)
	if err != nil {
		removeSpool(spool)
		return nil, err
	}
	p := &PackageWriter{segment: sw, flush: flush, spool: spool, digest: newDigester(), all: sha256.New()}
	p.builder = index.NewFrozenBuilder(spool)
	p.builder.SetDataset(sortedAttrs(attrs))
	return p, nil
}

func removeSpool(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// Add adds a tensor. Its name must be greater, byte for byte, than the last one's.
// t is borrowed until Add returns. Attributes are stored sorted by key. After an
// error of the disk the package can only be aborted.
func (p *PackageWriter) Add(name string, t layout.Tensor, attrs ...layout.Attr) error {
	if err := checkAttrs(attrs); err != nil {
		return fmt.Errorf("tensor %q: %w", name, err)
	}
	return p.AddCopy(name, t, attrs)
}

// AddCopy is Add for a tensor that has its attributes from elsewhere, from a store or
// from a message: they may be what can't be given to a tensor but is kept if it has it,
// such as two of one key.
func (p *PackageWriter) AddCopy(name string, t layout.Tensor, attrs []layout.Attr) error {
	if err := checkForeignAttrs(attrs); err != nil {
		return fmt.Errorf("tensor %q: %w", name, err)
	}
	if err := CheckName(name); err != nil {
		return err
	}
	if t == nil {
		return fmt.Errorf("tensor %q: the tensor is nil", name)
	}
	if err := checkIndices(t); err != nil {
		return fmt.Errorf("tensor %q: %w", name, err)
	}
	sorted := sortedAttrs(attrs)
	p.meta = memberMetadata(p.meta[:0], name, sorted)
	record, err := p.encoder.Encode(t, p.meta)
	if err != nil {
		return fmt.Errorf("tensor %q: %w", name, err)
	}
	m := member{attrs: sorted, record: record}
	if err := m.describe(name, t); err != nil {
		return err
	}
	m.digest = p.digest.tensor(name, t, sorted, record)
	if record.Len() <= smallRecord {
		p.bytes = record.AppendTo(p.bytes[:0])
		m.bytes, m.entry.CRC = p.bytes, segment.Checksum(p.bytes)
	}
	return p.add(&m)
}

// member is a tensor on its way into a package.
type member struct {
	entry  Entry
	attrs  []layout.Attr // sorted
	digest Digest
	bytes  []byte        // the whole record, whose CRC the entry has, if it is small
	record *codec.Record // otherwise
}

// describe gives m, which has its attributes and its record, the entry of t, without
// its place and checksum. The entry may borrow memory of t.
func (m *member) describe(name string, t layout.Tensor) error {
	e := &m.entry
	if d, ok := t.(*layout.Dense); ok {
		*e = Entry{Name: name, DType: d.DType(), Shape: d.Shape(), NNZ: d.NNZ(), Bytes: d.NumBytes()}
		if names := d.DimNames(); slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
			e.DimNames = names
		}
	} else { // the types of its indices may be others in the record
		head, err := codec.ParseHead(m.record.Head)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		info, err := head.Describe()
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		*e = *newEntry(name, &info, nil)
	}
	e.Attrs, e.Length = m.attrs, m.record.Len()
	return nil
}

// memberMetadata appends the metadata of a record in a package: the name, then the
// attributes, which are sorted.
func memberMetadata(dst []layout.Attr, name string, attrs []layout.Attr) []layout.Attr {
	return append(append(dst, layout.Attr{Key: nameKey, Value: name}), attrs...)
}

// sortedAttrs is attrs, or a copy, in the order that they have in a package.
func sortedAttrs(attrs []layout.Attr) []layout.Attr {
	if slices.IsSortedFunc(attrs, compareAttrs) {
		return attrs
	}
	return slices.SortedFunc(slices.Values(attrs), compareAttrs)
}

// add writes m and takes it into the index.
func (p *PackageWriter) add(m *member) error {
	if err := p.write(m, nil); err != nil {
		return err
	}
	return p.index(m)
}

// write writes the record of m, without taking it into the index. each, if not nil,
// is called with the number of bytes whenever some of a large one are written; an
// error of it ends the work.
func (p *PackageWriter) write(m *member, each func(n int64) error) error {
	if p.err != nil || p.done {
		return errors.Join(p.err, ErrClosed)
	}
	m.entry.Offset = p.segment.Offset()
	if m.bytes != nil {
		p.err = p.segment.PutBytes(m.bytes)
	} else {
		m.entry.CRC, p.err = p.segment.Put(m.record, each)
	}
	if p.err != nil {
		return fmt.Errorf("tensor %q: writing package: %w", m.entry.Name, p.err)
	}
	return nil
}

// index takes m, which was written last, into the index.
func (p *PackageWriter) index(m *member) error {
	if err := p.builder.Add(&m.entry); err != nil {
		p.fail(err)
		return fmt.Errorf("tensor %q: %w", m.entry.Name, fromIndex(err))
	}
	p.all.Write(m.digest[:])
	return nil
}

// fail says that the package can't be finished any more, and why.
func (p *PackageWriter) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// Close finishes the package. When it returns without an error a file is durable
// under its name. After an error, or another Close, nothing is left behind.
func (p *PackageWriter) Close() (Digest, error) {
	if p.done {
		return Digest{}, ErrClosed
	}
	digest := Digest(p.all.Sum(nil))
	err := p.err
	if err == nil {
		p.builder.SetDigest(digest)
		err = p.segment.Finish(p.builder.Size(), p.builder.Finish)
	}
	if err == nil {
		err = p.flush()
	}
	if err == nil && p.raw != nil {
		err = p.publish()
	}
	p.Abort()
	if err != nil {
		return Digest{}, fmt.Errorf("writing package %s: %w", p.path, err)
	}
	return digest, nil
}

// publish makes the file durable and gives it its name.
func (p *PackageWriter) publish() error {
	if err := p.raw.Datasync(); err != nil {
		return err
	}
	err := p.raw.Close()
	p.raw = nil
	if err != nil {
		return err
	}
	if err := p.fs.Rename(p.temp, p.path); err != nil {
		return err
	}
	p.temp = ""
	return p.fs.SyncDir(filepath.Dir(p.path))
}

// Abort gives the package up and removes what was written of a file. After Close it
// does nothing.
func (p *PackageWriter) Abort() {
	if p.done {
		return
	}
	p.done = true
	removeSpool(p.spool)
	if p.raw != nil {
		p.raw.Close()
	}
	if p.temp != "" {
		p.fs.Remove(p.temp)
	}
}
