package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naiveRowMajor returns the elements of d by the definition: element [i, j, …] lies at
// offset + i·strides[0] + j·strides[1] + ….
func naiveRowMajor(d *Dense) []byte {
	out := []byte{}
	index := make([]int64, d.NDim())
	for range d.Len() {
		off := d.Offset()
		for axis, i := range index {
			off += i * d.Strides()[axis]
		}
		out = append(out, d.Data()[off:off+int64(d.DType().Size())]...)
		for axis := d.NDim() - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < d.Shape()[axis] {
				break
			}
			index[axis] = 0
		}
	}
	return out
}

func drawShape(t *rapid.T, maxDims int, maxDim int64) []int64 {
	return rapid.SliceOfN(rapid.Int64Range(0, maxDim), 0, maxDims).Draw(t, "shape")
}

// drawView returns a tensor of distinct bytes seen through some slices, reversals and transposes.
func drawView(t *rapid.T) *Dense {
	dt := rapid.SampledFrom(everyDType()).Draw(t, "dtype")
	maxDim := int64(7)
	if rapid.Bool().Draw(t, "flat") { // large enough for several tiles
		maxDim = 70
	}
	maxDims := 5
	if maxDim > 7 {
		maxDims = 2
	}
	shape := drawShape(t, maxDims, maxDim)
	n, _ := CheckedProduct(shape, int64(dt.Size()))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*7 + i/251)
	}
	make := NewDense
	if rapid.Bool().Draw(t, "column-major") {
		make = NewColumnMajor
	}
	d := must(make(dt, shape, data))
	if d.NDim() == 0 {
		return d
	}
	for range rapid.IntRange(0, 4).Draw(t, "views") {
		if d.NDim() == 0 {
			break
		}
		axis := rapid.IntRange(0, d.NDim()-1).Draw(t, "axis")
		dim := d.Shape()[axis]
		switch rapid.SampledFrom([]string{"slice", "reverse", "transpose", "index", "broadcast"}).Draw(t, "view") {
		case "slice":
			start := rapid.Int64Range(0, dim).Draw(t, "start")
			stop := rapid.Int64Range(start, dim).Draw(t, "stop")
			d = must(d.Slice(axis, start, stop, rapid.Int64Range(1, 3).Draw(t, "step")))
		case "reverse":
			d = must(d.Slice(axis, dim-1, -1, -rapid.Int64Range(1, 3).Draw(t, "step")))
		case "transpose":
			perm := rapid.Permutation(axes(d.NDim())).Draw(t, "perm")
			d = must(d.Transpose(perm...))
		case "index":
			if dim > 0 {
				d = must(d.Index(axis, rapid.Int64Range(0, dim-1).Draw(t, "i")))
			}
		case "broadcast":
			strides := append([]int64(nil), d.Strides()...)
			strides[axis] = 0
			d = must(NewStrided(d.DType(), d.Shape(), strides, d.Offset(), d.Data()))
		}
	}
	return d
}

func axes(n int) []int {
	a := make([]int, n)
	for i := range a {
		a[i] = i
	}
	return a
}

// However a tensor is strided, every way of reading it in row-major order gives the same bytes.
func TestRowMajorCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawView(t)
		want := naiveRowMajor(d)

		dst := bytes.Repeat([]byte{0xee}, len(want)+3)
		n, err := d.CopyRowMajor(dst)
		if err != nil || n != int64(len(want)) || !bytes.Equal(dst[:n], want) || !bytes.Equal(dst[n:], []byte{0xee, 0xee, 0xee}) {
			t.Fatalf("CopyRowMajor of %v, strides %v: %d bytes, %v\n got %x\nwant %x", d.Shape(), d.Strides(), n, err, dst, want)
		}
		if got := d.AppendRowMajor([]byte("head")); !bytes.Equal(got, append([]byte("head"), want...)) {
			t.Fatalf("AppendRowMajor: got %x, want %x", got[4:], want)
		}
		clone := d.Clone()
		if got := must(clone.Bytes()); !bytes.Equal(got, want) || !Equal(clone, d) {
			t.Fatalf("Clone: got %x, want %x", got, want)
		}
		if got := must(d.Contiguous().Bytes()); !bytes.Equal(got, want) {
			t.Fatalf("Contiguous: got %x, want %x", got, want)
		}
		runs := []byte{}
		for off, n := range d.Runs {
			runs = append(runs, d.Data()[off:off+n]...)
		}
		if !bytes.Equal(runs, want) {
			t.Fatalf("Runs: got %x, want %x", runs, want)
		}
		chunks := []byte{}
		buf := make([]byte, rapid.IntRange(0, 300).Draw(t, "buffer"))
		for c := range d.Chunks(buf) {
			if len(c)%d.DType().Size() != 0 || len(c) == 0 {
				t.Fatalf("a chunk has %d bytes", len(c))
			}
			chunks = append(chunks, c...)
		}
		if !bytes.Equal(chunks, want) {
			t.Fatalf("Chunks: got %x, want %x", chunks, want)
		}
		width := int64(d.DType().Size())
		first := rapid.Int64Range(0, d.Len()).Draw(t, "first")
		count := rapid.Int64Range(0, d.Len()-first).Draw(t, "count")
		part := make([]byte, count*width+rapid.Int64Range(0, width-1).Draw(t, "odd"))
		if n := d.CopyRange(part, first); n != count || !bytes.Equal(part[:n*width], want[first*width:(first+count)*width]) {
			t.Fatalf("CopyRange of %d from %d gave %d:\n got %x\nwant %x", count, first, n, part, want[first*width:(first+count)*width])
		}
		contiguous := bytes.Equal(want, []byte{}) || d.IsContiguous()
		if b, err := d.Bytes(); contiguous != (err == nil) || err == nil && !bytes.Equal(b, want) {
			t.Fatalf("Bytes of a tensor that is contiguous (%v): %x, %v", contiguous, b, err)
		}
	})
}

func TestCopyRowMajorNeedsRoom(t *testing.T) {
	d := DenseOf([]int32{1, 2, 3}, 3)
	if n, err := d.CopyRowMajor(make([]byte, 11)); n != 0 || !errors.Is(err, ErrBounds) {
		t.Errorf("copied %d bytes, %v; want ErrBounds", n, err)
	}
	for _, first := range []int64{-1, 3, math.MaxInt64} {
		if n := d.CopyRange(make([]byte, 12), first); n != 0 {
			t.Errorf("CopyRange from %d copied %d elements", first, n)
		}
	}
}

func TestIterationStopsEarly(t *testing.T) {
	d := must(DenseOf(make([]int32, 64), 8, 8).Transpose())
	runs, chunks := 0, 0
	for range d.Runs {
		if runs++; runs == 3 {
			break
		}
	}
	for range d.Chunks(make([]byte, 16)) {
		if chunks++; chunks == 3 {
			break
		}
	}
	half := must(DenseOf(make([]int32, 64), 8, 8).Slice(1, 0, 4, 1))
	for range half.Chunks(make([]byte, 16)) {
		if chunks++; chunks == 5 {
			break
		}
	}
	if runs != 3 || chunks != 5 {
		t.Errorf("%d runs and %d chunks, want 3 and 5", runs, chunks)
	}
}

// Chunks hands out the tensor's own memory where it can.
func TestChunksBorrow(t *testing.T) {
	d := DenseOf(make([]int64, 1000), 10, 100)
	for name, v := range map[string]*Dense{"contiguous": d, "rows": must(d.Slice(0, 0, 10, 2))} {
		for c := range v.Chunks(make([]byte, 64)) {
			if &c[0] != &d.Data()[cap(d.Data())-cap(c)] {
				t.Errorf("%s: a chunk of %d bytes is a copy", name, len(c))
			}
		}
	}
}

func TestLayoutOrders(t *testing.T) {
	data := make([]byte, 4*24)
	for _, c := range []struct {
		name           string
		shape, strides []int64
		row, col       bool
	}{
		{"scalar", nil, nil, true, true},
		{"vector", []int64{5}, []int64{4}, true, true},
		{"strided vector", []int64{5}, []int64{8}, false, false},
		{"one element, odd stride", []int64{1}, []int64{-80}, true, true},
		{"row-major", []int64{2, 3}, []int64{12, 4}, true, false},
		{"column-major", []int64{2, 3}, []int64{4, 8}, false, true},
		{"row of a matrix", []int64{1, 3}, []int64{80, 4}, true, true},
		{"column of a matrix", []int64{3, 1}, []int64{4, 80}, true, true},
		{"axes of 1 in between", []int64{2, 1, 3, 1}, []int64{12, 7, 4, 9}, true, false},
		{"gap", []int64{2, 3}, []int64{16, 4}, false, false},
		{"broadcast", []int64{2, 3}, []int64{0, 4}, false, false},
		{"no elements", []int64{0, 3}, []int64{math.MinInt64, math.MaxInt64}, true, true},
	} {
		d, err := NewStrided(Float32, c.shape, c.strides, 0, data)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d.IsContiguous() != c.row || d.IsColumnMajor() != c.col {
			t.Errorf("%s: contiguous %v, column-major %v; want %v, %v", c.name, d.IsContiguous(), d.IsColumnMajor(), c.row, c.col)
		}
	}
}

func TestScalarAndEmpty(t *testing.T) {
	scalar := DenseOf([]float32{7.5})
	if scalar.Len() != 1 || scalar.NDim() != 0 || scalar.NumBytes() != 4 || scalar.NNZ() != 1 {
		t.Errorf("scalar: len %d, ndim %d, bytes %d", scalar.Len(), scalar.NDim(), scalar.NumBytes())
	}
	if v := must(Values[float32](scalar)); len(v) != 1 || v[0] != 7.5 {
		t.Errorf("scalar holds %v", v)
	}
	empty := DenseOf([]float32{}, 0, 3)
	if empty.Len() != 0 || empty.NumBytes() != 0 {
		t.Errorf("empty: len %d, bytes %d", empty.Len(), empty.NumBytes())
	}
	if v, err := Values[float32](empty); len(v) != 0 || v == nil || err != nil {
		t.Errorf("empty holds %v, %v", v, err)
	}
	huge, err := NewDense(Float64, []int64{math.MaxInt64, 0, math.MaxInt64}, nil)
	if err != nil || huge.Len() != 0 {
		t.Errorf("empty beside huge: %v, %v", huge, err)
	}
	if got := must(must(huge.Transpose()).Slice(0, math.MaxInt64-1, 3, -5)).Len(); got != 0 {
		t.Errorf("a slice of an empty tensor has %d elements", got)
	}
}

func TestDataMustFitExactly(t *testing.T) {
	for _, n := range []int{0, 23, 25} {
		if _, err := NewDense(Float32, []int64{2, 3}, make([]byte, n)); !errors.Is(err, ErrBounds) {
			t.Errorf("%d bytes for 24: %v, want ErrBounds", n, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("DenseOf took 3 values for 4")
		}
	}()
	DenseOf([]int8{1, 2, 3}, 2, 2)
}

func TestNewStridedBounds(t *testing.T) {
	for _, c := range []struct {
		name           string
		shape, strides []int64
		offset         int64
		size           int
		want           error
	}{
		{"exact", []int64{2, 3}, []int64{12, 4}, 0, 24, nil},
		{"one byte short", []int64{2, 3}, []int64{12, 4}, 0, 23, ErrBounds},
		{"offset one too far", []int64{2, 3}, []int64{12, 4}, 1, 24, ErrBounds},
		{"reversed", []int64{3}, []int64{-4}, 8, 12, nil},
		{"reversed, one element too far", []int64{3}, []int64{-4}, 4, 12, ErrBounds},
		{"both directions", []int64{2, 3}, []int64{-12, 4}, 12, 24, nil},
		{"unaligned strides", []int64{3}, []int64{5}, 1, 15, nil},
		{"broadcast", []int64{1 << 40}, []int64{0}, 0, 4, nil},
		{"stride overflow", []int64{3}, []int64{math.MaxInt64}, 0, 12, ErrBounds},
		{"smallest stride", []int64{2}, []int64{math.MinInt64}, 8, 12, ErrBounds},
		{"strides that cancel out", []int64{3, 3}, []int64{1 << 62, -1 << 62}, 0, 12, ErrBounds},
		{"sum overflows", []int64{2, 2, 2}, []int64{1 << 62, 1 << 62, 1 << 62}, 0, 100, ErrBounds},
		{"negative offset", []int64{1}, []int64{4}, -4, 12, ErrBounds},
		{"offset at the end", []int64{1}, []int64{4}, 12, 12, ErrBounds},
		{"largest offset", []int64{1}, []int64{4}, math.MaxInt64, 12, ErrBounds},
		{"empty at the end", []int64{0}, []int64{math.MinInt64}, 12, 12, nil},
		{"empty past the end", []int64{0}, []int64{4}, 13, 12, ErrBounds},
		{"no stride", []int64{1}, nil, 0, 12, ErrShape},
		{"too many strides", []int64{1}, []int64{4, 4}, 0, 12, ErrShape},
	} {
		d, err := NewStrided(Int32, c.shape, c.strides, c.offset, make([]byte, c.size))
		if !errors.Is(err, c.want) || (err == nil) != (d != nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// FuzzNewStrided: what is taken lies inside its data by exact arithmetic, and what is refused
// does not.
func FuzzNewStrided(f *testing.F) {
	seed := func(width byte, size uint16, offset int64, dims ...int64) {
		b := []byte{}
		for _, v := range dims {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		f.Add(width, size, offset, b)
	}
	seed(4, 24, 0, 2, 12, 3, 4)
	seed(4, 12, 8, 3, -4)
	seed(1, 8, 0, 1<<62, 0, 2, math.MinInt64)
	seed(16, 100, 50, 0, 5, 3, math.MaxInt64)
	seed(2, 10, 4, math.MaxInt64, 2, 2, 2)
	seed(8, 64, 0)
	f.Fuzz(func(t *testing.T, width byte, size uint16, offset int64, dims []byte) {
		dt, err := FixedSizeBinary(int(width))
		if err != nil {
			return
		}
		var shape, strides []int64
		for ; len(dims) >= 16 && len(shape) < 10; dims = dims[16:] {
			shape = append(shape, int64(binary.LittleEndian.Uint64(dims)))
			strides = append(strides, int64(binary.LittleEndian.Uint64(dims[8:])))
		}
		data := make([]byte, size)
		d, err := NewStrided(dt, shape, strides, offset, data)

		valid := offset >= 0 && offset <= int64(size)
		low, high, count := big.NewInt(offset), big.NewInt(offset), big.NewInt(int64(width))
		empty := false
		for i, n := range shape {
			valid = valid && n >= 0
			empty = empty || n == 0
			reach := new(big.Int).Mul(big.NewInt(n-1), big.NewInt(strides[i]))
			if reach.Sign() < 0 {
				low.Add(low, reach)
			} else {
				high.Add(high, reach)
			}
			count.Mul(count, big.NewInt(n))
		}
		high.Add(high, big.NewInt(int64(width)))
		if !empty {
			valid = valid && count.IsInt64() && low.Sign() >= 0 && high.Cmp(big.NewInt(int64(size))) <= 0
		}
		if (err == nil) != valid {
			t.Fatalf("shape %v, strides %v, offset %d, width %d in %d bytes: %v, but valid is %v", shape, strides, offset, width, size, err, valid)
		}
		if err != nil || d.Len() > 1000 {
			return
		}
		if got, want := d.AppendRowMajor(nil), naiveRowMajor(d); !bytes.Equal(got, want) {
			t.Fatalf("shape %v, strides %v: got %x, want %x", shape, strides, got, want)
		}
	})
}

func TestSlice(t *testing.T) {
	d := DenseOf([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10)
	for _, c := range []struct {
		start, stop, step int64
		want              []int32
	}{
		{0, 10, 1, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{2, 5, 1, []int32{2, 3, 4}},
		{1, 10, 3, []int32{1, 4, 7}},
		{1, 8, 3, []int32{1, 4, 7}},
		{1, 7, 3, []int32{1, 4}},
		{4, 4, 1, []int32{}},
		{10, 10, 1, []int32{}},
		{9, -1, -1, []int32{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
		{8, 2, -3, []int32{8, 5}},
		{8, 1, -3, []int32{8, 5, 2}},
		{5, 5, -1, []int32{}},
		{-1, -1, -1, []int32{}},
		{3, 10, math.MaxInt64, []int32{3}},
		{3, -1, math.MinInt64, []int32{3}},
	} {
		v, err := d.Slice(0, c.start, c.stop, c.step)
		if err != nil {
			t.Errorf("%d:%d:%d: %v", c.start, c.stop, c.step, err)
			continue
		}
		if diff := cmp.Diff(c.want, must(Values[int32](v.Contiguous()))); diff != "" {
			t.Errorf("%d:%d:%d: %s", c.start, c.stop, c.step, diff)
		}
	}
	for _, c := range []struct {
		axis              int
		start, stop, step int64
		want              error
	}{
		{0, 0, 10, 0, ErrShape}, {1, 0, 1, 1, ErrShape}, {-1, 0, 1, 1, ErrShape},
		{0, -1, 5, 1, ErrBounds}, {0, 5, 4, 1, ErrBounds}, {0, 0, 11, 1, ErrBounds}, {0, 11, 11, 1, ErrBounds},
		{0, 10, 0, -1, ErrBounds}, {0, 4, 5, -1, ErrBounds}, {0, 4, -2, -1, ErrBounds},
	} {
		if _, err := d.Slice(c.axis, c.start, c.stop, c.step); !errors.Is(err, c.want) {
			t.Errorf("slice %d:%d:%d of axis %d: %v, want %v", c.start, c.stop, c.step, c.axis, err, c.want)
		}
	}
}

func TestViewsShareMemoryAndNames(t *testing.T) {
	d := must(DenseOf([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, 2, 3, 4).WithDimNames("x", "y", "z"))
	for _, c := range []struct {
		name  string
		view  *Dense
		shape []int64
		names []string
		want  []int32
	}{
		{"slice", must(d.Slice(1, 0, 2, 1)), []int64{2, 2, 4}, []string{"x", "y", "z"}, []int32{0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19}},
		{"index", must(d.Index(1, 2)), []int64{2, 4}, []string{"x", "z"}, []int32{8, 9, 10, 11, 20, 21, 22, 23}},
		{"index twice", must(must(d.Index(0, 1)).Index(1, 3)), []int64{3}, []string{"y"}, []int32{15, 19, 23}},
		{"transpose", must(must(d.Index(0, 0)).Transpose()), []int64{4, 3}, []string{"z", "y"}, []int32{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{"permuted", must(must(d.Slice(2, 0, 1, 1)).Transpose(1, 0, 2)), []int64{3, 2, 1}, []string{"y", "x", "z"}, []int32{0, 12, 4, 16, 8, 20}},
		{"reshape", must(d.Reshape(4, 6)), []int64{4, 6}, nil, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
		{"clone keeps names", d.Clone(), []int64{2, 3, 4}, []string{"x", "y", "z"}, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
		{"names off", must(must(d.Index(0, 0)).WithDimNames()), []int64{3, 4}, nil, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
	} {
		if diff := cmp.Diff(c.shape, c.view.Shape()); diff != "" {
			t.Errorf("%s: shape: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.names, c.view.DimNames()); diff != "" {
			t.Errorf("%s: names: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.want, must(Values[int32](c.view.Contiguous()))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if shares := &c.view.Data()[0] == &d.Data()[0]; shares == (c.name == "clone keeps names") {
			t.Errorf("%s: shares memory: %v", c.name, shares)
		}
	}
}

func TestViewErrors(t *testing.T) {
	d := DenseOf(make([]int32, 6), 2, 3)
	strided := must(d.Transpose())
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"index axis":           {errOf(d.Index(2, 0)), ErrShape},
		"index":                {errOf(d.Index(1, 3)), ErrBounds},
		"negative index":       {errOf(d.Index(1, -1)), ErrBounds},
		"short permutation":    {errOf(d.Transpose(0)), ErrShape},
		"repeated axis":        {errOf(d.Transpose(1, 1)), ErrShape},
		"axis not there":       {errOf(d.Transpose(0, 2)), ErrShape},
		"reshape count":        {errOf(d.Reshape(7)), ErrShape},
		"reshape strided":      {errOf(strided.Reshape(6)), ErrNotContiguous},
		"reshape negative":     {errOf(d.Reshape(-1)), ErrShape},
		"names":                {errOf(d.WithDimNames("x")), ErrShape},
		"reinterpret":          {errOf(d.Reinterpret(Int64)), ErrDType},
		"reinterpret invalid":  {errOf(d.Reinterpret(DType{})), ErrDType},
		"values type":          {errOf(Values[uint32](d)), ErrDType},
		"values not Go's":      {errOf(Values[uint16](DenseOf([]F16{1}, 1))), ErrDType},
		"values strided":       {errOf(Values[int32](strided)), ErrNotContiguous},
		"values bool":          {errOf(Values[bool](must(NewDense(Bool, []int64{9}, []byte{0, 1, 0, 1, 0, 1, 0, 1, 2})))), ErrValue},
		"values bool early":    {errOf(Values[bool](must(NewDense(Bool, []int64{9}, []byte{0, 1, 255, 1, 0, 1, 0, 1, 0})))), ErrValue},
		"values of a date":     {errOf(Values[int32](must(d.Reinterpret(must(Date(UnitDay)))))), ErrDType},
		"names in Init":        {new(Dense).Init(Int8, []int64{1}, []int64{1}, 0, []byte{1}, []string{}), ErrShape},
		"strides in Init":      {new(Dense).Init(Int8, []int64{1}, nil, 0, []byte{1}, nil), ErrShape},
		"values of zero Dense": {errOf(Values[int32](new(Dense))), ErrDType},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }

func TestValuesShareMemory(t *testing.T) {
	want := []float64{1, 2, 3, 4}
	got := must(Values[float64](DenseOf(want, 2, 2)))
	if &got[0] != &want[0] || len(got) != 4 {
		t.Error("Values is not the slice that the tensor was made of")
	}
	part := must(Values[float64](must(DenseOf(want, 2, 2).Index(0, 1))))
	if &part[0] != &want[2] || len(part) != 2 || cap(part) != 2 {
		t.Errorf("values of row 1: %v with capacity %d", part, cap(part))
	}
	type celsius float64
	if v := must(Values[celsius](DenseOf(want, 4))); v[3] != 4 {
		t.Errorf("as a named type: %v", v)
	}
	flags := must(Values[bool](must(NewDense(Bool, []int64{3}, []byte{1, 0, 1}))))
	if diff := cmp.Diff([]bool{true, false, true}, flags); diff != "" {
		t.Error(diff)
	}
	days := must(must(NewDense(must(Date(UnitDay)), []int64{1}, []byte{1, 1, 0, 0})).Reinterpret(Int32))
	if v := must(Values[int32](days)); v[0] != 257 {
		t.Errorf("a date as int32: %v", v)
	}
}

func TestValuesRefusesMisalignment(t *testing.T) {
	aligned := BytesOf(make([]uint64, 3))
	for shift := range 8 {
		d := must(NewStrided(Float32, []int64{2}, []int64{4}, int64(shift), aligned))
		_, err := Values[float32](d)
		if shift%4 == 0 && err != nil || shift%4 != 0 && !errors.Is(err, ErrMisaligned) {
			t.Errorf("%d bytes past a multiple of 8: %v", shift, err)
		}
		if _, err := Values[float32](d.Clone()); err != nil {
			t.Errorf("after Clone: %v", err)
		}
	}
	if _, err := Values[uint8](must(NewStrided(Uint8, []int64{2}, []int64{1}, 1, aligned))); err != nil {
		t.Errorf("bytes at an odd address: %v", err)
	}
}

func TestEqualDense(t *testing.T) {
	nan := math.NaN()
	a := DenseOf([]float64{0, 1, nan, 3}, 2, 2)
	for _, c := range []struct {
		name string
		b    Tensor
		want bool
	}{
		{"itself", a, true},
		{"a copy", a.Clone(), true},
		{"other strides", must(DenseOf([]float64{0, nan, 1, 3}, 2, 2).Transpose()), true},
		{"other names", must(a.WithDimNames("x", "y")), true},
		{"other value", DenseOf([]float64{0, 1, nan, 4}, 2, 2), false},
		{"other value, strided", must(DenseOf([]float64{0, nan, 1, 4}, 2, 2).Transpose()), false},
		{"minus zero", DenseOf([]float64{math.Copysign(0, -1), 1, nan, 3}, 2, 2), false},
		{"other shape", must(a.Reshape(4)), false},
		{"other dimensions", must(a.Reshape(4, 1)), false},
		{"other type", must(a.Reinterpret(Int64)), false},
	} {
		if got := Equal(a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if got := Equal(c.b, a); got != c.want {
			t.Errorf("%s, the other way round: %v, want %v", c.name, got, c.want)
		}
	}
	named := must(a.WithDimNames("x", "y"))
	empty := must(a.WithDimNames("", ""))
	if !SameDimNames(a, empty) || SameDimNames(a, named) || SameDimNames(named, a) || SameDimNames(a, must(a.Reshape(4))) || !SameDimNames(named, must(a.WithDimNames("x", "y"))) {
		t.Error("SameDimNames: no names and empty names are the same, all others are not")
	}
}

func TestCheapCallsDoNotAllocate(t *testing.T) {
	d := DenseOf(make([]float32, 24), 2, 3, 4)
	data, shape, strides := d.Data(), d.Shape(), d.Strides()
	dst := make([]byte, 96)
	column := must(d.Transpose())
	var into Dense
	var tensor Tensor = d
	for name, f := range map[string]func(){
		"Values": func() {
			if v, err := Values[float32](tensor); err != nil || len(v) != 24 {
				t.Error(err)
			}
		},
		"Shape": func() { _ = tensor.Shape()[0] + int64(tensor.DType().Size()) },
		"Init": func() {
			if err := into.Init(Float32, shape, strides, 0, data, nil); err != nil {
				t.Error(err)
			}
		},
		"CopyRowMajor": func() {
			if _, err := column.CopyRowMajor(dst); err != nil {
				t.Error(err)
			}
		},
		"Chunks": func() {
			for c := range column.Chunks(dst) {
				_ = c
			}
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = NewDense(Float32, shape, data) }); n > 1 {
		t.Errorf("NewDense allocates %v times, want once", n)
	}
}

func BenchmarkCopyRowMajor(b *testing.B) {
	const side = 2048
	data := make([]byte, side*side*8)
	dst := make([]byte, len(data))
	for _, dt := range []DType{Int8, Int16, Float32, Float64, Complex128} {
		rows := int64(len(data) / side / dt.Size())
		for name, d := range map[string]*Dense{
			"contiguous":   must(NewDense(dt, []int64{rows, side}, data)),
			"column-major": must(NewColumnMajor(dt, []int64{rows, side}, data)),
			"every other":  must(must(NewDense(dt, []int64{rows, side}, data)).Slice(1, 0, side, 2)),
			"half rows":    must(must(NewDense(dt, []int64{rows, side}, data)).Slice(1, 0, side/2, 1)),
		} {
			b.Run(dt.String()+"/"+name, func(b *testing.B) {
				b.SetBytes(d.NumBytes())
				for b.Loop() {
					d.CopyRange(dst, 0)
				}
			})
		}
	}
}

// Matrices large enough for whole tiles, tiles that are cut off, and other sources than columns.
func TestTransposedCopies(t *testing.T) {
	for _, dt := range []DType{Int8, Int16, Float32, Float64, Complex128, must(FixedSizeBinary(3))} {
		for _, shape := range [][]int64{{64, 64}, {130, 65}, {70, 200}, {3, 64, 2, 66}, {8, 8}, {9, 17}} {
			n, _ := CheckedProduct(shape, int64(dt.Size()))
			data := make([]byte, 2*n)
			for i := range data {
				data[i] = byte(i*31 + i/255)
			}
			columns := must(NewColumnMajor(dt, shape, data[:n]))
			// Every other element of each column.
			strides := make([]int64, len(shape))
			ColumnMajorStrides(strides, shape, 2*int64(dt.Size()))
			gaps := must(NewStrided(dt, shape, strides, 0, data))
			for name, d := range map[string]*Dense{"columns": columns, "gaps": gaps, "upside down": must(columns.Slice(0, shape[0]-1, -1, -1))} {
				if !bytes.Equal(d.AppendRowMajor(nil), naiveRowMajor(d)) {
					t.Errorf("%s of %v, shape %v, are copied wrongly", name, dt, shape)
				}
			}
		}
	}
}
