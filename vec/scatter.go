package vec

import "fmt"

// Scatter stores value i of values at element indices[i] of dst, for every i in order, so that the last
// of several values for one element stays. Elements are size bytes each, any size from 1. Every index
// is checked before anything is written: if one is outside dst the result is an [*IndexError] and dst is
// as it was. dst must not overlap the others.
func Scatter(dst []byte, size int, indices []byte, t Index, values []byte) error {
	n := t.len(indices)
	if size < 1 || len(dst)%size != 0 || len(values) != n*size {
		panic(fmt.Sprintf("vec: scatter of %d bytes of values to %d indices into %d bytes does not fit elements of %d bytes", len(values), n, len(dst), size))
	}
	if err := CheckIndices(indices, t, uint64(len(dst)/size)); err != nil {
		return err
	}
	scatterGo(dst, size, indices, t, values)
	return nil
}

// Zero sets every byte of dst to 0.
func Zero(dst []byte) { clear(dst) }
