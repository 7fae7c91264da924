package arrowfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// fileMagic is what a file begins and ends with. A stream begins with a message.
const fileMagic = "ARROW1"

// continuation stands before each message, but for those from before version 0.15.
const continuation = 0xffffffff

// message is a part of a stream: a schema, a dictionary or a batch of rows. Both lie in the file.
type message struct {
	kind       ipc.MessageType
	meta, body []byte
	number     int64 // of a dictionary
	views      int   // columns of views that a batch or a dictionary speaks of
}

// messages are the parts of a table.
type messages struct {
	schema       message
	dictionaries []message // the first of each number
	numbers      map[int64]bool
	batches      []message

	reader *ipc.Reader // is at batch next
	next   int
	limit  *limitedAllocator
}

// findMessages finds the messages in a file or stream.
func findMessages(b []byte) (*messages, error) {
	if bytes.HasPrefix(b, []byte(fileMagic)) {
		return findInFile(b)
	}
	if bytes.HasPrefix(b, []byte("FEA1")) {
		return nil, fmt.Errorf("%w: it is a Feather file of version 1; write it again as version 2, which is an Arrow file", ErrUnsupported)
	}
	m := &messages{numbers: map[int64]bool{}}
	for n, rest := 0, b; ; n++ {
		at := len(b) - len(rest)
		next, size, err := parseMessage(rest)
		if err == io.EOF {
			if n == 0 {
				return nil, fmt.Errorf("%w: it has no schema", ErrTruncated)
			}
			return m, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w (message %d, at byte %d)", err, n, at)
		}
		rest = rest[size:]
		switch {
		case n == 0 && next.kind == ipc.MessageSchema:
			m.schema = next
		case n == 0:
			return nil, fmt.Errorf("%w: it begins with a %v, not with a schema", ErrInvalid, next.kind)
		case !m.add(next):
			return nil, fmt.Errorf("%w: message %d, at byte %d, is a %v", ErrInvalid, n, at, next.kind)
		}
	}
}

// add adds a message that follows the schema.
func (m *messages) add(next message) bool {
	switch next.kind {
	case ipc.MessageRecordBatch:
		m.batches = append(m.batches, next)
	case ipc.MessageDictionaryBatch:
		// Tensors don't come from dictionaries; but a batch with some can't be read without any.
		if !m.numbers[next.number] {
			m.numbers[next.number] = true
			m.dictionaries = append(m.dictionaries, next)
		}
	default:
		return false
	}
	return true
}

// parseMessage returns the first message of b, and its size. At the end of the stream, which need not be
// marked, the error is io.EOF.
func parseMessage(b []byte) (m message, size int, err error) {
	defer asError(&err)
	if len(b) == 0 {
		return m, 0, io.EOF
	}
	prefix := 4
	if len(b) >= 4 && binary.LittleEndian.Uint32(b) == continuation {
		prefix = 8
	}
	if len(b) < prefix {
		return m, 0, fmt.Errorf("%w: it ends in the prefix of a message", ErrTruncated)
	}
	length := int64(int32(binary.LittleEndian.Uint32(b[prefix-4:])))
	rest := b[prefix:]
	switch {
	case length == 0:
		return m, 0, io.EOF
	case length < 8:
		return m, 0, fmt.Errorf("%w: a message of %d bytes", ErrInvalid, length)
	case length > int64(len(rest)):
		return m, 0, fmt.Errorf("%w: a message takes %d bytes, %d are there", ErrTruncated, length, len(rest))
	}
	m.meta = rest[:length:length]
	meta, none := memory.NewBufferBytes(m.meta), memory.NewBufferBytes(nil)
	head := ipc.NewMessage(meta, none)
	body := head.BodyLen()
	m.kind = head.Type()
	rest = rest[length:]
	if m.views, err = checkViews(m.meta, m.kind); err != nil {
		return m, 0, err
	}
	if m.kind == ipc.MessageDictionaryBatch {
		m.number = dictionaryNumber(m.meta)
	}
	if body < 0 {
		return m, 0, fmt.Errorf("%w: a message with a body of %d bytes", ErrInvalid, body)
	}
	if body > int64(len(rest)) {
		return m, 0, fmt.Errorf("%w: the body of a message takes %d bytes, %d are there", ErrTruncated, body, len(rest))
	}
	m.body = rest[:body:body]
	return m, prefix + int(length) + int(body), nil
}

// errOutside says that offsets or lengths in a message point to where it has no bytes.
var errOutside = errors.New("a message leads out of itself")

// asError, deferred, turns a panic about a malformed message into an error. A fault in the map of the file
// stays one.
func asError(err *error) {
	fault := recover()
	if fault == nil {
		return
	}
	if _, ok := fault.(interface{ Addr() uintptr }); ok {
		panic(fault)
	}
	if _, ok := fault.(runtime.Error); ok {
		*err = fmt.Errorf("%w: %w", ErrInvalid, errOutside)
		return
	}
	*err = fmt.Errorf("%w: %v", ErrInvalid, fault)
}

// replay gives messages to an ipc.Reader.
type replay struct{ parts []message }

func (r *replay) Message() (*ipc.Message, error) {
	if len(r.parts) == 0 {
		return nil, io.EOF
	}
	m := r.parts[0]
	r.parts = r.parts[1:]
	return ipc.NewMessage(memory.NewBufferBytes(m.meta), memory.NewBufferBytes(m.body)), nil
}

func (r *replay) Retain()  {}
func (r *replay) Release() {}

// readSchema decodes the schema.
func (m *messages) readSchema() (schema *arrow.Schema, err error) {
	defer asError(&err)
	r, err := ipc.NewReaderFromMessageReader(&replay{parts: []message{m.schema}}, ipc.WithEnsureNativeEndian(false))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, outside(err))
	}
	schema = r.Schema()
	if !schema.IsNativeEndian() {
		return nil, fmt.Errorf("%w: it has big-endian numbers; write it again on a little-endian machine", ErrUnsupported)
	}
	return schema, m.checkViews(schema)
}

// checkViews checks that batches and dictionaries speak of as many columns of views as the schema has: arrow-go
// reads that many.
func (m *messages) checkViews(schema *arrow.Schema) error {
	views, inDictionary := 0, 0
	for _, f := range schema.Fields() {
		n, deeper := viewsOf(f.Type)
		views, inDictionary = views+n, max(inDictionary, deeper)
	}
	for _, b := range m.batches {
		if b.views < views {
			return fmt.Errorf("%w: a batch with %d columns of views, where the schema has %d", ErrInvalid, b.views, views)
		}
	}
	for _, d := range m.dictionaries {
		if d.views < inDictionary {
			return fmt.Errorf("%w: a dictionary with %d columns of views, where the schema has up to %d", ErrInvalid, d.views, inDictionary)
		}
	}
	return nil
}

// readBatch decodes a batch of rows, and says how many bytes of memory that took beside the file.
func (m *messages) readBatch(i int) (batch arrow.RecordBatch, taken int64, err error) {
	defer asError(&err)
	if m.reader == nil || i != m.next {
		if err := m.start(i); err != nil {
			return nil, 0, err
		}
	}
	most := m.limit.left
	if !m.reader.Next() {
		err := cmp.Or(m.reader.Err(), errors.New("it is missing"))
		m.reader = nil
		return nil, 0, readError(i, err)
	}
	taken = most - m.limit.left
	m.next++
	if m.next < len(m.batches) {
		m.limit.left = unpackMinimum + int64(len(m.batches[m.next].body))*unpackRatio
	}
	batch = m.reader.RecordBatch()
	batch.Retain()
	return batch, taken, nil
}

// start begins with a batch.
func (m *messages) start(i int) (err error) {
	left := unpackMinimum + int64(len(m.batches[i].body))*unpackRatio
	for _, d := range m.dictionaries {
		left += int64(len(d.body)) * unpackRatio
	}
	m.next, m.limit = i, &limitedAllocator{Allocator: memory.NewGoAllocator(), left: left}
	parts := slices.Concat([]message{m.schema}, m.dictionaries, m.batches[i:])
	m.reader, err = ipc.NewReaderFromMessageReader(&replay{parts: parts}, ipc.WithEnsureNativeEndian(false), ipc.WithAllocator(m.limit))
	if err != nil {
		return readError(i, err)
	}
	return nil
}

// readError says which batch can't be read. arrow-go recovers from everything, also from a fault in the map
// of the file, which goes on here.
func readError(i int, err error) error {
	if fault := (interface{ Addr() uintptr })(nil); errors.As(err, &fault) {
		panic(fault)
	}
	return fmt.Errorf("%w: batch %d: %w", ErrInvalid, i, outside(err))
}

// outside returns what to say of an error of arrow-go: a message that made it read out of bounds is that,
// in the file's words.
func outside(err error) error {
	if fault := (runtime.Error)(nil); errors.As(err, &fault) {
		return errOutside
	}
	return err
}

// A batch may take unpackRatio times its size in memory when it is unpacked, and unpackMinimum in any case.
const (
	unpackRatio   = 1000
	unpackMinimum = 64 << 20
)

// limitedAllocator refuses to give more than is left. What is freed does not count: the memory is the
// collector's.
type limitedAllocator struct {
	memory.Allocator
	left int64
}

func (l *limitedAllocator) take(n int) {
	if n < 0 || int64(n) > l.left {
		panic(fmt.Errorf("it claims to unpack to more than %d times its size", unpackRatio))
	}
	l.left -= int64(n)
}

func (l *limitedAllocator) Allocate(n int) []byte {
	l.take(n)
	return l.Allocator.Allocate(n)
}

func (l *limitedAllocator) Reallocate(n int, b []byte) []byte {
	l.take(n - min(n, len(b)))
	return l.Allocator.Reallocate(n, b)
}

// IsStream reports whether a file begins with a schema, as a stream does. b need not be the whole file.
func IsStream(b []byte) bool {
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != continuation {
		return false
	}
	length := int64(int32(binary.LittleEndian.Uint32(b[4:])))
	if length < 8 || length > int64(len(b)-8) {
		return false
	}
	kind, err := messageKind(b[8 : 8+length])
	return err == nil && kind == ipc.MessageSchema
}

// messageKind returns what a message is about.
func messageKind(meta []byte) (kind ipc.MessageType, err error) {
	defer asError(&err)
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)).Type(), nil
}
