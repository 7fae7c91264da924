package layout

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/tstore/tstore/vec"
)

// conversion is one conversion: what was asked for, the memory that it may take, the memory of the tensor
// that its result takes the place of, and what earlier conversions have left to work in.
type conversion struct {
	budget
	opts ConvertOptions

	// Memory for the arrays of the result, as far as it has room. The index arrays of all layouts but
	// CSF come first in theirs.
	oldData    []byte
	oldIndices [MaxDims][]byte
	oldIndptr  [MaxDims][]byte
	oldLevels  int // arrays that were set
	oldType    IndexType

	space [numSpaces][]byte

	// Views that are made on the way, and the orders of axes that they are made for.
	views [2]struct {
		dense Dense
		dims  [2 * MaxDims]int64
	}
	orders [4][MaxDims]int

	indptr, indices [MaxDims]Index // the levels of a CSF that is being made
	tree            vec.Tree
	columns         vec.Columns
	levelRoom       [MaxDims]int64 // nodes that there is room for in each level of tree
	turned          compressed     // the other matrix on the way to something
	lined           compressed     // a CSF as a matrix in lines
	made            compressed     // the result
	found           found
	gathering       gathering
	strips          strips
	windows         windows
}

// A space is memory to work in that the next conversion finds again.
type space uint8

const (
	spaceGather    space = iota // elements of strided tensors
	spaceLook                   // the same, to count or to sample what lies ahead
	spacePositions              // where the nonzeros of a piece lie
	spaceKeys
	spaceParents // keys of the level above
	spaceOrder
	spaceSorted
	spaceCursors
	spaceValues
	spaceFound
	spaceTurned
	spaceIndptr
	spaceIndices
	spaceLined
	spaceEnds
	spacePlaces
	spacePointers
	numSpaces
)

// Conversions are used again, above all for their spaces. The garbage collector drops those that have not been
// needed for a while.
var conversions = sync.Pool{New: func() any { return new(conversion) }}

// begin begins the conversion of t. It ends with end, whether it succeeds or not.
func begin(t Tensor, o *ConvertOptions) (*conversion, error) {
	if err := checkSet(t.DType()); err != nil {
		return nil, err
	}
	var opts ConvertOptions
	if o != nil {
		opts = *o
	}
	if opts.Indptr >= numIndexTypes || opts.Indices >= numIndexTypes || opts.Duplicates > DuplicatesRefuse {
		return nil, fmt.Errorf("%w: indptr %v, indices %v, duplicates %d", ErrIndexType, opts.Indptr, opts.Indices, opts.Duplicates)
	}
	c := conversions.Get().(*conversion)
	c.opts, c.budget = opts, newBudget(opts.MaxBytes)
	return c, nil
}

// end gives the conversion to the next one. Nothing keeps the memory of tensors alive.
func (c *conversion) end() {
	c.opts = ConvertOptions{}
	c.oldData = nil
	clear(c.oldIndices[:c.oldLevels])
	clear(c.oldIndptr[:c.oldLevels])
	c.oldLevels, c.oldType = 0, IndexAuto
	for i := range c.views {
		c.views[i].dense = Dense{}
	}
	clear(c.indptr[:])
	clear(c.indices[:])
	c.tree.Values = nil
	clear(c.tree.Levels)
	c.turned, c.made, c.lined = compressed{}, compressed{}, compressed{}
	c.found, c.gathering, c.strips, c.windows = found{}, gathering{}, strips{}, windows{}
	conversions.Put(c)
}

// spaceFor returns memory for n elements of a size to work in. What is in it is undefined.
func (c *conversion) spaceFor(s space, n, size int64) ([]byte, error) {
	bytes, err := c.reserve(n, size)
	if err != nil {
		return nil, err
	}
	if int64(cap(c.space[s])) < bytes {
		c.space[s] = newBytes(bytes)
	}
	return c.space[s][:bytes], nil
}

// spaceOf is spaceFor for values of a Go type.
func spaceOf[T uint64 | int64 | keyed](c *conversion, s space, n int64) ([]T, error) {
	var zero T
	b, err := c.spaceFor(s, n, int64(unsafe.Sizeof(zero)))
	if err != nil || n == 0 {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// leave says that memory of a space is needed no more.
func (c *conversion) leave(n, size int64) { c.free(n * size) }

// room returns memory for n elements of a size that the result may keep: that of old, if it has so much,
// or else new memory. What is in it is undefined.
func (c *conversion) room(old []byte, n, size int64) ([]byte, error) {
	bytes, err := c.reserve(n, size)
	if err != nil {
		return nil, err
	}
	if int64(cap(old)) >= bytes {
		return old[:bytes], nil
	}
	return newBytes(bytes), nil
}

// denseRoom is room for a dense result, which may be known to be all zeros.
func (c *conversion) denseRoom(n, size int64) (data []byte, zeroed bool, err error) {
	bytes, err := c.reserve(n, size)
	if err != nil {
		return nil, false, err
	}
	if int64(cap(c.oldData)) >= bytes {
		return c.oldData[:bytes], false, nil
	}
	data, zeroed = newZeros(bytes)
	return data, zeroed, nil
}

// roomIndex is room for n integers of a type.
func (c *conversion) roomIndex(old []byte, n int64, t IndexType) (Index, error) {
	data, err := c.room(old, n, int64(t.Size()))
	return Index{typ: t, data: data}, err
}

// roomMatrix is room for rows × columns integers of a type.
func (c *conversion) roomMatrix(old []byte, rows, columns int64, t IndexType) (Index, error) {
	n, ok := CheckedMul(rows, columns)
	if !ok {
		return Index{}, fmt.Errorf("%w: %d × %d indices", ErrTooLarge, rows, columns)
	}
	return c.roomIndex(old, n, t)
}

// permuted returns a view of d with its axes in the given order.
func (c *conversion) permuted(view int, d *Dense, order []int) *Dense {
	v := &c.views[view]
	ndim := len(order)
	shape, strides := v.dims[:ndim:ndim], v.dims[MaxDims:MaxDims+ndim]
	for k, axis := range order {
		shape[k], strides[k] = d.shape[axis], d.strides[axis]
	}
	v.dense.set(d.dtype, shape, strides, d.offset, d.len, d.data, nil)
	return &v.dense
}

// naturalAxes is 0, 1, 2, …
var naturalAxes = func() (all [MaxDims]int) {
	for i := range all {
		all[i] = i
	}
	return all
}()

// naturalOrder returns 0, 1, …, ndim−1. It must not be modified.
func naturalOrder(ndim int) []int { return naturalAxes[:ndim:ndim] }
