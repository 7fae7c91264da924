package vec

import "fmt"

// ConvertIndices writes the indices of src, of type from, to dst with type to. An index that is negative
// or greater than to.Max() does not fit: the result is then an [*IndexError] and dst is as it was. dst
// must have room for exactly as many indices as src holds and must not overlap it.
func ConvertIndices(dst []byte, to Index, src []byte, from Index) error {
	n := from.len(src)
	if to.len(dst) != n {
		panic(fmt.Sprintf("vec: %d bytes do not hold %d indices of type %v", len(dst), n, to))
	}
	if from.Signed() || from.Max() > to.Max() {
		limit := to.Max()
		if limit != ^uint64(0) {
			limit++
		}
		if err := CheckIndices(src, from, limit); err != nil {
			return err
		}
	}
	convertAny(dst, src, to.Size(), from.Size())
	return nil
}

// Fill sets every index of dst to v, cut to the width of t.
func Fill(dst []byte, t Index, v uint64) {
	t.len(dst)
	fillGo(dst, t, v)
}

// Iota sets the indices of dst to base, base+1, base+2 and so on, cut to the width of t.
func Iota(dst []byte, t Index, base uint64) {
	t.len(dst)
	iotaGo(dst, t, base)
}
