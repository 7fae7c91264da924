package layout

import (
	"errors"
	"runtime"
	"testing"
)

// TestTooLargeCostsNothing makes dense of tensors that have one element and very many rows. They are refused before there
// is room for anything that grows with the shape.
func TestTooLargeCostsNothing(t *testing.T) {
	for _, rows := range []int64{1 << 28, 1 << 31} {
		for _, columns := range []int64{1 << 20, 1<<20 + 1, 1 << 28} {
			for _, width := range []DType{Int8, Float32, Float64} {
				coo := must(NewCOO(width, []int64{rows, columns}, IndexOf([]int64{rows - 1, 1}), make([]byte, width.Size()), true))
				for _, x := range []Tensor{coo, must(ToCSF(coo, nil))} {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					_, err := ToDense(x, nil)
					runtime.ReadMemStats(&after)
					if !errors.Is(err, ErrTooLarge) {
						t.Errorf("%v of %v, %d × %d: %v", x.Layout(), width, rows, columns, err)
					}
					if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
						t.Errorf("%v of %v, %d × %d: %d bytes to find that out", x.Layout(), width, rows, columns, n)
					}
				}
			}
		}
	}
}
