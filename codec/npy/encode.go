package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tstore/tstore/layout"
)

const (
	// headerAlign is the multiple at which the elements start.
	headerAlign = 64

	// growthDigits is the number of characters that NumPy keeps for the length of the axis along
	// which a file can be appended to, so that the header can be rewritten in place.
	growthDigits = 21

	// chunkSize is the size of the buffer for elements that have to be gathered or converted.
	chunkSize = 1 << 20
)

// Encode writes a tensor as a .npy file of version 1.0, which is enough for every shape that a
// tensor may have. A column-major tensor is written in Fortran order, any other one in C order.
// Elements that lie together go to w straight from the tensor's memory, however many there are;
// others are gathered in pieces of at most 1 MiB.
//
// The error is [ErrUnsupported] for a sparse tensor and for element types that NumPy does not have
// (see the package's comment), before anything is written, or that of w.
func Encode(w io.Writer, t layout.Tensor) error {
	d, ok := t.(*layout.Dense)
	if !ok {
		return fmt.Errorf("%w: a .npy file holds dense arrays, this tensor is %v; convert it to dense first", ErrUnsupported, t.Layout())
	}
	code, elem, err := descrOf(d.DType())
	if err != nil {
		return err
	}
	fortran := !d.IsContiguous() && d.IsColumnMajor()
	if _, err := w.Write(header(code, fortran, d.Shape())); err != nil {
		return err
	}
	if fortran {
		// The transposed tensor has the same bytes in row-major order.
		if d, err = d.Transpose(); err != nil {
			return err
		}
	}
	write := func(b []byte) error {
		_, err := w.Write(b)
		return err
	}
	if elem.days {
		write = widenDays(write)
	}
	var buf []byte
	if !d.IsContiguous() {
		buf = make([]byte, min(max(chunkSize, int64(d.DType().Size())), d.NumBytes()))
	}
	for chunk := range d.Chunks(buf) {
		if err := write(chunk); err != nil {
			return err
		}
	}
	return nil
}

// AppendHeader appends what comes before the elements in a file of the given type, shape and order
// to dst, for whoever writes the elements themselves: as a tensor has them, but for a date[day],
// whose days take 8 bytes each. The error is [ErrUnsupported], for element types that NumPy does not
// have.
func AppendHeader(dst []byte, dtype layout.DType, shape []int64, fortran bool) ([]byte, error) {
	code, _, err := descrOf(dtype)
	if err != nil {
		return dst, err
	}
	return append(dst, header(code, fortran, shape)...), nil
}

// header returns all bytes before the elements.
func header(descr string, fortran bool, shape []int64) []byte {
	var dict strings.Builder
	order := "False"
	if fortran {
		order = "True"
	}
	fmt.Fprintf(&dict, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, tuple(shape))
	if len(shape) > 0 {
		growing := shape[0]
		if fortran {
			growing = shape[len(shape)-1]
		}
		dict.WriteString(strings.Repeat(" ", growthDigits-len(strconv.FormatInt(growing, 10))))
	}
	// One byte is for the newline. Where nothing is missing NumPy adds a whole unit of padding.
	used := int(prefixSize(1)) + dict.Len() + 1
	dict.WriteString(strings.Repeat(" ", headerAlign-used%headerAlign))
	dict.WriteByte('\n')

	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(dict.Len()))
	return append(b, dict.String()...)
}

// tuple writes a shape the way Python prints it: (), (3,), (3, 4).
func tuple(shape []int64) string {
	s := make([]string, len(shape))
	for i, n := range shape {
		s[i] = strconv.FormatInt(n, 10)
	}
	if len(s) == 1 {
		return "(" + s[0] + ",)"
	}
	return "(" + strings.Join(s, ", ") + ")"
}

// widenDays returns a function that passes 32-bit day counts on as 64-bit ones.
func widenDays(write func([]byte) error) func([]byte) error {
	buf := make([]byte, 0, chunkSize)
	return func(chunk []byte) error {
		for len(chunk) > 0 {
			n := min(len(chunk), chunkSize/2)
			buf = buf[:0]
			for i := 0; i < n; i += 4 {
				days := int32(binary.LittleEndian.Uint32(chunk[i:]))
				buf = binary.LittleEndian.AppendUint64(buf, uint64(int64(days)))
			}
			if err := write(buf); err != nil {
				return err
			}
			chunk = chunk[n:]
		}
		return nil
	}
}
