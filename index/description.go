package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/tstore/tstore/layout"
)

// A description is the part of an entry that says what is in the record: element type, layout,
// shape, attributes. The catalog and the frozen index hold the same bytes.
//
//	byte     layout          0 dense, 1 COO, 2 CSR, 3 CSC, 4 CSF
//	byte     flags           1: dimension names follow; 2: index types follow, set if not dense
//	byte     dimensions      0 to 64
//	string   element type
//	string   indptr type     if flag 2; empty where the layout has none
//	string   indices type    if flag 2
//	varint   size            for each dimension
//	varint   stored elements
//	varint   payload bytes
//	string   name            for each dimension, if flag 1
//	varint   attributes      then a string key and a string value for each
//
// A varint is an unsigned LEB128 number below 2⁶³ in as few bytes as possible; a string is a
// varint length and that many bytes. Nothing follows.
const (
	flagDimNames   = 1
	flagIndexTypes = 2
)

// checkDescription makes sure that what appendDescription makes of e can be decoded.
func checkDescription(e *Entry) error {
	switch {
	case !e.DType.Valid():
		return fmt.Errorf("it has no element type")
	case e.Layout > layout.LayoutCSF:
		return fmt.Errorf("it has layout number %d", e.Layout)
	case e.Layout != layout.LayoutDense && !e.IndicesType.Valid():
		return fmt.Errorf("it has layout %v and no type of indices", e.Layout)
	case len(e.Shape) > layout.MaxDims:
		return fmt.Errorf("it has %d dimensions, at most %d are possible", len(e.Shape), layout.MaxDims)
	case len(e.DimNames) > 0 && len(e.DimNames) != len(e.Shape):
		return fmt.Errorf("it has %d dimension names for %d dimensions", len(e.DimNames), len(e.Shape))
	case e.NNZ < 0 || e.Bytes < 0 || slices.ContainsFunc(e.Shape, func(n int64) bool { return n < 0 }):
		return fmt.Errorf("shape %v, %d stored elements or %d bytes are negative", e.Shape, e.NNZ, e.Bytes)
	}
	return nil
}

func appendDescription(dst []byte, e *Entry) []byte {
	var flags byte
	if len(e.DimNames) > 0 && len(e.Shape) > 0 {
		flags |= flagDimNames
	}
	if e.Layout != layout.LayoutDense {
		flags |= flagIndexTypes
	}
	dst = append(dst, byte(e.Layout), flags, byte(len(e.Shape)))
	dst = appendDType(dst, e.DType)
	if flags&flagIndexTypes != 0 {
		dst = appendDType(dst, e.IndptrType)
		dst = appendDType(dst, e.IndicesType)
	}
	for _, n := range e.Shape {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.AppendUvarint(dst, uint64(e.NNZ))
	dst = binary.AppendUvarint(dst, uint64(e.Bytes))
	if flags&flagDimNames != 0 {
		for i := range e.Shape {
			var name string
			if i < len(e.DimNames) {
				name = e.DimNames[i]
			}
			dst = appendString(dst, name)
		}
	}
	return appendAttrs(dst, e.Attrs)
}

func appendAttrs(dst []byte, attrs []layout.Attr) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(attrs)))
	for _, a := range attrs {
		dst = appendString(dst, a.Key)
		dst = appendString(dst, a.Value)
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendDType(dst []byte, d layout.DType) []byte {
	if !d.Valid() {
		return append(dst, 0)
	}
	return appendString(dst, d.String())
}

// dtypes has the types without parameters by name, so that they are found without making a string.
var dtypes = func() map[string]layout.DType {
	m := make(map[string]layout.DType)
	for _, d := range []layout.DType{
		layout.Int8, layout.Int16, layout.Int32, layout.Int64,
		layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
		layout.Float16, layout.Float32, layout.Float64, layout.Bool,
		layout.BFloat16, layout.Float8E4M3FN, layout.Float8E5M2,
		layout.Complex64, layout.Complex128,
	} {
		m[d.String()] = d
	}
	return m
}()

// cursor reads a description. After the first mistake err is set and every read gives zero.
type cursor struct {
	b   []byte
	pos int
	err error

	text string // b as a string, made when the first string is kept: one allocation for all
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: description, offset %d: %s", ErrCorrupt, c.pos, fmt.Sprintf(format, args...))
	}
}

func (c *cursor) byte() byte {
	if c.err != nil {
		return 0
	}
	if c.pos >= len(c.b) {
		c.fail("cut short")
		return 0
	}
	c.pos++
	return c.b[c.pos-1]
}

func (c *cursor) number() int64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.b[c.pos:])
	if n <= 0 || v > math.MaxInt64 || n > 1 && c.b[c.pos+n-1] == 0 {
		c.fail("not a number below 2^63 in its shortest form")
		return 0
	}
	c.pos += n
	return int64(v)
}

// span reads a length and returns where that many bytes start and end.
func (c *cursor) span() (start, end int) {
	n := c.number()
	if c.err != nil {
		return 0, 0
	}
	if n > int64(len(c.b)-c.pos) {
		c.fail("a string of %d bytes where %d are left", n, len(c.b)-c.pos)
		return 0, 0
	}
	start = c.pos
	c.pos += int(n)
	return start, c.pos
}

func (c *cursor) string() string {
	start, end := c.span()
	if start == end {
		return ""
	}
	if c.text == "" {
		c.text = string(c.b)
	}
	return c.text[start:end]
}

// dtype reads the name of a type; an empty one gives the zero DType.
func (c *cursor) dtype() layout.DType {
	start, end := c.span()
	if start == end {
		return layout.DType{}
	}
	if d, ok := dtypes[string(c.b[start:end])]; ok {
		return d
	}
	d, err := layout.ParseDType(string(c.b[start:end]))
	if err != nil {
		c.fail("%v", err)
	}
	return d
}

func (c *cursor) attrs() []layout.Attr {
	n := c.number()
	if n == 0 || c.err != nil {
		return nil
	}
	if n > int64(len(c.b)-c.pos)/2 {
		c.fail("%d attributes in %d bytes", n, len(c.b)-c.pos)
		return nil
	}
	attrs := make([]layout.Attr, n)
	for i := range attrs {
		attrs[i].Key = c.string()
		attrs[i].Value = c.string()
		if c.err != nil {
			return nil
		}
	}
	return attrs
}

// decodeDescription fills the fields of e that the description b has. It keeps no part of b.
func decodeDescription(e *Entry, b []byte) error {
	c := cursor{b: b}
	e.Layout = layout.Layout(c.byte())
	flags := c.byte()
	ndim := int(c.byte())
	switch {
	case c.err != nil:
		return c.err
	case e.Layout > layout.LayoutCSF:
		return fmt.Errorf("%w: layout number %d", ErrNewerFormat, e.Layout)
	case flags&^(flagDimNames|flagIndexTypes) != 0:
		return fmt.Errorf("%w: description flags %#x", ErrNewerFormat, flags)
	case ndim > layout.MaxDims:
		c.fail("%d dimensions, at most %d are possible", ndim, layout.MaxDims)
	case flags&flagDimNames != 0 && ndim == 0:
		c.fail("dimension names without dimensions")
	case (flags&flagIndexTypes != 0) != (e.Layout != layout.LayoutDense):
		c.fail("layout %v and flags %#x: index types belong to sparse layouts", e.Layout, flags)
	}
	if e.DType = c.dtype(); c.err == nil && !e.DType.Valid() {
		c.fail("no element type")
	}
	if flags&flagIndexTypes != 0 {
		e.IndptrType = c.dtype()
		if e.IndicesType = c.dtype(); c.err == nil && !e.IndicesType.Valid() {
			c.fail("no type of indices in layout %v", e.Layout)
		}
	}
	if c.err != nil {
		return c.err
	}
	e.Shape = make([]int64, ndim)
	for i := range e.Shape {
		e.Shape[i] = c.number()
	}
	e.NNZ = c.number()
	e.Bytes = c.number()
	if flags&flagDimNames != 0 && c.err == nil {
		e.DimNames = make([]string, ndim)
		for i := range e.DimNames {
			e.DimNames[i] = c.string()
		}
	}
	e.Attrs = c.attrs()
	if c.err == nil && c.pos != len(b) {
		c.fail("%d bytes too many", len(b)-c.pos)
	}
	return c.err
}
