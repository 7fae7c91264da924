package npz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
)

// WriteSparse writes an archive of the members that scipy.sparse.save_npz writes for a CSR, a CSC
// or a COO, so that scipy.sparse.load_npz reads it. A CSF is converted to a COO first, in memory.
// SciPy makes a matrix of a tensor of two dimensions, and a sparse array of any other number of
// them; those of more than two it reads since version 1.15. It knows integers, bool, floats of 32
// and 64 bits and complex numbers; what else NumPy has, as float16, is written for other readers.
//
// As in SciPy indices have 32 bits if that is enough for the shape and the number of elements, else
// 64. Without compression arrays are gone through twice; see [Writer.Add].
//
// The errors are [ErrUnsupported] for a dense tensor and for a scalar, [layout.ErrIndex] for index
// arrays that contradict each other, those of [npy.Encode] for element types, and those of w.
func WriteSparse(w io.Writer, t layout.Tensor, compress bool) error {
	if len(t.Shape()) == 0 {
		return fmt.Errorf("%w: a sparse scalar", ErrUnsupported)
	}
	s := sparseWriter{Writer: NewWriter(w, compress), indices: layout.IndexInt32}
	if largest := max(maxDim(t.Shape()), t.NNZ()); largest > math.MaxInt32 {
		s.indices = layout.IndexInt64
	}
	// Before anything is written.
	if _, err := npy.AppendHeader(nil, t.DType(), []int64{t.NNZ()}, false); err != nil {
		return err
	}
	if err := s.write(t); err != nil {
		return err
	}
	return s.Close()
}

func maxDim(shape []int64) int64 {
	largest := int64(0)
	for _, n := range shape {
		largest = max(largest, n)
	}
	return largest
}

// sparseWriter writes the members of a sparse tensor.
type sparseWriter struct {
	*Writer
	indices layout.IndexType // of all index arrays
}

func (s *sparseWriter) write(t layout.Tensor) error {
	switch t := t.(type) {
	case *layout.CSR:
		if err := checkIndex(t.Validate()); err != nil {
			return err
		}
		return s.lines("csr", t, t.Indptr(), t.Indices(), t.Data())
	case *layout.CSC:
		if err := checkIndex(t.Validate()); err != nil {
			return err
		}
		return s.lines("csc", t, t.Indptr(), t.Indices(), t.Data())
	case *layout.COO:
		if err := checkIndex(t.Validate()); err != nil {
			return err
		}
		return s.coordinates(t)
	case *layout.CSF:
		c, err := layout.ToCOO(t, nil)
		if err != nil {
			return err
		}
		return s.coordinates(c)
	}
	return fmt.Errorf("%w: the tensor is %v; WriteSparse writes sparse ones", ErrUnsupported, t.Layout())
}

// checkIndex passes only errors on that make a tensor impossible. SciPy takes elements in any order.
func checkIndex(err error) error {
	if err == nil || errors.Is(err, layout.ErrOrder) {
		return nil
	}
	return err
}

func (s *sparseWriter) lines(format string, t layout.Tensor, indptr, indices layout.Index, data []byte) error {
	if err := s.integers("indices", indices); err != nil {
		return err
	}
	if err := s.integers("indptr", indptr); err != nil {
		return err
	}
	return s.rest(format, t, data)
}

func (s *sparseWriter) coordinates(t *layout.COO) error {
	row, column := t.IndexStrides()
	dtype, indices := t.Indices().Type().DType(), t.Indices().Bytes()
	if len(t.Shape()) != 2 {
		d, err := layout.NewStrided(dtype, []int64{int64(len(t.Shape())), t.NNZ()}, []int64{column, row}, 0, indices)
		if err != nil {
			return err
		}
		if err := s.array("coords", d); err != nil {
			return err
		}
		return s.rest("coo", t, t.Data())
	}
	if t.NNZ() == 0 {
		column = 0 // there is nothing to begin in
	}
	for axis, name := range []string{"row", "col"} {
		d, err := layout.NewStrided(dtype, []int64{t.NNZ()}, []int64{row}, int64(axis)*column, indices)
		if err != nil {
			return err
		}
		if err := s.array(name, d); err != nil {
			return err
		}
	}
	return s.rest("coo", t, t.Data())
}

// integers writes an index array.
func (s *sparseWriter) integers(name string, x layout.Index) error {
	d, err := layout.NewDense(x.Type().DType(), []int64{x.Len()}, x.Bytes())
	if err != nil {
		return err
	}
	return s.array(name, d)
}

// array writes integers, which may have any type, as s.indices.
func (s *sparseWriter) array(name string, d *layout.Dense) error {
	from, err := layout.IndexTypeOf(d.DType())
	if err != nil {
		return err
	}
	if from == s.indices {
		return s.add(name, func(w io.Writer) error { return npy.Encode(w, d) })
	}
	return s.add(name, func(w io.Writer) error {
		header, err := npy.AppendHeader(nil, s.indices.DType(), d.Shape(), false)
		if err != nil {
			return err
		}
		if _, err := w.Write(header); err != nil {
			return err
		}
		const count = 1 << 15
		buf := make([]byte, 0, count*s.indices.Size())
		for chunk := range d.Chunks(make([]byte, count*from.Size())) {
			for len(chunk) > 0 {
				n := min(len(chunk), count*from.Size())
				x, err := layout.NewIndex(from, chunk[:n])
				if err != nil {
					return err
				}
				if _, err := w.Write(appendIndex(buf, x, s.indices)); err != nil {
					return err
				}
				chunk = chunk[n:]
			}
		}
		return nil
	})
}

// appendIndex appends the integers of x as 32 or 64 bits.
func appendIndex(b []byte, x layout.Index, to layout.IndexType) []byte {
	for i := range x.Len() {
		if to == layout.IndexInt32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(x.At(i)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, x.At(i))
		}
	}
	return b
}

// rest writes the members that all formats have.
func (s *sparseWriter) rest(format string, t layout.Tensor, data []byte) error {
	err := s.add("format", func(w io.Writer) error {
		// Three bytes of text, in a file that says so where one of a byte says its type.
		header, err := npy.AppendHeader(nil, layout.Uint8, nil, false)
		if err != nil {
			return err
		}
		_, err = w.Write(append(bytes.Replace(header, []byte("|u1"), []byte("|S3"), 1), format...))
		return err
	})
	if err != nil {
		return err
	}
	if err := s.Add("shape", layout.DenseOf(t.Shape(), int64(len(t.Shape())))); err != nil {
		return err
	}
	elements, err := layout.NewDense(t.DType(), []int64{t.NNZ()}, data)
	if err != nil {
		return err
	}
	if err := s.Add("data", elements); err != nil {
		return err
	}
	if len(t.Shape()) == 2 {
		return nil
	}
	return s.Add("_is_array", layout.DenseOf([]bool{true}))
}
