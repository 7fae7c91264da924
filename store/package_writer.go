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

	// For a package that is a file.
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
	temp := fmt.Sprintf("%s.%016x.tmp", path, rand.Uint64())
	raw, err := segment.OS.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("creating package: %w", err)
	}
	w, flush := segment.NewChunkWriter(raw)
	p, err := newPackageWriter(w, flush, filepath.Dir(path), attrs)
	if err != nil {
		raw.Close()
		os.Remove(temp)
		return nil, fmt.Errorf("creating package %s: %w", path, err)
	}
	p.path, p.temp, p.raw = path, temp, raw
	return p, nil
}

// NewPackageWriter begins a package that goes to w, front to back. A temporary file
// holds the index until Close.
func NewPackageWriter(w io.Writer, attrs ...layout.Attr) (*PackageWriter, error) {
	b := bufio.NewWriterSize(w, 1<<20)
	p, err := newPackageWriter(b, b.Flush, "", attrs)
	if err != nil {
		return nil, fmt.Errorf("creating package: %w", err)
	}
	return p, nil
}

func newPackageWriter(w io.Writer, flush func() error, spoolDir string, attrs []layout.Attr) (*PackageWriter, error) {
	if err := checkAttrs(attrs); err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp(spoolDir, ".tstore-index-*")
	if err != nil {
		return nil, err
	}
	sw, err := segment.NewPackageWriter(w)
	if err != nil {
		removeSpool(spool)
		return nil, err
	}
	p := &PackageWriter{segment: sw, flush: flush, spool: spool, digest: newDigester(), all: sha256.New()}
	p.builder = index.NewFrozenBuilder(spool)
	p.builder.SetDataset(slices.SortedFunc(slices.Values(attrs), compareAttrs))
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
	m, err := prepareMember(name, t, attrs)
	if err != nil {
		return err
	}
	var bytes []byte
	if m.record.Len() <= smallRecord {
		bytes = m.record.AppendTo(nil)
	}
	m.finish(p.digest, bytes)
	return p.add(m)
}

// member is a tensor on its way into a package.
type member struct {
	entry  Entry
	attrs  []layout.Attr // sorted
	tensor layout.Tensor
	record *codec.Record
	bytes  []byte // the whole record, if it is small
	digest Digest
}

// prepareMember encodes and describes a tensor as it stands in a package.
func prepareMember(name string, t layout.Tensor, attrs []layout.Attr) (*member, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	m, err := encodeMember(name, t, attrs)
	if err != nil {
		return nil, err
	}
	head, err := codec.ParseHead(m.record.Head)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	info, err := head.Describe()
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	m.describe(newEntry(name, &info, attrs))
	return m, nil
}

// encodeMember encodes a tensor as it stands in a package: with its name, and its
// attributes sorted.
func encodeMember(name string, t layout.Tensor, attrs []layout.Attr) (*member, error) {
	meta := make([]layout.Attr, 1, 1+len(attrs))
	meta[0] = layout.Attr{Key: nameKey, Value: name}
	meta = append(meta, attrs...)
	slices.SortFunc(meta[1:], compareAttrs)
	record, err := codec.Encode(t, meta)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	return &member{tensor: t, record: record, attrs: meta[1:]}, nil
}

// describe gives m the entry of the same tensor elsewhere, without its place there.
func (m *member) describe(e *Entry) {
	m.entry = *e
	m.entry.Seq, m.entry.Segment, m.entry.Offset, m.entry.CRC = 0, 0, 0, 0
	m.entry.Length = m.record.Len()
	m.entry.Attrs = m.attrs
}

// finish computes the digest and, if the bytes of the whole record are given, their
// CRC.
func (m *member) finish(d *digester, bytes []byte) {
	m.digest = d.tensor(m.entry.Name, m.tensor, m.attrs, m.record)
	m.bytes = bytes
	if bytes != nil {
		m.entry.CRC = segment.Checksum(bytes)
		m.tensor, m.record = nil, nil // the memory of the tensor may be used again
	}
}

// add writes m and takes it into the index.
func (p *PackageWriter) add(m *member) error {
	if err := p.write(m); err != nil {
		return err
	}
	return p.index(m)
}

// write writes the record of m, without taking it into the index.
func (p *PackageWriter) write(m *member) error {
	if p.err != nil || p.done {
		return errors.Join(p.err, ErrClosed)
	}
	m.entry.Offset = p.segment.Offset()
	if m.bytes != nil {
		p.err = p.segment.PutBytes(m.bytes)
	} else {
		m.entry.CRC, p.err = p.segment.Put(m.record)
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

// fail says that the package can't be finished any more.
func (p *PackageWriter) fail(err error) { p.err = err }

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
	if err := segment.OS.Rename(p.temp, p.path); err != nil {
		return err
	}
	p.temp = ""
	return segment.OS.SyncDir(filepath.Dir(p.path))
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
		os.Remove(p.temp)
	}
}
