package main

import "encoding/binary"

// An editor changes a message. Positions count from the message's first byte.
type editor struct{ msg []byte }

// metadata returns where the FlatBuffer begins.
func (e *editor) metadata() int {
	if binary.LittleEndian.Uint32(e.msg) == 0xFFFFFFFF {
		return 8
	}
	return 4
}

func (e *editor) put8(pos int, v uint8)   { e.msg[pos] = v }
func (e *editor) put16(pos int, v uint16) { binary.LittleEndian.PutUint16(e.msg[pos:], v) }
func (e *editor) put32(pos int, v uint32) { binary.LittleEndian.PutUint32(e.msg[pos:], v) }
func (e *editor) put64(pos int, v int64)  { binary.LittleEndian.PutUint64(e.msg[pos:], uint64(v)) }
func (e *editor) get32(pos int) uint32    { return binary.LittleEndian.Uint32(e.msg[pos:]) }
func (e *editor) cut(length int)          { e.msg = e.msg[:length] }

// follow returns where the offset at pos leads.
func (e *editor) follow(pos int) int { return pos + int(e.get32(pos)) }

// A table of the message's metadata.
type table struct {
	e   *editor
	pos int
}

// message returns the root table.
func (e *editor) message() table { return table{e, e.follow(e.metadata())} }

// header returns the Tensor or SparseTensor.
func (e *editor) header() table { return e.message().table(2) }

// pair returns a pair of the custom metadata.
func (e *editor) pair(i int) table { return e.message().element(4, i) }

// dim returns a dimension of the shape.
func (e *editor) dim(i int) table { return e.header().element(2, i) }

// elementType returns the table of the element type.
func (e *editor) elementType() table { return e.header().table(1) }

// index returns the table of the sparse index.
func (e *editor) index() table { return e.header().table(5) }

// vtable returns the position of t's vtable.
func (t table) vtable() int { return t.pos - int(int32(t.e.get32(t.pos))) }

// slot returns the position of a field's entry in the vtable.
func (t table) slot(id int) int { return t.vtable() + 4 + 2*id }

// field returns the position of a field, which must be there.
func (t table) field(id int) int {
	offset := int(binary.LittleEndian.Uint16(t.e.msg[t.slot(id):]))
	if t.slot(id) >= t.vtable()+int(binary.LittleEndian.Uint16(t.e.msg[t.vtable():])) || offset == 0 {
		panic("the field is absent")
	}
	return t.pos + offset
}

// table returns the table that a field refers to.
func (t table) table(id int) table { return table{t.e, t.e.follow(t.field(id))} }

// vector returns the position of the length of the vector, or string, that a
// field refers to. Its elements begin four bytes later.
func (t table) vector(id int) int { return t.e.follow(t.field(id)) }

// element returns a table in a vector of tables.
func (t table) element(id, i int) table {
	return table{t.e, t.e.follow(t.vector(id) + 4 + 4*i)}
}
