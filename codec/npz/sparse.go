package npz

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/tstore/tstore/layout"
)

// Sparse returns the sparse tensor that the archive is, if its members are those that
// scipy.sparse.save_npz or save_npz of pydata/sparse writes, and no others. Else, as for any archive
// of arrays, it reports false. Older versions of pydata/sparse gave no sign but the names "data",
// "shape" and "coords", or "indices" and so on; then the arrays have to fit together as well.
//
// What SciPy calls csr and csc becomes a CSR or a CSC, or a COO if it has one dimension; coo, of
// any number of dimensions, a COO; bsr and dia a CSR, or a COO if that is much smaller. What
// pydata/sparse calls coo becomes a COO, and gcxs a CSR, a CSC or, if it is not a matrix, a COO.
//
// The tensor is valid. Where the arrays are in the order that its layout asks for, they are the
// memory of the archive, as with [Member.Tensor], but for the indices of a coo of two dimensions,
// which SciPy keeps in two arrays. Otherwise they are sorted; an element of a csr, csc or bsr that
// is stored several times is summed, as SciPy does, while a COO keeps it and is not canonical.
//
// The errors are those of Tensor, and [ErrInvalid] for arrays that contradict each other,
// [ErrUnsupported] for other formats and for a fill value other than 0.
func (f *File) Sparse() (t layout.Tensor, ok bool, err error) {
	return f.sparse((*Member).Tensor)
}

// SparseView is Sparse for whoever only copies the tensor: its arrays may lie at any alignment, as
// with [Member.View].
func (f *File) SparseView() (t layout.Tensor, ok bool, err error) {
	return f.sparse((*Member).View)
}

// A sparseForm is a form in which a sparse tensor is kept in members.
type sparseForm struct {
	members []string // beside "data" and "shape", which all have
	read    func(s *sparseReader) (layout.Tensor, error)
}

// optional are members that any form may have. The first tells SciPy which of two classes to make.
var optional = map[string]bool{"_is_array": true, "format": true, "fill_value": true, "data": true, "shape": true}

// sparseForms are the forms by what the member "format" says.
var sparseForms = map[string][]sparseForm{
	"csr": {{[]string{"indices", "indptr"}, (*sparseReader).csr}},
	"csc": {{[]string{"indices", "indptr"}, (*sparseReader).csc}},
	"bsr": {{[]string{"indices", "indptr"}, (*sparseReader).bsr}},
	"dia": {{[]string{"offsets"}, (*sparseReader).dia}},
	"coo": {
		{[]string{"coords"}, (*sparseReader).coords},
		{[]string{"row", "col"}, (*sparseReader).rowCol},
	},
	"gcxs": {{[]string{"indices", "indptr", "compressed_axes"}, (*sparseReader).gcxs}},
	// Older versions of pydata/sparse do not write "format".
	"": {
		{[]string{"coords"}, (*sparseReader).coords},
		{[]string{"indices", "indptr", "compressed_axes"}, (*sparseReader).gcxs},
	},
}

func (f *File) sparse(array func(*Member) (*layout.Dense, error)) (layout.Tensor, bool, error) {
	if f.byName["data"] == nil || f.byName["shape"] == nil || len(f.Others) > 0 {
		return nil, false, nil
	}
	format := ""
	if m := f.byName["format"]; m != nil {
		var isText bool
		var err error
		if format, isText, err = m.text(); err != nil || !isText {
			return nil, false, err
		}
	}
	forms, known := sparseForms[format]
	if !known {
		return nil, true, fmt.Errorf("%w: a sparse tensor in format %.40q; csr, csc, coo, bsr, dia and gcxs are known", ErrUnsupported, format)
	}
	for _, form := range forms {
		if !f.consistsOf(form.members) {
			continue
		}
		s := &sparseReader{file: f, array: array}
		t, err := s.read(form)
		switch {
		case err == nil:
			return t, true, nil
		case format == "" && f.byName["fill_value"] == nil:
			// Nothing but the names spoke for it.
			return nil, false, nil
		}
		return nil, true, err
	}
	return nil, false, nil
}

// consistsOf reports whether the archive has all these members and none but these and optional ones.
func (f *File) consistsOf(members []string) bool {
	n := 0
	for name := range optional {
		if f.byName[name] != nil {
			n++
		}
	}
	for _, name := range members {
		if f.byName[name] == nil {
			return false
		}
	}
	return n+len(members) == len(f.Members)
}

// textHeader is what NumPy writes in the header of a file of a single string: of bytes, or of
// Unicode in 4 bytes a character.
var textHeader = regexp.MustCompile(`^\{'descr': '([|]S|<U)(\d{1,3})', 'fortran_order': (?:True|False), 'shape': \(\), \} *\n`)

// text returns the string that a member is, if it is one.
func (m *Member) text() (s string, ok bool, err error) {
	if m.Size > 1024 {
		return "", false, nil
	}
	b, err := m.bytes()
	if err != nil {
		return "", false, err
	}
	const magic, prefix = "\x93NUMPY\x01\x00", 10
	if len(b) < prefix || string(b[:len(magic)]) != magic {
		return "", false, nil
	}
	found := textHeader.FindSubmatch(b[prefix:])
	if found == nil {
		return "", false, nil
	}
	width, _ := strconv.Atoi(string(found[2])) // three digits at most
	data := b[prefix+len(found[0]):]
	if found[1][0] == '<' {
		if len(data) != 4*width {
			return "", false, nil
		}
		narrow := make([]byte, width)
		for i := range narrow {
			if data[4*i+1]|data[4*i+2]|data[4*i+3] != 0 {
				return "", false, nil
			}
			narrow[i] = data[4*i]
		}
		data = narrow
	}
	return string(bytes.TrimRight(data, "\x00")), len(data) == width, nil
}

// sparseReader reads the arrays of a sparse tensor.
type sparseReader struct {
	file  *File
	array func(*Member) (*layout.Dense, error)

	shape []int64
	data  *layout.Dense
}

func (s *sparseReader) read(form sparseForm) (layout.Tensor, error) {
	if s.file.byName["fill_value"] != nil {
		fill, err := s.get("fill_value")
		if err != nil {
			return nil, err
		}
		n, err := layout.CountNonZero(fill)
		if err != nil {
			return nil, err
		}
		if n > 0 || fill.Len() != 1 {
			return nil, fmt.Errorf("%w: a sparse tensor whose fill value is not 0", ErrUnsupported)
		}
	}
	shape, err := s.integers("shape")
	if err != nil {
		return nil, err
	}
	if shape.Len() > layout.MaxDims {
		return nil, fmt.Errorf("%w: a sparse tensor of %d dimensions, more than %d", ErrUnsupported, shape.Len(), layout.MaxDims)
	}
	for i := range shape.Len() {
		n := shape.At(i)
		if n > math.MaxInt64 {
			return nil, s.invalid("dimension %d of the shape is negative or above 2^63-1", i)
		}
		s.shape = append(s.shape, int64(n))
	}
	if s.data, err = s.get("data"); err != nil {
		return nil, err
	}
	t, err := form.read(s)
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, layout.ErrIndex), errors.Is(err, layout.ErrBounds), errors.Is(err, layout.ErrShape), errors.Is(err, layout.ErrLayout):
		return nil, s.invalid("%w", err)
	case errors.Is(err, layout.ErrDuplicate):
		return nil, fmt.Errorf("%w: sparse tensor: %w", ErrUnsupported, err)
	}
	return nil, err
}

// invalid returns an error about the tensor as a whole.
func (s *sparseReader) invalid(format string, args ...any) error {
	return fmt.Errorf("%w: sparse tensor of %v: %w", ErrInvalid, s.shape, fmt.Errorf(format, args...))
}

func (s *sparseReader) get(name string) (*layout.Dense, error) { return s.array(s.file.byName[name]) }

// integers returns an array of one dimension that has integers.
func (s *sparseReader) integers(name string) (layout.Index, error) {
	d, err := s.get(name)
	if err != nil {
		return layout.Index{}, err
	}
	t, err := layout.IndexTypeOf(d.DType())
	if err != nil || d.NDim() != 1 {
		return layout.Index{}, s.invalid("member %q is %v of %v, not a list of integers", name, d.DType(), d.Shape())
	}
	return layout.NewIndex(t, d.Data())
}

// list returns the stored elements, where they are a list.
func (s *sparseReader) list() ([]byte, error) {
	if s.data.NDim() != 1 {
		return nil, s.invalid("data is of %v, not a list", s.data.Shape())
	}
	return s.data.Data(), nil
}

// lines returns the arrays of a csr or csc.
func (s *sparseReader) lines() (indptr, indices layout.Index, data []byte, err error) {
	if indptr, err = s.integers("indptr"); err != nil {
		return
	}
	if indices, err = s.integers("indices"); err != nil {
		return
	}
	data, err = s.list()
	return
}

func (s *sparseReader) csr() (layout.Tensor, error) {
	indptr, indices, data, err := s.lines()
	if err != nil {
		return nil, err
	}
	if len(s.shape) == 1 {
		return s.vector(indptr, indices, data)
	}
	return s.rows(indptr, indices, data)
}

// rows returns a CSR, in order.
func (s *sparseReader) rows(indptr, indices layout.Index, data []byte) (layout.Tensor, error) {
	c, err := layout.NewCSR(s.data.DType(), s.shape, indptr, indices, data)
	if err != nil {
		return nil, err
	}
	if err = c.Validate(); errors.Is(err, layout.ErrOrder) {
		c, err = layout.ToCSR(c, nil)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s *sparseReader) csc() (layout.Tensor, error) {
	indptr, indices, data, err := s.lines()
	if err != nil {
		return nil, err
	}
	return s.columns(indptr, indices, data)
}

// columns returns a CSC, in order.
func (s *sparseReader) columns(indptr, indices layout.Index, data []byte) (layout.Tensor, error) {
	c, err := layout.NewCSC(s.data.DType(), s.shape, indptr, indices, data)
	if err != nil {
		return nil, err
	}
	if err = c.Validate(); errors.Is(err, layout.ErrOrder) {
		c, err = layout.ToCSC(c, nil)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// vector returns a csr of one dimension, whose indices are coordinates.
func (s *sparseReader) vector(indptr, indices layout.Index, data []byte) (layout.Tensor, error) {
	if indptr.Len() != 2 || indptr.At(0) != 0 || indptr.At(1) != uint64(indices.Len()) {
		return nil, s.invalid("indptr of one dimension has to be 0 and the number of indices")
	}
	size := int64(indices.Type().Size())
	return s.coordinates(indices, [2]int64{size, size}, data)
}

// coordinates returns a COO of elements whose coordinates lie in indices at these strides:
// canonical, if no element is stored twice.
func (s *sparseReader) coordinates(indices layout.Index, strides [2]int64, data []byte) (layout.Tensor, error) {
	var read layout.COO
	if err := read.Init(s.data.DType(), s.shape, indices, strides, true, data, nil); err != nil {
		return nil, err
	}
	err := read.Validate()
	if err == nil {
		return &read, nil
	}
	if !errors.Is(err, layout.ErrOrder) {
		return nil, err
	}
	if err := read.Init(s.data.DType(), s.shape, indices, strides, false, data, nil); err != nil {
		return nil, err
	}
	sorted, err := layout.ToCOO(&read, &layout.ConvertOptions{Duplicates: layout.DuplicatesRefuse})
	if errors.Is(err, layout.ErrDuplicate) {
		return &read, nil
	}
	if err != nil {
		return nil, err
	}
	return sorted, nil
}

// coords reads a coo whose coordinates are an array with a row for each dimension.
func (s *sparseReader) coords() (layout.Tensor, error) {
	data, err := s.list()
	if err != nil {
		return nil, err
	}
	d, err := s.get("coords")
	if err != nil {
		return nil, err
	}
	t, err := layout.IndexTypeOf(d.DType())
	if err != nil || d.NDim() != 2 || d.Shape()[0] != int64(len(s.shape)) || d.Shape()[1] != s.data.Len() {
		return nil, s.invalid("coords is %v of %v for %d elements", d.DType(), d.Shape(), s.data.Len())
	}
	indices, err := layout.NewIndex(t, d.Data())
	if err != nil {
		return nil, err
	}
	if size := int64(t.Size()); s.file.load != nil && d.Strides()[1] == size && len(s.shape) > 1 {
		axes := make([]layout.Index, len(s.shape))
		for i := range axes {
			axes[i] = indices.Slice(int64(i)*s.data.Len(), int64(i+1)*s.data.Len())
		}
		return s.interleaved(axes, data)
	}
	return s.coordinates(indices, [2]int64{d.Strides()[1], d.Strides()[0]}, data)
}

// interleaved returns a COO of elements whose coordinates along each axis are an array of its own.
func (s *sparseReader) interleaved(axes []layout.Index, data []byte) (layout.Tensor, error) {
	load := s.file.load
	if load == nil {
		load = func(size int64, r io.Reader) ([]byte, error) {
			b := make([]byte, size)
			_, err := io.ReadFull(r, b)
			return b, err
		}
	}
	row := int64(axes[0].Type().Size()) * int64(len(axes))
	size := row * s.data.Len()
	b, err := load(size, &interleaver{axes: axes})
	if err != nil {
		return nil, err
	}
	if int64(len(b)) != size {
		return nil, fmt.Errorf("npz: Options.Load returned %d of %d bytes of indices", len(b), size)
	}
	indices, err := layout.NewIndex(axes[0].Type(), b)
	if err != nil {
		return nil, err
	}
	return s.coordinates(indices, [2]int64{row, row / int64(len(axes))}, data)
}

// rowCol reads a coo whose coordinates are two arrays.
func (s *sparseReader) rowCol() (layout.Tensor, error) {
	data, err := s.list()
	if err != nil {
		return nil, err
	}
	rows, err := s.integers("row")
	if err != nil {
		return nil, err
	}
	cols, err := s.integers("col")
	if err != nil {
		return nil, err
	}
	n := s.data.Len()
	if len(s.shape) != 2 || rows.Len() != n || cols.Len() != n {
		return nil, s.invalid("%d rows and %d columns for %d elements", rows.Len(), cols.Len(), n)
	}
	if rows.Type() != cols.Type() {
		rows, cols = wide(rows), wide(cols)
	}
	return s.interleaved([]layout.Index{rows, cols}, data)
}

// wide returns a copy of x as 64-bit integers.
func wide(x layout.Index) layout.Index {
	integers := make([]int64, x.Len())
	for i := range integers {
		integers[i] = int64(x.At(int64(i)))
	}
	return layout.IndexOf(integers)
}
