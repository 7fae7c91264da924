package codec_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// A kind says how a field is kept: a scalar or struct of so many bytes, or
// something that an offset leads to.
type kind struct {
	width  int    // of a scalar or struct in the table, or of a vector's elements
	table  string // name of a table
	vector bool
	union  map[byte]string // names of tables by the type, which is the field before
}

var (
	byteField  = kind{width: 1}
	shortField = kind{width: 2}
	intField   = kind{width: 4}
	longField  = kind{width: 8}
	buffer     = kind{width: 16}
	text       = kind{width: 1, vector: true}
	elementTyp = kind{union: map[byte]string{2: "Int", 3: "short", 7: "Decimal", 8: "short", 9: "Time", 10: "Timestamp", 11: "short", 15: "FixedSizeBinary", 18: "short"}}
)

// schema is docs/FORMAT.md as data.
var schema = map[string][]kind{
	"Message":  {shortField, byteField, {union: map[byte]string{4: "Tensor", 5: "SparseTensor"}}, longField, {table: "KeyValue", vector: true}},
	"KeyValue": {text, text},
	"Tensor": {byteField, elementTyp, {table: "TensorDim", vector: true},
		{width: 8, vector: true}, buffer},
	"TensorDim": {longField, text},
	"SparseTensor": {byteField, elementTyp, {table: "TensorDim", vector: true}, longField,
		byteField, {union: map[byte]string{1: "COO", 2: "CSX", 3: "CSF"}}, buffer},
	"COO":             {{table: "Int"}, {width: 8, vector: true}, buffer, byteField},
	"CSX":             {shortField, {table: "Int"}, buffer, {table: "Int"}, buffer},
	"CSF":             {{table: "Int"}, {width: 16, vector: true}, {table: "Int"}, {width: 16, vector: true}, {width: 4, vector: true}},
	"Int":             {intField, byteField},
	"short":           {shortField},
	"Decimal":         {intField, intField, intField},
	"Time":            {shortField, intField},
	"Timestamp":       {shortField, text},
	"FixedSizeBinary": {intField},
}

// checkStrictly fails unless a FlatBuffer is right in everything that its
// format says, whether our reader needs it or not: the lengths of tables, and
// every byte is part of one thing alone (vtables excepted, which tables share).
func checkStrictly(t fataler, metadata []byte) {
	s := strict{t: t, b: metadata, used: make([]string, len(metadata))}
	s.take(0, 4, 4, "root")
	s.table(s.follow(0), "Message")
	for i, what := range s.used {
		if what == "" && metadata[i] != 0 {
			t.Fatalf("byte %d is %#x, but part of nothing", i, metadata[i])
		}
	}
}

type fataler interface {
	Fatalf(format string, args ...any)
}

type strict struct {
	t    fataler
	b    []byte
	used []string
}

// take claims bytes for one thing.
func (s *strict) take(pos, size, alignment int, what string) {
	if pos%alignment != 0 {
		s.t.Fatalf("%s at %d, not a multiple of %d", what, pos, alignment)
	}
	for i := pos; i < pos+size; i++ {
		if s.used[i] != "" {
			s.t.Fatalf("byte %d is part of %s and of %s", i, s.used[i], what)
		}
		s.used[i] = what
	}
}

func (s *strict) uint16(pos int) int { return int(binary.LittleEndian.Uint16(s.b[pos:])) }
func (s *strict) follow(pos int) int { return pos + int(binary.LittleEndian.Uint32(s.b[pos:])) }

func (s *strict) table(pos int, name string) {
	fields := schema[name]
	vtable := pos - int(int32(binary.LittleEndian.Uint32(s.b[pos:])))
	slots, size := s.uint16(vtable), s.uint16(vtable+2)
	if s.used[vtable] == "" {
		s.take(vtable, slots, 2, "a vtable")
	} else if s.used[vtable] != "a vtable" {
		s.t.Fatalf("the vtable of %s is in %s", name, s.used[vtable])
	}
	s.take(pos, 4, 4, name)
	if slots > 4+2*len(fields) {
		s.t.Fatalf("%s has a vtable of %d bytes", name, slots)
	}
	end := 4
	for id := range (slots - 4) / 2 {
		offset := s.uint16(vtable + 4 + 2*id)
		if offset == 0 {
			continue
		}
		f, at := fields[id], pos+offset
		what := fmt.Sprintf("field %d of %s", id, name)
		if f.width > 0 && !f.vector {
			s.take(at, f.width, min(f.width, 8), what)
			end = max(end, offset+f.width)
			continue
		}
		s.take(at, 4, 4, what)
		end = max(end, offset+4)
		switch {
		case f.union != nil:
			member, ok := f.union[s.b[pos+s.uint16(vtable+2+2*id)]]
			if !ok {
				s.t.Fatalf("%s has an unknown type", what)
			}
			s.table(s.follow(at), member)
		case f.vector:
			s.vector(s.follow(at), f, what)
		default:
			s.table(s.follow(at), f.table)
		}
	}
	if size < end || size > end+7 {
		s.t.Fatalf("%s ends at %d, its vtable says %d", name, end, size)
	}
}

func (s *strict) vector(pos int, f kind, what string) {
	n := int(binary.LittleEndian.Uint32(s.b[pos:]))
	if f.width == 1 && n == 0 && s.used[pos] == "an empty string" {
		return // shared by names
	}
	if f.width == 1 {
		if n == 0 {
			what = "an empty string"
		}
		s.take(pos, 4+n+1, 4, what)
		return
	}
	width := max(f.width, 4)
	s.take(pos, 4, 4, what)
	if n > 0 {
		s.take(pos+4, n*width, min(width, 8), what)
	}
	for i := range n {
		if f.table != "" {
			s.table(s.follow(pos+4+4*i), f.table)
		}
	}
}

// TestWhatIsWrittenIsStrictlyRight holds messages to rules that our reader and
// Arrow's are lenient about.
func TestWhatIsWrittenIsStrictlyRight(t *testing.T) {
	metas := [][]layout.Attr{nil, {{}}, {{Key: "tstore.name", Value: "x"}, {Key: "k", Value: "value"}}}
	for _, dt := range dtypes() {
		for _, shape := range [][]int64{{}, {0}, {2}, {0, 3}, {2, 1}, {2, 0, 3}, {2, 3, 1, 2}} {
			n, _ := layout.CheckedProduct(shape, int64(dt.Size()))
			d := must(layout.NewDense(dt, shape, counting(dt, n)))
			for _, names := range [][]string{nil, {"", "x", "row", ""}} {
				d = must(d.WithDimNames(names[:min(len(names), len(shape))]...))
				for _, meta := range metas {
					for l := range layout.LayoutCSF + 1 {
						checkWritten(t, d, l, meta)
					}
				}
			}
		}
	}
	checkStrictly(t, codec.ControlHead("tstore.commit", "", 0)[8:])
	checkStrictly(t, codec.ControlHead("tstore.commit", "1", 64)[8:])
}

// checkWritten checks what is written for d in a layout, with indices that have a
// sign and with such that have none.
func checkWritten(t *testing.T, d *layout.Dense, to layout.Layout, meta []layout.Attr) {
	for _, indices := range []layout.IndexType{layout.IndexUint8, layout.IndexInt32} {
		tensor, err := layout.Convert(d, to, &layout.ConvertOptions{Indices: indices})
		if errors.Is(err, layout.ErrLayout) {
			return // not for so many dimensions
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := codec.Encode(tensor, meta)
		if err != nil {
			t.Fatal(err)
		}
		checkStrictly(t, r.Head[8:])
		if to == layout.LayoutDense {
			return
		}
	}
}
