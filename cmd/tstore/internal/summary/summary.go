package summary

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tstore/tstore/layout"
)

// ErrType says that elements of a type are no numbers.
var ErrType = errors.New("its elements are no numbers")

// Summary is what describes the values of a tensor.
type Summary struct {
	Elements int64
	Stored   int64 // of a dense tensor, all
	NonZero  int64 // NaNs and infinities included
	NaN      int64
	Inf      int64 // of both signs

	// Of the finite values, if there is one.
	Finite    bool
	Min, Max  Number
	Mean, Std float64 // Std divides by their number, as NumPy does

	// Counts[k] values are at least Edges[k] and less than Edges[k+1]; the last bin has its upper edge
	// too, unless the values are integers and each has a bin of its own.
	Edges  []float64
	Counts []int64

	// Absolute says that the values are complex, and all this is about their absolute values.
	Absolute bool
}

// Of describes the values of a tensor by a histogram of the given number of bins, or fewer if the
// values are integers that are closer together. progress, which may be nil, is told how many bytes of
// how many are done, by several goroutines but one at a time. The error is ErrType, that of the tensor's index arrays, or that of ctx.
func Of(ctx context.Context, t layout.Tensor, bins int, progress func(done, total int64)) (*Summary, error) {
	if bins < 1 {
		return nil, fmt.Errorf("a histogram of %d bins", bins)
	}
	s := &Summary{Stored: t.NNZ()}
	s.Elements, _ = layout.CheckedProduct(t.Shape(), 1) // every tensor has fewer than 2⁶³
	values, canonical, err := storedValues(t)
	if err != nil {
		return nil, err
	}
	if t.Layout() != layout.LayoutDense { // its index arrays have to be right
		if _, err := layout.CountNonZero(t); err != nil {
			return nil, err
		}
	}
	s.Absolute = t.DType().Kind() == layout.KindComplex64 || t.DType().Kind() == layout.KindComplex128
	w := &work{ctx: ctx, values: values, progress: progress}
	if err := w.describe(s, bins, s.Elements-canonical); err != nil {
		return nil, err
	}
	return s, nil
}

// storedValues returns the elements that are stored, each once, and how many there are.
func storedValues(t layout.Tensor) (*layout.Dense, int64, error) {
	if d, ok := t.(*layout.Dense); ok {
		return d, d.Len(), nil
	}
	if c, ok := t.(*layout.COO); ok && !c.IsCanonical() {
		summed, err := layout.Convert(c, layout.LayoutCOO, &layout.ConvertOptions{Duplicates: layout.DuplicatesSum})
		if err != nil {
			return nil, 0, err
		}
		t = summed
	}
	var data []byte
	switch t := t.(type) {
	case *layout.COO:
		data = t.Data()
	case *layout.CSR:
		data = t.Data()
	case *layout.CSC:
		data = t.Data()
	case *layout.CSF:
		data = t.Data()
	}
	d, err := layout.NewDense(t.DType(), []int64{t.NNZ()}, data)
	return d, t.NNZ(), err
}

// edges are those of a histogram of values from lo to hi: of n bins of the same width, or of one bin
// for each integer if there are fewer.
func edges(lo, hi float64, n int, integers bool) []float64 {
	switch {
	case integers && hi-lo < float64(n):
		n = int(hi-lo) + 1
		hi = lo + float64(n)
	case lo == hi: // as NumPy has it
		lo, hi = lo-0.5, hi+0.5
	}
	e := make([]float64, n+1)
	for k := range e {
		e[k] = lo + (hi-lo)*(float64(k)/float64(n))
		if math.IsInf(hi-lo, 0) {
			e[k] = lo*(float64(n-k)/float64(n)) + hi*(float64(k)/float64(n))
		}
	}
	e[n] = hi
	return e
}
