package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// An accept is a file and what a reader must see in it.
type accept struct {
	File    string            `json:"file"`
	Number  uint64            `json:"number,omitempty"` // of the segment; a package on its own has none
	With    map[uint64]string `json:"with,omitempty"`   // other segments of the store, by number
	Tensors []described       `json:"tensors"`
	Attrs   [][2]string       `json:"attrs,omitempty"`  // of the dataset, in a package
	Digest  string            `json:"digest,omitempty"` // of a package

	content []byte
}

var (
	unit   = layout.Attr{Key: "unit", Value: "m"}
	author = layout.Attr{Key: "author", Value: "née"}

	matrix = must(layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3).WithDimNames("row", "column"))
	vector = layout.DenseOf([]int64{7, 8}, 2)
	scalar = layout.DenseOf([]uint8{9})
	flags  = layout.DenseOf([]bool{true, false, true}, 3)
	empty  = layout.DenseOf([]float64{}, 0, 4)
	csr    = must(layout.Convert(layout.DenseOf([]float32{0, 1, 0, 2, 0, 3}, 2, 3), layout.LayoutCSR, nil))
	coo    = must(layout.Convert(layout.DenseOf([]int32{0, 5, 0, 6}, 2, 2), layout.LayoutCOO, nil))
)

func accepts() []accept {
	var all []accept
	add := func(file string, number uint64, content []byte, c contents, with map[uint64]string) {
		all = append(all, accept{File: file, Number: number, With: with, Tensors: c.describe(), content: content})
	}

	l := newLog(1, 0, nil)
	add("log-empty.seg", 1, l.b, nil, nil)
	add("log-empty-header-only-zeros.seg", 1, append(bytes.Clone(l.b), make([]byte, 4096)...), nil, nil)

	add("log.seg", 1, plain(true).b, plain(true).names, nil)
	open := plain(false)
	add("log-open.seg", 1, append(bytes.Clone(open.b), make([]byte, 1000)...), open.names, nil)

	// What was never acknowledged is not seen. The last batch is of the names a and e.
	torn := plain(false)
	before := maps.Clone(torn.names)
	start := len(torn.b)
	torn.put("e", scalar)
	torn.put("a", vector)
	record := len(torn.b)
	torn.commit()
	add("log-not-torn.seg", 1, bytes.Clone(torn.b), torn.names, nil)
	for _, torn := range []struct {
		how  string
		file []byte
	}{
		{"record", flipped(torn.b, record-1)},
		{"record-zeros", concat(torn.b[:start], make([]byte, record-start), torn.b[record:])},
		{"commit", flipped(torn.b, len(torn.b)-1)},
		{"commit-missing", torn.b[:record]},
		{"commit-cut", torn.b[:len(torn.b)-64]},
		{"length-odd", torn.b[:record+100]},
		{"garbage", concat(torn.b[:start], bytes.Repeat([]byte{0xA5}, 200))},
	} {
		add("log-torn-"+torn.how+".seg", 1, bytes.Clone(torn.file), before, nil)
	}
	// Nor is a whole batch behind a torn one, in the same sync.
	torn.put("f", scalar)
	torn.commitDurable(int64(start))
	add("log-torn-then-whole.seg", 1, flipped(torn.b, record-1), before, nil)

	inside := newLog(1, 0, nil)
	file := plain(true).b
	inside.put("a whole segment", layout.DenseOf(file, int64(len(file))))
	inside.commit()
	inside.put("a", matrix)
	inside.commit()
	inside.close()
	add("log-segment-inside.seg", 1, inside.b, inside.names, nil)

	other := newLog(1, 0, nil)
	other.putRecord("by the operation", recordOf("by the record", matrix, unit), matrix, []layout.Attr{unit})
	other.commit()
	other.close()
	add("log-name-of-the-operation.seg", 1, other.b, other.names, nil)

	names := newLog(1, 0, nil)
	for _, name := range []string{"x", longName, "höhe/山", " ", "a/../b", "\ufffd"} {
		names.put(name, scalar)
	}
	names.commit()
	names.close()
	add("log-names.seg", 1, names.b, names.names, nil)

	// A log that goes on in a second one, sealed and not.
	first := plain(true)
	second := newLog(2, first.seq, first.names, first.live())
	second.put("e", csr, author, unit)
	second.delete("b")
	second.commit()
	second.close()
	add("log-second.seg", 2, second.b, second.names, map[uint64]string{1: "log.seg"})
	add("log-sealed.seg", 1, first.seal(), second.names, map[uint64]string{2: "log-second.seg"})
	half := first.seal()
	add("log-sealed-not-yet.seg", 1, half[:len(half)-64], second.names, map[uint64]string{2: "log-second.seg"})
	add("log-sealed-zeros-behind.seg", 1, append(first.seal(), make([]byte, 640)...), second.names, map[uint64]string{2: "log-second.seg"})
	// After a torn tail the log goes on in a new one. What is torn stays, and does not count.
	left := newLog(2, open.seq, open.names, open.live())
	left.put("e", coo)
	left.commit()
	left.close()
	add("log-after-torn.seg", 2, left.b, left.names, map[uint64]string{1: "log-torn-record.seg"})

	// A tensor with a segment of its own.
	owner := newLog(1, 0, nil)
	owner.put("a", matrix, unit)
	owner.commit()
	data := owner.own("big", 2, csr)
	owner.commit()
	owner.put("b", vector)
	owner.commit()
	owner.close()
	add("data.seg", 2, data, owner.names, map[uint64]string{1: "log-data.seg"})
	add("log-data.seg", 1, owner.b, owner.names, map[uint64]string{2: "data.seg"})
	dataLive := segment.Live{Number: 2, UUID: id(2), Kind: segment.KindData, Valid: int64(len(data))}
	later := newLog(3, owner.seq, owner.names, owner.live(), dataLive)
	later.put("c", flags)
	later.commit()
	later.close()
	add("log-data-live.seg", 3, later.b, later.names, map[uint64]string{1: "log-data.seg", 2: "data.seg"})

	// Segment 3 takes the place of segment 1, by a batch of segment 2 or before it.
	gathered := compacted(3, first.names)
	gatheredLive := segment.Live{Number: 3, UUID: id(3), Kind: segment.KindCompacted, Valid: int64(len(gathered))}
	replace := newLog(2, first.seq, first.names, first.live())
	replace.put("e", scalar)
	replace.commit()
	replace.operation(segment.Op{Kind: segment.OpReplace, Old: []uint64{1}, New: []segment.Live{gatheredLive}})
	replace.commit()
	replace.put("f", scalar)
	replace.commit()
	replace.close()
	add("compacted.seg", 3, gathered, replace.names, map[uint64]string{2: "log-replace.seg"})
	add("log-replace.seg", 2, replace.b, replace.names, map[uint64]string{1: "log.seg", 3: "compacted.seg"})
	replaced := newLog(4, replace.seq, replace.names, replace.live(), gatheredLive)
	replaced.delete("f")
	replaced.commit()
	replaced.close()
	add("log-replaced.seg", 4, replaced.b, replaced.names, map[uint64]string{2: "log-replace.seg", 3: "compacted.seg"})

	// Packages, on their own and in stores.
	members := contents{
		"a": {matrix, []layout.Attr{author, unit}, 0}, "b": {vector, nil, 0}, "c/csr": {csr, nil, 0}, "c/flags": {flags, []layout.Attr{unit}, 0},
		"d": {empty, nil, 0}, "e": {scalar, nil, 0}, "höhe/山": {coo, nil, 0},
	}
	pkg := func(file string, c contents, attrs ...layout.Attr) []byte {
		b := pack(c, attrs...)
		a := accept{File: file, Tensors: c.describe(), content: b}
		for _, attr := range attrs {
			a.Attrs = append(a.Attrs, [2]string{attr.Key, attr.Value})
		}
		digest := digestOf(b)
		a.Digest = hex.EncodeToString(digest[:])
		all = append(all, a)
		return b
	}
	p := pkg("package.tstore", members, layout.Attr{Key: "license", Value: "CC0"}, layout.Attr{Key: "title", Value: "a corpus"})
	pkg("package-empty.tstore", contents{})
	pkg("package-one.tstore", contents{"x": {scalar, nil, 0}})
	two := contents{"x": {vector, nil, 0}, "y": {vector, nil, 0}}
	pkg("package-two.tstore", two)
	pkg("package-names.tstore", contents{longName: {scalar, nil, 0}, "x": {scalar, nil, 0}, " ": {scalar, nil, 0}, "\ufffd": {scalar, nil, 0}})
	many := contents{}
	for i := range 60 {
		many[fmt.Sprintf("%02d", i)] = item{layout.DenseOf([]uint8{uint8(i)}), nil, 0}
	}
	pkg("package-many.tstore", many)

	attach := newLog(1, 0, nil)
	attach.put("x", scalar)
	attach.commit()
	packLive := attach.attach(2, p, members, "p/", "b", "c/csr")
	attach.commit()
	attach.put("y", scalar)
	attach.commit()
	attach.close()
	add("log-attach.seg", 1, attach.b, attach.names, map[uint64]string{2: "package.tstore"})
	attached := newLog(3, attach.seq, attach.names, attach.live(), packLive)
	attached.delete("p/a")
	attached.commit()
	attached.close()
	add("log-attached.seg", 3, attached.b, attached.names, map[uint64]string{1: "log-attach.seg", 2: "package.tstore"})
	return all
}

// recordOf is record, where that name is taken.
var recordOf = record

// flipped is b with another byte at an offset.
func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x40
	return b
}

func concat(parts ...[]byte) []byte { return slices.Concat(parts...) }

// plain is a log of four batches, with or without the mark of a clean close:
//
//	a, b  |  c, d  |  c deleted, b renamed to c, a overwritten  |  d
func plain(closed bool) *log {
	l := newLog(1, 0, nil)
	l.put("a", matrix, unit)
	l.put("b", vector)
	l.commit()
	l.put("c", flags)
	l.put("d", scalar)
	l.commit()
	l.delete("c")
	l.rename("b", "c")
	l.put("a", vector, author)
	l.commit()
	l.put("d", empty)
	l.commit()
	if closed {
		l.close()
	}
	return l
}
