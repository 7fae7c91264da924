package layout

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// unset returns the zero tensor of a layout.
func unset(l Layout) Tensor {
	switch l {
	case LayoutCOO:
		return new(COO)
	case LayoutCSR:
		return new(CSR)
	case LayoutCSC:
		return new(CSC)
	case LayoutCSF:
		return new(CSF)
	}
	return new(Dense)
}

// convertInto calls the …Into function for the layout of dst.
func convertInto(dst, t Tensor, o *ConvertOptions) error {
	switch dst := dst.(type) {
	case *Dense:
		return ToDenseInto(dst, t, o)
	case *COO:
		return ToCOOInto(dst, t, o)
	case *CSR:
		return ToCSRInto(dst, t, o)
	case *CSC:
		return ToCSCInto(dst, t, o)
	case *CSF:
		return ToCSFInto(dst, t, o)
	}
	panic("no such layout")
}

// memoryOf returns all arrays of a tensor.
func memoryOf(t Tensor) [][]byte {
	switch t := t.(type) {
	case *Dense:
		return [][]byte{t.data}
	case *COO:
		return [][]byte{t.data, t.indices.data}
	case *CSR:
		return [][]byte{t.data, t.indices.data, t.indptr.data}
	case *CSC:
		return [][]byte{t.data, t.indices.data, t.indptr.data}
	case *CSF:
		all := [][]byte{t.data}
		for _, x := range slices.Concat(t.indptr, t.indices) {
			all = append(all, x.data)
		}
		return all
	}
	return nil
}

func cloneAll(list [][]byte) [][]byte {
	var all [][]byte
	for _, b := range list {
		all = append(all, bytes.Clone(b))
	}
	return all
}

// A tensor that conversions go into, one after the other, is each time what a new one would be, whatever it was
// before, and no source changes or shares memory with it.
func TestIntoIsTheSameAsNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dst := map[Layout]Tensor{}
		for _, l := range allLayouts {
			dst[l] = unset(l)
		}
		for range 4 {
			shape := rapid.SliceOfN(rapid.Int64Range(0, 6), 0, 4).Draw(t, "shape")
			if rapid.Bool().Draw(t, "matrix") {
				shape = rapid.SliceOfN(rapid.Int64Range(0, 12), 2, 2).Draw(t, "matrix shape")
			}
			d := drawSparseDense(t, shape)
			for _, from := range allLayouts {
				if !fits(from, d.NDim()) {
					continue
				}
				s := must(Convert(d, from, nil))
				before := cloneAll(memoryOf(s))
				for _, to := range allLayouts {
					o := drawOptions(t, d.NDim(), d.Len())
					if !fits(to, d.NDim()) {
						if err := convertInto(dst[to], s, o); !errors.Is(err, ErrLayout) || dst[to].DType().Valid() || dst[to].NNZ() != 0 {
							t.Fatalf("%v into %v: %v, and the result is %+v", from, to, err, dst[to])
						}
						continue
					}
					if to == LayoutDense {
						o = &ConvertOptions{}
					}
					want := must(Convert(s, to, o))
					if err := convertInto(dst[to], s, o); err != nil {
						t.Fatalf("%v into %v: %v", from, to, err)
					}
					checkConverted(t, dst[to], d, o)
					if !Equal(dst[to], want) {
						t.Fatalf("%v into %v:\n got %+v\nwant %+v", from, to, dst[to], want)
					}
					for _, b := range memoryOf(dst[to]) {
						if liesIn(s, b[:cap(b)]) {
							t.Fatalf("%v into %v: the result lies in the source", from, to)
						}
					}
				}
				for i, b := range memoryOf(s) {
					if !bytes.Equal(b, before[i]) {
						t.Fatalf("array %d of a %v has changed", i, from)
					}
				}
			}
		}
	})
}

// The memory that a constructor was given is used, and nothing around it.
func TestIntoBorrowedMemory(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0}, 2, 3)
	around := func(n int) []byte { return bytes.Repeat([]byte{0xa5}, n) }
	for _, room := range []int{3, 4, 2, 0} { // elements
		data, idx, ptr := around(100), around(100), around(100)
		dst := must(NewCSR(Float32, []int64{2, 3}, must(NewIndex(IndexInt16, ptr[8:14])), must(NewIndex(IndexInt8, idx[8:8+room])), data[8:8+4*room]))
		if err := ToCSRInto(dst, d, nil); err != nil {
			t.Fatal(err)
		}
		if !Equal(dst, must(ToCSR(d, nil))) {
			t.Errorf("room for %d: the result is %+v", room, dst)
		}
		for name, b := range map[string][]byte{"data": data, "indices": idx, "indptr": ptr} {
			inside := map[string]int{"data": 4 * room, "indices": room, "indptr": 6}[name]
			if !bytes.Equal(b[:8], around(8)) || !bytes.Equal(b[8+inside:], around(92-inside)) {
				t.Errorf("room for %d: bytes beside %s have changed: %x", room, name, b)
			}
		}
		if used := &dst.data[0] == &data[8]; used != (room >= 3) {
			t.Errorf("room for %d elements is used: %v", room, used)
		}
	}
	// A dense tensor whose elements do not lie side by side lends nothing.
	data := around(48)
	for name, dst := range map[string]*Dense{
		"columns": must(NewColumnMajor(Float32, []int64{2, 3}, data[:24])),
		"gaps":    must(must(NewDense(Float32, []int64{2, 6}, data)).Slice(1, 0, 6, 2)),
	} {
		if err := ToDenseInto(dst, must(ToCOO(d, nil)), nil); err != nil || !Equal(dst, d) || !bytes.Equal(data, around(48)) {
			t.Errorf("%s: %v, %v, in %x", name, err, dst, data)
		}
	}
	whole := must(NewDense(Float32, []int64{4, 3}, data))
	rows := must(whole.Slice(0, 1, 3, 1))
	if err := ToDenseInto(rows, must(ToCOO(d, nil)), nil); err != nil || !Equal(rows, d) {
		t.Errorf("two rows: %v, %v", err, rows)
	}
	if !bytes.Equal(data[:12], around(12)) || !bytes.Equal(data[36:], around(12)) || !bytes.Equal(data[12:36], d.Data()) {
		t.Errorf("two rows of four: %x", data)
	}
}

// A tensor may be converted into itself or a part of itself, and stays what it was if that fails.
func TestIntoItself(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0, 0, 0, 4}, 3, 3)
	for _, l := range allLayouts {
		for name, s := range map[string]Tensor{"made": must(Convert(d, l, nil)), "borrowed": borrowed(must(Convert(d, l, nil)))} {
			if l == LayoutCSF {
				s = must(Convert(s, l, &ConvertOptions{AxisOrder: []int{1, 0}}))
			}
			before := cloneAll(memoryOf(s))
			memory := memoryOf(s)
			wide := &ConvertOptions{Indptr: IndexInt64, Indices: IndexInt64}
			want := must(Convert(s, l, wide))
			if err := convertInto(s, s, &ConvertOptions{MaxBytes: 1}); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s %v: %v, want ErrTooLarge", name, l, err)
			}
			if !Equal(must(Convert(s, l, wide)), want) {
				t.Errorf("%s %v has changed by a conversion into itself that failed: %+v", name, l, s)
			}
			if err := convertInto(s, s, wide); err != nil || !Equal(s, want) {
				t.Errorf("%s %v into itself: %v, %+v", name, l, err, s)
			}
			for i, b := range memory {
				if !bytes.Equal(b, before[i]) {
					t.Errorf("%s %v: array %d was written to", name, l, i)
				}
			}
		}
	}
	// A view of the destination is a source like any other.
	dst := must(ToDense(d, nil))
	turned := must(dst.Transpose())
	want := must(turned.Clone().Transpose(0, 1))
	if err := ToDenseInto(dst, turned, nil); err != nil || !Equal(dst, want) {
		t.Errorf("transposed into itself: %v, %v", err, dst)
	}
}

// borrowed returns a tensor as a constructor would make it of the arrays of t.
func borrowed(t Tensor) Tensor {
	switch t := t.(type) {
	case *Dense:
		return must(NewDense(t.dtype, t.shape, t.data))
	case *COO:
		return must(NewCOO(t.dtype, t.shape, t.indices, t.data, true))
	case *CSR:
		return must(NewCSR(t.dtype, t.shape, t.indptr, t.indices, t.data))
	case *CSC:
		return must(NewCSC(t.dtype, t.shape, t.indptr, t.indices, t.data))
	case *CSF:
		return must(NewCSF(t.dtype, t.shape, t.order, t.indptr, t.indices, t.data))
	}
	return nil
}

// Views of a result do not lend its memory.
func TestViewsOfResultsLendNothing(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0}, 2, 3)
	for _, l := range allLayouts {
		s := must(Convert(d, l, nil))
		want := cloneAll(memoryOf(s))
		var v Tensor
		switch s := s.(type) {
		case *Dense:
			v = must(s.Transpose())
		case *COO:
			v = must(s.WithDimNames("a", "b"))
		case *CSR:
			v = must(s.WithDimNames("a", "b"))
		case *CSC:
			v = must(s.WithDimNames("a", "b"))
		case *CSF:
			v = must(s.WithDimNames("a", "b"))
		}
		shape := slices.Clone(s.Shape())
		// Longer arrays find no room in those of the view, which end where its own end.
		if err := convertInto(v, DenseOf(make([]float32, 63), 7, 9), nil); err != nil {
			t.Fatal(err)
		}
		full := make([]float32, 63)
		for i := range full {
			full[i] = 1
		}
		if err := convertInto(v, DenseOf(full, 7, 9), nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Shape(), shape) {
			t.Errorf("the shape of a %v is %v after a conversion into a view of it", l, s.Shape())
		}
		if l == LayoutDense && !bytes.Equal(memoryOf(s)[0], want[0]) {
			t.Error("a conversion into a transposed view wrote to what it is a view of")
		}
	}
}

// After an error the memory is there for the next conversion.
func TestIntoAfterAnError(t *testing.T) {
	d := DenseOf([]float32{0, 1, 0, 2, 3, 0}, 2, 3)
	bad := must(NewCOO(Float32, []int64{2, 3}, IndexOf([]int8{0, 5}), BytesOf([]float32{1}), false))
	for _, l := range allLayouts {
		dst := must(Convert(d, l, nil))
		before := memoryOf(dst)
		if err := convertInto(dst, bad, nil); !errors.Is(err, ErrIndex) {
			t.Fatalf("%v: %v, want ErrIndex", l, err)
		}
		if dst.DType().Valid() || dst.NNZ() != 0 {
			t.Errorf("%v is set after an error: %+v", l, dst)
		}
		if _, err := Convert(dst, LayoutCOO, nil); !errors.Is(err, ErrDType) {
			t.Errorf("converting an unset %v: %v, want ErrDType", l, err)
		}
		if err := convertInto(dst, d, nil); err != nil {
			t.Fatal(err)
		}
		for i, b := range memoryOf(dst) {
			if &b[0] != &before[i][0] {
				t.Errorf("%v: array %d has new memory", l, i)
			}
		}
	}
}

// A loop of conversions into the same tensors allocates nothing once they have grown.
func TestIntoAllocatesNothing(t *testing.T) {
	for _, shape := range [][]int64{{60, 800}, {3000, 5}, {6, 10, 20, 15}} {
		for _, every := range []int{3, 40} {
			n, _ := CheckedProduct(shape, 1)
			values := make([]float32, n)
			for i := 0; i < len(values); i += every - i%2 {
				values[i] = float32(i + 1)
			}
			rows := DenseOf(values, shape...)
			columns := must(NewColumnMajor(Float32, shape, rows.Data()))
			named := must(rows.WithDimNames([]string{"a", "b", "c", "d"}[:len(shape)]...))
			for name, d := range map[string]*Dense{"rows": rows, "columns": columns, "named": named} {
				for _, from := range allLayouts {
					for _, to := range allLayouts {
						if !fits(from, len(shape)) || !fits(to, len(shape)) {
							continue
						}
						var s Tensor = d
						if from != LayoutDense {
							s = must(Convert(d, from, nil))
						}
						dst := unset(to)
						for _, o := range []*ConvertOptions{nil, {Indices: IndexInt64, Indptr: IndexInt64}} {
							// The garbage collector may take what is kept for the next conversion.
							n := 1.0
							for range 5 {
								if n = testing.AllocsPerRun(3, func() {
									if err := convertInto(dst, s, o); err != nil {
										t.Fatal(err)
									}
								}); n == 0 {
									break
								}
							}
							if n != 0 && !raceDetector {
								t.Errorf("%s %v, 1 in %d, %v into %v: %v allocations", name, shape, every, from, to, n)
							}
						}
					}
				}
			}
		}
	}
}
