//go:build !amd64

package vec

func count(src []byte, e Elem) int { return countGo(src, e) }

func compactAny(values, positions []byte, t Index, src []byte, e Elem, base uint64) (consumed, written int) {
	return compactGo(values, positions, t, src, e, base)
}

func firstAboveAny(indices []byte, t Index, last uint64) int { return firstAboveGo(indices, t, last) }

func minMaxAny(indices []byte, t Index) (first, last uint64) { return minMaxGo(indices, t) }

func firstDisorderAny(indices []byte, t Index, strict bool) int {
	return firstDisorderGo(indices, t, strict)
}

func convertAny(dst, src []byte, to, from int) { convertGo(dst, src, to, from) }
