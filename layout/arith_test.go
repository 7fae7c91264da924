package layout

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckedArithmetic(t *testing.T) {
	const big = math.MaxInt64
	for _, c := range []struct {
		name   string
		got    func() (int64, bool)
		want   int64
		wantOK bool
	}{
		{"product of nothing", func() (int64, bool) { return CheckedProduct(nil, 8) }, 8, true},
		{"product", func() (int64, bool) { return CheckedProduct([]int64{2, 3}, 4) }, 24, true},
		{"largest product", func() (int64, bool) { return CheckedProduct([]int64{big}, 1) }, big, true},
		{"2^62 × 2", func() (int64, bool) { return CheckedProduct([]int64{1 << 62}, 2) }, 0, false},
		{"2^32 × 2^32", func() (int64, bool) { return CheckedProduct([]int64{1 << 32, 1 << 32}, 1) }, 0, false},
		{"empty beside huge", func() (int64, bool) { return CheckedProduct([]int64{big, big, 0}, 8) }, 0, true},
		{"negative beside zero", func() (int64, bool) { return CheckedProduct([]int64{0, -1}, 8) }, 0, false},
		{"negative size", func() (int64, bool) { return CheckedProduct([]int64{1}, -8) }, 0, false},
		{"mul negative", func() (int64, bool) { return CheckedMul(-1, 1) }, 0, false},
		{"mul largest", func() (int64, bool) { return CheckedMul(big, 1) }, big, true},
		{"mul too large", func() (int64, bool) { return CheckedMul(big, 2) }, 0, false},
		{"add largest", func() (int64, bool) { return CheckedAdd(big-1, 1) }, big, true},
		{"add too large", func() (int64, bool) { return CheckedAdd(big, 1) }, 0, false},
		{"add negative", func() (int64, bool) { return CheckedAdd(5, -1) }, 0, false},
		{"align 0", func() (int64, bool) { return CheckedAlign64(0) }, 0, true},
		{"align 1", func() (int64, bool) { return CheckedAlign64(1) }, 64, true},
		{"align 64", func() (int64, bool) { return CheckedAlign64(64) }, 64, true},
		{"align 65", func() (int64, bool) { return CheckedAlign64(65) }, 128, true},
		{"align largest", func() (int64, bool) { return CheckedAlign64(big - 63) }, big - 63, true},
		{"align too large", func() (int64, bool) { return CheckedAlign64(big - 62) }, 0, false},
		{"align negative", func() (int64, bool) { return CheckedAlign64(-1) }, 0, false},
	} {
		if got, ok := c.got(); got != c.want || ok != c.wantOK {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, got, ok, c.want, c.wantOK)
		}
	}
}

func TestStrides(t *testing.T) {
	for _, c := range []struct {
		shape    []int64
		row, col []int64
	}{
		{[]int64{}, []int64{}, []int64{}},
		{[]int64{3}, []int64{4}, []int64{4}},
		{[]int64{2, 3, 5}, []int64{60, 20, 4}, []int64{4, 8, 24}},
		{[]int64{0, 3}, []int64{4, 4}, []int64{4, 4}},
		{[]int64{math.MaxInt64, 3, 0}, []int64{4, 4, 4}, []int64{4, 4, 4}},
	} {
		row, col := make([]int64, len(c.shape)), make([]int64, len(c.shape))
		RowMajorStrides(row, c.shape, 4)
		ColumnMajorStrides(col, c.shape, 4)
		if diff := cmp.Diff(c.row, row); diff != "" {
			t.Errorf("row-major strides of %v: %s", c.shape, diff)
		}
		if diff := cmp.Diff(c.col, col); diff != "" {
			t.Errorf("column-major strides of %v: %s", c.shape, diff)
		}
	}
}

func TestShapesThatCantBe(t *testing.T) {
	for _, c := range []struct {
		name  string
		dtype DType
		shape []int64
		want  error
	}{
		{"no type", DType{}, []int64{1}, ErrDType},
		{"negative dimension", Int8, []int64{3, -1}, ErrShape},
		{"bytes overflow", Float64, []int64{1 << 60}, ErrShape},
		{"elements overflow", Int8, []int64{1 << 32, 1 << 32}, ErrShape},
		{"too many dimensions", Int8, make([]int64, MaxDims+1), ErrShape},
	} {
		if _, err := NewDense(c.dtype, c.shape, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: NewDense: %v, want %v", c.name, err, c.want)
		}
		if _, err := NewStrided(c.dtype, c.shape, make([]int64, len(c.shape)), 0, nil); !errors.Is(err, c.want) {
			if !(c.name == "too many dimensions" && errors.Is(err, ErrShape)) {
				t.Errorf("%s: NewStrided: %v, want %v", c.name, err, c.want)
			}
		}
	}
}
