//go:build !amd64

package vec

func count(src []byte, e Elem) int { return countGo(src, e) }
