package layout

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomDense returns a tensor of which about the given share of elements is not zero.
func randomDense(share float64, shape ...int64) *Dense {
	n, _ := CheckedProduct(shape, 1)
	values := make([]float32, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		if r.Float64() < share {
			values[i] = float32(i) + 1
		}
	}
	return DenseOf(values, shape...)
}

// BenchmarkConvert measures conversions in bytes of the dense tensor.
func BenchmarkConvert(b *testing.B) {
	for _, share := range []float64{0.01, 0.1} {
		for _, shape := range [][]int64{{2048, 2048}, {15, 40, 100, 90}} {
			d := randomDense(share, shape...)
			for _, from := range allLayouts {
				for _, to := range allLayouts {
					if from == LayoutDense == (to == LayoutDense) && from == to || !fits(from, len(shape)) || !fits(to, len(shape)) {
						continue
					}
					s := must(Convert(d, from, nil))
					b.Run(fmt.Sprintf("%v-d/%v%%/%v-%v", len(shape), share*100, from, to), func(b *testing.B) {
						b.SetBytes(d.NumBytes())
						for b.Loop() {
							if _, err := Convert(s, to, nil); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}
