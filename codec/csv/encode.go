package csv

import (
	"bufio"
	"bytes"
	stdcsv "encoding/csv"
	"fmt"
	"io"

	"github.com/tstore/tstore/codec/internal/numtext"
	"github.com/tstore/tstore/layout"
)

// Encode writes a dense tensor of at most two dimensions as a table, with a header if columns is not
// nil. Numbers are streamed; a tensor that is not contiguous takes a buffer of a row.
//
// The error is [ErrUnsupported] for other tensors, for one without columns, and for one without rows that
// has no header, or that of w.
func Encode(w io.Writer, t layout.Tensor, columns []string, o *Options) error {
	d, ok := t.(*layout.Dense)
	if !ok {
		return fmt.Errorf("%w: a table holds every element, this tensor is %v; convert it to dense first", ErrUnsupported, t.Layout())
	}
	d, err := matrix(d)
	if err != nil {
		return err
	}
	appendValue := text(d.DType())
	if appendValue == nil {
		return fmt.Errorf("%w: a table holds real numbers, not %v; write .msg, which keeps everything", ErrUnsupported, d.DType())
	}
	rows, cols := d.Shape()[0], d.Shape()[1]
	switch {
	case cols == 0:
		return fmt.Errorf("%w: the tensor has no columns, which a table can't say", ErrUnsupported)
	case columns != nil && int64(len(columns)) != cols:
		return fmt.Errorf("%w: %d names for %d columns", ErrUnsupported, len(columns), cols)
	case rows == 0 && columns == nil:
		return fmt.Errorf("%w: the tensor has no rows, and no names for its columns, so that nothing would be written", ErrUnsupported)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	comma := o.comma()
	if columns != nil {
		if err := writeHeader(out, columns, comma); err != nil {
			return err
		}
	}
	return writeRows(out, d, appendValue, comma)
}

// matrix returns a tensor as a matrix; one with a single dimension is a column.
func matrix(d *layout.Dense) (*layout.Dense, error) {
	switch d.NDim() {
	case 0:
		return d.Reshape(1, 1)
	case 1:
		// A strided tensor has no reshaped view, but every tensor has a transposed one.
		shape, strides := []int64{d.Shape()[0], 1}, []int64{d.Strides()[0], int64(d.DType().Size())}
		return layout.NewStrided(d.DType(), shape, strides, d.Offset(), d.Data())
	case 2:
		return d, nil
	}
	return nil, fmt.Errorf("%w: a table has two dimensions, this tensor has %d; write a part of it, as NAME[0]", ErrUnsupported, d.NDim())
}

// writeHeader writes the names of the columns. A single empty one would be an empty line, which readers
// pass over.
func writeHeader(out io.Writer, columns []string, comma rune) error {
	if len(columns) == 1 && columns[0] == "" {
		_, err := io.WriteString(out, "\"\"\n")
		return err
	}
	w := stdcsv.NewWriter(out)
	w.Comma = comma
	if err := w.Write(columns); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

func writeRows(out *bufio.Writer, d *layout.Dense, appendValue func(dst, elem []byte) []byte, comma rune) error {
	size, cols := int64(d.DType().Size()), d.Shape()[1]
	var buf []byte
	if !d.IsContiguous() {
		buf = make([]byte, min(cols*size, 1<<20/size*size))
	}
	var line []byte
	column := int64(0)
	for chunk := range d.Chunks(buf) {
		for ; len(chunk) > 0; chunk = chunk[size:] {
			if column > 0 {
				line = append(line, string(comma)...)
			}
			line = appendValue(line, chunk[:size])
			if column++; column == cols {
				line, column = append(line, '\n'), 0
			}
			if column == 0 || len(line) > 1<<10 {
				if _, err := out.Write(line); err != nil {
					return err
				}
				line = line[:0]
			}
		}
	}
	return out.Flush()
}

// text returns the function that writes an element of a type, or nil.
func text(dtype layout.DType) func(dst, elem []byte) []byte {
	switch dtype.Kind() {
	case layout.KindInt8, layout.KindInt16, layout.KindInt32, layout.KindInt64:
		return numtext.AppendSigned
	case layout.KindUint8, layout.KindUint16, layout.KindUint32, layout.KindUint64:
		return numtext.AppendUnsigned
	case layout.KindBool:
		return func(dst, elem []byte) []byte { return append(dst, '0'+min(elem[0], 1)) }
	}
	value := numtext.Real(dtype)
	if value == nil {
		return nil
	}
	return func(dst, elem []byte) []byte {
		start := len(dst)
		dst = numtext.AppendReal(dst, value(elem))
		if bytes.ContainsAny(dst[start:], ".enif") {
			return dst
		}
		return append(dst, ".0"...)
	}
}
