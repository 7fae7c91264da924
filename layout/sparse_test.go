package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var allLayouts = []Layout{LayoutDense, LayoutCOO, LayoutCSR, LayoutCSC, LayoutCSF}

// fits reports whether tensors of ndim dimensions can have a layout.
func fits(l Layout, ndim int) bool {
	switch l {
	case LayoutCSR, LayoutCSC:
		return ndim == 2
	case LayoutCSF:
		return ndim >= 2
	}
	return true
}

// naiveIsZero is the zero rule, by the values of the types.
func naiveIsZero(dt DType, b []byte) bool {
	float := func(b []byte) float64 {
		switch dt.Kind() {
		case KindFloat16:
			return float64(F16(binary.LittleEndian.Uint16(b)).Float32())
		case KindBFloat16:
			return float64(BF16(binary.LittleEndian.Uint16(b)).Float32())
		case KindFloat8E4M3FN:
			return float64(F8E4M3(b[0]).Float32())
		case KindFloat8E5M2:
			return float64(F8E5M2(b[0]).Float32())
		case KindFloat32, KindComplex64:
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	switch dt.Kind() {
	case KindFloat16, KindBFloat16, KindFloat8E4M3FN, KindFloat8E5M2, KindFloat32, KindFloat64:
		return float(b) == 0
	case KindComplex64, KindComplex128:
		return float(b) == 0 && float(b[len(b)/2:]) == 0
	}
	return bytes.Count(b, []byte{0}) == len(b)
}

// stored is a stored element as the tests see it.
type stored struct {
	Index []int64
	Value string
}

// naiveStored lists what a tensor stores, by the definition of its layout; of a dense tensor the
// nonzeros.
func naiveStored(t Tensor) []stored {
	list := []stored{}
	width := t.DType().Size()
	add := func(data []byte, k int64, index ...int64) {
		list = append(list, stored{slices.Clone(index), string(data[int(k)*width : (int(k)+1)*width])})
	}
	switch t := t.(type) {
	case *Dense:
		b := naiveRowMajor(t)
		for k := range t.Len() {
			if v := b[int(k)*width : int(k+1)*width]; !naiveIsZero(t.DType(), v) {
				index := make([]int64, t.NDim())
				rest := k
				for axis := t.NDim() - 1; axis >= 0; axis-- {
					index[axis] = rest % t.Shape()[axis]
					rest /= t.Shape()[axis]
				}
				add(b, k, index...)
			}
		}
	case *COO:
		for k := range t.NNZ() {
			index := []int64{}
			for axis := range t.Shape() {
				index = append(index, int64(t.Coordinate(k, axis)))
			}
			add(t.Data(), k, index...)
		}
	case *CSR:
		for i := range t.Shape()[0] {
			for k := t.Indptr().At(i); k < t.Indptr().At(i+1); k++ {
				add(t.Data(), int64(k), i, int64(t.Indices().At(int64(k))))
			}
		}
	case *CSC:
		for j := range t.Shape()[1] {
			for k := t.Indptr().At(j); k < t.Indptr().At(j+1); k++ {
				add(t.Data(), int64(k), int64(t.Indices().At(int64(k))), j)
			}
		}
	case *CSF:
		index := make([]int64, len(t.Shape()))
		var walk func(level int, node uint64)
		walk = func(level int, node uint64) {
			index[t.AxisOrder()[level]] = int64(t.Indices(level).At(int64(node)))
			if level == len(index)-1 {
				add(t.Data(), int64(node), index...)
				return
			}
			for child := t.Indptr(level).At(int64(node)); child < t.Indptr(level).At(int64(node)+1); child++ {
				walk(level+1, child)
			}
		}
		for node := range t.Indices(0).Len() {
			walk(0, uint64(node))
		}
	}
	return list
}

// sorted returns a list by coordinates; elements with equal ones keep their order.
func sorted(list []stored) []stored {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b stored) int { return slices.Compare(a.Index, b.Index) })
	return list
}

// drawValue draws the bytes of an element, often zero, and of floats often an odd one.
func drawValue(t *rapid.T, dt DType) []byte {
	b := make([]byte, dt.Size())
	if rapid.IntRange(0, 2).Draw(t, "zero") > 0 {
		return b
	}
	if dt.Kind() == KindBool {
		b[0] = 1
		return b
	}
	parts := 1
	if dt.Kind() == KindComplex64 || dt.Kind() == KindComplex128 {
		parts = 2
	}
	for p := range parts {
		part := b[p*len(b)/parts : (p+1)*len(b)/parts]
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0: // minus zero; a NaN of float8_e5m2 is next to it
			part[len(part)-1] = 0x80
		case 1:
			for i := range part {
				part[i] = 0xff
			}
		case 2:
			part[0] = 1
		case 3:
		default:
			copy(part, rapid.SliceOfN(rapid.Byte(), len(part), len(part)).Draw(t, "bytes"))
		}
	}
	return b
}

func drawSparseDense(t *rapid.T, shape []int64) *Dense {
	dt := rapid.SampledFrom(everyDType()).Draw(t, "dtype")
	n, _ := CheckedProduct(shape, 1)
	var data []byte
	for range n {
		data = append(data, drawValue(t, dt)...)
	}
	var d *Dense
	if rapid.Bool().Draw(t, "column-major") {
		d = must(NewColumnMajor(dt, shape, data))
	} else {
		d = must(NewDense(dt, shape, data))
	}
	if d.NDim() > 0 && rapid.Bool().Draw(t, "view") {
		axis := rapid.IntRange(0, d.NDim()-1).Draw(t, "axis")
		d = must(d.Slice(axis, d.Shape()[axis]-1, -1, -rapid.Int64Range(1, 2).Draw(t, "step")))
		d = must(d.Transpose(rapid.Permutation(axes(d.NDim())).Draw(t, "perm")...))
	}
	if rapid.Bool().Draw(t, "named") {
		names := make([]string, d.NDim())
		for i := range names {
			names[i] = fmt.Sprint("axis ", i)
		}
		d = must(d.WithDimNames(names...))
	}
	return d
}

// drawOptions draws index types that hold the numbers of a tensor with so many elements.
func drawOptions(t *rapid.T, ndim int, elements int64) *ConvertOptions {
	types := []IndexType{IndexAuto}
	for typ := IndexInt8; typ <= IndexUint64; typ++ {
		if typ.Max() >= uint64(elements) {
			types = append(types, typ)
		}
	}
	o := &ConvertOptions{
		Indptr:  rapid.SampledFrom(types).Draw(t, "indptr"),
		Indices: rapid.SampledFrom(types).Draw(t, "indices"),
	}
	if rapid.Bool().Draw(t, "order") {
		o.AxisOrder = rapid.Permutation(axes(ndim)).Draw(t, "axis order")
	}
	return o
}

// checkSparse makes sure that a conversion came out as it promises.
func checkConverted(t *rapid.T, s Tensor, from Tensor, o *ConvertOptions) {
	if s.DType() != from.DType() || !slices.Equal(s.Shape(), from.Shape()) || !SameDimNames(s, from) {
		t.Fatalf("%v%v named %q became %v%v named %q", from.DType(), from.Shape(), from.DimNames(), s.DType(), s.Shape(), s.DimNames())
	}
	if v, ok := s.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			t.Fatalf("%v is not valid: %v", s.Layout(), err)
		}
	}
	indptr, indices := IndexTypes(s)
	narrowPtr, narrow := NarrowestIndexTypes(s)
	if o.Indices != IndexAuto {
		narrow = o.Indices
	}
	if o.Indptr != IndexAuto {
		narrowPtr = o.Indptr
	}
	if s.Layout() == LayoutDense {
		narrow, narrowPtr = IndexAuto, IndexAuto
	}
	if want := narrow; indices != want {
		t.Fatalf("%v has %v indices, want %v", s.Layout(), indices, want)
	}
	if want := narrowPtr; s.Layout() != LayoutCOO && indptr != want {
		t.Fatalf("%v has a %v indptr, want %v", s.Layout(), indptr, want)
	}
	switch s := s.(type) {
	case *COO:
		if !s.IsCanonical() {
			t.Fatalf("coo is not canonical")
		}
	case *CSF:
		want := o.AxisOrder
		if want == nil {
			want = axes(len(s.Shape()))
			ascendingDimensions(want, s.Shape())
		}
		if !slices.Equal(s.AxisOrder(), want) {
			t.Fatalf("csf has axis order %v, want %v", s.AxisOrder(), want)
		}
	}
}

// Any tensor in any layout holds the same elements after any conversion, and converted back it is
// the same tensor.
func TestConversionsThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.Int64Range(0, 6), 0, 4).Draw(t, "shape")
		if rapid.Bool().Draw(t, "matrix") {
			shape = rapid.SliceOfN(rapid.Int64Range(0, 12), 2, 2).Draw(t, "matrix shape")
		}
		d := drawSparseDense(t, shape)
		before := bytes.Clone(d.Data())
		want := naiveStored(d)
		for _, from := range allLayouts {
			if !fits(from, d.NDim()) {
				if _, err := Convert(d, from, nil); !errors.Is(err, ErrLayout) {
					t.Fatalf("%d dimensions as %v: %v, want ErrLayout", d.NDim(), from, err)
				}
				continue
			}
			o := drawOptions(t, d.NDim(), d.Len())
			if from == LayoutDense {
				o = &ConvertOptions{}
			}
			s, err := Convert(d, from, o)
			if err != nil {
				t.Fatalf("dense to %v: %v", from, err)
			}
			checkConverted(t, s, d, o)
			if diff := cmp.Diff(want, sorted(naiveStored(s))); diff != "" {
				t.Fatalf("dense to %v: %s", from, diff)
			}
			if n, err := CountNonZero(s); n != int64(len(want)) || err != nil {
				t.Fatalf("%v has %d nonzeros, %v; want %d", from, n, err, len(want))
			}
			for _, to := range allLayouts {
				if !fits(to, d.NDim()) {
					continue
				}
				p := drawOptions(t, d.NDim(), d.Len())
				if to == LayoutDense {
					p = &ConvertOptions{}
				}
				u, err := Convert(s, to, p)
				if err != nil {
					t.Fatalf("%v to %v: %v", from, to, err)
				}
				checkConverted(t, u, d, p)
				if diff := cmp.Diff(want, sorted(naiveStored(u))); diff != "" {
					t.Fatalf("%v to %v: %s", from, to, diff)
				}
				back, err := Convert(u, from, o)
				if err != nil {
					t.Fatalf("%v to %v and back: %v", from, to, err)
				}
				if from == LayoutDense && to != LayoutDense {
					// Only −0.0, which counts as zero, has changed.
					if diff := cmp.Diff(want, naiveStored(back)); diff != "" {
						t.Fatalf("dense to %v and back: %s", to, diff)
					}
				} else if !Equal(back, s) {
					t.Fatalf("%v to %v and back:\n got %+v\nwant %+v", from, to, back, s)
				}
			}
		}
		if !bytes.Equal(before, d.Data()) {
			t.Fatal("the source has changed")
		}
	})
}

// naiveSum adds two elements of a type.
func naiveSum(dt DType, a, b string) string {
	var x, y [16]byte
	copy(x[:], a)
	copy(y[:], b)
	u := func(v [16]byte) uint64 { return binary.LittleEndian.Uint64(v[:]) }
	f32 := func(v [16]byte, i int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(v[4*i:]))
	}
	f64 := func(v [16]byte, i int) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(v[8*i:]))
	}
	out := []byte{}
	switch dt.Kind() {
	case KindBool:
		return string(x[0] | y[0])
	case KindFloat16:
		out = binary.LittleEndian.AppendUint16(out, uint16(F16FromFloat32(F16(u(x)).Float32()+F16(u(y)).Float32())))
	case KindBFloat16:
		out = binary.LittleEndian.AppendUint16(out, uint16(BF16FromFloat32(BF16(u(x)).Float32()+BF16(u(y)).Float32())))
	case KindFloat8E4M3FN:
		out = append(out, byte(F8E4M3FromFloat32(F8E4M3(x[0]).Float32()+F8E4M3(y[0]).Float32())))
	case KindFloat8E5M2:
		out = append(out, byte(F8E5M2FromFloat32(F8E5M2(x[0]).Float32()+F8E5M2(y[0]).Float32())))
	case KindFloat32, KindComplex64:
		for i := range dt.Size() / 4 {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f32(x, i)+f32(y, i)))
		}
	case KindFloat64, KindComplex128:
		for i := range dt.Size() / 8 {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f64(x, i)+f64(y, i)))
		}
	default:
		out = binary.LittleEndian.AppendUint64(out, u(x)+u(y))[:dt.Size()]
	}
	return string(out)
}

// indexMatrix returns coordinates as an index matrix of the given type: row-major, column-major, or
// with gaps.
func indexMatrix(t IndexType, list []stored, ndim int, how string) (Index, [2]int64) {
	w, nnz := int64(t.Size()), int64(len(list))
	strides := [2]int64{int64(ndim) * w, w}
	switch how {
	case "column-major":
		strides = [2]int64{w, nnz * w}
	case "gaps":
		strides = [2]int64{(2*int64(ndim) + 1) * w, 2 * w}
	}
	x := Index{typ: t, data: make([]byte, (nnz+1)*(2*int64(ndim)+1)*w)}
	for k, s := range list {
		for axis, i := range s.Index {
			x.set((int64(k)*strides[0]+int64(axis)*strides[1])/w, uint64(i))
		}
	}
	return x, strides
}

// A COO in any order and with duplicates is put in order by every conversion, and its duplicates are
// summed in the order in which they are stored, refused, or, from COO to COO, kept.
func TestUnorderedCOO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom(everyDType()).Draw(t, "dtype")
		shape := rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 4).Draw(t, "shape")
		list := []stored{}
		n := rapid.IntRange(0, 12).Draw(t, "nnz")
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
			n = 1500 // past the size from which the radix sort is used
		}
		small := n < 100
		for k := range n {
			s := stored{Value: string(drawCheap(t, dt, k, small))}
			for axis, dim := range shape {
				if small {
					s.Index = append(s.Index, rapid.Int64Range(0, dim-1).Draw(t, "index"))
				} else {
					s.Index = append(s.Index, int64(k*k*7+axis*k)%dim)
				}
			}
			list = append(list, s)
		}
		typ := IndexType(rapid.IntRange(1, 8).Draw(t, "index type"))
		x, strides := indexMatrix(typ, list, len(shape), rapid.SampledFrom([]string{"row-major", "column-major", "gaps"}).Draw(t, "strides"))
		data := []byte{}
		for _, s := range list {
			data = append(data, s.Value...)
		}
		c := new(COO)
		if err := c.Init(dt, shape, x, strides, false, data, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		largest := uint64(max(n, len(shape)))
		for _, s := range list {
			largest = max(largest, uint64(slices.Max(s.Index)))
		}
		if _, got := NarrowestIndexTypes(c); got != NarrowestIndexType(largest) {
			t.Fatalf("narrowest type is %v, for values up to %d", got, largest)
		}
		if diff := cmp.Diff(list, naiveStored(c)); diff != "" {
			t.Fatal(diff)
		}

		summed, repeated := []stored{}, false
		for _, s := range sorted(list) {
			if k := len(summed) - 1; k >= 0 && slices.Equal(summed[k].Index, s.Index) {
				repeated = true
				if !dt.IsOpaque() {
					summed[k].Value = naiveSum(dt, summed[k].Value, s.Value)
				}
				continue
			}
			summed = append(summed, s)
		}
		kept := must(ToCOO(c, nil))
		if diff := cmp.Diff(list, naiveStored(kept)); diff != "" {
			t.Fatalf("kept: %s", diff)
		}
		inOrder := !repeated && slices.IsSortedFunc(list, func(a, b stored) int { return slices.Compare(a.Index, b.Index) })
		if kept.IsCanonical() != inOrder {
			t.Fatalf("kept: canonical is %v, in order is %v", kept.IsCanonical(), inOrder)
		}
		for _, to := range allLayouts {
			if !fits(to, len(shape)) {
				continue
			}
			_, err := Convert(c, to, &ConvertOptions{Duplicates: DuplicatesRefuse})
			if repeated != errors.Is(err, ErrDuplicate) || !repeated && err != nil {
				t.Fatalf("to %v, duplicates refused: %v, and there are some: %v", to, err, repeated)
			}
			u, err := Convert(c, to, &ConvertOptions{Duplicates: DuplicatesSum})
			if repeated && dt.IsOpaque() {
				if !errors.Is(err, ErrDuplicate) {
					t.Fatalf("%v to %v was summed: %v", dt, to, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("to %v: %v", to, err)
			}
			want := summed
			if to == LayoutDense {
				want = slices.DeleteFunc(slices.Clone(summed), func(s stored) bool { return naiveIsZero(dt, []byte(s.Value)) })
			}
			if diff := cmp.Diff(want, sorted(naiveStored(u))); diff != "" {
				t.Fatalf("to %v: %s", to, diff)
			}
			nonzero := slices.DeleteFunc(slices.Clone(summed), func(s stored) bool { return naiveIsZero(dt, []byte(s.Value)) })
			if n, err := CountNonZero(c); err != nil || n != int64(len(nonzero)) {
				t.Fatalf("%d nonzeros, %v; want %d", n, err, len(nonzero))
			}
		}
	})
}

// drawCheap draws a value that is a number, so that sums of NaNs, whose bits hardware may choose, stay
// out of it.
func drawCheap(t *rapid.T, dt DType, k int, random bool) []byte {
	v := float32(k%5) - 2
	if random {
		v = float32(rapid.IntRange(-3, 3).Draw(t, "value"))
	}
	b := make([]byte, dt.Size())
	switch dt.Kind() {
	case KindFloat16:
		binary.LittleEndian.PutUint16(b, uint16(F16FromFloat32(v)))
	case KindBFloat16:
		binary.LittleEndian.PutUint16(b, uint16(BF16FromFloat32(v)))
	case KindFloat8E4M3FN:
		b[0] = byte(F8E4M3FromFloat32(v))
	case KindFloat8E5M2:
		b[0] = byte(F8E5M2FromFloat32(v))
	case KindFloat32, KindComplex64:
		binary.LittleEndian.PutUint32(b, math.Float32bits(v/3))
	case KindFloat64, KindComplex128:
		binary.LittleEndian.PutUint64(b, math.Float64bits(float64(v)/3))
	case KindBool:
		b[0] = byte(k & 1)
	default:
		b[0] = byte(int(v))
		b[len(b)-1] = byte(int(v))
	}
	return b
}

// A compressed matrix or CSF whose indices are possible but not in order is put in order, too.
func TestUnorderedCompressed(t *testing.T) {
	csr := must(NewCSR(Int32, []int64{2, 3}, IndexOf([]int32{0, 3, 4}), IndexOf([]uint8{2, 0, 2, 1}), BytesOf([]int32{1, 2, 10, 4})))
	csc := must(NewCSC(Int32, []int64{3, 2}, IndexOf([]int32{0, 3, 4}), IndexOf([]uint8{2, 0, 2, 1}), BytesOf([]int32{1, 2, 10, 4})))
	csf := must(NewCSF(Int32, []int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int32{0, 1, 4})}, []Index{IndexOf([]uint8{1, 0}), IndexOf([]uint8{1, 2, 0, 2})}, BytesOf([]int32{4, 1, 2, 10})))
	want := must(ToDense(DenseOf([]int32{2, 0, 11, 0, 4, 0}, 2, 3), nil))
	for name, c := range map[string]struct {
		tensor Tensor
		err    error
		want   *Dense
	}{
		"csr": {csr, csr.Validate(), want},
		"csc": {csc, csc.Validate(), must(want.Transpose())},
		"csf": {csf, csf.Validate(), want},
	} {
		if !errors.Is(c.err, ErrOrder) || errors.Is(c.err, ErrIndex) {
			t.Errorf("%s: %v, want ErrOrder", name, c.err)
		}
		for _, to := range allLayouts {
			u, err := Convert(c.tensor, to, &ConvertOptions{Duplicates: DuplicatesSum})
			if err != nil {
				t.Errorf("%s to %v: %v", name, to, err)
				continue
			}
			if d := must(ToDense(u, nil)); !Equal(d, c.want) {
				t.Errorf("%s to %v is %v", name, to, must(Values[int32](d)))
			}
			if _, err := Convert(c.tensor, to, &ConvertOptions{Duplicates: DuplicatesRefuse}); !errors.Is(err, ErrDuplicate) {
				t.Errorf("%s to %v, duplicates refused: %v", name, to, err)
			}
		}
		if n, err := CountNonZero(c.tensor); n != 3 || err != nil {
			t.Errorf("%s: %d nonzeros, %v; want 3", name, n, err)
		}
	}
}

// Stored zeros are kept from sparse to sparse, and are no nonzeros.
func TestStoredZeros(t *testing.T) {
	minus := math.Copysign(0, -1)
	list := []float64{0, 1, minus}
	c := must(NewCOO(Float64, []int64{3, 4}, IndexOf([]int8{0, 1, 1, 0, 2, 3}), BytesOf(list), true))
	for _, to := range allLayouts[1:] {
		s := must(Convert(c, to, nil))
		if diff := cmp.Diff(naiveStored(c), sorted(naiveStored(s))); diff != "" {
			t.Errorf("to %v: %s", to, diff)
		}
		if n := must(CountNonZero(s)); n != 1 || s.NNZ() != 3 {
			t.Errorf("%v: %d nonzeros of %d stored, want 1 of 3", to, n, s.NNZ())
		}
		d := must(ToDense(s, nil))
		if v := must(At[float64](d, 2, 3)); v != 0 || !math.Signbit(v) {
			t.Errorf("%v to dense: −0 became %v", to, v)
		}
	}
	if s := must(ToCOO(must(ToDense(c, nil)), nil)); s.NNZ() != 1 {
		t.Errorf("from dense, %d elements are stored, want 1", s.NNZ())
	}
}

// The narrowest type holds every value and the lengths that Arrow C++ wants it to hold.
func TestNarrowestIndexTypes(t *testing.T) {
	type boundary struct {
		most uint64
		want IndexType
	}
	for _, c := range []boundary{
		{0, IndexInt8}, {127, IndexInt8}, {128, IndexUint8}, {255, IndexUint8}, {256, IndexInt16},
		{32767, IndexInt16}, {32768, IndexUint16}, {65535, IndexUint16}, {65536, IndexInt32},
		{1<<31 - 1, IndexInt32}, {1 << 31, IndexUint32}, {1<<32 - 1, IndexUint32}, {1 << 32, IndexInt64}, {1<<63 - 1, IndexInt64},
	} {
		if got := NarrowestIndexType(c.most); got != c.want {
			t.Errorf("for values up to %d: %v, want %v", c.most, got, c.want)
		}
		if c.most >= c.want.Max()+1 {
			t.Errorf("%v does not hold %d", c.want, c.most)
		}
		at := int64(c.most)
		one := BytesOf([]uint8{1})
		// A coordinate of c.most, in the last place of a COO, CSR, CSC and CSF.
		if at == 1<<63-1 {
			continue // no dimension is large enough for it
		}
		coo := must(NewCOO(Uint8, []int64{1, at + 1}, IndexOf([]int64{0, at}), one, true))
		turned := must(NewCOO(Uint8, []int64{at + 1, 1}, IndexOf([]int64{at, 0}), one, true))
		for name, s := range map[string]Tensor{
			"coo": must(ToCOO(coo, nil)),
			"csr": must(ToCSR(coo, nil)),
			"csc": must(ToCSC(turned, nil)),
			"csf": must(ToCSF(coo, nil)),
		} {
			ptr, idx := IndexTypes(s)
			if idx != c.want || ptr != IndexInt8 && s.Layout() != LayoutCOO {
				t.Errorf("%s with index %d: indices %v, indptr %v; want %v, int8", name, at, idx, ptr, c.want)
			}
		}
	}
	// The number of elements counts as well. ends is the largest value that indptr stores.
	for _, c := range []boundary{
		{127, IndexInt8}, {128, IndexUint8}, {255, IndexUint8}, {256, IndexInt16},
		{32767, IndexInt16}, {32768, IndexUint16}, {65535, IndexUint16}, {65536, IndexInt32},
	} {
		n := int64(c.most)
		ones := bytes.Repeat([]byte{1}, int(n))
		cube := must(NewDense(Uint8, []int64{1, 1, n}, ones))
		row, column := must(NewDense(Uint8, []int64{1, n}, ones)), must(NewDense(Uint8, []int64{n, 1}, ones))
		for _, s := range []struct {
			name            string
			tensor          Tensor
			indptr, indices IndexType
		}{
			{"coo", must(ToCOO(must(NewDense(Uint8, []int64{n}, ones)), nil)), IndexAuto, c.want},
			{"csr of a row", must(ToCSR(row, nil)), c.want, c.want},
			{"csc of a column", must(ToCSC(column, nil)), c.want, c.want},
			{"csf", must(ToCSF(cube, nil)), c.want, c.want},
		} {
			if ptr, idx := IndexTypes(s.tensor); ptr != s.indptr || idx != s.indices {
				t.Errorf("%s of %d elements: indptr %v, indices %v; want %v, %v", s.name, n, ptr, idx, s.indptr, s.indices)
			}
			if ptr, idx := NarrowestIndexTypes(s.tensor); ptr != s.indptr || idx != s.indices {
				t.Errorf("%s of %d elements: narrowest are indptr %v, indices %v; want %v, %v", s.name, n, ptr, idx, s.indptr, s.indices)
			}
		}
		// The length of indptr, one more than there are lines.
		zeros := make([]byte, n-1)
		for name, s := range map[string]Tensor{
			"csr of empty rows":    must(ToCSR(must(NewDense(Uint8, []int64{n - 1, 1}, zeros)), nil)),
			"csc of empty columns": must(ToCSC(must(NewDense(Uint8, []int64{1, n - 1}, zeros)), nil)),
		} {
			if ptr, idx := IndexTypes(s); ptr != c.want || idx != IndexInt8 {
				t.Errorf("%s with an indptr of %d: indptr %v, indices %v; want %v, int8", name, n, ptr, idx, c.want)
			}
		}
	}
	// So does the number of dimensions: 64 of them still fit in an int8.
	if _, idx := IndexTypes(must(ToCOO(must(NewDense(Int8, slices.Repeat([]int64{1}, 64), []byte{1})), nil))); idx != IndexInt8 {
		t.Errorf("64 dimensions: %v", idx)
	}
}

func TestIndexTypesThatWereAskedFor(t *testing.T) {
	ones := bytes.Repeat([]byte{1}, 300)
	d := must(NewDense(Uint8, []int64{1, 300}, ones))
	for _, to := range allLayouts[1:] {
		for typ := IndexInt8; typ <= IndexUint64; typ++ {
			s, err := Convert(d, to, &ConvertOptions{Indptr: typ, Indices: typ})
			if typ.Max() < 300 {
				if !errors.Is(err, ErrIndexType) {
					t.Errorf("%v with %v: %v, want ErrIndexType", to, typ, err)
				}
				continue
			}
			ptr, idx := IndexTypes(s)
			if err != nil || idx != typ || to != LayoutCOO && ptr != typ {
				t.Errorf("%v with %v has %v and %v, %v", to, typ, ptr, idx, err)
			}
		}
	}
	if _, err := ToCOO(d, &ConvertOptions{Indices: 9}); !errors.Is(err, ErrIndexType) {
		t.Errorf("an index type that there is not: %v", err)
	}
}

func TestValidate(t *testing.T) {
	values := func(n int) []byte { return make([]byte, n) }
	coo := func(canonical bool, shape []int64, x Index, n int) error {
		return must(NewCOO(Int8, shape, x, values(n), canonical)).Validate()
	}
	csr := func(cols int64, indptr, indices Index) error {
		return must(NewCSR(Int8, []int64{indptr.Len() - 1, cols}, indptr, indices, values(int(indices.Len())))).Validate()
	}
	csc := func(rows int64, indptr, indices Index) error {
		return must(NewCSC(Int8, []int64{rows, indptr.Len() - 1}, indptr, indices, values(int(indices.Len())))).Validate()
	}
	csf := func(shape []int64, order []int, indptr []Index, indices ...Index) error {
		return must(NewCSF(Int8, shape, order, indptr, indices, values(int(indices[len(indices)-1].Len())))).Validate()
	}
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"coo", coo(true, []int64{2, 3}, IndexOf([]int8{0, 2, 1, 0, 1, 2}), 3), nil},
		{"coo, nothing stored", coo(true, []int64{0, 3}, IndexOf([]int8{}), 0), nil},
		{"coo of a scalar", coo(true, []int64{}, IndexOf([]int8{}), 1), nil},
		{"coo index at the dimension", coo(false, []int64{2, 3}, IndexOf([]int8{0, 3}), 1), ErrIndex},
		{"coo negative index", coo(false, []int64{2, 3}, IndexOf([]int8{-1, 0}), 1), ErrIndex},
		{"coo negative index that is small without its sign", coo(false, []int64{2, 300}, IndexOf([]int8{0, -56}), 1), ErrIndex},
		{"coo index of 2^63", coo(false, []int64{2, math.MaxInt64 / 2}, IndexOf([]uint64{0, 1 << 63}), 1), ErrIndex},
		{"coo element of an empty shape", coo(false, []int64{0, 3}, IndexOf([]int8{0, 0}), 1), ErrIndex},
		{"coo not in order, not canonical", coo(false, []int64{2, 3}, IndexOf([]int8{1, 0, 0, 2}), 2), nil},
		{"coo not in order", coo(true, []int64{2, 3}, IndexOf([]int8{1, 0, 0, 2}), 2), ErrOrder},
		{"coo last coordinate not in order", coo(true, []int64{2, 3}, IndexOf([]int8{1, 1, 1, 0}), 2), ErrOrder},
		{"coo duplicate", coo(true, []int64{2, 3}, IndexOf([]int8{1, 1, 1, 1}), 2), ErrOrder},
		{"coo scalar stored twice", coo(true, []int64{}, IndexOf([]int8{}), 2), ErrOrder},

		{"csr", csr(3, IndexOf([]int8{0, 2, 2, 3}), IndexOf([]uint16{0, 2, 1})), nil},
		{"csr of no rows", csr(3, IndexOf([]int8{0}), IndexOf([]uint16{})), nil},
		{"csr indptr begins at 1", csr(3, IndexOf([]int8{1, 2, 3}), IndexOf([]uint16{0, 2, 1})), ErrIndex},
		{"csr indptr ends early", csr(3, IndexOf([]int8{0, 1, 2}), IndexOf([]uint16{0, 2, 1})), ErrIndex},
		{"csr indptr ends late", csr(3, IndexOf([]int8{0, 1, 4}), IndexOf([]uint16{0, 2, 1})), ErrIndex},
		{"csr indptr falls", csr(3, IndexOf([]int8{0, 2, 1, 3}), IndexOf([]uint16{0, 2, 1})), ErrIndex},
		{"csr indptr negative", csr(3, IndexOf([]int8{0, -1, 3}), IndexOf([]uint16{0, 2, 1})), ErrIndex},
		{"csr indptr overshoots", csr(3, IndexOf([]uint64{0, math.MaxUint64, 3}), IndexOf([]uint16{0, 2, 1})), ErrIndex},
		{"csr column at the dimension", csr(3, IndexOf([]int8{0, 1}), IndexOf([]uint16{3})), ErrIndex},
		{"csr negative column", csr(300, IndexOf([]int8{0, 1}), IndexOf([]int8{-56})), ErrIndex},
		{"csr column of no columns", csr(0, IndexOf([]int8{0, 1}), IndexOf([]int8{0})), ErrIndex},
		{"csr row not in order", csr(3, IndexOf([]int8{0, 2, 3}), IndexOf([]uint16{2, 0, 1})), ErrOrder},
		{"csr duplicate", csr(3, IndexOf([]int8{0, 2, 3}), IndexOf([]uint16{2, 2, 1})), ErrOrder},
		{"csr row 600 not in order", csr(3, IndexOf(append(make([]int8, 600), 2)), IndexOf([]uint16{2, 1})), ErrOrder},

		{"csc", csc(3, IndexOf([]uint8{0, 2, 2, 3}), IndexOf([]int64{0, 2, 1})), nil},
		{"csc indptr falls", csc(3, IndexOf([]uint8{0, 2, 1, 3}), IndexOf([]int64{0, 2, 1})), ErrIndex},
		{"csc row at the dimension", csc(3, IndexOf([]uint8{0, 1}), IndexOf([]int64{3})), ErrIndex},
		{"csc duplicate", csc(3, IndexOf([]uint8{0, 2, 3}), IndexOf([]int64{2, 2, 1})), ErrOrder},

		{"csf", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 2, 3})}, IndexOf([]int8{0, 1}), IndexOf([]int8{0, 2, 1})), nil},
		{"csf, axes exchanged", csf([]int64{3, 2}, []int{1, 0}, []Index{IndexOf([]int8{0, 2, 3})}, IndexOf([]int8{0, 1}), IndexOf([]int8{0, 2, 1})), nil},
		{"csf, nothing stored", csf([]int64{3, 2}, []int{1, 0}, []Index{IndexOf([]int8{0})}, IndexOf([]int8{}), IndexOf([]int8{})), nil},
		{"csf node without children", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 0, 1})}, IndexOf([]int8{0, 1}), IndexOf([]int8{2})), nil},
		{"csf root at the dimension", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 1})}, IndexOf([]int8{2}), IndexOf([]int8{0})), ErrIndex},
		{"csf leaf at the dimension", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 1})}, IndexOf([]int8{1}), IndexOf([]int8{3})), ErrIndex},
		{"csf leaf at the other axis' dimension", csf([]int64{3, 2}, []int{0, 1}, []Index{IndexOf([]int8{0, 1})}, IndexOf([]int8{1}), IndexOf([]int8{2})), ErrIndex},
		{"csf indptr too long", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 2})}, IndexOf([]int8{1}), IndexOf([]int8{2})), ErrIndex},
		{"csf indptr begins at 1", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{1, 1})}, IndexOf([]int8{1}), IndexOf([]int8{2})), ErrIndex},
		{"csf indptr falls", csf([]int64{3, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 2, 1, 2})}, IndexOf([]int8{0, 1, 2}), IndexOf([]int8{1, 2})), ErrIndex},
		{"csf root not in order", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 1, 2})}, IndexOf([]int8{1, 0}), IndexOf([]int8{2, 2})), ErrOrder},
		{"csf root twice", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 1, 2})}, IndexOf([]int8{1, 1}), IndexOf([]int8{1, 2})), ErrOrder},
		{"csf leaf twice", csf([]int64{2, 3}, []int{0, 1}, []Index{IndexOf([]int8{0, 2})}, IndexOf([]int8{1}), IndexOf([]int8{2, 2})), ErrOrder},

		{"zero coo", new(COO).Validate(), ErrDType},
		{"zero csr", new(CSR).Validate(), ErrDType},
		{"zero csc", new(CSC).Validate(), ErrDType},
		{"zero csf", new(CSF).Validate(), ErrDType},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}

func TestTensorsThatAreNotSet(t *testing.T) {
	for _, s := range []Tensor{new(Dense), new(COO), new(CSR), new(CSC), new(CSF)} {
		for _, to := range allLayouts {
			if _, err := Convert(s, to, nil); !errors.Is(err, ErrDType) {
				t.Errorf("zero %v to %v: %v, want ErrDType", s.Layout(), to, err)
			}
		}
		for name, err := range map[string]error{
			"Auto": errOf(Auto(s, nil)), "CountNonZero": errOf(CountNonZero(s)), "NonzeroBytes": errOf(NonzeroBytes(s)),
			"At": errOf(At[int8](s)), "Values": errOf(Values[int8](s)), "Nonzeros": errOf(Nonzeros[int8](s)),
		} {
			if !errors.Is(err, ErrDType) {
				t.Errorf("%s of a zero %v: %v, want ErrDType", name, s.Layout(), err)
			}
		}
	}
}

func TestSparseConstructorsRefuse(t *testing.T) {
	i8 := func(v ...int8) Index { return IndexOf(v) }
	b := func(n int) []byte { return make([]byte, n) }
	var coo COO
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"no type", errOf(NewCOO(DType{}, []int64{2}, i8(0), b(1), false)), ErrDType},
		{"no index type", errOf(NewCOO(Int8, []int64{2}, Index{}, b(1), false)), ErrDType},
		{"negative dimension", errOf(NewCOO(Int8, []int64{-2}, i8(0), b(1), false)), ErrShape},
		{"2^64 elements", errOf(NewCOO(Int8, []int64{1 << 32, 1 << 32}, i8(0, 0), b(1), false)), ErrShape},
		{"65 dimensions", errOf(NewCOO(Int8, make([]int64, 65), i8(), b(0), false)), ErrShape},
		{"part of an element", errOf(NewCOO(Int16, []int64{2}, i8(0), b(1), false)), ErrBounds},
		{"an index short", errOf(NewCOO(Int8, []int64{2, 2}, i8(0), b(1), false)), ErrBounds},
		{"an index too many", errOf(NewCOO(Int8, []int64{2, 2}, i8(0, 0, 0), b(1), false)), ErrBounds},
		{"coo strides leave the indices", coo.Init(Int8, []int64{2, 2}, i8(0, 0, 0, 0), [2]int64{2, 2}, false, b(2), nil), ErrBounds},
		{"coo negative strides", coo.Init(Int8, []int64{2, 2}, i8(0, 0, 0, 0), [2]int64{-2, 1}, false, b(2), nil), ErrBounds},
		{"coo strides overflow", coo.Init(Int8, []int64{2, 2}, i8(0, 0, 0, 0), [2]int64{1, math.MaxInt64}, false, b(2), nil), ErrBounds},
		{"coo names", coo.Init(Int8, []int64{2, 2}, i8(0, 0, 0, 0), [2]int64{2, 1}, false, b(2), []string{"x"}), ErrShape},

		{"csr of a vector", errOf(NewCSR(Int8, []int64{2}, i8(0, 0, 0), i8(), b(0))), ErrLayout},
		{"csc of a cube", errOf(NewCSC(Int8, []int64{2, 2, 2}, i8(0, 0, 0), i8(), b(0))), ErrLayout},
		{"csr indptr too short", errOf(NewCSR(Int8, []int64{2, 2}, i8(0, 0), i8(), b(0))), ErrBounds},
		{"csr indptr of nothing", errOf(NewCSR(Int8, []int64{0, 2}, i8(), i8(), b(0))), ErrBounds},
		{"csr of 2^63-1 rows", errOf(NewCSR(Int8, []int64{math.MaxInt64, 1}, i8(), i8(), b(0))), ErrBounds},
		{"csc indptr for rows", errOf(NewCSC(Int8, []int64{1, 2}, i8(0, 0), i8(), b(0))), ErrBounds},
		{"csr indices", errOf(NewCSR(Int8, []int64{1, 2}, i8(0, 1), i8(0, 1), b(1))), ErrBounds},
		{"csr index type", errOf(NewCSR(Int8, []int64{1, 2}, i8(0, 1), Index{}, b(1))), ErrDType},

		{"csf of a vector", errOf(NewCSF(Int8, []int64{2}, []int{0}, nil, []Index{i8()}, b(0))), ErrLayout},
		{"csf axis order", errOf(NewCSF(Int8, []int64{2, 2}, []int{0, 0}, []Index{i8(0)}, []Index{i8(), i8()}, b(0))), ErrShape},
		{"csf axis order too short", errOf(NewCSF(Int8, []int64{2, 2}, []int{0}, []Index{i8(0)}, []Index{i8(), i8()}, b(0))), ErrShape},
		{"csf axis not there", errOf(NewCSF(Int8, []int64{2, 2}, []int{0, 2}, []Index{i8(0)}, []Index{i8(), i8()}, b(0))), ErrShape},
		{"csf levels", errOf(NewCSF(Int8, []int64{2, 2}, []int{0, 1}, []Index{}, []Index{i8(), i8()}, b(0))), ErrBounds},
		{"csf indptr length", errOf(NewCSF(Int8, []int64{2, 2}, []int{0, 1}, []Index{i8(0, 1)}, []Index{i8(), i8()}, b(0))), ErrBounds},
		{"csf leaves", errOf(NewCSF(Int8, []int64{2, 2}, []int{0, 1}, []Index{i8(0, 1)}, []Index{i8(0), i8(0)}, b(0))), ErrBounds},
		{"csf types of indices differ", errOf(NewCSF(Int8, []int64{2, 2}, []int{0, 1}, []Index{i8(0)}, []Index{i8(), IndexOf([]int16{})}, b(0))), ErrDType},
		{"csf types of indptr differ", errOf(NewCSF(Int8, []int64{2, 2, 2}, []int{0, 1, 2}, []Index{i8(0), IndexOf([]int16{0})}, []Index{i8(), i8(), i8()}, b(0))), ErrDType},

		{"index type", errOf(NewIndex(IndexAuto, b(8))), ErrDType},
		{"index bytes", errOf(NewIndex(IndexInt32, b(7))), ErrBounds},
		{"index type of a float", errOf(IndexTypeOf(Float32)), ErrDType},
		{"index values type", errOf(IndexValues[int16](i8(0, 0))), ErrDType},
		{"index values alignment", errOf(IndexValues[int32](Index{IndexInt32, BytesOf(make([]uint64, 2))[1:5]})), ErrMisaligned},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}

// Claims that nothing stands behind cost nothing.
func TestHugeClaims(t *testing.T) {
	one := BytesOf([]uint8{1})
	peta := must(NewCOO(Uint8, []int64{1 << 25, 1 << 25}, IndexOf([]int32{5, 6}), one, true))
	exa := must(NewCOO(Float64, []int64{1 << 31, 1 << 31}, IndexOf([]int32{5, 6}), BytesOf([]float64{1}), true))
	for _, c := range []struct {
		name   string
		tensor Tensor
		to     Layout
		limit  int64
		want   error
	}{
		{"2^50 bytes", peta, LayoutDense, 0, ErrTooLarge},
		{"2^65 bytes", exa, LayoutDense, 0, ErrShape},
		{"2^25 rows under a limit", peta, LayoutCSR, 1 << 20, ErrTooLarge},
		{"coo to csf", peta, LayoutCSF, 1 << 20, nil},
		{"coo to coo", exa, LayoutCOO, 1 << 20, nil},
		{"a broadcast view", must(NewStrided(Uint8, []int64{1 << 50}, []int64{0}, 0, make([]byte, 1))), LayoutDense, 0, ErrTooLarge},
	} {
		var got Tensor
		var err error
		bytes := testing.AllocsPerRun(1, func() {
			got, err = Convert(c.tensor, c.to, &ConvertOptions{MaxBytes: c.limit})
		})
		if !errors.Is(err, c.want) || (err == nil) != (got != nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if bytes > 100 {
			t.Errorf("%s took %v allocations", c.name, bytes)
		}
	}
	// A wide matrix with few elements takes no memory for its empty columns on the way to a CSF or COO.
	row := must(NewCSR(Uint8, []int64{2, 1 << 61}, IndexOf([]int8{0, 1, 2}), IndexOf([]int64{1 << 60, 7}), []byte{1, 2}))
	for name, s := range map[string]Tensor{
		"csf by columns": must(ToCSF(row, &ConvertOptions{AxisOrder: []int{1, 0}, MaxBytes: 1 << 10})),
		"coo":            must(ToCOO(must(NewCSC(Uint8, []int64{1 << 61, 2}, row.indptr, row.indices, row.data)), &ConvertOptions{MaxBytes: 1 << 10})),
	} {
		if first := naiveStored(s)[0]; max(first.Index[0], first.Index[1]) != 7 {
			t.Errorf("%s begins with %v", name, first.Index)
		}
	}
	// A view that repeats zeros holds nothing, however often.
	none := must(NewStrided(Float32, []int64{1 << 40, 3}, []int64{0, 4}, 0, make([]byte, 12)))
	for _, to := range []Layout{LayoutCOO, LayoutCSC, LayoutCSF} {
		if s := must(Convert(none, to, nil)); s.NNZ() != 0 {
			t.Errorf("%v of zeros stores %d elements", to, s.NNZ())
		}
	}
	// Counting what a broadcast view repeats looks at it once.
	view := must(NewStrided(Uint8, []int64{3, 1 << 50}, []int64{1, 0}, 0, []byte{1, 0, 1}))
	if n := must(CountNonZero(view)); n != 2<<50 {
		t.Errorf("%d nonzeros, want 2^51", n)
	}
	if n := usableMemory(); n < 64<<20 {
		t.Errorf("usable memory is %d bytes", n)
	}
}

// A conversion never takes more than it may, and its result and what it needs on the way stay within a
// small multiple of what the source has, for the layouts that have no indptr for empty lines.
func TestMemoryStaysInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(t, "nnz")
		idx := make([]int64, 0, 2*n)
		for k := range n {
			idx = append(idx, int64(k*k*7919%1000003), int64(k*31%1009))
		}
		c := must(NewCOO(Float32, []int64{1 << 30, 1 << 30}, IndexOf(idx), BytesOf(make([]float32, n)), false))
		for _, to := range []Layout{LayoutCOO, LayoutCSF} {
			limit := int64(n) * 128
			if _, err := Convert(c, to, &ConvertOptions{Duplicates: DuplicatesSum, MaxBytes: limit}); err != nil {
				t.Fatalf("%d elements to %v within %d bytes: %v", n, to, limit, err)
			}
			if _, err := Convert(c, to, &ConvertOptions{Duplicates: DuplicatesSum, MaxBytes: int64(n)}); !errors.Is(err, ErrTooLarge) {
				t.Fatalf("%d elements to %v within %d bytes: %v, want ErrTooLarge", n, to, n, err)
			}
		}
	})
}

func TestSparseCallsThatDoNotAllocate(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0}, 2, 3)
	coo, csr, csc, csf := must(ToCOO(d, nil)), must(ToCSR(d, nil)), must(ToCSC(d, nil)), must(ToCSF(d, nil))
	var intoCOO COO
	var intoCSR CSR
	var intoCSF CSF
	shape := []int64{2, 3}
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	for name, f := range map[string]func(){
		"COO.Validate": func() { check(coo.Validate()) },
		"CSR.Validate": func() { check(csr.Validate()) },
		"CSC.Validate": func() { check(csc.Validate()) },
		"CSF.Validate": func() { check(csf.Validate()) },
		"COO.Init":     func() { check(intoCOO.Init(Float32, shape, coo.indices, coo.strides, true, coo.data, nil)) },
		"CSR.Init":     func() { check(intoCSR.Init(Float32, shape, csr.indptr, csr.indices, csr.data, nil)) },
		"CSF.Init":     func() { check(intoCSF.Init(Float32, csf.shape, csf.order, csf.indptr, csf.indices, csf.data, nil)) },
		"CSR.Row":      func() { _, _, err := csr.Row(1); check(err) },
		"CSC.Col":      func() { _, _, err := csc.Col(1); check(err) },
		"RowValues":    func() { _, _, err := RowValues[float32, int8](csr, 1); check(err) },
		"At of csr":    func() { _, err := At[float32](csr, 1, 0); check(err) },
		"At of coo":    func() { _, err := At[float32](coo, 1, 0); check(err) },
		"At of csf":    func() { _, err := At[float32](csf, 1, 0); check(err) },
		"At of dense":  func() { _, err := At[float32](d, 1, 0); check(err) },
		"Narrowest":    func() { NarrowestIndexTypes(csf); NarrowestIndexTypes(coo) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestRowsAndColumnsShareMemory(t *testing.T) {
	values := []float64{1, 2, 3, 4}
	columns := []int64{0, 2, 1, 2}
	csr := must(NewCSR(Float64, []int64{3, 3}, IndexOf([]int64{0, 2, 2, 4}), IndexOf(columns), BytesOf(values)))
	for i, want := range [][2]int{{0, 2}, {2, 2}, {2, 4}} {
		x, v, err := RowValues[float64, int64](csr, int64(i))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(v, values[want[0]:want[1]]) || !slices.Equal(x, columns[want[0]:want[1]]) {
			t.Errorf("row %d: %v at %v", i, v, x)
		}
		if len(v) > 0 && (&v[0] != &values[want[0]] || &x[0] != &columns[want[0]] || cap(v) != len(v)) {
			t.Errorf("row %d is a copy", i)
		}
	}
	csc := must(NewCSC(Float64, []int64{3, 3}, IndexOf([]int64{0, 2, 2, 4}), IndexOf(columns), BytesOf(values)))
	if x, v, err := ColValues[float64, int64](csc, 2); err != nil || !slices.Equal(v, []float64{3, 4}) || &v[0] != &values[2] || &x[0] != &columns[2] {
		t.Errorf("column 2: %v at %v, %v", v, x, err)
	}
	for name, c := range map[string]struct{ err, want error }{
		"no such row":    {errOf2(csr.Row(3)), ErrBounds},
		"no such column": {errOf2(csc.Col(-1)), ErrBounds},
		"value type":     {errOf2(RowValues[float32, int64](csr, 0)), ErrDType},
		"index type":     {errOf2(RowValues[float64, int32](csr, 0)), ErrDType},
		"zero CSR":       {errOf2(new(CSR).Row(0)), ErrDType},
		"indptr falls":   {errOf2(must(NewCSR(Int8, []int64{1, 1}, IndexOf([]int8{1, 0}), IndexOf([]int8{0}), []byte{1})).Row(0)), ErrIndex},
		"indptr too far": {errOf2(must(NewCSR(Int8, []int64{1, 1}, IndexOf([]int8{0, 2}), IndexOf([]int8{0}), []byte{1})).Row(0)), ErrIndex},
		"indptr below 0": {errOf2(must(NewCSR(Int8, []int64{1, 1}, IndexOf([]int8{-2, 1}), IndexOf([]int8{0}), []byte{1})).Row(0)), ErrIndex},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func errOf2[T, U any](_ T, _ U, err error) error { return err }

// At and Nonzeros agree with the dense reference in every layout.
func TestAtAndNonzeros(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 4).Draw(t, "shape")
		n, _ := CheckedProduct(shape, 1)
		values := rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 1, -2.5, float32(math.Inf(1))}), int(n), int(n)).Draw(t, "values")
		d := must(FromSlice(values, shape...))
		want := naiveStored(d)
		for _, l := range allLayouts {
			if !fits(l, len(shape)) {
				continue
			}
			s := must(Convert(d, l, drawOptions(t, len(shape), n)))
			for k, v := range values {
				index := make([]int64, len(shape))
				rest := int64(k)
				for axis := len(shape) - 1; axis >= 0; axis-- {
					index[axis] = rest % shape[axis]
					rest /= shape[axis]
				}
				if got, err := At[float32](s, index...); err != nil || got != v {
					t.Fatalf("%v: element %v is %v, %v; want %v", l, index, got, err, v)
				}
			}
			got, count := []stored{}, 0
			for index, v := range must(Nonzeros[float32](s)) {
				got = append(got, stored{slices.Clone(index), string(BytesOf([]float32{v}))})
			}
			if diff := cmp.Diff(naiveStored(s), got); diff != "" {
				t.Fatalf("nonzeros of %v: %s", l, diff)
			}
			for range must(Nonzeros[float32](s)) {
				if count++; count == 2 {
					break
				}
			}
			if count != min(2, len(want)) {
				t.Fatalf("%v: %d nonzeros before the break", l, count)
			}
		}
	})
}

func TestAtErrors(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0}, 2, 3)
	for _, l := range allLayouts {
		s := must(Convert(d, l, nil))
		for name, c := range map[string]struct{ err, want error }{
			"type":           {errOf(At[float64](s, 0, 0)), ErrDType},
			"dimensions":     {errOf(At[float32](s, 0)), ErrShape},
			"index":          {errOf(At[float32](s, 0, 3)), ErrBounds},
			"negative index": {errOf(At[float32](s, -1, 0)), ErrBounds},
			"nonzeros type":  {errOf(Nonzeros[float64](s)), ErrDType},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%v, %s: %v, want %v", l, name, c.err, c.want)
			}
		}
	}
	wrong := must(NewCSF(Int8, []int64{1, 1}, []int{0, 1}, []Index{IndexOf([]int8{0, 5})}, []Index{IndexOf([]int8{0}), IndexOf([]int8{0})}, []byte{1}))
	if _, err := At[int8](wrong, 0, 0); !errors.Is(err, ErrIndex) {
		t.Errorf("csf whose indptr leads nowhere: %v, want ErrIndex", err)
	}
	if _, err := At[bool](must(NewDense(Bool, []int64{1}, []byte{2})), 0); !errors.Is(err, ErrValue) {
		t.Errorf("bool of 2: %v, want ErrValue", err)
	}
	for _, v := range must(Nonzeros[bool](must(NewDense(Bool, []int64{1}, []byte{2})))) {
		if !v {
			t.Error("a bool of 2 is a nonzero and false")
		}
	}
	repeated := must(NewCOO(Int8, []int64{2}, IndexOf([]int8{1, 0, 1}), []byte{3, 9, 4}, false))
	if v, err := At[int8](repeated, 1); v != 7 || err != nil {
		t.Errorf("element stored as 3 and 4 is %v, %v", v, err)
	}
	if v, err := At[int8](repeated, 0); v != 9 || err != nil {
		t.Errorf("element stored as 9 is %v, %v", v, err)
	}
}

func TestEqualSparse(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0}, 2, 3)
	other := DenseOf([]float32{0, 1, 0, 2, 4, 0}, 2, 3)
	moved := DenseOf([]float32{1, 0, 0, 2, 3, 0}, 2, 3)
	for _, l := range allLayouts[1:] {
		s := must(Convert(d, l, nil))
		wide := must(Convert(d, l, &ConvertOptions{Indptr: IndexInt64, Indices: IndexUint32}))
		if !Equal(s, s) || !Equal(s, wide) || !Equal(wide, s) {
			t.Errorf("%v: not equal to itself with wider indices", l)
		}
		for name, x := range map[string]Tensor{
			"value": must(Convert(other, l, nil)), "place": must(Convert(moved, l, nil)), "layout": d,
			"shape": must(Convert(must(d.Reshape(3, 2)), l, nil)), "type": must(Convert(must(d.Reinterpret(Int32)), l, nil)),
		} {
			if Equal(s, x) || Equal(x, s) {
				t.Errorf("%v: equal to a tensor of another %s", l, name)
			}
		}
	}
	if Equal(must(ToCSF(d, &ConvertOptions{AxisOrder: []int{1, 0}})), must(ToCSF(d, &ConvertOptions{AxisOrder: []int{0, 1}}))) {
		t.Error("csf of different axis orders are equal")
	}
}

func TestDimNamesOfSparse(t *testing.T) {
	d := must(DenseOf([]float32{0, 1, 0, 2, 3, 0}, 2, 3).WithDimNames("x", "y"))
	coo, csr, csc, csf := must(ToCOO(d, nil)), must(ToCSR(d, nil)), must(ToCSC(d, nil)), must(ToCSF(d, nil))
	for _, s := range []Tensor{coo, csr, csc, csf} {
		if diff := cmp.Diff([]string{"x", "y"}, s.DimNames()); diff != "" {
			t.Errorf("%v: %s", s.Layout(), diff)
		}
	}
	for _, s := range []Tensor{must(coo.WithDimNames("a", "b")), must(csr.WithDimNames("a", "b")), must(csc.WithDimNames("a", "b")), must(csf.WithDimNames("a", "b"))} {
		if diff := cmp.Diff([]string{"a", "b"}, s.DimNames()); diff != "" {
			t.Errorf("%v: %s", s.Layout(), diff)
		}
	}
	for _, s := range []Tensor{must(coo.WithDimNames()), must(csr.WithDimNames()), must(csc.WithDimNames()), must(csf.WithDimNames())} {
		if s.DimNames() != nil {
			t.Errorf("%v: %q, want none", s.Layout(), s.DimNames())
		}
	}
	for _, err := range []error{errOf(coo.WithDimNames("x")), errOf(csr.WithDimNames("x")), errOf(csc.WithDimNames("x")), errOf(csf.WithDimNames("x"))} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("one name for two axes: %v, want ErrShape", err)
		}
	}
}

// byteCount returns the bytes of a tensor's elements and index arrays.
func byteCount(t Tensor) int {
	switch t := t.(type) {
	case *Dense:
		return int(t.NumBytes())
	case *COO:
		return len(t.Data()) + len(t.Indices().Bytes())
	case *CSR:
		return len(t.Data()) + len(t.Indices().Bytes()) + len(t.Indptr().Bytes())
	case *CSC:
		return len(t.Data()) + len(t.Indices().Bytes()) + len(t.Indptr().Bytes())
	case *CSF:
		n := len(t.Data())
		for l := range t.Shape() {
			n += len(t.Indices(l).Bytes())
			if l > 0 {
				n += len(t.Indptr(l - 1).Bytes())
			}
		}
		return n
	}
	return 0
}

func TestAutoTakesTheFewestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int64{1, 2, 5, 200, 300}), 0, 3).Draw(t, "shape")
		n, _ := CheckedProduct(shape, 1)
		if n > 50000 {
			return
		}
		dt := rapid.SampledFrom([]DType{Int8, Float64, Complex128}).Draw(t, "dtype")
		data := make([]byte, n*int64(dt.Size()))
		for range rapid.IntRange(0, 40).Draw(t, "nonzeros") {
			if n > 0 {
				data[rapid.Int64Range(0, n-1).Draw(t, "at")*int64(dt.Size())] = 1
			}
		}
		d := must(NewDense(dt, shape, data))
		o := drawOptions(t, len(shape), n)
		auto, err := Auto(d, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []Layout{LayoutDense, LayoutCSR, LayoutCSC, LayoutCOO, LayoutCSF} {
			if !fits(l, len(shape)) {
				continue
			}
			s := must(Convert(d, l, o))
			if byteCount(s) < byteCount(auto) {
				t.Fatalf("auto is %v of %d bytes, %v has %d", auto.Layout(), byteCount(auto), l, byteCount(s))
			}
			if byteCount(s) == byteCount(auto) {
				if l != auto.Layout() {
					t.Fatalf("auto is %v, but %v takes as many bytes and comes first", auto.Layout(), l)
				}
				break
			}
		}
		if again := must(Auto(auto, o)); !Equal(again, auto) {
			t.Fatalf("auto of %v is %v", auto.Layout(), again.Layout())
		}
	})
}

func TestAutoSumsDuplicates(t *testing.T) {
	idx := IndexOf([]int32{7, 5, 3, 2, 7, 5})
	c := must(NewCOO(Float64, []int64{1000, 1000}, idx, BytesOf([]float64{1, 2, 4}), false))
	s := must(Auto(c, nil))
	if s.Layout() != LayoutCOO || s.NNZ() != 2 || must(At[float64](s, 7, 5)) != 5 {
		t.Errorf("auto is %v of %d elements", s.Layout(), s.NNZ())
	}
	if _, err := Auto(c, &ConvertOptions{Duplicates: DuplicatesRefuse}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("duplicates refused: %v", err)
	}
	if _, err := Auto(c, &ConvertOptions{AxisOrder: []int{0, 0}}); !errors.Is(err, ErrShape) {
		t.Errorf("axis order: %v", err)
	}
	if s := must(Auto(must(NewCOO(Uint8, []int64{math.MaxInt64, 1}, IndexOf([]int64{3, 0}), []byte{1}, true)), nil)); s.Layout() != LayoutCOO {
		t.Errorf("one element of 2^63-1 rows became %v", s.Layout())
	}
}

// FuzzSparse: whatever the arrays hold, no call panics, allocates out of proportion, or turns an invalid
// tensor into a result; and a valid one keeps its elements.
func FuzzSparse(f *testing.F) {
	f.Add(byte(1), byte(1), byte(2), byte(3), []byte{0, 2, 1, 0, 1, 2}, []byte{0, 2, 3}, []byte{1, 2, 3})
	f.Add(byte(2), byte(2), byte(3), byte(3), []byte{0, 2, 1}, []byte{0, 2, 2, 3}, []byte{1, 2, 3})
	f.Add(byte(3), byte(1), byte(3), byte(3), []byte{0, 2, 1}, []byte{0, 2, 2, 3}, []byte{1, 2, 3})
	f.Add(byte(3), byte(1), byte(2), byte(3), []byte{0, 2, 1}, []byte{0, 2, 3, 0, 1}, []byte{1, 2, 3})
	f.Add(byte(2), byte(1), byte(255), byte(200), []byte{0, 255, 1}, []byte{0, 2, 1, 3}, []byte{1, 2, 3})
	f.Add(byte(20), byte(1), byte(2), byte(3), []byte{0, 2, 1, 0, 1, 0}, []byte{}, []byte{1, 2})
	f.Add(byte(23), byte(1), byte(2), byte(3), []byte{0, 2, 1}, []byte{0, 2, 0, 2, 3, 0, 1, 1}, []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, kind, typ, rows, cols byte, indices, indptr, data []byte) {
		it := IndexType(typ%8) + 1
		cut := func(b []byte) Index { return Index{it, b[:len(b)/it.Size()*it.Size()]} }
		shape := []int64{int64(rows), int64(cols)}
		order := []int{int(kind >> 2 & 1), 1 - int(kind>>2&1)}
		if kind&0x80 != 0 {
			shape[0] <<= 50
		}
		if kind&0x10 != 0 && kind%4 != 1 && kind%4 != 2 {
			shape, order = append(shape, 3), append(order, 2)
		}
		ndim := len(shape)
		var s Tensor
		var err error
		switch kind % 4 {
		case 0:
			c := new(COO)
			n := min(len(data), len(indices)/it.Size()/ndim)
			s, err = c, c.Init(Int8, shape, cut(indices), [2]int64{int64(ndim * it.Size()), int64(it.Size())}, kind&4 != 0, data[:n], nil)
		case 1:
			s, err = asTensor(NewCSR(Int8, shape, cut(indptr), cut(indices), data))
		case 2:
			s, err = asTensor(NewCSC(Int8, shape, cut(indptr), cut(indices), data))
		case 3: // indptr holds the indptr and the indices of each level but the last
			x := cut(indptr)
			var ptr, idx []Index
			for l := range ndim - 1 {
				n := (x.Len() + 1) / 2
				if l < ndim-2 {
					n = min(n, int64(typ>>4)+1)
				}
				ptr, idx, x = append(ptr, x.Slice(0, n)), append(idx, x.Slice(n, max(2*n-1, n))), x.Slice(max(2*n-1, n), x.Len())
			}
			s, err = asTensor(NewCSF(Int8, shape, order, ptr, append(idx, cut(indices)), data))
		}
		if err != nil {
			return
		}
		err = s.(interface{ Validate() error }).Validate()
		o := &ConvertOptions{MaxBytes: 1 << 20}
		for _, to := range allLayouts {
			if !fits(to, ndim) {
				continue
			}
			u, cerr := Convert(s, to, o)
			if errors.Is(err, ErrIndex) && cerr == nil {
				t.Fatalf("invalid (%v), and yet it became %v", err, to)
			}
			if err == nil && cerr != nil && !errors.Is(cerr, ErrTooLarge) {
				t.Fatalf("valid, and yet to %v: %v", to, cerr)
			}
			if err == nil && cerr == nil && to != LayoutDense && s.Layout() != LayoutCOO {
				if diff := cmp.Diff(sorted(naiveStored(s)), sorted(naiveStored(u))); diff != "" {
					t.Fatalf("to %v: %s", to, diff)
				}
			}
		}
		_, _ = CountNonZero(s)
		_, _ = Auto(s, o)
		index := make([]int64, ndim)
		_, _ = At[int8](s, index...)
		for axis := range index {
			index[axis] = max(shape[axis]-1, 0)
		}
		_, _ = At[int8](s, index...)
		if all, err := NonzeroBytes(s); err == nil {
			for range all {
			}
		}
		if c, ok := s.(*CSR); ok {
			for i := range min(c.Shape()[0], 300) {
				_, _, _ = c.Row(i)
			}
		}
	})
}

func asTensor[T Tensor](t T, err error) (Tensor, error) { return t, err }

// Tensors with long rows, with rows shorter than a run worth looking at, and with several pieces.
func TestConversionsOfLargerTensors(t *testing.T) {
	for _, dt := range []DType{Uint8, Float16, Float32, Int64, Complex128, must(FixedSizeBinary(3))} {
		for _, shape := range [][]int64{{3, 1500}, {1500, 3}, {70, 130}, {1, 17000}, {5, 7, 300}, {60, 20, 5}, {17000}} {
			for _, every := range []int64{3, 101} { // dense enough to be gathered, and sparse enough to be sorted
				n, _ := CheckedProduct(shape, 1)
				width := int64(dt.Size())
				data := make([]byte, n*width)
				for k := int64(0); k < n; k += every - k%2 {
					data[k*width] = byte(k) | 1
				}
				for name, d := range map[string]*Dense{"row-major": must(NewDense(dt, shape, data)), "column-major": must(NewColumnMajor(dt, shape, data))} {
					want := must(ToCOO(d.Clone(), nil))
					same := func(a, b stored) bool { return a.Value == b.Value && slices.Equal(a.Index, b.Index) }
					if !slices.EqualFunc(naiveStored(d), naiveStored(want), same) {
						t.Fatalf("%s %v%v to coo is wrong", name, dt, shape)
					}
					for _, from := range allLayouts {
						if !fits(from, len(shape)) {
							continue
						}
						s := must(Convert(d, from, nil))
						if got := must(ToCOO(s, nil)); !Equal(got, want) {
							t.Fatalf("%s %v%v to %v is wrong", name, dt, shape, from)
						}
						if got := must(ToDense(s, nil)); !Equal(got, d) {
							t.Fatalf("%s %v%v to %v and back is wrong", name, dt, shape, from)
						}
						if n := must(CountNonZero(s)); n != want.NNZ() {
							t.Fatalf("%s %v%v as %v has %d nonzeros, want %d", name, dt, shape, from, n, want.NNZ())
						}
					}
				}
			}
		}
	}
}

// However little memory there is, a conversion either fails cleanly or is right.
func TestEveryAllocationCanBeRefused(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0, 0, 0, 4, 5, 0, 0}, 3, 4)
	unordered := must(NewCOO(Float32, []int64{3, 4}, IndexOf([]int16{2, 1, 0, 1, 2, 1}), BytesOf([]float32{1, 2, 3}), false))
	columns := must(NewColumnMajor(Float32, []int64{30, 40}, append(make([]byte, 4790), 0, 0, 0, 0, 0, 0, 0, 1, 0, 0)))
	for _, from := range allLayouts {
		for name, s := range map[string]Tensor{"matrix": must(Convert(d, from, nil)), "unordered": unordered, "columns": columns} {
			for _, to := range append(slices.Clone(allLayouts), numLayouts) { // the last means Auto
				convert := func(limit int64) (Tensor, error) {
					o := &ConvertOptions{MaxBytes: limit, Duplicates: DuplicatesSum, Indices: IndexInt8}
					if to == numLayouts {
						return Auto(s, o)
					}
					return Convert(s, to, o)
				}
				want := must(convert(0))
				for limit := int64(1); ; limit += 1 + limit/8 {
					got, err := convert(limit)
					if err == nil {
						if !Equal(got, want) {
							t.Errorf("%s, %v to %v within %d bytes is wrong", name, from, to, limit)
						}
						break
					}
					if !errors.Is(err, ErrTooLarge) || got != nil {
						t.Fatalf("%s, %v to %v within %d bytes: %v, %v", name, from, to, limit, got, err)
					}
				}
			}
		}
	}
}

func TestIndex(t *testing.T) {
	for typ := IndexInt8; typ < numIndexTypes; typ++ {
		dt := typ.DType()
		if back, err := IndexTypeOf(dt); back != typ || err != nil || typ.Size() != dt.Size() || typ.String() != dt.String() {
			t.Errorf("%v has %d bytes and is the integer type %v of %d, which is index type %v, %v", typ, typ.Size(), dt, dt.Size(), back, err)
		}
		x := must(NewIndex(typ, make([]byte, 3*typ.Size()+0)))
		x.set(1, typ.Max())
		x.set(2, 5)
		if x.Len() != 3 || x.At(0) != 0 || x.At(1) != typ.Max() || x.At(2) != 5 || x.Type() != typ || x.max() != typ.Max() {
			t.Errorf("%v: %d, %d, %d of %d", typ, x.At(0), x.At(1), x.At(2), x.Len())
		}
		if y := x.Slice(1, 3); y.Len() != 2 || y.At(1) != 5 || &y.Bytes()[0] != &x.Bytes()[typ.Size()] {
			t.Errorf("%v: a slice of %d indices ends with %d", typ, y.Len(), y.At(1))
		}
		if got := x.chunk(make([]uint64, 2), 1); !slices.Equal(got, []uint64{typ.Max(), 5}) {
			t.Errorf("%v: a chunk is %v", typ, got)
		}
		x.set(0, ^uint64(0))
		want := typ.Max()
		if typ&1 == 1 { // signed
			want = ^uint64(0)
		}
		if x.At(0) != want || x.chunk(make([]uint64, 1), 0)[0] != want {
			t.Errorf("%v: −1 is %d, in a chunk %d; want %d", typ, x.At(0), x.chunk(make([]uint64, 1), 0)[0], want)
		}
	}
	for name, typ := range map[string]IndexType{"auto": IndexAuto, "index type(9)": 9} {
		if typ.Valid() || typ.Size() != 0 || typ.Max() != 0 || typ.DType().Valid() || typ.String() != name {
			t.Errorf("%s: valid %v, size %d, max %d, %v, %q", name, typ.Valid(), typ.Size(), typ.Max(), typ.DType(), typ)
		}
	}
	if x := (Index{}); x.Len() != 0 || x.max() != 0 || !x.equal(IndexOf([]int8{})) {
		t.Error("the zero Index is not empty")
	}
	ints := []int{3, 1, 4}
	if got := must(IndexValues[int](IndexOf(ints))); &got[0] != &ints[0] || len(got) != 3 {
		t.Errorf("ints became %v", got)
	}
	if got := must(IndexValues[int64](IndexOf(ints))); got[2] != 4 {
		t.Errorf("ints as int64 became %v", got)
	}
	if got, err := IndexValues[uint16](IndexOf([]uint16{})); len(got) != 0 || got == nil || err != nil {
		t.Errorf("no indices became %v, %v", got, err)
	}
	if !IndexOf([]int8{1, 2}).equal(IndexOf([]uint32{1, 2})) || IndexOf([]int8{1, -1}).equal(IndexOf([]uint8{1, 255})) || IndexOf([]int8{1}).equal(IndexOf([]int8{1, 2})) {
		t.Error("indices are compared wrongly")
	}
}

func TestAccessors(t *testing.T) {
	values := []float32{1, 2}
	coo := must(NewCOO(Float32, []int64{2, 3}, IndexOf([]int32{0, 1, 1, 2}), BytesOf(values), true))
	if row, column := coo.IndexStrides(); row != 8 || column != 4 {
		t.Errorf("index strides %d and %d, want 8 and 4", row, column)
	}
	if v := must(Values[float32](coo)); &v[0] != &values[0] || len(v) != 2 {
		t.Errorf("values of a coo: %v", v)
	}
	defer func() {
		if recover() == nil {
			t.Error("there is a coordinate of an element that there is not")
		}
	}()
	coo.Coordinate(2, 0)
}
