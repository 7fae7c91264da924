package mtx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tstore/tstore/codec/internal/numtext"
	"github.com/tstore/tstore/layout"
)

// Encode writes a matrix as a Matrix Market file: a dense one as an array, a sparse one of any layout
// as coordinates, in the order in which its elements are stored. Elements that a COO stores several
// times are written several times, if who reads the file adds them up to the same: in the types that a
// field is read as, int64, uint64, float64 and complex128. In others the sum is written, since 200 and
// 100 are 44 in uint8 and true twice is true. A sparse tensor of bools is a pattern, if all that it
// stores are true.
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
	t, err := summed(t)
	if err != nil {
		return err
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

// summed returns t, or t with the sum of each element that it stores several times, if readers would add
// them up in a type of more values than t's.
func summed(t layout.Tensor) (layout.Tensor, error) {
	c, ok := t.(*layout.COO)
	if !ok || c.IsCanonical() {
		return t, nil
	}
	switch t.DType().Kind() {
	case layout.KindInt64, layout.KindUint64, layout.KindFloat64, layout.KindComplex128:
		return t, nil
	}
	_, err := layout.ToCOO(t, &layout.ConvertOptions{Duplicates: layout.DuplicatesRefuse})
	if errors.Is(err, layout.ErrDuplicate) {
		return layout.ToCOO(t, &layout.ConvertOptions{Duplicates: layout.DuplicatesSum})
	}
	return t, err
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
		return "integer", numtext.AppendSigned, true
	case layout.KindUint8, layout.KindUint16, layout.KindUint32:
		return "integer", numtext.AppendUnsigned, true
	case layout.KindBool:
		return "integer", func(dst, b []byte) []byte { return append(dst, '0'+min(b[0], 1)) }, true
	case layout.KindUint64:
		return "unsigned-integer", numtext.AppendUnsigned, true
	case layout.KindComplex64:
		return "complex", func(dst, b []byte) []byte {
			dst = numtext.AppendReal(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
			return numtext.AppendReal(append(dst, ' '), float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))))
		}, true
	case layout.KindComplex128:
		return "complex", func(dst, b []byte) []byte {
			dst = numtext.AppendReal(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			return numtext.AppendReal(append(dst, ' '), math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		}, true
	}
	if value := numtext.Real(dtype); value != nil {
		return "real", func(dst, b []byte) []byte { return numtext.AppendReal(dst, value(b)) }, true
	}
	return "", nil, false
}
