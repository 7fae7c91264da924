package arrowfile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

// The fields that are looked at, of the tables in Arrow's Message.fbs and Schema.fbs.
const (
	messageHeader   = 2
	messageMetadata = 4

	schemaFields   = 1
	schemaMetadata = 2

	fieldType     = 3
	fieldChildren = 5
	fieldMetadata = 6

	unionTypeIDs = 1

	batchNodes    = 1
	batchBuffers  = 2
	batchVariadic = 4

	dictionaryID   = 0
	dictionaryData = 1
)

// metadata checks the metadata of a message before arrow-go, which takes memory by the lengths that it finds
// there, and follows the same table as often as it is referred to.
type metadata struct {
	left  int // tables that there can still be
	views int // columns of views of a batch
}

// checkMessage panics, or returns an error, if a list in the metadata claims to be longer than the metadata
// is, or if it has more tables than bytes for them.
func checkMessage(meta []byte, kind ipc.MessageType) error {
	_, err := checkViews(meta, kind)
	return err
}

// checkViews is checkMessage, and returns for how many columns of views a batch says how many buffers they
// have.
func checkViews(meta []byte, kind ipc.MessageType) (views int, err error) {
	m := &metadata{left: len(meta) / 4}
	err = m.message(meta, kind)
	return m.views, err
}

func (m *metadata) message(meta []byte, kind ipc.MessageType) error {
	message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	if err := m.tables(message, messageMetadata, nil); err != nil {
		return err
	}
	header, ok := child(message, messageHeader)
	if !ok {
		return fmt.Errorf("%w: a message without a header", ErrInvalid)
	}
	switch kind {
	case ipc.MessageSchema:
		if err := m.tables(header, schemaMetadata, nil); err != nil {
			return err
		}
		return m.tables(header, schemaFields, m.field)
	case ipc.MessageRecordBatch:
		return m.batch(header)
	case ipc.MessageDictionaryBatch:
		if data, ok := child(header, dictionaryData); ok {
			return m.batch(data)
		}
		return fmt.Errorf("%w: a dictionary without data", ErrInvalid)
	}
	return nil
}

// dictionaryNumber returns the number of the dictionary that a message is about. Its metadata has been checked.
func dictionaryNumber(meta []byte) int64 {
	message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	header, _ := child(message, messageHeader)
	return header.GetInt64Slot(slot(dictionaryID), 0)
}

// child returns a table that another has.
func child(t flatbuffers.Table, field int) (flatbuffers.Table, bool) {
	at := flatbuffers.UOffsetT(t.Offset(slot(field)))
	if at == 0 {
		return flatbuffers.Table{}, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + t.Pos)}, true
}

// slot returns where the place of a field is listed.
func slot(field int) flatbuffers.VOffsetT {
	return flatbuffers.VOffsetT(flatbuffers.VtableMetadataFields+field) * flatbuffers.SizeVOffsetT
}

// list returns where a list begins and how many items of a size it has.
func list(t flatbuffers.Table, field, size int) (start flatbuffers.UOffsetT, n int, err error) {
	at := flatbuffers.UOffsetT(t.Offset(slot(field)))
	if at == 0 {
		return 0, 0, nil
	}
	start, n = t.Vector(at), t.VectorLen(at)
	if n < 0 || n > (len(t.Bytes)-int(start))/size {
		return 0, 0, fmt.Errorf("%w: a list of %d in a message of %d bytes", ErrInvalid, n, len(t.Bytes))
	}
	return start, n, nil
}

// tables checks a list of tables, and each with a function.
func (m *metadata) tables(t flatbuffers.Table, field int, check func(flatbuffers.Table) error) error {
	start, n, err := list(t, field, flatbuffers.SizeUOffsetT)
	if err != nil {
		return err
	}
	if m.left -= n; m.left < 0 {
		return fmt.Errorf("%w: a message that refers to the same part again and again", ErrInvalid)
	}
	if check == nil {
		return nil
	}
	for i := range n {
		at := t.Indirect(start + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT))
		if err := check(flatbuffers.Table{Bytes: t.Bytes, Pos: at}); err != nil {
			return err
		}
	}
	return nil
}

// field checks a column of a schema, and those in it.
func (m *metadata) field(t flatbuffers.Table) error {
	if err := m.tables(t, fieldMetadata, nil); err != nil {
		return err
	}
	if kind, ok := child(t, fieldType); ok {
		// Only a union has a list there; what another type has at its place is no list.
		if t.GetByteSlot(slot(fieldType-1), 0) == unionType {
			if _, _, err := list(kind, unionTypeIDs, 4); err != nil {
				return err
			}
		}
	}
	return m.tables(t, fieldChildren, m.field)
}

// unionType is the number of Union among Arrow's types.
const unionType = 14

// batch checks a batch of rows.
func (m *metadata) batch(t flatbuffers.Table) error {
	if _, _, err := list(t, batchNodes, 16); err != nil {
		return err
	}
	_, buffers, err := list(t, batchBuffers, 16)
	if err != nil {
		return err
	}
	start, n, err := list(t, batchVariadic, 8)
	if err != nil {
		return err
	}
	m.views = n
	for i := range n {
		if count := t.GetInt64(start + flatbuffers.UOffsetT(8*i)); count < 0 || count > int64(buffers) {
			return fmt.Errorf("%w: a column of %d buffers, and %d in all", ErrInvalid, count, buffers)
		}
	}
	return nil
}

// viewsOf returns how many columns of a type, itself and those in it, are views; and how many there are at
// most in the values of a dictionary.
func viewsOf(t arrow.DataType) (views, inDictionary int) {
	switch t := t.(type) {
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return 1, 0
	case *arrow.DictionaryType:
		n, deeper := viewsOf(t.ValueType)
		return 0, max(n, deeper)
	case arrow.ExtensionType:
		return viewsOf(t.StorageType())
	case arrow.NestedType:
		for _, f := range t.Fields() {
			n, deeper := viewsOf(f.Type)
			views, inDictionary = views+n, max(inDictionary, deeper)
		}
	}
	return views, inDictionary
}
