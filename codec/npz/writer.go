package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
)

const (
	// Sizes of what zip writes around the bytes of a member.
	localHeaderSize      = 30 // without name and extra field
	descriptorSize64     = 24
	descriptorFlag       = 1 << 3
	utf8Flag             = 1 << 11
	version20, version45 = 20, 45

	// alignID is the extra field that says how a member is aligned, and is as long as that takes:
	// two bytes of the alignment and then zeros. Android's zipalign brought it up.
	alignID      = 0xd935
	alignMinimum = 4 + 2

	// newYear1980 is the date of all members, as NumPy writes it: the first one that zip has.
	newYear1980 = 1<<5 | 1
)

// Writer writes an archive, one member after the other.
type Writer struct {
	out      *countingWriter
	zip      *zip.Writer
	compress bool
	names    map[string]struct{}
	trailer  int64 // bytes that zip writes behind the last member when the next one begins
}

// NewWriter returns a Writer of an archive that goes to w. With compress, members are deflated;
// else their elements lie at multiples of 64 bytes. The caller has to call Close.
func NewWriter(w io.Writer, compress bool) *Writer {
	out := &countingWriter{w: w}
	return &Writer{out: out, zip: zip.NewWriter(out), compress: compress, names: make(map[string]struct{})}
}

// countingWriter counts what goes through it.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// Add writes a tensor as member name.npy. The tensor is not used after that. Without compression
// its elements are gone through twice, first for the checksum, which comes before them.
//
// The name may have slashes, and must be one that [Open] takes, once in an archive; else the error
// is [ErrUnsupported]. Other errors are those of [npy.Encode], before anything of the tensor is
// written, and of the writer.
func (w *Writer) Add(name string, t layout.Tensor) error {
	_, err := npy.AppendHeader(nil, t.DType(), t.Shape(), false)
	switch {
	case t.Layout() != layout.LayoutDense:
		err = fmt.Errorf("%w: the tensor is %v; WriteSparse makes an archive of one, or convert it to dense", ErrUnsupported, t.Layout())
	case err == nil:
		err = w.add(name, func(out io.Writer) error { return npy.Encode(out, t) })
	}
	if err != nil {
		return fmt.Errorf("member %.100q: %w", name, err)
	}
	return nil
}

// add writes a member. encode writes the .npy file, the same each time.
func (w *Writer) add(name string, encode func(io.Writer) error) error {
	if fault := nameFault(name); fault != "" {
		return fmt.Errorf("%w: its name: %s", ErrUnsupported, fault)
	}
	if _, ok := w.names[name]; ok {
		return fmt.Errorf("%w: there is a member of that name", ErrUnsupported)
	}
	header := &zip.FileHeader{Name: name + extension}
	//lint:ignore SA1019 Modified, which is to be used instead, would add an extra field, and CreateRaw ignores it.
	header.ModifiedDate = newYear1980
	if len(header.Name) > math.MaxUint16 {
		return fmt.Errorf("%w: a name of more than %d bytes", ErrUnsupported, math.MaxUint16-len(extension))
	}
	create := w.zip.CreateHeader
	if w.compress {
		header.Method = zip.Deflate
	} else {
		sum := &checksum{}
		if err := encode(sum); err != nil {
			return err
		}
		if err := w.layOut(header, sum); err != nil {
			return err
		}
		create = w.zip.CreateRaw
	}
	w.names[name] = struct{}{}
	member, err := create(header)
	if err != nil {
		return err
	}
	return encode(member)
}

// layOut fills in the header of a member that is not compressed.
func (w *Writer) layOut(header *zip.FileHeader, sum *checksum) error {
	header.Method = zip.Store
	header.CRC32 = sum.crc
	header.UncompressedSize64 = uint64(sum.size)
	header.CompressedSize64 = uint64(sum.size)
	header.Flags = utf8Flag
	header.CreatorVersion = version20
	header.ReaderVersion = version20
	if err := w.zip.Flush(); err != nil {
		return err
	}
	at := w.out.n + w.trailer + localHeaderSize + int64(len(header.Name))
	w.trailer = 0
	if sum.size >= math.MaxUint32 {
		// Such a size does not fit in the header. Behind the member there is room for it.
		header.Flags |= descriptorFlag
		header.ReaderVersion = version45
		w.trailer = descriptorSize64
	}
	if at%layout.Alignment == 0 {
		return nil
	}
	length := layout.Align64(at+alignMinimum) - at
	header.Extra = make([]byte, length)
	binary.LittleEndian.PutUint16(header.Extra, alignID)
	binary.LittleEndian.PutUint16(header.Extra[2:], uint16(length-4))
	binary.LittleEndian.PutUint16(header.Extra[4:], layout.Alignment)
	return nil
}

// Close writes the directory of the archive. It does not close the writer below.
func (w *Writer) Close() error { return w.zip.Close() }

// checksum takes the checksum and the length of what is written to it.
type checksum struct {
	crc  uint32
	size int64
}

func (c *checksum) Write(b []byte) (int, error) {
	c.crc = crc32.Update(c.crc, crc32.IEEETable, b)
	c.size += int64(len(b))
	return len(b), nil
}
