package vec

// Compact writes the nonzero elements of src, in order, to values and their positions to positions.
// The position of the element at src[0] is base, so that a long row or a whole tensor can be given in
// pieces; positions are cut to the width of t, which the caller picks wide enough.
//
// It goes on until src ends or the next nonzero finds no room in either output, and returns how many
// elements of src were used up and how many nonzeros were written. After a call that used up less than
// all of src the outputs are full. What lies in the outputs behind the nonzeros that were written is
// undefined. src must not overlap the outputs.
func Compact(values, positions []byte, t Index, src []byte, e Elem, base uint64) (consumed, written int) {
	e.len(src)
	e.len(values)
	t.len(positions)
	return compactAny(values, positions, t, src, e, base)
}
