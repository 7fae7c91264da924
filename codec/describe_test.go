package codec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// infoOf is what Describe should say about the message of t.
func infoOf(t layout.Tensor) codec.Info {
	info := codec.Info{
		DType:    t.DType(),
		Layout:   t.Layout(),
		Shape:    t.Shape(),
		DimNames: t.DimNames(),
		NNZ:      t.NNZ(),
		Bytes:    t.NNZ() * int64(t.DType().Size()),
	}
	info.IndptrType, info.IndexType = layout.IndexTypes(t)
	arrays := func(indices ...layout.Index) {
		for _, x := range indices {
			info.Bytes += int64(len(x.Bytes()))
		}
	}
	switch t := t.(type) {
	case *layout.Dense:
		info.Strides = t.Strides()
	case *layout.COO:
		info.Canonical = t.IsCanonical()
		info.Bytes += t.NNZ() * int64(len(t.Shape())*t.Indices().Type().Size())
	case *layout.CSR:
		arrays(t.Indptr(), t.Indices())
	case *layout.CSC:
		arrays(t.Indptr(), t.Indices())
	case *layout.CSF:
		info.AxisOrder = t.AxisOrder()
		for level := range t.Shape() {
			arrays(t.Indices(level))
			if level < len(t.Shape())-1 {
				arrays(t.Indptr(level))
			}
		}
	}
	return info
}

// checkDescribed fails unless Describe says of a message, given its head
// alone, what Decode finds in it.
func checkDescribed(t testing.TB, msg []byte, decoded layout.Tensor) {
	t.Helper()
	size, err := codec.HeadSize(msg)
	if err != nil {
		t.Fatal(err)
	}
	h, err := codec.ParseHead(msg[:size:size])
	if err != nil {
		t.Fatal(err)
	}
	info, err := h.Describe()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(infoOf(decoded), info, cmpopts.EquateEmpty(), sameDType); diff != "" {
		t.Errorf("decoded (-) and described (+) differ:\n%s", diff)
	}
}
