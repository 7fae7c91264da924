package codec

import (
	"strings"

	"github.com/tstore/tstore/layout"
)

// Info is what the head of a message alone says about its tensor. It owns its
// memory.
type Info struct {
	DType    layout.DType
	Layout   layout.Layout
	Shape    []int64
	DimNames []string // nil, or one for each axis
	NNZ      int64    // stored elements; of a dense tensor, all of them
	Bytes    int64    // of the elements, and of the indices of a sparse tensor, without padding

	// Strides are the byte strides of a dense tensor, else nil.
	Strides []int64

	// IndexType is the type of the indices of a sparse tensor; IndptrType
	// that of the indptr of a CSR, CSC or CSF. Else they are IndexAuto.
	IndexType, IndptrType layout.IndexType

	// AxisOrder has the axis of each level of a CSF, else it is nil.
	AxisOrder []int

	// Canonical says that a COO claims to be in order without duplicates.
	Canonical bool
}

// Describe returns what the head says about the tensor of a message, after the
// same checks as [Decode] makes. The body need not be there.
func (h *Head) Describe() (Info, error) {
	switch h.Kind {
	case HeaderTensor:
		var t denseTensor
		if err := h.dense(&t); err != nil {
			return Info{}, err
		}
		n, _ := layout.CheckedProduct(t.shape, 1)
		return Info{
			DType:    t.dtype,
			Layout:   layout.LayoutDense,
			Shape:    t.shape,
			DimNames: cloneStrings(t.names),
			NNZ:      n,
			Bytes:    n * int64(t.dtype.Size()),
			Strides:  t.strides,
		}, nil
	case HeaderSparseTensor:
		var t sparseTensor
		var s sparseBuffers
		if err := h.sparse(&t, &s); err != nil {
			return Info{}, err
		}
		return Info{
			DType:      t.dtype,
			Layout:     t.layout,
			Shape:      t.shape,
			DimNames:   cloneStrings(t.names),
			NNZ:        t.nnz,
			Bytes:      s.bytes,
			IndexType:  t.indexType,
			IndptrType: t.indptrType,
			AxisOrder:  t.order,
			Canonical:  t.canonical,
		}, nil
	}
	return Info{}, h.notTensor()
}

// cloneStrings replaces strings, which may be borrowed, by copies.
func cloneStrings(s []string) []string {
	for i := range s {
		s[i] = strings.Clone(s[i])
	}
	return s
}

// notTensor reports that a message is about something else.
func (h *Head) notTensor() error {
	return h.broken(RuleHeaderKind, "a message with header %v, which is no tensor", h.Kind)
}
