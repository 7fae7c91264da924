package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/store/internal/segment"
)

// id is the uuid of segment n; that of the store is id(0).
func id(n uint64) (id segment.ID) {
	copy(id[:], "corpus of tstore")
	id[15] = byte(n) + 1
	return id
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// item is a tensor in a store.
type item struct {
	tensor layout.Tensor
	attrs  []layout.Attr
	seq    uint64
}

// contents are the tensors of a store or package, by name.
type contents map[string]item

// described is an item as accept-stores.jsonl has it.
type described struct {
	Name     string      `json:"name"`
	Seq      uint64      `json:"seq"`
	Layout   string      `json:"layout"`
	DType    string      `json:"dtype"`
	Shape    []int64     `json:"shape"`
	DimNames []string    `json:"dim_names"`
	Attrs    [][2]string `json:"attrs"`
	Elements string      `json:"elements"` // in row-major order, hexadecimal
}

func (c contents) describe() []described {
	all := []described{}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		it := c[name]
		dense, err := layout.ToDense(it.tensor, nil)
		if err != nil {
			panic(err)
		}
		d := described{
			Name: name, Seq: it.seq,
			Layout: it.tensor.Layout().String(), DType: it.tensor.DType().String(),
			Shape: append([]int64{}, it.tensor.Shape()...), DimNames: it.tensor.DimNames(),
			Attrs: [][2]string{}, Elements: hex.EncodeToString(dense.AppendRowMajor(nil)),
		}
		for _, a := range it.attrs {
			d.Attrs = append(d.Attrs, [2]string{a.Key, a.Value})
		}
		all = append(all, d)
	}
	return all
}

// record is the put record of a tensor.
func record(name string, t layout.Tensor, attrs ...layout.Attr) []byte {
	r, err := codec.Encode(t, append([]layout.Attr{{Key: "tstore.name", Value: name}}, attrs...))
	if err != nil {
		panic(err)
	}
	return r.AppendTo(nil)
}

// entryOf is the entry of a record.
func entryOf(name string, seq uint64, rec []byte) *index.Entry {
	head, err := codec.ParseHead(rec)
	if err != nil {
		panic(err)
	}
	info, err := head.Describe()
	if err != nil {
		panic(err)
	}
	return &index.Entry{
		Name: name, Seq: seq, Length: int64(len(rec)), CRC: checksum(rec),
		DType: info.DType, Layout: info.Layout, Shape: info.Shape, DimNames: info.DimNames, NNZ: info.NNZ, Bytes: info.Bytes,
		Attrs: codec.DecodeAttrs(&head), IndptrType: info.IndptrType.DType(), IndicesType: info.IndexType.DType(),
	}
}

// log is a log that is being built, and what the store has with it.
type log struct {
	number  uint64
	b       []byte
	base    uint64 // sequence number of the last batch before it
	seq     uint64 // of the last batch
	durable int64  // what the next commit record says is on disk
	ops     []segment.Op
	names   contents
	entries map[string]*index.Entry // what this log says
}

func newLog(number, base uint64, names contents, live ...segment.Live) *log {
	l := &log{number: number, base: base, seq: base, names: maps.Clone(names), entries: map[string]*index.Entry{}}
	if l.names == nil {
		l.names = contents{}
	}
	l.b = segment.AppendHeader(nil, &segment.Header{
		Kind: segment.KindLog, StoreID: id(0), UUID: id(number), Number: number, BaseSeq: base, Live: live,
	})
	l.durable = int64(len(l.b))
	return l
}

// put appends a put record; name is that of the operation.
func (l *log) put(name string, t layout.Tensor, attrs ...layout.Attr) {
	l.putRecord(name, record(name, t, attrs...), t, attrs)
}

func (l *log) putRecord(name string, rec []byte, t layout.Tensor, attrs []layout.Attr) {
	e := entryOf(name, l.seq+1, rec)
	e.Offset = int64(len(l.b))
	l.b = append(l.b, rec...)
	l.operation(segment.Op{Kind: segment.OpPut, Name: name, Location: segment.Location{
		Segment: l.number, UUID: id(l.number), Offset: e.Offset, Length: e.Length, CRC: e.CRC,
	}})
	l.names[name] = item{t, attrs, l.seq + 1}
	l.entries[name] = e
}

// own puts a tensor that has a data segment of its own, which it returns.
func (l *log) own(name string, number uint64, t layout.Tensor) []byte {
	b := segment.AppendHeader(nil, &segment.Header{Kind: segment.KindData, StoreID: id(0), UUID: id(number), Number: number})
	rec := record(name, t)
	l.operation(segment.Op{Kind: segment.OpPut, Name: name, Location: segment.Location{
		Segment: number, UUID: id(number), Offset: int64(len(b)), Length: int64(len(rec)), CRC: checksum(rec),
	}})
	l.names[name] = item{t, nil, l.seq + 1}
	return append(b, rec...)
}

func (l *log) delete(name string) {
	l.operation(segment.Op{Kind: segment.OpDelete, Name: name})
	delete(l.names, name)
	l.entries[name] = &index.Entry{Name: name, Seq: l.seq + 1, Deleted: true}
}

// rename renames what this log has put.
func (l *log) rename(from, to string) {
	e := *l.entries[from]
	l.operation(segment.Op{Kind: segment.OpRename, Name: to, From: from, Location: segment.Location{
		Segment: l.number, UUID: id(l.number), Offset: e.Offset, Length: e.Length, CRC: e.CRC,
	}})
	it := l.names[from]
	it.seq = l.seq + 1
	l.names[to] = it
	delete(l.names, from)
	e.Name, e.Seq = to, l.seq+1
	l.entries[to] = &e
	l.entries[from] = &index.Entry{Name: from, Seq: l.seq + 1, Deleted: true}
}

func (l *log) operation(op segment.Op) { l.ops = append(l.ops, op) }

// commit ends the batch. The next one will say that it is on disk.
func (l *log) commit() { l.commitDurable(l.durable) }

func (l *log) commitDurable(durable int64) {
	l.seq++
	l.b = segment.AppendCommit(l.b, &segment.Commit{
		Seq: l.seq, DurableTo: durable, UUID: id(l.number), Offset: int64(len(l.b)), Ops: l.ops,
	})
	l.ops = nil
	l.durable = int64(len(l.b))
}

// close appends the mark of a clean close.
func (l *log) close() { l.commitDurable(int64(len(l.b))) }

// live is how the header of a later log names l.
func (l *log) live() segment.Live {
	return segment.Live{Number: l.number, UUID: id(l.number), Kind: segment.KindLog, Valid: int64(len(l.b))}
}

// seal returns the log with its frozen index.
func (l *log) seal() []byte {
	return appendEnd(bytes.Clone(l.b), segment.KindLog, id(l.number), l.base+1, l.seq, freeze(l.entries))
}

func freeze(entries map[string]*index.Entry) []byte {
	frozen, err := index.BuildFrozen(func(yield func(*index.Entry) bool) {
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if !yield(entries[name]) {
				return
			}
		}
	})
	if err != nil {
		panic(err)
	}
	return frozen
}

// appendEnd appends what ends a sealed segment: index, end-of-stream marker, trailer.
func appendEnd(b []byte, kind segment.Kind, uuid segment.ID, lowest, highest uint64, frozen []byte) []byte {
	at := len(b)
	b = append(b, codec.ControlHead(segment.KeyIndex, "1", int64(len(frozen)+64))...)
	b = append(append(b, frozen...), make([]byte, 60)...)
	b = binary.LittleEndian.AppendUint32(b, checksum(b[at:]))
	length := len(b) - at
	b = append(append(b, 0xFF, 0xFF, 0xFF, 0xFF), make([]byte, 60)...)
	trailer := len(b)
	b = append(b, "TSTORE\r\n"...)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(kind))
	b = append(b, uuid[:]...)
	b = binary.LittleEndian.AppendUint64(b, lowest)
	b = binary.LittleEndian.AppendUint64(b, highest)
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	b = binary.LittleEndian.AppendUint64(b, uint64(length))
	return binary.LittleEndian.AppendUint32(b, checksum(b[trailer:]))
}

// compacted is a compacted segment with the tensors of c, all of one batch.
func compacted(number uint64, c contents) []byte {
	b := segment.AppendHeader(nil, &segment.Header{Kind: segment.KindCompacted, StoreID: id(0), UUID: id(number), Number: number})
	entries := map[string]*index.Entry{}
	lowest, highest := uint64(0), uint64(0)
	for i, name := range slices.Sorted(maps.Keys(c)) {
		it := c[name]
		rec := record(name, it.tensor, it.attrs...)
		e := entryOf(name, it.seq, rec)
		e.Offset = int64(len(b))
		entries[name] = e
		b = append(b, rec...)
		highest = max(highest, it.seq)
		if lowest = min(lowest, it.seq); i == 0 {
			lowest = it.seq
		}
	}
	return appendEnd(b, segment.KindCompacted, id(number), lowest, highest, freeze(entries))
}

// pack is a package of c, with attributes of the dataset.
func pack(c contents, attrs ...layout.Attr) []byte {
	var b bytes.Buffer
	p, err := store.NewPackageWriter(&b, attrs...)
	if err != nil {
		panic(err)
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if err := p.Add(name, c[name].tensor, c[name].attrs...); err != nil {
			panic(err)
		}
	}
	if _, err := p.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// digestOf is the digest in a package.
func digestOf(b []byte) [32]byte {
	e := &editor{b: b}
	return [32]byte(e.index().header()[128:160])
}

// attachment is the extra of a package's live entry.
func attachment(pkg []byte, seq uint64, prefix string, hidden ...string) []byte {
	digest := digestOf(pkg)
	b := binary.LittleEndian.AppendUint64(nil, seq)
	b = append(b, digest[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(hidden)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(prefix)))
	b = append(b, prefix...)
	for _, name := range hidden {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(name))), name...)
	}
	return b
}

// attach takes a package in as segment number.
func (l *log) attach(number uint64, pkg []byte, c contents, prefix string, hidden ...string) segment.Live {
	live := segment.Live{
		Number: number, UUID: id(number), Kind: segment.KindPackage, Valid: int64(len(pkg)),
		Extra: attachment(pkg, l.seq+1, prefix, hidden...),
	}
	l.operation(segment.Op{Kind: segment.OpAttach, New: []segment.Live{live}})
	for name, it := range c {
		if !slices.Contains(hidden, name) {
			it.seq = l.seq + 1
			l.names[prefix+name] = it
		}
	}
	return live
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("corpus: ", err))
	}
	return v
}

var longName = strings.Repeat("n", index.MaxName)
