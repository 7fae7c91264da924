package codec

import (
	"encoding/binary"

	"github.com/tstore/tstore/codec/internal/fb"
)

// The verifier looks at every table, vtable, vector, string, struct and union
// of a metadata FlatBuffer that this package reads afterwards through the
// generated accessors, which trust their bytes. It knows the schema, so it
// neither recurses nor follows anything that is not read. It allocates nothing
// unless there is an error to report.
//
// Offsets may point anywhere, also twice at the same bytes, and some writers
// share equal strings and vtables. So every check costs the same however often
// its target has been seen: a table is checked by its few fields, a string by
// its bounds. The number of checks is bounded by the number of slots in the
// vectors, and of these only the shape, at most maxStoredDims long, and the
// custom metadata, which is read once, hold tables.

// maxSharing bounds the bytes of all strings, counted as often as they are
// referred to, as a multiple of the metadata's size. Copying the strings of a
// message then costs a small multiple of its bytes.
const maxSharing = 8

// A verifier checks one metadata FlatBuffer.
type verifier struct {
	buf     []byte
	base    int // where buf starts in the message, for errors
	strings int // bytes of strings that may still be referred to
}

// A tableRef is a table whose vtable has been checked.
type tableRef struct {
	pos    int // of the table
	vtable int // position of the vtable
	slots  int // length of the vtable in bytes
}

func (v *verifier) broken(rule Rule, pos int, format string, args ...any) error {
	return broken(rule, int64(v.base)+int64(pos), format, args...)
}

func (v *verifier) uint16(pos int) int { return int(binary.LittleEndian.Uint16(v.buf[pos:])) }
func (v *verifier) uint32(pos int) int { return int(binary.LittleEndian.Uint32(v.buf[pos:])) }

// follow returns where the offset at pos, which lies inside the metadata, leads.
func (v *verifier) follow(pos int) (int, error) {
	offset := v.uint32(pos)
	if offset < 4 || offset > len(v.buf)-pos-4 {
		return 0, v.broken(RuleOffsetBounds, pos, "an offset of %d that leads out of the metadata", offset)
	}
	return pos + offset, nil
}

// table checks the table that the offset at pos leads to, and its vtable.
func (v *verifier) table(pos int) (tableRef, error) {
	var t tableRef
	at, err := v.follow(pos)
	if err != nil {
		return t, err
	}
	if at%4 != 0 {
		return t, v.broken(RuleTableAlignment, at, "a table at %d, not a multiple of 4", at)
	}
	vtable := at - int(int32(v.uint32(at)))
	switch {
	case vtable < 0 || vtable > len(v.buf)-4:
		return t, v.broken(RuleVtableBounds, at, "a vtable at %d, outside the metadata", vtable)
	case vtable%2 != 0:
		return t, v.broken(RuleVtableAlignment, at, "a vtable at %d, an odd position", vtable)
	}
	// The length of the table, which follows that of the vtable, is not used:
	// there are builders that let tables of different lengths share a vtable.
	slots := v.uint16(vtable)
	switch {
	case slots < 4 || slots%2 != 0:
		return t, v.broken(RuleVtableSize, vtable, "a vtable of %d bytes", slots)
	case slots > len(v.buf)-vtable:
		return t, v.broken(RuleVtableBounds, vtable, "a vtable of %d bytes that ends outside the metadata", slots)
	}
	return tableRef{pos: at, vtable: vtable, slots: slots}, nil
}

// field returns the position of a field of width bytes in t, or 0 if it is
// absent. id is the field's number in the schema.
func (v *verifier) field(t tableRef, id, width, alignment int) (int, error) {
	slot := 4 + 2*id
	if slot >= t.slots {
		return 0, nil
	}
	offset := v.uint16(t.vtable + slot)
	if offset == 0 {
		return 0, nil
	}
	if offset < 4 || offset+width > len(v.buf)-t.pos {
		return 0, v.broken(RuleFieldBounds, t.vtable+slot, "field %d at byte %d of a table, inside the offset to its vtable or outside the metadata", id, offset)
	}
	if pos := t.pos + offset; pos%alignment == 0 {
		return pos, nil
	}
	return 0, v.broken(RuleFieldAlignment, t.pos+offset, "field %d, whose position is not a multiple of %d", id, alignment)
}

// required is field for one that must be there.
func (v *verifier) required(t tableRef, id, width, alignment int, name string) (int, error) {
	pos, err := v.field(t, id, width, alignment)
	if err == nil && pos == 0 {
		err = v.broken(RuleFieldRequired, t.pos, "no field %d, %s", id, name)
	}
	return pos, err
}

// scalars checks the scalar fields of t with the given widths, from field 0 on.
func (v *verifier) scalars(t tableRef, widths ...int) error {
	for id, width := range widths {
		if _, err := v.field(t, id, width, width); err != nil {
			return err
		}
	}
	return nil
}

// vector checks the vector that the offset at pos leads to and returns where
// its elements begin and how many there are.
func (v *verifier) vector(pos, width, alignment int) (start, n int, err error) {
	at, err := v.follow(pos)
	if err != nil {
		return 0, 0, err
	}
	n = v.uint32(at)
	if at%4 != 0 || (n > 0 && (at+4)%alignment != 0) {
		return 0, 0, v.broken(RuleVectorAlignment, at, "a vector whose elements start at %d, not a multiple of %d", at+4, alignment)
	}
	if n > (len(v.buf)-at-4)/width {
		return 0, 0, v.broken(RuleVectorBounds, at, "a vector of %d elements that ends outside the metadata", n)
	}
	return at + 4, n, nil
}

// string checks the string that the offset at pos leads to.
func (v *verifier) string(pos int) error {
	at, err := v.follow(pos)
	if err != nil {
		return err
	}
	if at%4 != 0 {
		return v.broken(RuleVectorAlignment, at, "a string at %d, not a multiple of 4", at)
	}
	n := v.uint32(at)
	if n > len(v.buf)-at-4-1 {
		return v.broken(RuleStringBounds, at, "a string of %d bytes that ends outside the metadata", n)
	}
	if v.buf[at+4+n] != 0 {
		return v.broken(RuleStringTerminator, at+4+n, "a string that no zero follows")
	}
	if v.strings -= n; v.strings < 0 {
		return v.broken(RuleStringsShared, at, "strings that with all references to them have over %d times the bytes of the metadata", maxSharing)
	}
	return nil
}

// verifyMessage checks a metadata FlatBuffer that starts base bytes into its
// message. After it the accessors of fb are safe for a Message, its custom
// metadata and the whole of a header that is a Tensor or SparseTensor.
func verifyMessage(buf []byte, base int) error {
	v := verifier{buf: buf, base: base, strings: maxSharing * len(buf)}
	if len(buf) < 8 {
		return v.broken(RuleRootOffset, 0, "metadata of %d bytes", len(buf))
	}
	if root := v.uint32(0); root < 4 || root > len(buf)-4 {
		return v.broken(RuleRootOffset, 0, "a root table at %d, outside the metadata", root)
	}
	m, err := v.table(0)
	if err != nil {
		return err
	}
	if _, err := v.field(m, 0, 2, 2); err != nil { // version
		return err
	}
	kind, value, err := v.union(m, 1, "header")
	if err != nil {
		return err
	}
	if _, err := v.field(m, 3, 8, 8); err != nil { // bodyLength
		return err
	}
	if err := v.customMetadata(m); err != nil {
		return err
	}
	switch fb.MessageHeader(kind) {
	case fb.MessageHeaderTensor:
		return v.tensor(value)
	case fb.MessageHeaderSparseTensor:
		return v.sparseTensor(value)
	}
	return nil
}

// union checks the union whose type is field id of t and whose value is the
// next one. It returns the type and, unless that is 0 (NONE), the position of
// the offset that leads to the value.
func (v *verifier) union(t tableRef, id int, name string) (kind byte, value int, err error) {
	pos, err := v.field(t, id, 1, 1)
	if err != nil || pos == 0 || v.buf[pos] == 0 {
		return 0, 0, err
	}
	value, err = v.field(t, id+1, 4, 4)
	if err == nil && value == 0 {
		err = v.broken(RuleUnionValue, pos, "union %s of type %d without a value", name, v.buf[pos])
	}
	return v.buf[pos], value, err
}

// requiredUnion is union for one that must not be NONE.
func (v *verifier) requiredUnion(t tableRef, id int, name string) (kind byte, value int, err error) {
	kind, value, err = v.union(t, id, name)
	if err == nil && kind == 0 {
		err = v.broken(RuleFieldRequired, t.pos, "no field %d, %s", id+1, name)
	}
	return kind, value, err
}

// customMetadata checks the custom metadata of the message m.
func (v *verifier) customMetadata(m tableRef) error {
	pos, err := v.field(m, 4, 4, 4)
	if err != nil || pos == 0 {
		return err
	}
	start, n, err := v.vector(pos, 4, 4)
	if err != nil {
		return err
	}
	for i := range n {
		pair, err := v.table(start + 4*i)
		if err != nil {
			return err
		}
		key, err := v.field(pair, 0, 4, 4)
		if err != nil {
			return err
		}
		if key == 0 {
			return v.broken(RuleMetadataKey, pair.pos, "custom metadata pair %d has no key", i)
		}
		if err := v.string(key); err != nil {
			return err
		}
		value, err := v.field(pair, 1, 4, 4)
		if err != nil {
			return err
		}
		if value == 0 {
			return v.broken(RuleMetadataValue, pair.pos, "custom metadata pair %d has no value", i)
		}
		if err := v.string(value); err != nil {
			return err
		}
	}
	return nil
}

// tensor checks the Tensor that the offset at pos leads to.
func (v *verifier) tensor(pos int) error {
	t, err := v.table(pos)
	if err != nil {
		return err
	}
	if err := v.elementType(t, 0); err != nil {
		return err
	}
	if err := v.shape(t, 2); err != nil {
		return err
	}
	if err := v.longs(t, 3); err != nil { // strides
		return err
	}
	return v.buffer(t, 4, "data")
}

// elementType checks the Type union at field id of t.
func (v *verifier) elementType(t tableRef, id int) error {
	kind, value, err := v.requiredUnion(t, id, "type")
	if err != nil {
		return err
	}
	typ, err := v.table(value)
	if err != nil {
		return err
	}
	switch fb.Type(kind) {
	case fb.TypeInt:
		return v.scalars(typ, 4, 1)
	case fb.TypeFloatingPoint, fb.TypeDate, fb.TypeInterval, fb.TypeDuration:
		return v.scalars(typ, 2)
	case fb.TypeDecimal:
		return v.scalars(typ, 4, 4, 4)
	case fb.TypeTime:
		return v.scalars(typ, 2, 4)
	case fb.TypeTimestamp:
		if err := v.scalars(typ, 2); err != nil {
			return err
		}
		zone, err := v.field(typ, 1, 4, 4)
		if err != nil || zone == 0 {
			return err
		}
		return v.string(zone)
	case fb.TypeFixedSizeBinary:
		return v.scalars(typ, 4)
	}
	return nil // nothing in it is read
}

// shape checks the [TensorDim] at field id of t.
func (v *verifier) shape(t tableRef, id int) error {
	pos, err := v.required(t, id, 4, 4, "shape")
	if err != nil {
		return err
	}
	start, n, err := v.vector(pos, 4, 4)
	if err != nil {
		return err
	}
	if n > maxStoredDims {
		return v.broken(RuleDimsLimit, start, "%d dimensions, more than the limit of %d", n, maxStoredDims)
	}
	for i := range n {
		dim, err := v.table(start + 4*i)
		if err != nil {
			return err
		}
		if _, err := v.field(dim, 0, 8, 8); err != nil {
			return err
		}
		name, err := v.field(dim, 1, 4, 4)
		if err != nil {
			return err
		}
		if name == 0 {
			continue
		}
		if err := v.string(name); err != nil {
			return err
		}
	}
	return nil
}

// longs checks the [long] at field id of t, which may be absent.
func (v *verifier) longs(t tableRef, id int) error {
	pos, err := v.field(t, id, 4, 4)
	if err != nil || pos == 0 {
		return err
	}
	_, _, err = v.vector(pos, 8, 8)
	return err
}

// buffer checks the Buffer at field id of t.
func (v *verifier) buffer(t tableRef, id int, name string) error {
	_, err := v.required(t, id, 16, 8, name)
	return err
}

// buffers checks the [Buffer] at field id of t.
func (v *verifier) buffers(t tableRef, id int, name string) error {
	pos, err := v.required(t, id, 4, 4, name)
	if err != nil {
		return err
	}
	_, _, err = v.vector(pos, 16, 8)
	return err
}

// indexType checks the Int table at field id of t.
func (v *verifier) indexType(t tableRef, id int, name string) error {
	pos, err := v.required(t, id, 4, 4, name)
	if err != nil {
		return err
	}
	typ, err := v.table(pos)
	if err != nil {
		return err
	}
	return v.scalars(typ, 4, 1)
}

// sparseTensor checks the SparseTensor that the offset at pos leads to.
func (v *verifier) sparseTensor(pos int) error {
	t, err := v.table(pos)
	if err != nil {
		return err
	}
	if err := v.elementType(t, 0); err != nil {
		return err
	}
	if err := v.shape(t, 2); err != nil {
		return err
	}
	if _, err := v.field(t, 3, 8, 8); err != nil { // non_zero_length
		return err
	}
	kind, value, err := v.requiredUnion(t, 4, "sparseIndex")
	if err != nil {
		return err
	}
	index, err := v.table(value)
	if err != nil {
		return err
	}
	switch fb.SparseTensorIndex(kind) {
	case fb.SparseTensorIndexSparseTensorIndexCOO:
		err = v.indexCOO(index)
	case fb.SparseTensorIndexSparseMatrixIndexCSX:
		err = v.indexCSX(index)
	case fb.SparseTensorIndexSparseTensorIndexCSF:
		err = v.indexCSF(index)
	}
	if err != nil {
		return err
	}
	return v.buffer(t, 6, "data")
}

func (v *verifier) indexCOO(t tableRef) error {
	if err := v.indexType(t, 0, "indicesType"); err != nil {
		return err
	}
	if err := v.longs(t, 1); err != nil { // indicesStrides
		return err
	}
	if err := v.buffer(t, 2, "indicesBuffer"); err != nil {
		return err
	}
	_, err := v.field(t, 3, 1, 1) // isCanonical
	return err
}

func (v *verifier) indexCSX(t tableRef) error {
	if _, err := v.field(t, 0, 2, 2); err != nil { // compressedAxis
		return err
	}
	if err := v.indexType(t, 1, "indptrType"); err != nil {
		return err
	}
	if err := v.buffer(t, 2, "indptrBuffer"); err != nil {
		return err
	}
	if err := v.indexType(t, 3, "indicesType"); err != nil {
		return err
	}
	return v.buffer(t, 4, "indicesBuffer")
}

func (v *verifier) indexCSF(t tableRef) error {
	if err := v.indexType(t, 0, "indptrType"); err != nil {
		return err
	}
	if err := v.buffers(t, 1, "indptrBuffers"); err != nil {
		return err
	}
	if err := v.indexType(t, 2, "indicesType"); err != nil {
		return err
	}
	if err := v.buffers(t, 3, "indicesBuffers"); err != nil {
		return err
	}
	pos, err := v.required(t, 4, 4, 4, "axisOrder")
	if err != nil {
		return err
	}
	_, _, err = v.vector(pos, 4, 4)
	return err
}
