//go:build !amd64

package vec

func count(src []byte, e Elem) int { return countGo(src, e) }

func compactAny(values, positions []byte, t Index, src []byte, e Elem, base uint64) (consumed, written int) {
	return compactGo(values, positions, t, src, e, base)
}
