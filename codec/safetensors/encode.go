package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tstore/tstore/layout"
)

// chunkSize is the size of the buffer for elements that have to be gathered.
const chunkSize = 1 << 20

// Named is a tensor with its name in a file.
type Named struct {
	Name   string
	Tensor *layout.Dense
}

// Encode writes a file of the given tensors and metadata. Elements that lie together in row-major
// order go to w straight from the tensors' memory; others are gathered in pieces of at most 1 MiB.
//
// The error is [ErrUnsupported] for an element type that the format does not have, a name or a key
// that comes twice or is not UTF-8, and a header of more than 100,000,000 bytes, all before
// anything is written, or that of w.
func Encode(w io.Writer, tensors []Named, metadata []layout.Attr) error {
	specs := make([]Spec, len(tensors))
	for i, t := range tensors {
		specs[i] = Spec{Name: t.Name, DType: t.Tensor.DType(), Shape: t.Tensor.Shape()}
	}
	return Write(w, specs, metadata, func(i int) (*layout.Dense, error) { return tensors[i].Tensor, nil })
}

// Spec is what the header of a file has to say of a tensor.
type Spec struct {
	Name  string
	DType layout.DType
	Shape []int64
}

// Write is [Encode] for tensors that are not all at hand: it asks for each when its turn has come.
// tensor(i) returns the one that specs[i] describes; it is called once for each, in the order in
// which they come in the file, and what it returns is not used any more at the next call.
//
// The errors are those of Encode, that of tensor, and [ErrUnsupported] where a tensor is not what
// was announced.
func Write(w io.Writer, specs []Spec, metadata []layout.Attr, tensor func(i int) (*layout.Dense, error)) error {
	order, err := arrange(specs)
	if err != nil {
		return err
	}
	header, err := appendHeader(nil, specs, order, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	var buf []byte
	for _, i := range order {
		d, err := tensor(i)
		if err != nil {
			return err
		}
		if d.DType() != specs[i].DType || !slices.Equal(d.Shape(), specs[i].Shape) {
			return fmt.Errorf("%w: tensor %.100q is %v of %v, and was announced as %v of %v", ErrUnsupported, specs[i].Name, d.DType(), d.Shape(), specs[i].DType, specs[i].Shape)
		}
		if buf == nil && !d.IsContiguous() {
			buf = make([]byte, chunkSize)
		}
		for chunk := range d.Chunks(buf) {
			if _, err := w.Write(chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrange returns the order in which tensors come in a file, and makes sure that they can. There
// may be no gaps between them. So first come those that end at a multiple of 64 if they begin at
// one, and then the others, those with larger elements first: their sizes are powers of two, and so
// each begins at a multiple of its own.
func arrange(specs []Spec) ([]int, error) {
	const align = layout.Alignment
	order := make([]int, len(specs))
	sizes := make([]int64, len(specs))
	total := int64(0)
	for i, s := range specs {
		order[i] = i
		switch {
		case !utf8.ValidString(s.Name):
			return nil, fmt.Errorf("%w: tensor %.100q: a name has to be UTF-8", ErrUnsupported, s.Name)
		case s.Name == metadataKey:
			return nil, fmt.Errorf("%w: a tensor called %s, which is what a header calls its metadata", ErrUnsupported, s.Name)
		case nameOf(s.DType) == "":
			return nil, fmt.Errorf("%w: tensor %.100q has elements of type %v, which a .safetensors file does not have", ErrUnsupported, s.Name, s.DType)
		}
		size, ok := layout.CheckedProduct(s.Shape, int64(s.DType.Size()))
		if ok {
			sizes[i] = size
			total, ok = layout.CheckedAdd(total, size)
		}
		if !ok {
			return nil, fmt.Errorf("%w: tensor %.100q: %v and what comes before it take more than 2^63-1 bytes", ErrUnsupported, s.Name, s.Shape)
		}
	}
	group := func(i int) int {
		if sizes[i]%align == 0 {
			return -align // before all others
		}
		return -specs[i].DType.Size()
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(specs[a].Name, specs[b].Name))
	})
	names := make(map[string]struct{}, len(specs))
	for _, s := range specs {
		n := len(names)
		if names[s.Name] = struct{}{}; len(names) == n {
			return nil, fmt.Errorf("%w: two tensors are called %.100q", ErrUnsupported, s.Name)
		}
	}
	return order, nil
}

// appendHeader appends the length of the header and the header.
func appendHeader(b []byte, specs []Spec, order []int, metadata []layout.Attr) ([]byte, error) {
	first := len(b)
	b = append(b, make([]byte, prefixSize)...)
	b = append(b, '{')
	comma := ""
	if len(metadata) > 0 {
		var err error
		if b, err = appendMetadata(b, metadata); err != nil {
			return nil, err
		}
		comma = ","
	}
	offset := int64(0)
	for _, i := range order {
		s := &specs[i]
		size, _ := layout.CheckedProduct(s.Shape, int64(s.DType.Size())) // checked in arrange
		b = append(b, comma...)
		b = appendString(b, s.Name)
		b = append(b, `:{"dtype":"`...)
		b = append(b, nameOf(s.DType)...)
		b = append(b, `","shape":`...)
		b = appendIntegers(b, s.Shape...)
		b = append(b, `,"data_offsets":`...)
		b = appendIntegers(b, offset, offset+size)
		b = append(b, '}')
		comma = ","
		offset += size
		if len(b)-first > prefixSize+maxHeader {
			break
		}
	}
	b = append(b, '}')
	if padding := -(len(b) - first) & (layout.Alignment - 1); padding > 0 {
		b = append(b, bytes.Repeat([]byte{' '}, padding)...)
	}
	length := len(b) - first - prefixSize
	if length > maxHeader {
		return nil, fmt.Errorf("%w: %d tensors need a header of more than the %d bytes that readers take; write several files", ErrUnsupported, len(specs), maxHeader)
	}
	binary.LittleEndian.PutUint64(b[first:], uint64(length))
	return b, nil
}

func appendMetadata(b []byte, metadata []layout.Attr) ([]byte, error) {
	b = append(b, `"`+metadataKey+`":{`...)
	keys := make(map[string]struct{}, len(metadata))
	for i, a := range metadata {
		if len(b)+len(a.Key)+len(a.Value) > maxHeader {
			return nil, fmt.Errorf("%w: metadata of more than the %d bytes that a header may have", ErrUnsupported, maxHeader)
		}
		if keys[a.Key] = struct{}{}; len(keys) == i {
			return nil, fmt.Errorf("%w: key %.100q of the metadata comes twice", ErrUnsupported, a.Key)
		}
		if !utf8.ValidString(a.Key) || !utf8.ValidString(a.Value) {
			return nil, fmt.Errorf("%w: metadata %.100q: keys and values have to be UTF-8", ErrUnsupported, a.Key)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, a.Key)
		b = append(b, ':')
		b = appendString(b, a.Value)
	}
	return append(b, '}'), nil
}

// appendString appends a string, which is UTF-8, with the escapes that JSON asks for.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[done:i]...)
		done = i + 1
		if c < ' ' {
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = append(b, '\\', c)
		}
	}
	return append(append(b, s[done:]...), '"')
}

func appendIntegers(b []byte, integers ...int64) []byte {
	b = append(b, '[')
	for i, n := range integers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return append(b, ']')
}
