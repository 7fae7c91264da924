package vec

import "fmt"

// Histogram adds to counts[k] how many elements of src, of type [Float32] or [Float64], are at least edges[k] and less than
// edges[k+1], or not more for the last k. Elements outside, infinities and NaNs are not counted. There is one edge more than
// there are counts, of which there is one at least. Edges are finite and in ascending order; those of bins of the same width
// are found soonest.
//
// inside says that all elements are known to lie between the first and the last edge, so that nobody need look. If that is not
// true, those outside are counted in the first or the last bin, or not at all.
func Histogram(counts []int64, edges []float64, src []byte, e Elem, inside bool) {
	if e != Float32 && e != Float64 {
		panic("vec: a histogram of " + e.String() + " elements")
	}
	if len(counts) == 0 || len(edges) != len(counts)+1 {
		panic(fmt.Sprintf("vec: a histogram with %d counts between %d edges", len(counts), len(edges)))
	}
	e.len(src)
	src = src[histogramAny(counts, edges, src, e, inside):]
	if e == Float32 {
		histogramGo(counts, edges, view[float32](src))
	} else {
		histogramGo(counts, edges, view[float64](src))
	}
}
