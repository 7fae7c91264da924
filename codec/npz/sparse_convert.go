package npz

import (
	"github.com/tstore/tstore/layout"
)

// matrix returns a matrix of elements in any order, whose rows and columns alternate in indices: as
// a CSR, unless most of its rows are empty, as those of a file may be that claims many. Then a CSR
// might have no proportion to the file.
func (s *sparseReader) matrix(indices []int64, data []byte) (layout.Tensor, error) {
	c, err := layout.NewCOO(s.data.DType(), s.shape, layout.IndexOf(indices), data, false)
	if err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if few := int64(1024); s.shape[0] <= c.NNZ()+few {
		m, err := layout.ToCSR(c, nil)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	m, err := layout.ToCOO(c, &layout.ConvertOptions{Duplicates: layout.DuplicatesSum})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// bsr reads a matrix of dense blocks. All their elements are kept, zero or not, as SciPy does.
func (s *sparseReader) bsr() (layout.Tensor, error) {
	indptr, err := s.integers("indptr")
	if err != nil {
		return nil, err
	}
	indices, err := s.integers("indices")
	if err != nil {
		return nil, err
	}
	if len(s.shape) != 2 || s.data.NDim() != 3 {
		return nil, s.invalid("data of blocks is of %v", s.data.Shape())
	}
	blocks, height, width := s.data.Shape()[0], s.data.Shape()[1], s.data.Shape()[2]
	if height < 1 || width < 1 || s.shape[0]%height != 0 || s.shape[1]%width != 0 {
		return nil, s.invalid("it is not a multiple of its blocks of [%d %d]", height, width)
	}
	// The blocks make a matrix of their own; what is wrong with its indices is found there.
	grid, err := layout.NewCSR(layout.Uint8, []int64{s.shape[0] / height, s.shape[1] / width}, indptr, indices, make([]byte, blocks))
	if err != nil {
		return nil, err
	}
	coordinates, err := layout.NonzeroBytes(grid)
	if err != nil {
		return nil, err
	}
	all := make([]int64, 0, 2*s.data.Len())
	for at := range coordinates {
		for i := range height {
			for j := range width {
				all = append(all, at[0]*height+i, at[1]*width+j)
			}
		}
	}
	elements, err := s.data.Contiguous().Bytes()
	if err != nil {
		return nil, err
	}
	return s.matrix(all, elements)
}

// dia reads a matrix by its diagonals: element j of diagonal k lies in column j, offsets[k] to the
// right of the main diagonal. As in SciPy, zeros are left out.
func (s *sparseReader) dia() (layout.Tensor, error) {
	offsets, err := s.integers("offsets")
	if err != nil {
		return nil, err
	}
	if len(s.shape) != 2 || s.data.NDim() != 2 || s.data.Shape()[0] != offsets.Len() {
		return nil, s.invalid("data of %d diagonals is of %v", offsets.Len(), s.data.Shape())
	}
	nonzeros, err := layout.NonzeroBytes(s.data)
	if err != nil {
		return nil, err
	}
	var all []int64
	var elements []byte
	for at, element := range nonzeros {
		offset, column := int64(offsets.At(at[0])), at[1]
		// An offset below −2⁶² would make the difference overflow, and is far outside.
		if row := column - offset; column < s.shape[1] && offset > -1<<62 && 0 <= row && row < s.shape[0] {
			all = append(all, row, column)
			elements = append(elements, element...)
		}
	}
	return s.matrix(all, elements)
}

// gcxs reads what pydata/sparse keeps as a matrix whose rows are some of the axes of a tensor, and
// whose columns are the others, in ascending order.
func (s *sparseReader) gcxs() (layout.Tensor, error) {
	axes, err := s.integers("compressed_axes")
	if err != nil {
		return nil, err
	}
	indptr, indices, data, err := s.lines()
	if err != nil {
		return nil, err
	}
	if len(s.shape) == 1 {
		size := int64(indices.Type().Size())
		return s.coordinates(indices, [2]int64{size, size}, data)
	}
	// order lists the axes as they make rows, and then as they make columns.
	order := make([]int, 0, len(s.shape))
	isRow := make([]bool, len(s.shape))
	for i := range axes.Len() {
		axis := axes.At(i)
		if axis >= uint64(len(s.shape)) || i > 0 && axis <= axes.At(i-1) {
			return nil, s.invalid("compressed_axes has to be axes in ascending order")
		}
		isRow[axis] = true
		order = append(order, int(axis))
	}
	rows := len(order)
	for axis := range s.shape {
		if !isRow[axis] {
			order = append(order, axis)
		}
	}
	if len(s.shape) == 2 && rows == 1 {
		if order[0] == 0 {
			return s.rows(indptr, indices, data)
		}
		return s.columns(indptr, indices, data)
	}

	dims := make([]int64, len(order))
	for i, axis := range order {
		dims[i] = s.shape[axis]
	}
	height, ok := layout.CheckedProduct(dims[:rows], 1)
	width, fits := layout.CheckedProduct(dims[rows:], 1)
	if !ok || !fits {
		return nil, s.invalid("it is too large for a gcxs")
	}
	grid, err := layout.NewCSR(s.data.DType(), []int64{height, width}, indptr, indices, data)
	if err != nil {
		return nil, err
	}
	coordinates, err := layout.NonzeroBytes(grid)
	if err != nil {
		return nil, err
	}
	all := make([]int64, 0, len(order)*int(grid.NNZ()))
	at := make([]int64, len(order))
	for cell := range coordinates {
		unravel(at, cell[0], order[:rows], s.shape)
		unravel(at, cell[1], order[rows:], s.shape)
		all = append(all, at...)
	}
	return s.coordinates(layout.IndexOf(all), [2]int64{8 * int64(len(order)), 8}, data)
}

// unravel sets the coordinates along axes of the element that has this number in row-major order of
// those axes.
func unravel(at []int64, number int64, axes []int, shape []int64) {
	for i := len(axes) - 1; i >= 0; i-- {
		n := shape[axes[i]]
		at[axes[i]] = number % n
		number /= n
	}
}
