package disk

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A trace file is a line of text followed by records: the length of the description (4 bytes, little endian), the
// length of the data (4 bytes, 0xFFFFFFFF for none), the description in JSON, the data.
const traceMagic = "tstore powercut trace 1\n"

const noData = ^uint32(0)

// TraceWriter writes operations to a trace file.
type TraceWriter struct {
	w       *bufio.Writer
	started bool
}

// NewTraceWriter returns a writer of a trace; call Flush when done.
func NewTraceWriter(w io.Writer) *TraceWriter { return &TraceWriter{w: bufio.NewWriterSize(w, 1<<20)} }

// Write appends one operation.
func (t *TraceWriter) Write(op *Op) error {
	if !t.started {
		t.started = true
		if _, err := t.w.WriteString(traceMagic); err != nil {
			return fmt.Errorf("disk: write trace: %w", err)
		}
	}
	meta, err := json.Marshal(op)
	if err != nil {
		return fmt.Errorf("disk: write trace: %w", err)
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(meta)))
	binary.LittleEndian.PutUint32(head[4:], noData)
	if op.Data != nil {
		binary.LittleEndian.PutUint32(head[4:], uint32(len(op.Data)))
	}
	for _, part := range [][]byte{head[:], meta, op.Data} {
		if _, err := t.w.Write(part); err != nil {
			return fmt.Errorf("disk: write trace: %w", err)
		}
	}
	return nil
}

// Flush hands everything written so far to the underlying writer.
func (t *TraceWriter) Flush() error {
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("disk: write trace: %w", err)
	}
	return nil
}

// maxTraceData bounds what one record of a trace may carry; in bytes. No write of a kernel is longer.
const maxTraceData = 16 << 20

// ReadTrace reads all operations of a trace file. If its end is missing, as after a killed process, the whole
// operations before it are returned along with an error that wraps io.ErrUnexpectedEOF.
func ReadTrace(r io.Reader) ([]Op, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	magic := make([]byte, len(traceMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != traceMagic {
		return nil, errors.New("disk: read trace: this is no trace of a power-cut disk")
	}
	var ops []Op
	for {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return ops, nil
		} else if err != nil {
			return ops, fmt.Errorf("disk: read trace: operation %d: %w", len(ops), err)
		}
		metaLen, dataLen := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
		if metaLen > 1<<20 || dataLen != noData && dataLen > maxTraceData {
			return ops, fmt.Errorf("disk: read trace: operation %d has %d bytes of description and %d of data: too many", len(ops), metaLen, dataLen)
		}
		buf := make([]byte, metaLen)
		if _, err := io.ReadFull(in, buf); err != nil {
			return ops, fmt.Errorf("disk: read trace: operation %d: %w", len(ops), unexpected(err))
		}
		var op Op
		if err := json.Unmarshal(buf, &op); err != nil {
			return ops, fmt.Errorf("disk: read trace: operation %d: %w", len(ops), err)
		}
		if dataLen != noData {
			op.Data = make([]byte, dataLen)
			if _, err := io.ReadFull(in, op.Data); err != nil {
				return ops, fmt.Errorf("disk: read trace: operation %d: %w", len(ops), unexpected(err))
			}
		}
		ops = append(ops, op)
	}
}

// unexpected turns the end of a file in the middle of a record into an error.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Replay keeps a state that it advances along a trace, so that images at ascending points cost little.
type Replay struct {
	opts  Options
	state *State
}

// NewReplay returns a replay that stands at the start.
func NewReplay(opts Options) *Replay { return &Replay{opts: opts, state: NewState(opts)} }

// At returns the state after the first n operations of a trace. It is valid until the next call; the trace given then
// must begin with the same operations.
func (r *Replay) At(ops []Op, n uint64) (*State, error) {
	if n > uint64(len(ops)) {
		return nil, fmt.Errorf("disk: replay up to operation %d: the trace has only %d", n, len(ops))
	}
	if r.state.Next() > n {
		r.state = NewState(r.opts)
	}
	for r.state.Next() < n {
		if err := r.state.Apply(&ops[r.state.Next()]); err != nil {
			return nil, err
		}
	}
	return r.state, nil
}
