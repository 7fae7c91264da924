package codec_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

var sparseLayouts = []layout.Layout{layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF}

// mostlyZero returns a tensor with about one element in three that is not zero.
func mostlyZero(t *rapid.T, dt layout.DType, shape []int64) *layout.Dense {
	n, _ := layout.CheckedProduct(shape, int64(dt.Size()))
	data := make([]byte, n)
	size := int64(dt.Size())
	for i := int64(0); i < n; i += size {
		if rapid.IntRange(0, 2).Draw(t, "nonzero") == 0 {
			copy(data[i:i+size], counting(dt, i+size)[i:])
			data[i] |= 1
		}
	}
	return must(layout.NewDense(dt, shape, data))
}

// parts returns the memory of a sparse tensor: its values and index arrays.
func parts(t layout.Tensor) map[string][]byte {
	all := make(map[string][]byte)
	switch t := t.(type) {
	case *layout.COO:
		all["data"], all["indices"] = t.Data(), t.Indices().Bytes()
	case *layout.CSR:
		all["data"], all["indptr"], all["indices"] = t.Data(), t.Indptr().Bytes(), t.Indices().Bytes()
	case *layout.CSC:
		all["data"], all["indptr"], all["indices"] = t.Data(), t.Indptr().Bytes(), t.Indices().Bytes()
	case *layout.CSF:
		all["data"] = t.Data()
		for level := range t.Shape() {
			all[fmt.Sprint("indices ", level)] = t.Indices(level).Bytes()
			if level < len(t.Shape())-1 {
				all[fmt.Sprint("indptr ", level)] = t.Indptr(level).Bytes()
			}
		}
	}
	return all
}

// TestRoundTripOfSparseTensors has index types that hold any length that comes
// up; what happens to others is in TestIndexTypes.
func TestRoundTripOfSparseTensors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dt := rapid.SampledFrom(dtypes()).Draw(rt, "dtype")
		to := rapid.SampledFrom(sparseLayouts).Draw(rt, "layout")
		ndim := rapid.IntRange(2, 5).Draw(rt, "ndim")
		if to == layout.LayoutCSR || to == layout.LayoutCSC {
			ndim = 2
		}
		if to == layout.LayoutCOO {
			ndim = rapid.IntRange(0, 5).Draw(rt, "ndim of coo")
		}
		shape := rapid.SliceOfN(rapid.Int64Range(0, 4), ndim, ndim).Draw(rt, "shape")
		types := rapid.SampledFrom([]layout.IndexType{layout.IndexAuto, layout.IndexInt16, layout.IndexUint16, layout.IndexInt32, layout.IndexUint32, layout.IndexInt64})
		want, err := layout.Convert(mostlyZero(rt, dt, shape), to, &layout.ConvertOptions{Indptr: types.Draw(rt, "indptr"), Indices: types.Draw(rt, "indices")})
		if err != nil {
			rt.Fatal(err)
		}
		record, err := codec.Encode(want, []layout.Attr{{Key: "k", Value: "v"}})
		if err != nil {
			rt.Fatal(err)
		}
		msg := record.AppendTo(nil)
		if int64(len(msg)) != record.Len() || len(msg)%codec.Alignment != 0 {
			rt.Errorf("%d bytes, Len is %d", len(msg), record.Len())
		}
		got, err := codec.Decode(msg)
		if err != nil {
			rt.Fatal(err)
		}
		if err := codec.Validate(got); err != nil {
			rt.Error(err)
		}
		if !layout.Equal(want, got) {
			rt.Errorf("%v of %v %v is not what it was", to, dt, shape)
		}
		if diff := cmp.Diff(parts(want), parts(got), cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("encoded (-), decoded (+):\n%s", diff)
		}
		wantIndptr, wantIndices := layout.IndexTypes(want)
		if indptr, indices := layout.IndexTypes(got); indptr != wantIndptr || indices != wantIndices {
			rt.Errorf("index types %v and %v became %v and %v", wantIndptr, wantIndices, indptr, indices)
		}
		checkDescribed(t, msg, got)
	})
}

// example is a tensor in each of the sparse layouts, with names.
func example(t testing.TB, to layout.Layout, indexType layout.IndexType) layout.Tensor {
	t.Helper()
	d := layout.DenseOf([]float32{0, 1, 2, 0, 0, 0, 3, 0, 0, 4, 0, 5, 0, 0, 0, 0, 6, 0, 7, 8, 0, 9, 0, 0}, 6, 4)
	d = must(d.WithDimNames("row", "column"))
	s, err := layout.Convert(d, to, &layout.ConvertOptions{Indptr: indexType, Indices: indexType})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecodeCopiesNoBufferOfASparseTensor(t *testing.T) {
	for _, l := range sparseLayouts {
		msg := alignedTo(encode(t, example(t, l, layout.IndexInt64)), 0)
		got, err := codec.Decode(msg)
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range parts(got) {
			if at := address(b); at < address(msg) || at+uintptr(len(b)) > address(msg)+uintptr(len(msg)) {
				t.Errorf("%v: %s lies outside the message", l, name)
			} else if at%codec.Alignment != 0 {
				t.Errorf("%v: %s at %#x", l, name, at)
			}
		}
	}
}

func TestDecodeOfASparseTensorMakesOneAllocation(t *testing.T) {
	for _, l := range sparseLayouts {
		msg := encode(t, example(t, l, layout.IndexAuto))
		var keep layout.Tensor
		if allocs := testing.AllocsPerRun(100, func() {
			var err error
			if keep, err = codec.Decode(msg); err != nil {
				t.Fatal(err)
			}
		}); allocs > 1 {
			t.Errorf("%v: %v allocations", l, allocs)
		}
		runtime.KeepAlive(keep)
	}
}

func TestDecodeCopiesMisalignedBuffers(t *testing.T) {
	for _, l := range sparseLayouts {
		want := example(t, l, layout.IndexInt64)
		msg := alignedTo(encode(t, want), 1)
		got, err := codec.Decode(msg)
		if err != nil {
			t.Fatal(err)
		}
		if !layout.Equal(want, got) || !layout.SameDimNames(want, got) {
			t.Errorf("%v: not the same at an odd address", l)
		}
		for name, b := range parts(got) {
			if address(b)%8 != 0 {
				t.Errorf("%v: %s at %#x", l, name, address(b))
			}
		}
	}
}

func TestEncodeBorrowsSparseBuffers(t *testing.T) {
	for _, l := range sparseLayouts {
		want := example(t, l, layout.IndexAuto)
		r, err := codec.Encode(want, nil)
		if err != nil {
			t.Fatal(err)
		}
		addresses := make(map[uintptr]bool)
		for part := range r.Parts() {
			addresses[address(part)] = true
		}
		for name, b := range parts(want) {
			if len(b) > 0 && !addresses[address(b)] {
				t.Errorf("%v: %s was copied", l, name)
			}
		}
	}
}

// TestIndicesInAnyOrderOfAxes writes index matrices that are column-major or
// have gaps; the message has them row-major.
func TestIndicesInAnyOrderOfAxes(t *testing.T) {
	data := layout.BytesOf([]float64{1, 2, 3})
	for name, tc := range map[string]struct {
		indices []int32
		strides [2]int64
	}{
		"row-major":    {[]int32{0, 1, 1, 0, 1, 1}, [2]int64{8, 4}},
		"column-major": {[]int32{0, 1, 1, 1, 0, 1}, [2]int64{4, 12}},
		"with gaps":    {[]int32{0, 9, 1, 9, 1, 9, 0, 9, 1, 9, 1}, [2]int64{16, 8}},
	} {
		c := new(layout.COO)
		if err := c.Init(layout.Float64, []int64{2, 2}, layout.IndexOf(tc.indices), tc.strides, true, data, nil); err != nil {
			t.Fatal(err)
		}
		got, err := codec.Decode(encode(t, c))
		if err != nil {
			t.Fatal(err)
		}
		coo := got.(*layout.COO)
		if row, column := coo.IndexStrides(); row != 8 || column != 4 {
			t.Errorf("%s: strides %d and %d", name, row, column)
		}
		if diff := cmp.Diff([]int32{0, 1, 1, 0, 1, 1}, must(layout.IndexValues[int32](coo.Indices()))); diff != "" {
			t.Errorf("%s: want (-), got (+):\n%s", name, diff)
		}
		if !layout.Equal(c, coo) || !coo.IsCanonical() {
			t.Errorf("%s: not the same tensor", name)
		}
	}
}

// TestIndexTypes writes arrays that are longer than their type can count, which
// Arrow C++ refuses, and uint64, on which it aborts.
func TestIndexTypes(t *testing.T) {
	for _, tc := range []struct {
		typ  layout.IndexType
		nnz  int64
		want layout.IndexType
	}{
		{layout.IndexInt8, 127, layout.IndexInt8},
		{layout.IndexInt8, 128, layout.IndexInt16},
		{layout.IndexUint8, 255, layout.IndexUint8},
		{layout.IndexUint8, 256, layout.IndexInt16},
		{layout.IndexInt16, 32767, layout.IndexInt16},
		{layout.IndexInt16, 32768, layout.IndexInt32},
		{layout.IndexUint16, 65535, layout.IndexUint16},
		{layout.IndexUint16, 65536, layout.IndexInt32},
		{layout.IndexInt32, 70000, layout.IndexInt32},
		{layout.IndexUint32, 70000, layout.IndexUint32},
		{layout.IndexInt64, 5, layout.IndexInt64},
		{layout.IndexUint64, 5, layout.IndexInt64},
		{layout.IndexUint64, 70000, layout.IndexInt64},
	} {
		t.Run(fmt.Sprint(tc.typ, tc.nnz), func(t *testing.T) {
			// One row with a stored element in column k%100 for each k: an
			// index array of nnz integers that all fit in any type.
			w := tc.typ.Size()
			rows, columns := make([]byte, int(tc.nnz)*2*w), make([]byte, int(tc.nnz)*w)
			for k := range int(tc.nnz) {
				rows[(2*k+1)*w] = byte(k % 100)
				columns[k*w] = byte(k % 100)
			}
			data := make([]byte, tc.nnz)
			coo := must(layout.NewCOO(layout.Int8, []int64{1, 100}, must(layout.NewIndex(tc.typ, rows)), data, false))
			indptr := layout.IndexOf([]int64{0, tc.nnz})
			csr := must(layout.NewCSR(layout.Int8, []int64{1, 100}, indptr, must(layout.NewIndex(tc.typ, columns)), data))
			csf := must(layout.NewCSF(layout.Int8, []int64{1, 100}, []int{0, 1}, []layout.Index{indptr},
				[]layout.Index{must(layout.NewIndex(tc.typ, make([]byte, w))), must(layout.NewIndex(tc.typ, columns))}, data))
			for _, want := range []layout.Tensor{coo, csr, csf} {
				r, err := codec.Encode(want, nil)
				if err != nil {
					t.Fatal(err)
				}
				msg := r.AppendTo(nil)
				got, err := codec.Decode(msg)
				if err != nil {
					t.Fatal(err)
				}
				if _, indices := layout.IndexTypes(got); indices != tc.want {
					t.Errorf("%v: written as %v, want %v", want.Layout(), indices, tc.want)
				}
				if !layout.Equal(want, got) {
					t.Errorf("%v: indices changed", want.Layout())
				}
				if int64(len(msg)) != r.Len() {
					t.Errorf("%v: %d bytes, Len is %d", want.Layout(), len(msg), r.Len())
				}
			}
		})
	}
}

// TestNegativeIndicesStayInvalid makes sure that widening does not turn an
// index that is outside every shape into one that is inside.
func TestNegativeIndicesStayInvalid(t *testing.T) {
	indices := make([]int8, 300)
	indices[299] = -1
	coo := must(layout.NewCOO(layout.Int8, []int64{1000}, layout.IndexOf(indices), make([]byte, 300), false))
	got, err := codec.Decode(encode(t, coo))
	if err != nil {
		t.Fatal(err)
	}
	if err := codec.Validate(got); err == nil {
		t.Error("an index of -1 became valid")
	}
}

func TestHugeSparseShapes(t *testing.T) {
	for _, shape := range [][]int64{{math.MaxInt64}, {1 << 31, 1 << 31}, {math.MaxInt64, 1, 1}} {
		indices := make([]int64, len(shape))
		for axis, n := range shape {
			indices[axis] = n - 1
		}
		coo := must(layout.NewCOO(layout.Float64, shape, layout.IndexOf(indices), make([]byte, 8), true))
		got, err := codec.Decode(encode(t, coo))
		if err != nil {
			t.Fatal(err)
		}
		if err := codec.Validate(got); err != nil || !layout.Equal(coo, got) {
			t.Errorf("shape %v: %v", shape, err)
		}
	}
}
