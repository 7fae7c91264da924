package npy

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tstore/tstore/layout"
)

// magic begins every file. After it come the two bytes of the version, the length of the header
// (2 bytes in version 1, 4 in the others, little-endian) and the header.
const magic = "\x93NUMPY"

// prefixSize returns the number of bytes before the header.
func prefixSize(version byte) int64 {
	if version == 1 {
		return int64(len(magic)) + 2 + 2
	}
	return int64(len(magic)) + 2 + 4
}

// Header is what a .npy file says about its array.
type Header struct {
	Version      int          // major version of the format, 1 to 3
	DType        layout.DType // element type of the tensor
	Shape        []int64      // one length an axis, none for a scalar
	FortranOrder bool         // the first axis varies fastest
	DataOffset   int64        // where the elements start in the file
	DataSize     int64        // bytes that they take there

	elem element // how the elements lie in the file
}

// ParseHeader reads the header of a file from its first bytes, which have to reach to the end of
// the header. It keeps nothing of b.
//
// The errors are [ErrInvalid], [ErrTruncated] and [ErrUnsupported].
func ParseHeader(b []byte) (Header, error) {
	if n := min(len(b), len(magic)); string(b[:n]) != magic[:n] {
		return Header{}, fmt.Errorf("%w: it does not begin with \\x93NUMPY", ErrInvalid)
	}
	if len(b) < len(magic)+2 {
		return Header{}, fmt.Errorf("%w: %d bytes are too few for a header", ErrTruncated, len(b))
	}
	h := Header{Version: int(b[6])}
	if h.Version < 1 || h.Version > 3 || b[7] != 0 {
		return Header{}, fmt.Errorf("%w: format version %d.%d; versions 1.0, 2.0 and 3.0 are known", ErrUnsupported, b[6], b[7])
	}
	prefix := prefixSize(b[6])
	if int64(len(b)) < prefix {
		return Header{}, fmt.Errorf("%w: %d bytes are too few for a header", ErrTruncated, len(b))
	}
	var length int64
	if h.Version == 1 {
		length = int64(binary.LittleEndian.Uint16(b[8:]))
	} else {
		length = int64(binary.LittleEndian.Uint32(b[8:]))
	}
	if length > int64(len(b))-prefix {
		return Header{}, fmt.Errorf("%w: the header has %d bytes, %d are there", ErrTruncated, length, int64(len(b))-prefix)
	}
	h.DataOffset = prefix + length

	p := parser{text: b[prefix:h.DataOffset], base: prefix}
	if h.Version == 3 && !utf8.Valid(p.text) {
		return Header{}, fmt.Errorf("%w: the header is not UTF-8", ErrInvalid)
	}
	if err := p.dict(&h); err != nil {
		return Header{}, err
	}
	var fits bool
	if h.DataSize, fits = layout.CheckedProduct(h.Shape, int64(h.elem.size)); fits {
		_, fits = layout.CheckedAdd(h.DataOffset, h.DataSize)
	}
	if !fits {
		return Header{}, fmt.Errorf("%w: %v of %v has more than 2^63-1 bytes", ErrInvalid, h.DType, h.Shape)
	}
	return h, nil
}

// parser reads the header's dictionary: a literal of Python with the three keys 'descr',
// 'fortran_order' and 'shape', each once, in any order. It knows only the literals that those
// take, so nesting and evaluation can't come up.
type parser struct {
	text []byte
	pos  int
	base int64 // position of text in the file, for messages
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("%w: header, byte %d: %s", ErrInvalid, p.base+int64(p.pos), fmt.Sprintf(format, args...))
}

// space skips white space. NumPy pads the header with spaces and ends it with a newline.
func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r', '\f':
			p.pos++
		default:
			return
		}
	}
}

// accept skips white space and then c, if that is what follows.
func (p *parser) accept(c byte) bool {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(c byte) error {
	if !p.accept(c) {
		return p.fail("%q expected, found %s", c, p.next())
	}
	return nil
}

// next describes what follows, for messages.
func (p *parser) next() string {
	if p.pos >= len(p.text) {
		return "the end"
	}
	return strconv.Quote(string(p.text[p.pos:min(p.pos+12, len(p.text))]))
}

func (p *parser) dict(h *Header) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	var descr, order, shape bool
	for !p.accept('}') {
		key, err := p.quoted()
		if err != nil {
			return err
		}
		if err := p.expect(':'); err != nil {
			return err
		}
		var seen *bool
		switch key {
		case "descr":
			seen, err = &descr, p.descr(h)
		case "fortran_order":
			seen, err = &order, p.boolean(&h.FortranOrder)
		case "shape":
			seen, err = &shape, p.shape(h)
		default:
			return p.fail("unknown key %q", key)
		}
		if err != nil {
			return err
		}
		if *seen {
			return p.fail("key %q comes twice", key)
		}
		*seen = true
		if !p.accept(',') {
			if err := p.expect('}'); err != nil {
				return err
			}
			break
		}
	}
	p.space()
	if p.pos < len(p.text) {
		return p.fail("the end expected, found %s", p.next())
	}
	for _, k := range []struct {
		name string
		seen bool
	}{{"descr", descr}, {"fortran_order", order}, {"shape", shape}} {
		if !k.seen {
			return p.fail("key %q is missing", k.name)
		}
	}
	return nil
}

// quoted reads a string in single or double quotes. Backslashes are refused: no type's name and no
// key has one.
func (p *parser) quoted() (string, error) {
	p.space()
	if p.pos >= len(p.text) || p.text[p.pos] != '\'' && p.text[p.pos] != '"' {
		return "", p.fail("a string expected, found %s", p.next())
	}
	quote := p.text[p.pos]
	start := p.pos + 1
	for i := start; i < len(p.text); i++ {
		switch p.text[i] {
		case quote:
			p.pos = i + 1
			return string(p.text[start:i]), nil
		case '\\', '\n':
			return "", p.fail("a string with %q in it", p.text[i])
		}
	}
	return "", p.fail("a string without an end")
}

func (p *parser) boolean(v *bool) error {
	p.space()
	switch rest := string(p.text[p.pos:min(p.pos+5, len(p.text))]); {
	case strings.HasPrefix(rest, "True"):
		*v, p.pos = true, p.pos+len("True")
		return nil
	case rest == "False":
		*v, p.pos = false, p.pos+len("False")
		return nil
	}
	return p.fail("True or False expected, found %s", p.next())
}

// shape reads a tuple of integers: (), (3,), (3, 4), (3, 4, 5,). As NumPy does, it takes an L
// after an integer, which Python 2 wrote.
func (p *parser) shape(h *Header) error {
	if err := p.expect('('); err != nil {
		return err
	}
	comma := true
	for !p.accept(')') {
		if !comma {
			return p.fail("',' or ')' expected, found %s", p.next())
		}
		n, err := p.integer()
		if err != nil {
			return err
		}
		if len(h.Shape) == layout.MaxDims {
			return fmt.Errorf("%w: more than %d dimensions", ErrUnsupported, layout.MaxDims)
		}
		h.Shape = append(h.Shape, n)
		comma = p.accept(',')
	}
	if len(h.Shape) == 1 && !comma {
		return p.fail("(%d) is a number; a shape with one axis is (%d,)", h.Shape[0], h.Shape[0])
	}
	return nil
}

func (p *parser) integer() (int64, error) {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '9' {
		p.pos++
	}
	digits := string(p.text[start:p.pos])
	if digits == "" {
		return 0, p.fail("a length expected, found %s", p.next())
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, p.fail("a length of %d digits does not fit in 63 bits", len(digits))
	}
	if p.pos < len(p.text) && p.text[p.pos] == 'L' {
		p.pos++
	}
	return n, nil
}

// descr reads the element type. Types with fields are lists and types with a shape of their own
// are tuples; neither becomes a tensor.
func (p *parser) descr(h *Header) error {
	p.space()
	if p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '[':
			return fmt.Errorf("%w: a structured array; save each field by itself, as in np.save(\"x.npy\", a[\"x\"])", ErrUnsupported)
		case '(':
			return fmt.Errorf("%w: an element type with a shape of its own; save a view of a plain type", ErrUnsupported)
		}
	}
	s, err := p.quoted()
	if err != nil {
		return err
	}
	h.DType, h.elem, err = parseDescr(s)
	return err
}
