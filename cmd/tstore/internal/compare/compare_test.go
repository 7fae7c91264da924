package compare

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
)

func TestTensors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	strided := func(d *layout.Dense) layout.Tensor {
		x, err := d.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	ts, err := layout.Timestamp(layout.UnitSecond, "")
	if err != nil {
		t.Fatal(err)
	}
	stamps := func(b ...byte) layout.Tensor {
		d, err := layout.NewDense(ts, []int64{1}, append(b, make([]byte, 8-len(b))...))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, c := range map[string]struct {
		a, b layout.Tensor
		want Difference
	}{
		"equal": {
			layout.DenseOf([]float64{1, nan, inf, 0}, 4), layout.DenseOf([]float64{1, nan, inf, 0}, 4),
			Difference{Numbers: true},
		},
		"largest": {
			layout.DenseOf([]float64{1, 2, 3, 4}, 2, 2), layout.DenseOf([]float64{1, 2.5, 3, 2}, 2, 2),
			Difference{Differing: 2, Numbers: true, Max: 2, At: []int64{1, 1}},
		},
		"NaN and infinite": {
			layout.DenseOf([]float64{nan, 1, inf, -inf}, 4), layout.DenseOf([]float64{1, nan, inf, inf}, 4),
			Difference{Differing: 3, NaN: 2, Numbers: true, Max: inf, At: []int64{3}},
		},
		"minus zero": {
			layout.DenseOf([]float32{0, 1}, 2), layout.DenseOf([]float32{float32(math.Copysign(0, -1)), 1}, 2),
			Difference{Differing: 1, Numbers: true, At: []int64{0}},
		},
		"strided": {
			strided(layout.DenseOf([]int16{1, 2, 3, 4, 5, 6}, 2, 3)), layout.DenseOf([]int16{1, 4, 2, 5, 3, 5}, 3, 2),
			Difference{Differing: 1, Numbers: true, Max: 1, At: []int64{2, 1}},
		},
		"integers at both ends": {
			layout.DenseOf([]int64{math.MinInt64}, 1), layout.DenseOf([]int64{math.MaxInt64}, 1),
			Difference{Differing: 1, Numbers: true, Max: 1 << 64, At: []int64{0}},
		},
		"unsigned": {
			layout.DenseOf([]uint8{255}), layout.DenseOf([]uint8{0}),
			Difference{Differing: 1, Numbers: true, Max: 255, At: []int64{}},
		},
		"complex": {
			layout.DenseOf([]complex64{3 + 4i}, 1), layout.DenseOf([]complex64{0}, 1),
			Difference{Differing: 1, Numbers: true, Max: 5, At: []int64{0}},
		},
		"no numbers": {stamps(1), stamps(0, 1), Difference{Differing: 1, At: []int64{0}}},
		"empty":      {layout.DenseOf([]int8{}, 0, 3), layout.DenseOf([]int8{}, 0, 3), Difference{Numbers: true}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, to := range []layout.Layout{layout.LayoutDense, layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSF} {
				if name == "minus zero" && to != layout.LayoutDense || len(c.a.Shape()) == 0 && to != layout.LayoutDense {
					continue // a sparse tensor does not store zeros of either sign
				}
				b, err := layout.Convert(c.b, to, nil)
				if errors.Is(err, layout.ErrLayout) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := Tensors(t.Context(), c.a, b, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(&c.want, got); diff != "" {
					t.Errorf("dense and %v (-want +got):\n%s", to, diff)
				}
				swapped, err := Tensors(t.Context(), b, c.a, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(&c.want, swapped); diff != "" {
					t.Errorf("%v and dense (-want +got):\n%s", to, diff)
				}
			}
		})
	}
}

// Where two large tensors differ is found in any piece.
func TestPieces(t *testing.T) {
	a := make([]float32, 300_000)
	b := make([]float32, 300_000)
	for _, i := range []int{0, 65535, 65536, 123456, 299_999} {
		b[i] = float32(i + 1)
	}
	got, err := Tensors(t.Context(), layout.DenseOf(a, 300, 1000), layout.DenseOf(b, 300, 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Difference{Differing: 5, Numbers: true, Max: 300_000, At: []int64{299, 999}}, got); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Tensors(ctx, layout.DenseOf(a, 300_000), layout.DenseOf(b, 300_000), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Stored zeros and elements that are stored in parts make no difference.
func TestSparse(t *testing.T) {
	coo := func(at []int64, values ...float32) layout.Tensor {
		c, err := layout.NewCOO(layout.Float32, []int64{1 << 40}, layout.IndexOf(at), layout.BytesOf(values), false)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	got, err := Tensors(t.Context(), coo([]int64{9, 1, 5}, 3, 0, 1), coo([]int64{5, 9, 9, 7}, 1, 1, 2, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Differing != 0 {
		t.Errorf("%+v", got)
	}
	got, err = Tensors(t.Context(), coo([]int64{9, 1}, 3, 2), coo([]int64{9, 1 << 39}, 2.5, -7), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Difference{Differing: 3, Numbers: true, Max: 7, At: []int64{1 << 39}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDifferentTypesOrShapes(t *testing.T) {
	x := layout.DenseOf([]float32{1, 2}, 2)
	for _, y := range []layout.Tensor{layout.DenseOf([]float64{1, 2}, 2), layout.DenseOf([]float32{1, 2}, 2, 1), layout.DenseOf([]float32{1}, 1)} {
		if _, err := Tensors(t.Context(), x, y, nil); !errors.Is(err, ErrShape) {
			t.Errorf("%v %v: %v", y.DType(), y.Shape(), err)
		}
	}
}
