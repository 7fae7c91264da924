package main

import (
	"bufio"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/cmd/tstore/internal/arraytext"
	"github.com/tstore/tstore/layout"
)

// writeTensorJSON writes the object that get --json prints: name, dtype, shape, dims where there are any, layout,
// of a sparse tensor coordinates, and values: of a dense one nested as its shape is. The keys and their
// order are part of the command's interface.
func writeTensorJSON(cmd *cobra.Command, name string, t layout.Tensor) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	b := appendString([]byte(`{"name":`), name)
	b = appendString(append(b, `,"dtype":`...), t.DType().String())
	b = appendShape(append(b, `,"shape":`...), t.Shape())
	if names := t.DimNames(); names != nil {
		b = appendStrings(append(b, `,"dims":`...), names)
	}
	b = appendString(append(b, `,"layout":`...), t.Layout().String())
	out.Write(b)
	w := jsonValues{cmd: cmd, out: out, element: jsonElement(t.DType())}
	var err error
	if d, ok := t.(*layout.Dense); ok {
		out.WriteString(`,"values":`)
		err = w.dense(d)
	} else {
		err = w.sparse(t)
	}
	if err != nil {
		return err
	}
	out.WriteString("}\n")
	return out.Flush()
}

// jsonValues writes the values of a tensor.
type jsonValues struct {
	cmd     *cobra.Command
	out     *bufio.Writer
	element func(b, elem []byte) []byte // appends an element
	room    []byte
	n       int // elements so far
}

// value writes an element. Now and then it looks whether to go on.
func (w *jsonValues) value(elem []byte) error {
	if w.n++; w.n%4096 == 0 {
		if err := w.cmd.Context().Err(); err != nil {
			return err
		}
	}
	w.room = w.element(w.room[:0], elem)
	_, err := w.out.Write(w.room)
	return err
}

func (w *jsonValues) dense(d *layout.Dense) error {
	shape, size := d.Shape(), d.DType().Size()
	if d.Len() == 0 { // the shape says how: there may be any number of empty arrays
		_, err := w.out.WriteString("[]")
		return err
	}
	at := make([]int64, len(shape)) // of the next element
	for chunk := range d.Chunks(nil) {
		for ; len(chunk) > 0; chunk = chunk[size:] {
			opened := len(at)
			for opened > 0 && at[opened-1] == 0 {
				opened--
			}
			w.out.WriteString(strings.Repeat("[", len(at)-opened))
			if err := w.value(chunk[:size]); err != nil {
				return err
			}
			axis := len(at) - 1
			for ; axis >= 0; axis-- {
				if at[axis]++; at[axis] < shape[axis] {
					w.out.WriteByte(',')
					break
				}
				at[axis] = 0
				w.out.WriteByte(']')
			}
		}
	}
	return nil
}

func (w *jsonValues) sparse(t layout.Tensor) error {
	for _, what := range []string{"coordinates", "values"} {
		elements, err := layout.NonzeroBytes(t)
		if err != nil {
			return err
		}
		w.out.WriteString(`,"` + what + `":[`)
		first := true
		for at, elem := range elements {
			if !first {
				w.out.WriteByte(',')
			}
			first = false
			if what == "values" {
				err = w.value(elem)
			} else {
				w.room = appendShape(w.room[:0], at)
				_, err = w.out.Write(w.room)
			}
			if err != nil {
				return err
			}
		}
		w.out.WriteByte(']')
	}
	return nil
}

// jsonElement returns the function that appends an element of a type: a number, true or false, of complex ones an
// array of both parts, and a string for what JSON has no number for.
func jsonElement(dt layout.DType) func(b, elem []byte) []byte {
	le := binary.LittleEndian
	switch dt.Kind() {
	case layout.KindBool:
		return func(b, e []byte) []byte { return strconv.AppendBool(b, e[0] != 0) }
	case layout.KindUint8:
		return func(b, e []byte) []byte { return strconv.AppendUint(b, uint64(e[0]), 10) }
	case layout.KindUint16:
		return func(b, e []byte) []byte { return strconv.AppendUint(b, uint64(le.Uint16(e)), 10) }
	case layout.KindUint32:
		return func(b, e []byte) []byte { return strconv.AppendUint(b, uint64(le.Uint32(e)), 10) }
	case layout.KindUint64:
		return func(b, e []byte) []byte { return strconv.AppendUint(b, le.Uint64(e), 10) }
	case layout.KindInt8:
		return func(b, e []byte) []byte { return strconv.AppendInt(b, int64(int8(e[0])), 10) }
	case layout.KindInt16:
		return func(b, e []byte) []byte { return strconv.AppendInt(b, int64(int16(le.Uint16(e))), 10) }
	case layout.KindInt32:
		return func(b, e []byte) []byte { return strconv.AppendInt(b, int64(int32(le.Uint32(e))), 10) }
	case layout.KindInt64:
		return func(b, e []byte) []byte { return strconv.AppendInt(b, int64(le.Uint64(e)), 10) }
	case layout.KindFloat8E4M3FN:
		return func(b, e []byte) []byte { return appendJSONFloat(b, float64(layout.F8E4M3(e[0]).Float32()), 32) }
	case layout.KindFloat8E5M2:
		return func(b, e []byte) []byte { return appendJSONFloat(b, float64(layout.F8E5M2(e[0]).Float32()), 32) }
	case layout.KindFloat16:
		return func(b, e []byte) []byte { return appendJSONFloat(b, float64(layout.F16(le.Uint16(e)).Float32()), 32) }
	case layout.KindBFloat16:
		return func(b, e []byte) []byte {
			return appendJSONFloat(b, float64(layout.BF16(le.Uint16(e)).Float32()), 32)
		}
	case layout.KindFloat32, layout.KindComplex64:
		part := func(b, e []byte) []byte {
			return appendJSONFloat(b, float64(math.Float32frombits(le.Uint32(e))), 32)
		}
		return realOrComplex(dt, 4, part)
	case layout.KindFloat64, layout.KindComplex128:
		part := func(b, e []byte) []byte { return appendJSONFloat(b, math.Float64frombits(le.Uint64(e)), 64) }
		return realOrComplex(dt, 8, part)
	}
	return func(b, e []byte) []byte { // as get writes it otherwise
		scalar, err := layout.NewDense(dt, nil, e)
		var text strings.Builder
		if err == nil {
			err = arraytext.Write(&text, scalar)
		}
		if err != nil {
			return append(b, "null"...)
		}
		return appendString(b, text.String())
	}
}

func realOrComplex(dt layout.DType, part int, number func(b, e []byte) []byte) func(b, e []byte) []byte {
	if dt.Size() == part {
		return number
	}
	return func(b, e []byte) []byte {
		b = number(append(b, '['), e[:part])
		return append(number(append(b, ','), e[part:]), ']')
	}
}

// appendJSONFloat appends a number with as few digits as tell it from its neighbours among those of its
// size.
func appendJSONFloat(b []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}
