package layout

import (
	"fmt"

	"github.com/tstore/tstore/vec"
)

// CSF is a sparse tensor of two or more dimensions as a tree. Level l of the tree belongs to axis
// AxisOrder()[l]; its nodes carry an index along that axis each, ascending below one parent, and
// the children of node k are nodes indptr[l][k] to indptr[l][k+1]−1 of the next level. The nodes
// of the last level are the stored elements.
//
// A CSF borrows the memory that it was made of, and never changes.
type CSF struct {
	sparse
	order   []int
	indptr  []Index // one per level but the last
	indices []Index // one per level
}

// NewCSF returns a sparse tensor of the stored elements in data. axisOrder says which axis each
// level belongs to; indices has an array for each level, the last as long as there are elements;
// indptr has an array for each level but the last, one integer longer than that level's indices.
// All arrays of indptr have one type, and so have all of indices. The tensor borrows the arrays;
// the slices of them, the shape and the axis order are copied. The arrays are not looked into; see
// [CSF.Validate]. Errors: [ErrDType], [ErrShape], [ErrLayout], [ErrBounds].
func NewCSF(dt DType, shape []int64, axisOrder []int, indptr, indices []Index, data []byte) (*CSF, error) {
	c := new(CSF)
	if err := c.Init(dt, cloneInts(shape), append([]int(nil), axisOrder...), append([]Index(nil), indptr...), append([]Index(nil), indices...), data, nil); err != nil {
		return nil, err
	}
	return c, nil
}

// Init makes c the tensor that [NewCSF] describes, with names as its dimension names, which may be
// nil. It allocates nothing and takes time in the number of dimensions only: c keeps all slices, and
// the caller must not change them any more. If it returns an error, c is unchanged.
func (c *CSF) Init(dt DType, shape []int64, axisOrder []int, indptr, indices []Index, data []byte, names []string) error {
	s, err := checkSparse(dt, shape, data, names)
	if err != nil {
		return err
	}
	ndim := len(shape)
	if ndim < 2 {
		return fmt.Errorf("%w: csf keeps tensors of 2 or more dimensions, not of %d", ErrLayout, ndim)
	}
	if err := checkAxisOrder(axisOrder, ndim); err != nil {
		return err
	}
	if len(indptr) != ndim-1 || len(indices) != ndim {
		return fmt.Errorf("%w: %d indptr and %d indices arrays for %d dimensions", ErrBounds, len(indptr), len(indices), ndim)
	}
	for l := range indices {
		if !indices[l].typ.Valid() || indices[l].typ != indices[0].typ {
			return fmt.Errorf("%w: the indices of level %d are %v, those of level 0 %v; they must have one type", ErrDType, l, indices[l].typ, indices[0].typ)
		}
		if l == ndim-1 {
			break
		}
		if !indptr[l].typ.Valid() || indptr[l].typ != indptr[0].typ {
			return fmt.Errorf("%w: the indptr of level %d is %v, that of level 0 %v; they must have one type", ErrDType, l, indptr[l].typ, indptr[0].typ)
		}
		if indptr[l].Len()-1 != indices[l].Len() {
			return fmt.Errorf("%w: level %d has %d indices, and an indptr of %d; it takes one more than that", ErrBounds, l, indices[l].Len(), indptr[l].Len())
		}
	}
	if n := indices[ndim-1].Len(); n != s.nnz {
		return fmt.Errorf("%w: the last level has %d indices for %d elements", ErrBounds, n, s.nnz)
	}
	*c = CSF{sparse: s, order: axisOrder, indptr: indptr, indices: indices}
	return nil
}

// checkAxisOrder makes sure that order is a permutation of ndim axes.
func checkAxisOrder(order []int, ndim int) error {
	if len(order) != ndim {
		return fmt.Errorf("%w: an axis order of %d axes for %d dimensions", ErrShape, len(order), ndim)
	}
	var seen uint64
	for _, axis := range order {
		if axis < 0 || axis >= ndim || seen>>axis&1 != 0 {
			return fmt.Errorf("%w: axis order %v is not a permutation of %d axes", ErrShape, append([]int(nil), order...), ndim)
		}
		seen |= 1 << axis
	}
	return nil
}

// Layout returns LayoutCSF.
func (c *CSF) Layout() Layout { return LayoutCSF }

// AxisOrder returns the axis of each level. The slice belongs to c and must not be modified.
func (c *CSF) AxisOrder() []int { return c.order }

// Indptr returns where the children of each node of a level begin in the next one, and where those
// of the last node end; 0 ≤ level < ndim−1.
func (c *CSF) Indptr(level int) Index { return c.indptr[level] }

// Indices returns the index that each node of a level has along its axis; 0 ≤ level < ndim.
func (c *CSF) Indices(level int) Index { return c.indices[level] }

// WithDimNames returns a view of c with these names, one per axis; with none, a view without names.
func (c *CSF) WithDimNames(names ...string) (*CSF, error) {
	v := *c
	v.owned = false
	var err error
	if v.names, err = copyNames(names, len(c.shape)); err != nil {
		return nil, err
	}
	return &v, nil
}

// Validate makes sure that each indptr rises from 0 to the size of the next level and that every index
// lies inside the shape ([ErrIndex] if not), and that the indices below each node are in ascending order,
// none twice ([ErrOrder] if not). It takes linear time and allocates nothing.
func (c *CSF) Validate() error {
	if err := c.checkStructure(); err != nil {
		return err
	}
	if c.nnz == 0 {
		return nil
	}
	root := c.indices[0]
	if at := vec.FirstNotIncreasing(root.data, root.typ.kernel()); at >= 0 {
		return fmt.Errorf("%w: index %d of node %d of level 0 does not come after the one before it", ErrOrder, root.At(int64(at)), at)
	}
	for l := range c.indptr {
		if ordered(c.indptr[l], c.indices[l+1], c.shape[c.order[l+1]]) {
			continue
		}
		if node, at := firstLineDisorder(c.indptr[l], c.indices[l+1]); node >= 0 {
			return fmt.Errorf("%w: below node %d of level %d, index %d of node %d does not come after the one before it", ErrOrder, node, l, c.indices[l+1].At(at), at)
		}
	}
	return nil
}

// checkStructure checks all but the order of indices.
func (c *CSF) checkStructure() error {
	if err := checkSet(c.dtype); err != nil {
		return err
	}
	for l, x := range c.indices {
		if err := vec.CheckIndices(x.data, x.typ.kernel(), uint64(c.shape[c.order[l]])); err != nil {
			return fmt.Errorf("%w: level %d: %w", ErrIndex, l, err)
		}
		if l == len(c.indptr) {
			break
		}
		if err := checkIndptr(c.indptr[l], c.indices[l+1].Len()); err != nil {
			return fmt.Errorf("level %d: %w", l, err)
		}
	}
	return nil
}
