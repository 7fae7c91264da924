package mtx

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tstore/tstore/layout"
)

// Encode writes a matrix as a Matrix Market file: a dense one as an array, a sparse one of any layout
// as coordinates, in the order in which its elements are stored. Elements that a COO stores several
// times are written several times. A sparse tensor of bools is a pattern, if all that it stores are
// true.
//
// The error is [ErrUnsupported] for tensors without exactly two dimensions and for element types
// that are not numbers, that of the tensor's index arrays if they are not valid, or that of w.
func Encode(w io.Writer, t layout.Tensor) error {
	if n := len(t.Shape()); n != 2 {
		return fmt.Errorf("%w: a Matrix Market file holds a matrix, this tensor has %d dimensions", ErrUnsupported, n)
	}
	f, appendValue, ok := textOf(t.DType())
	if !ok {
		return fmt.Errorf("%w: a Matrix Market file holds numbers, not %v", ErrUnsupported, t.DType())
	}
	// What is written first is known to be possible; the writer's errors come up at the end.
	out := bufio.NewWriterSize(w, 64<<10)
	rows, cols := t.Shape()[0], t.Shape()[1]
	d, dense := t.(*layout.Dense)
	if dense {
		fmt.Fprintf(out, "%%%%MatrixMarket matrix array %s general\n%d %d\n", f, rows, cols)
		if err := writeArray(out, d, appendValue); err != nil {
			return err
		}
		return out.Flush()
	}
	elements, err := layout.NonzeroBytes(t)
	if err != nil {
		return err
	}
	pattern := false
	if t.DType() == layout.Bool {
		if pattern, err = allTrue(t); err != nil {
			return err
		}
		if pattern {
			f = "pattern"
		}
	}
	fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", f, rows, cols, t.NNZ())
	var line []byte
	for index, elem := range elements {
		line = strconv.AppendInt(line[:0], index[0]+1, 10)
		line = append(line, ' ')
		line = strconv.AppendInt(line, index[1]+1, 10)
		if !pattern {
			line = append(line, ' ')
			line = appendValue(line, elem)
		}
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeArray writes the elements of a dense matrix column by column.
func writeArray(out *bufio.Writer, d *layout.Dense, appendValue func(dst, elem []byte) []byte) error {
	columns, err := d.Transpose()
	if err != nil {
		return err
	}
	size := d.DType().Size()
	var line []byte
	for chunk := range columns.Chunks(nil) {
		for len(chunk) > 0 {
			line = append(appendValue(line[:0], chunk[:size]), '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
			chunk = chunk[size:]
		}
	}
	return nil
}

func allTrue(t layout.Tensor) (bool, error) {
	elements, err := layout.NonzeroBytes(t)
	if err != nil {
		return false, err
	}
	for _, elem := range elements {
		if elem[0] == 0 {
			return false, nil
		}
	}
	return true, nil
}

// textOf returns the field that a type of elements is written as, and the function that writes one.
func textOf(dtype layout.DType) (field string, appendValue func(dst, elem []byte) []byte, ok bool) {
	switch dtype.Kind() {
	case layout.KindInt8, layout.KindInt16, layout.KindInt32, layout.KindInt64:
		return "integer", appendSigned, true
	case layout.KindUint8, layout.KindUint16, layout.KindUint32:
		return "integer", appendUnsigned, true
	case layout.KindBool:
		return "integer", func(dst, b []byte) []byte { return append(dst, '0'+min(b[0], 1)) }, true
	case layout.KindUint64:
		return "unsigned-integer", appendUnsigned, true
	case layout.KindComplex64:
		return "complex", func(dst, b []byte) []byte {
			dst = appendReal(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
			return appendReal(append(dst, ' '), float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))))
		}, true
	case layout.KindComplex128:
		return "complex", func(dst, b []byte) []byte {
			dst = appendReal(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			return appendReal(append(dst, ' '), math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		}, true
	}
	if value := realOf(dtype); value != nil {
		return "real", func(dst, b []byte) []byte { return appendReal(dst, value(b)) }, true
	}
	return "", nil, false
}

// realOf returns the function that reads an element of a floating-point type, or nil.
func realOf(dtype layout.DType) func([]byte) float64 {
	switch dtype.Kind() {
	case layout.KindFloat64:
		return func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	case layout.KindFloat32:
		return func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case layout.KindFloat16:
		return func(b []byte) float64 { return float64(layout.F16(binary.LittleEndian.Uint16(b)).Float32()) }
	case layout.KindBFloat16:
		return func(b []byte) float64 { return float64(layout.BF16(binary.LittleEndian.Uint16(b)).Float32()) }
	case layout.KindFloat8E4M3FN:
		return func(b []byte) float64 { return float64(layout.F8E4M3(b[0]).Float32()) }
	case layout.KindFloat8E5M2:
		return func(b []byte) float64 { return float64(layout.F8E5M2(b[0]).Float32()) }
	}
	return nil
}

// appendReal appends the shortest text that gives the same float64 again.
func appendReal(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

func appendUnsigned(dst, elem []byte) []byte { return strconv.AppendUint(dst, bitsOf(elem), 10) }

func appendSigned(dst, elem []byte) []byte {
	shift := 64 - 8*len(elem)
	return strconv.AppendInt(dst, int64(bitsOf(elem)<<shift)>>shift, 10)
}

func bitsOf(elem []byte) uint64 {
	switch len(elem) {
	case 1:
		return uint64(elem[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(elem))
	case 4:
		return uint64(binary.LittleEndian.Uint32(elem))
	}
	return binary.LittleEndian.Uint64(elem)
}
