package layout

import (
	"fmt"
	"slices"

	"github.com/tstore/tstore/vec"
)

// CSR is a sparse matrix whose stored elements are kept row by row: those of row i are elements
// indptr[i] to indptr[i+1]−1, and indices holds their columns in ascending order.
//
// A CSR borrows the memory that it was made of, and never changes.
type CSR struct{ compressed }

// CSC is a sparse matrix whose stored elements are kept column by column: those of column j are
// elements indptr[j] to indptr[j+1]−1, and indices holds their rows in ascending order.
//
// A CSC borrows the memory that it was made of, and never changes.
type CSC struct{ compressed }

// compressed is a matrix that is kept line by line, a line being a row or a column.
type compressed struct {
	sparse
	indptr, indices Index
}

// NewCSR returns a sparse matrix of the stored elements in data. indptr has one integer more than
// there are rows, indices one per element. The tensor borrows them; the shape is copied. The
// arrays are not looked into; see [CSR.Validate], and [IndexOf] and [BytesOf] for making them of
// slices. Errors: [ErrDType], [ErrShape], [ErrLayout], [ErrBounds].
func NewCSR(dt DType, shape []int64, indptr, indices Index, data []byte) (*CSR, error) {
	c := new(CSR)
	if err := c.Init(dt, cloneInts(shape), indptr, indices, data, nil); err != nil {
		return nil, err
	}
	return c, nil
}

// NewCSC is [NewCSR] with the parts of rows and columns exchanged.
func NewCSC(dt DType, shape []int64, indptr, indices Index, data []byte) (*CSC, error) {
	c := new(CSC)
	if err := c.Init(dt, cloneInts(shape), indptr, indices, data, nil); err != nil {
		return nil, err
	}
	return c, nil
}

// Init makes c the tensor that [NewCSR] describes, with names as its dimension names, which may be
// nil. It allocates nothing and takes constant time: c keeps the slices, and the caller must not
// change them any more. If it returns an error, c is unchanged.
func (c *CSR) Init(dt DType, shape []int64, indptr, indices Index, data []byte, names []string) error {
	return c.init(dt, shape, 0, indptr, indices, data, names)
}

// Init makes c the tensor that [NewCSC] describes; see [CSR.Init].
func (c *CSC) Init(dt DType, shape []int64, indptr, indices Index, data []byte, names []string) error {
	return c.init(dt, shape, 1, indptr, indices, data, names)
}

func (c *compressed) init(dt DType, shape []int64, axis int, indptr, indices Index, data []byte, names []string) error {
	s, err := checkSparse(dt, shape, data, names)
	if err != nil {
		return err
	}
	if len(shape) != 2 {
		return fmt.Errorf("%w: csr and csc keep matrices, not tensors of %d dimensions", ErrLayout, len(shape))
	}
	if !indptr.typ.Valid() || !indices.typ.Valid() {
		return fmt.Errorf("%w: the index type is not set", ErrDType)
	}
	if indptr.Len() == 0 || indptr.Len()-1 != shape[axis] {
		return fmt.Errorf("%w: indptr has %d integers, dimension %d is %d; it takes one more than that", ErrBounds, indptr.Len(), axis, shape[axis])
	}
	if indices.Len() != s.nnz {
		return fmt.Errorf("%w: %d indices for %d elements", ErrBounds, indices.Len(), s.nnz)
	}
	*c = compressed{sparse: s, indptr: indptr, indices: indices}
	return nil
}

// Layout returns LayoutCSR.
func (c *CSR) Layout() Layout { return LayoutCSR }

// Layout returns LayoutCSC.
func (c *CSC) Layout() Layout { return LayoutCSC }

// Indptr returns the array that says where each line begins, and where the last one ends.
func (c *compressed) Indptr() Index { return c.indptr }

// Indices returns the array of positions in the lines, one for each stored element.
func (c *compressed) Indices() Index { return c.indices }

// WithDimNames returns a view of c with these names, one per axis; with none, a view without names.
func (c *CSR) WithDimNames(names ...string) (*CSR, error) {
	v := *c
	v.owned = false
	var err error
	if v.names, err = copyNames(names, 2); err != nil {
		return nil, err
	}
	return &v, nil
}

// WithDimNames returns a view of c with these names, one per axis; with none, a view without names.
func (c *CSC) WithDimNames(names ...string) (*CSC, error) {
	v := *c
	v.owned = false
	var err error
	if v.names, err = copyNames(names, 2); err != nil {
		return nil, err
	}
	return &v, nil
}

// Row returns row i without a copy: the columns of its stored elements and their bytes. Errors:
// [ErrBounds] if there is no such row, [ErrIndex] if indptr does not lead to stored elements.
// See [RowValues].
func (c *CSR) Row(i int64) (columns Index, values []byte, err error) { return c.line(0, i) }

// Col returns column j without a copy: the rows of its stored elements and their bytes. Errors:
// [ErrBounds] if there is no such column, [ErrIndex] if indptr does not lead to stored elements.
// See [ColValues].
func (c *CSC) Col(j int64) (rows Index, values []byte, err error) { return c.line(1, j) }

// RowValues returns row i of a CSR as slices of Go values, without a copy: the columns of its stored
// elements and the elements. Errors: those of [CSR.Row], [Values] and [IndexValues].
func RowValues[T Element, I IndexInteger](c *CSR, i int64) (columns []I, values []T, err error) {
	return lineValues[T, I](&c.compressed, 0, i)
}

// ColValues returns column j of a CSC as slices of Go values, without a copy: the rows of its stored
// elements and the elements. Errors: those of [CSC.Col], [Values] and [IndexValues].
func ColValues[T Element, I IndexInteger](c *CSC, j int64) (rows []I, values []T, err error) {
	return lineValues[T, I](&c.compressed, 1, j)
}

func lineValues[T Element, I IndexInteger](c *compressed, axis int, i int64) (indices []I, values []T, err error) {
	x, b, err := c.line(axis, i)
	if err != nil {
		return nil, nil, err
	}
	if indices, err = IndexValues[I](x); err != nil {
		return nil, nil, err
	}
	if values, err = castBytes[T](c.dtype, b); err != nil {
		return nil, nil, err
	}
	return indices, values, nil
}

// span returns which elements line i has.
func (c *compressed) span(axis int, i int64) (start, stop int64, err error) {
	if err := checkSet(c.dtype); err != nil {
		return 0, 0, err
	}
	if i < 0 || i >= c.shape[axis] {
		return 0, 0, fmt.Errorf("%w: index %d of axis %d, which has %d elements", ErrBounds, i, axis, c.shape[axis])
	}
	lo, hi := c.indptr.At(i), c.indptr.At(i+1)
	if lo > hi || hi > uint64(c.nnz) {
		return 0, 0, fmt.Errorf("%w: indptr[%d] is %d and indptr[%d] is %d, with %d elements", ErrIndex, i, int64(lo), i+1, int64(hi), c.nnz)
	}
	return int64(lo), int64(hi), nil
}

func (c *compressed) line(axis int, i int64) (Index, []byte, error) {
	start, stop, err := c.span(axis, i)
	if err != nil {
		return Index{}, nil, err
	}
	w := int64(c.dtype.width)
	return c.indices.Slice(start, stop), c.data[start*w : stop*w : stop*w], nil
}

// Validate makes sure that indptr rises from 0 to the number of elements and that every column lies
// inside the matrix ([ErrIndex] if not), and that the columns of each row are in ascending order, none
// twice ([ErrOrder] if not). It takes linear time and allocates nothing.
func (c *CSR) Validate() error { return c.validate(0) }

// Validate makes sure that indptr rises from 0 to the number of elements and that every row lies
// inside the matrix ([ErrIndex] if not), and that the rows of each column are in ascending order, none
// twice ([ErrOrder] if not). It takes linear time and allocates nothing.
func (c *CSC) Validate() error { return c.validate(1) }

func (c *compressed) validate(axis int) error {
	if err := c.checkPointers(); err != nil {
		return err
	}
	if ordered(c.indptr, c.indices, c.shape[1-axis]) {
		return nil
	}
	if err := c.checkStructure(axis); err != nil {
		return err
	}
	line, at := firstLineDisorder(c.indptr, c.indices)
	return c.disorder(line, at)
}

// ordered reports whether the indices of each line are less than n, in ascending order and none twice.
func ordered(indptr, indices Index, n int64) bool {
	return vec.LinesInOrder(indptr.data, indptr.typ.kernel(), indices.data, indices.typ.kernel(), uint64(n))
}

func (c *compressed) disorder(line, at int64) error {
	return fmt.Errorf("%w: in line %d, index %d of element %d does not come after the one before it", ErrOrder, line, c.indices.At(at), at)
}

// validateLines is validate by several goroutines where that is worth while.
func (c *conversion) validateLines(t *compressed, axis int) error {
	if workers := c.workers(t.nnz * leafBytes); workers > 1 {
		return t.validateTogether(axis, workers)
	}
	return t.validate(axis)
}

func (c *compressed) validateTogether(axis, workers int) error {
	if err := c.checkPointers(); err != nil {
		return err
	}
	results := make([]bool, workers)
	inParallel(workers, func(i int) {
		from, to := c.indptr.part(i, workers)
		results[i] = ordered(c.indptr.Slice(from, to+1), c.indices, c.shape[1-axis])
	})
	if slices.Contains(results, false) {
		return c.validate(axis) // which says where
	}
	return nil
}

// checkStructure checks all but the order of the indices in a line.
func (c *compressed) checkStructure(axis int) error {
	if err := c.checkPointers(); err != nil {
		return err
	}
	if err := vec.CheckIndices(c.indices.data, c.indices.typ.kernel(), uint64(c.shape[1-axis])); err != nil {
		return fmt.Errorf("%w: %w", ErrIndex, err)
	}
	return nil
}

func (c *compressed) checkPointers() error {
	if err := checkSet(c.dtype); err != nil {
		return err
	}
	return checkIndptr(c.indptr, c.nnz)
}

// checkIndptr makes sure that an array rises from 0 to n.
func checkIndptr(indptr Index, n int64) error {
	if first := indptr.At(0); first != 0 {
		return fmt.Errorf("%w: indptr begins with %d, not 0", ErrIndex, int64(first))
	}
	if last := indptr.At(indptr.Len() - 1); last != uint64(n) {
		return fmt.Errorf("%w: indptr ends with %d, with %d elements", ErrIndex, int64(last), n)
	}
	if at := vec.FirstDecrease(indptr.data, indptr.typ.kernel()); at >= 0 {
		return fmt.Errorf("%w: indptr falls from %d to %d at %d", ErrIndex, int64(indptr.At(int64(at)-1)), int64(indptr.At(int64(at))), at)
	}
	return nil
}

// firstLineDisorder returns the first line in which an index does not exceed the one before it, and
// the element, or −1. indptr must be valid for the indices.
func firstLineDisorder(indptr, indices Index) (line, at int64) {
	switch indices.typ.Size() {
	case 1:
		return lineDisorder(indptr, indices.data)
	case 2:
		return lineDisorder(indptr, words[uint16](indices.data))
	case 4:
		return lineDisorder(indptr, words[uint32](indices.data))
	}
	return lineDisorder(indptr, words[uint64](indices.data))
}

func lineDisorder[I indexWord](indptr Index, indices []I) (line, at int64) {
	var buf lineBuffer
	start := indptr.At(0)
	for first := int64(1); first < indptr.Len(); first += int64(len(buf)) {
		for i, stop := range indptr.chunk(buf[:], first) {
			span := indices[start:stop]
			for k := 1; k < len(span); k++ {
				if span[k] <= span[k-1] {
					return first - 1 + int64(i), int64(start) + int64(k)
				}
			}
			start = stop
		}
	}
	return -1, 0
}

// lineBuffer is room for a piece of an indptr. Loops over lines read it a piece at a time, so that they
// need to know nothing of its type and look at no type for each line.
type lineBuffer [512]uint64
