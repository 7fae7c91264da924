package layout

import (
	"fmt"
	"unsafe"
)

// COO is a sparse tensor as a list of coordinates and values: row k of an index matrix of NNZ rows
// and one column per axis holds the coordinates of stored element k. The elements may come in any
// order, and one may be stored several times, unless the tensor says that it is canonical.
//
// A COO borrows the memory that it was made of, and never changes.
type COO struct {
	sparse
	indices   Index
	strides   [2]int64 // byte distance between rows and between columns of the index matrix
	canonical bool
}

// sparse is what the sparse layouts have in common.
type sparse struct {
	dtype DType
	shape []int64
	names []string
	nnz   int64
	data  []byte // the stored elements
	owned bool   // all slices, to their capacity, came out of a conversion into this very tensor
}

// DType returns the type of the elements.
func (s *sparse) DType() DType { return s.dtype }

// Shape returns the dimensions. The slice belongs to the tensor and must not be modified.
func (s *sparse) Shape() []int64 { return s.shape }

// DimNames returns nil or one name per axis. The slice belongs to the tensor and must not be
// modified.
func (s *sparse) DimNames() []string { return s.names }

// NNZ returns the number of stored elements, including zeros that happen to be stored.
func (s *sparse) NNZ() int64 { return s.nnz }

// Data returns the stored elements, one after the other, without a copy. See [Values].
func (s *sparse) Data() []byte { return s.data[:len(s.data):len(s.data)] }

func (s *sparse) storedBytes() ([]byte, error) { return s.data, nil }

// value returns the bytes of stored element k.
func (s *sparse) value(k int64) []byte {
	w := int64(s.dtype.width)
	return s.data[k*w : (k+1)*w]
}

// checkSet refuses the zero value of a tensor.
func checkSet(dt DType) error {
	if !dt.Valid() {
		return fmt.Errorf("%w: the tensor is not set", ErrDType)
	}
	return nil
}

// checkSparse makes sure of what the sparse layouts have in common and returns it.
func checkSparse(dt DType, shape []int64, data []byte, names []string) (sparse, error) {
	if !dt.Valid() {
		return sparse{}, fmt.Errorf("%w: the element type is not set", ErrDType)
	}
	if len(shape) > MaxDims {
		return sparse{}, fmt.Errorf("%w: %d dimensions, at most %d are possible", ErrShape, len(shape), MaxDims)
	}
	for axis, n := range shape {
		if n < 0 {
			return sparse{}, fmt.Errorf("%w: dimension %d is %d", ErrShape, axis, n)
		}
	}
	if _, ok := CheckedProduct(shape, 1); !ok {
		return sparse{}, fmt.Errorf("%w: shape %v has more than 2^63-1 elements", ErrShape, cloneInts(shape))
	}
	if err := checkNames(names, len(shape)); err != nil {
		return sparse{}, err
	}
	if len(data)%int(dt.width) != 0 {
		return sparse{}, fmt.Errorf("%w: %d bytes are not a whole number of %v elements", ErrBounds, len(data), dt)
	}
	return sparse{dtype: dt, shape: shape, names: names, nnz: int64(len(data) / int(dt.width)), data: data}, nil
}

// NewCOO returns a sparse tensor of the stored elements in data, whose coordinates are the rows of
// indices: len(shape) integers for each element. With canonical set, the rows are promised to be
// in lexicographic order and all different, which [COO.Validate] checks. The tensor borrows
// indices and data; the shape is copied. See [IndexOf] and [BytesOf] for making them of slices.
// Errors: [ErrDType], [ErrShape], [ErrBounds].
func NewCOO(dt DType, shape []int64, indices Index, data []byte, canonical bool) (*COO, error) {
	c := new(COO)
	w := int64(indices.typ.Size())
	if err := c.Init(dt, cloneInts(shape), indices, [2]int64{int64(len(shape)) * w, w}, canonical, data, nil); err != nil {
		return nil, err
	}
	if want := c.nnz * int64(len(shape)); indices.Len() != want {
		return nil, fmt.Errorf("%w: %d elements with %d coordinates need %d indices, not %d", ErrBounds, c.nnz, len(shape), want, indices.Len())
	}
	return c, nil
}

// Init makes c the tensor that [NewCOO] describes, with coordinate j of element k at byte
// k·strides[0] + j·strides[1] of indices, which may be longer than needed, and with names as its
// dimension names, which may be nil. The number of elements is that of data. It allocates nothing
// and takes time in the number of dimensions only: c keeps the slices, and the caller must not
// change them any more. If it returns an error, c is unchanged.
func (c *COO) Init(dt DType, shape []int64, indices Index, strides [2]int64, canonical bool, data []byte, names []string) error {
	s, err := checkSparse(dt, shape, data, names)
	if err != nil {
		return err
	}
	if !indices.typ.Valid() {
		return fmt.Errorf("%w: the index type is not set", ErrDType)
	}
	dims := [2]int64{s.nnz, int64(len(shape))}
	if dims[0] > 0 && dims[1] > 0 && !spanFits(dims[:], strides[:], 0, int64(indices.typ.Size()), int64(len(indices.data))) {
		return fmt.Errorf("%w: %d × %d indices of %v with strides %d and %d leave their %d bytes",
			ErrBounds, dims[0], dims[1], indices.typ, strides[0], strides[1], len(indices.data))
	}
	*c = COO{sparse: s, indices: indices, strides: strides, canonical: canonical}
	return nil
}

// Layout returns LayoutCOO.
func (c *COO) Layout() Layout { return LayoutCOO }

// Indices returns the memory of the index matrix; its layout is that of [COO.IndexStrides].
func (c *COO) Indices() Index { return c.indices }

// IndexStrides returns the distance in bytes between the coordinates of one element and those of
// the next, and between one coordinate of an element and the next.
func (c *COO) IndexStrides() (row, column int64) { return c.strides[0], c.strides[1] }

// IsCanonical reports whether the tensor promises that its elements are in lexicographic order of
// their coordinates, each stored once.
func (c *COO) IsCanonical() bool { return c.canonical }

// WithDimNames returns a view of c with these names, one per axis; with none, a view without names.
func (c *COO) WithDimNames(names ...string) (*COO, error) {
	v := *c
	v.owned = false
	var err error
	v.names, err = copyNames(names, len(c.shape))
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// Coordinate returns coordinate axis of stored element k, 0 ≤ k < NNZ. Before a call of Validate it
// may lie outside the shape.
func (c *COO) Coordinate(k int64, axis int) uint64 {
	if k < 0 || k >= c.nnz || axis < 0 || axis >= len(c.shape) {
		panic(fmt.Sprintf("layout: coordinate %d of element %d of a COO of %d elements with %d dimensions", axis, k, c.nnz, len(c.shape)))
	}
	off := k*c.strides[0] + int64(axis)*c.strides[1]
	return Index{typ: c.indices.typ, data: c.indices.data[off : off+int64(c.indices.typ.Size())]}.At(0)
}

// Validate makes sure that every coordinate lies inside the shape ([ErrIndex] if not) and, of a
// tensor that says it is canonical, that the elements are in lexicographic order and none is
// stored twice ([ErrOrder] if not). It takes linear time and allocates nothing.
func (c *COO) Validate() error {
	if err := checkSet(c.dtype); err != nil {
		return err
	}
	at, axis := c.firstOutside()
	if at >= 0 {
		return c.outside(at, axis)
	}
	if !c.canonical {
		return nil
	}
	if at := c.firstDisorder(); at >= 0 {
		return fmt.Errorf("%w: element %d of a canonical COO does not come after the one before it", ErrOrder, at)
	}
	return nil
}

func (c *COO) outside(at int64, axis int) error {
	return fmt.Errorf("%w: coordinate %d of element %d is %d, the dimension is %d", ErrIndex, axis, at, int64(c.Coordinate(at, axis)), c.shape[axis])
}

// firstOutside returns the first element with a coordinate outside the shape and the axis, or −1.
func (c *COO) firstOutside() (at int64, axis int) {
	switch c.indices.typ.Size() {
	case 1:
		return cooFirstOutside[uint8](c)
	case 2:
		return cooFirstOutside[uint16](c)
	case 4:
		return cooFirstOutside[uint32](c)
	}
	return cooFirstOutside[uint64](c)
}

func cooFirstOutside[I indexWord](c *COO) (at int64, axis int) {
	// Read as unsigned, a negative integer lies above the largest of its signed type.
	most := c.indices.typ.Max()
	var last [MaxDims]uint64 // the largest coordinate that is allowed
	for axis, n := range c.shape {
		if n == 0 && c.nnz > 0 {
			return 0, axis
		}
		last[axis] = min(uint64(n-1), most)
	}
	base := unsafe.Pointer(unsafe.SliceData(c.indices.data))
	for k := range c.nnz {
		for axis := range c.shape {
			if uint64(*(*I)(unsafe.Add(base, k*c.strides[0]+int64(axis)*c.strides[1]))) > last[axis] {
				return k, axis
			}
		}
	}
	return -1, 0
}

// firstDisorder returns the first element that does not come after the one before it, or −1.
func (c *COO) firstDisorder() int64 {
	switch c.indices.typ.Size() {
	case 1:
		return cooFirstDisorder[uint8](c)
	case 2:
		return cooFirstDisorder[uint16](c)
	case 4:
		return cooFirstDisorder[uint32](c)
	}
	return cooFirstDisorder[uint64](c)
}

func cooFirstDisorder[I indexWord](c *COO) int64 {
	base := unsafe.Pointer(unsafe.SliceData(c.indices.data))
	ndim := int64(len(c.shape))
elements:
	for k := int64(1); k < c.nnz; k++ {
		for axis := range ndim {
			off := k*c.strides[0] + axis*c.strides[1]
			here, before := *(*I)(unsafe.Add(base, off)), *(*I)(unsafe.Add(base, off-c.strides[0]))
			if here > before {
				continue elements
			}
			if here < before {
				return k
			}
		}
		return k
	}
	return -1
}

// largestCoordinate returns the largest coordinate of any element.
func (c *COO) largestCoordinate() uint64 {
	ndim, w := int64(len(c.shape)), int64(c.indices.typ.Size())
	if c.strides == [2]int64{ndim * w, w} || c.strides == [2]int64{w, c.nnz * w} {
		return c.indices.Slice(0, c.nnz*ndim).max()
	}
	largest := uint64(0)
	for k := range c.nnz {
		for axis := range c.shape {
			largest = max(largest, c.Coordinate(k, axis))
		}
	}
	return largest
}

// copyNames returns a copy of names, nil for none.
func copyNames(names []string, ndim int) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if err := checkNames(names, ndim); err != nil {
		return nil, err
	}
	return append([]string(nil), names...), nil
}

// copyCoordinatesFrom writes the index matrix of c to dst, row by row.
func copyCoordinatesFrom[I indexWord](c *COO, dst Index) {
	switch dst.typ.Size() {
	case 1:
		copyCoordinates[I](c, dst.data)
	case 2:
		copyCoordinates[I](c, words[uint16](dst.data))
	case 4:
		copyCoordinates[I](c, words[uint32](dst.data))
	default:
		copyCoordinates[I](c, words[uint64](dst.data))
	}
}

func copyCoordinates[I, O indexWord](c *COO, dst []O) {
	base := unsafe.Pointer(unsafe.SliceData(c.indices.data))
	ndim := int64(len(c.shape))
	for k := range c.nnz {
		cell := dst[k*ndim : (k+1)*ndim]
		for axis := range cell {
			cell[axis] = O(*(*I)(unsafe.Add(base, k*c.strides[0]+int64(axis)*c.strides[1])))
		}
	}
}
