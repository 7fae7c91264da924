package safetensors

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tstore/tstore/codec/internal/elements"
	"github.com/tstore/tstore/layout"
)

const (
	// prefixSize is the number of bytes before the header: its length, little-endian.
	prefixSize = 8

	// maxHeader is the largest length of a header that the reference implementation takes.
	maxHeader = 100_000_000

	// metadataKey is the key of the header that is not a tensor.
	metadataKey = "__metadata__"
)

// File is what a file, or a set of files, says about its tensors.
type File struct {
	// Metadata are the attributes of the file as a whole, in the order in which they stand there.
	Metadata []layout.Attr

	// Entries are the tensors in the order in which their data lies in the file, and those without
	// elements by name where they lie in the same place; in a set, one file after the other.
	Entries []Entry
}

// Entry is a tensor of a file.
type Entry struct {
	Name  string
	DType string  // as the file has it: F32, BF16, …
	Shape []int64 // row-major; none for a scalar. It belongs to the Entry

	data       []byte
	begin, end int64 // what the file says of where data lies
}

// Parse reads the header of a file, which is all of it, and checks that the tensors tile the rest.
// The entries keep file, which has to stay as it is while they or their tensors are used. The time
// it takes depends on the header alone.
//
// The errors are [ErrInvalid] and [ErrTruncated].
func Parse(file []byte) (*File, error) {
	if len(file) < prefixSize {
		return nil, fmt.Errorf("%w: %d bytes are too few for the length of a header", ErrTruncated, len(file))
	}
	length := binary.LittleEndian.Uint64(file)
	rest := file[prefixSize:]
	switch {
	case length > maxHeader:
		return nil, fmt.Errorf("%w: a header of %d bytes; at most %d are allowed", ErrInvalid, length, maxHeader)
	case length > uint64(len(rest)):
		if len(rest) > 0 && rest[0] != '{' {
			return nil, fmt.Errorf("%w: the header does not begin with '{'", ErrInvalid)
		}
		return nil, fmt.Errorf("%w: the header has %d bytes, %d are there", ErrTruncated, length, len(rest))
	case length == 0 || rest[0] != '{':
		return nil, fmt.Errorf("%w: the header does not begin with '{'", ErrInvalid)
	}
	f, err := parseHeader(rest[:length])
	if err != nil {
		return nil, err
	}
	if err := f.place(rest[length:]); err != nil {
		return nil, err
	}
	return f, nil
}

// parseHeader reads the JSON of a header.
func parseHeader(text []byte) (*File, error) {
	p := &parser{text: text, base: prefixSize}
	f := &File{}
	names := make(map[string]struct{})
	var dims []int64 // the shapes of all entries, in as few pieces as append makes
	hasMetadata := false
	err := p.object(func(key string) error {
		if key == metadataKey {
			if hasMetadata {
				return p.fail("%q comes twice", key)
			}
			hasMetadata = true
			var err error
			f.Metadata, err = p.metadata()
			return err
		}
		if names[key] = struct{}{}; len(names) == len(f.Entries) {
			return p.fail("tensor %.100q comes twice", key)
		}
		e := Entry{Name: key}
		var err error
		if dims, err = p.entry(&e, dims); err != nil {
			return err
		}
		f.Entries = append(f.Entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, p.end()
}

// metadata reads an object of strings, or null.
func (p *parser) metadata() ([]layout.Attr, error) {
	if p.literal("null") {
		return nil, nil
	}
	var attrs []layout.Attr
	keys := make(map[string]struct{})
	err := p.object(func(key string) error {
		if keys[key] = struct{}{}; len(keys) == len(attrs) {
			return p.fail("key %.100q of %s comes twice", key, metadataKey)
		}
		value, err := p.str()
		attrs = append(attrs, layout.Attr{Key: key, Value: value})
		return err
	})
	return attrs, err
}

// entry reads what a header says of a tensor. The shape is appended to dims. As in the reference
// implementation, fields that are not known are skipped.
func (p *parser) entry(e *Entry, dims []int64) ([]int64, error) {
	var dtype, shape, offsets bool
	err := p.object(func(key string) (err error) {
		var seen *bool
		switch key {
		case "dtype":
			seen = &dtype
			e.DType, err = p.dtype()
		case "shape":
			seen = &shape
			first := len(dims)
			dims, err = p.integers(dims)
			e.Shape = dims[first:len(dims):len(dims)]
		case "data_offsets":
			seen = &offsets
			var at [2]int64
			var found []int64
			found, err = p.integers(at[:0])
			if err == nil && len(found) != 2 {
				return p.fail("data_offsets of tensor %.100q has %d numbers, not 2", e.Name, len(found))
			}
			e.begin, e.end = at[0], at[1]
		default:
			return p.skip(1)
		}
		if err == nil && *seen {
			return p.fail("%s of tensor %.100q comes twice", key, e.Name)
		}
		*seen = true
		return err
	})
	if err != nil {
		return dims, err
	}
	for _, field := range []struct {
		name string
		seen bool
	}{{"dtype", dtype}, {"shape", shape}, {"data_offsets", offsets}} {
		if !field.seen {
			return dims, p.fail("tensor %.100q has no %s", e.Name, field.name)
		}
	}
	return dims, nil
}

// dtype reads the name of an element type. For those that are known there is one string.
func (p *parser) dtype() (string, error) {
	s, err := p.str()
	if err != nil {
		return "", err
	}
	for i := range dtypes {
		if dtypes[i].name == s {
			return dtypes[i].name, nil
		}
	}
	return s, nil
}

// place sorts the entries by where they lie in data, and makes sure that each has the bytes that its
// shape asks for, and that together they have all of data.
func (f *File) place(data []byte) error {
	slices.SortFunc(f.Entries, func(a, b Entry) int {
		// Only those without elements can lie in the same place.
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.Name, b.Name))
	})
	last := int64(0)
	for i := range f.Entries {
		e := &f.Entries[i]
		switch {
		case e.end < e.begin:
			return fmt.Errorf("%w: tensor %.100q ends at %d, before it begins at %d", ErrInvalid, e.Name, e.end, e.begin)
		case e.begin < last:
			return fmt.Errorf("%w: tensor %.100q begins at %d, inside tensor %.100q, which ends at %d", ErrInvalid, e.Name, e.begin, f.Entries[i-1].Name, last)
		case e.begin > last:
			return fmt.Errorf("%w: no tensor has bytes %d to %d of the data, before tensor %.100q", ErrInvalid, last, e.begin-1, e.Name)
		}
		if err := e.checkSize(); err != nil {
			return err
		}
		last = e.end
	}
	switch size := int64(len(data)); {
	case last > size:
		return fmt.Errorf("%w: the tensors take %d bytes, %d are there", ErrTruncated, last, size)
	case last < size:
		return fmt.Errorf("%w: %d bytes follow the last tensor", ErrInvalid, size-last)
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		e.data = data[e.begin:e.end:e.end]
	}
	return nil
}

// checkSize makes sure that a tensor has as many bytes as its type and shape ask for. Of a type
// that is not known there is no telling.
func (e *Entry) checkSize() error {
	bits, _ := dtypeOf(e.DType)
	if bits == 0 {
		return nil
	}
	n, ok := layout.CheckedProduct(e.Shape, bits)
	switch {
	case !ok:
		return fmt.Errorf("%w: tensor %.100q: %s of %s has more than 2^63-1 bits", ErrInvalid, e.Name, e.DType, shapeText(e.Shape))
	case n%8 != 0:
		return fmt.Errorf("%w: tensor %.100q: %s of %s does not fill its last byte", ErrInvalid, e.Name, e.DType, shapeText(e.Shape))
	case n/8 != e.end-e.begin:
		return fmt.Errorf("%w: tensor %.100q: %s of %s takes %d bytes, data_offsets give it %d", ErrInvalid, e.Name, e.DType, shapeText(e.Shape), n/8, e.end-e.begin)
	}
	return nil
}

// shapeText writes a shape for messages, of which a file can have one of millions of dimensions.
func shapeText(shape []int64) string {
	if len(shape) > layout.MaxDims {
		return fmt.Sprintf("%d dimensions", len(shape))
	}
	return fmt.Sprint(shape)
}

// Size returns the bytes that the tensor takes in the file.
func (e Entry) Size() int64 { return e.end - e.begin }

// Tensor returns the tensor. It shares the memory of the file, unless its elements don't lie where
// a Go value of their type may lie, or are bools with a byte above 1: then it has memory of its
// own, of [Entry.Size] bytes.
//
// The error is [ErrUnsupported], for element types that no tensor has and for more than 64
// dimensions.
func (e Entry) Tensor() (*layout.Dense, error) { return e.tensor(true) }

// View is Tensor for whoever only copies the elements: it leaves them where they are at any
// alignment. [layout.Values] refuses such a tensor with [layout.ErrMisaligned].
func (e Entry) View() (*layout.Dense, error) { return e.tensor(false) }

func (e Entry) tensor(align bool) (*layout.Dense, error) {
	bits, dtype := dtypeOf(e.DType)
	switch {
	case bits == 0:
		return nil, fmt.Errorf("%w: tensor %.100q has elements of the unknown type %.40q", ErrUnsupported, e.Name, e.DType)
	case !dtype.Valid():
		return nil, fmt.Errorf("%w: tensor %.100q has elements of type %s, which no tensor here has; save it as a view of U8", ErrUnsupported, e.Name, e.DType)
	case len(e.Shape) > layout.MaxDims:
		return nil, fmt.Errorf("%w: tensor %.100q has %d dimensions, more than %d", ErrUnsupported, e.Name, len(e.Shape), layout.MaxDims)
	}
	data := e.data
	switch {
	case dtype == layout.Bool:
		data = elements.Bools(data)
	case dtype == layout.Complex64 && align:
		data = elements.Aligned(data, dtype.Size()/2)
	case align:
		data = elements.Aligned(data, dtype.Size())
	}
	d, err := layout.NewDense(dtype, e.Shape, data)
	if err != nil {
		return nil, fmt.Errorf("tensor %.100q: %w", e.Name, err)
	}
	return d, nil
}
