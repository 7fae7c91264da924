package main

import "github.com/tstore/tstore/vec"

// readAll reads b, a multiple of 256 bytes, as fast as it can be read.
func readAll(b []byte) uint64 {
	const piece = 1 << 16
	some := uint64(0)
	for len(b) > 0 {
		n := min(len(b), piece)
		switch versions := vec.Available(); {
		case len(versions) > int(vec.AVX512):
			some |= readAVX512(&b[0], n)
		case len(versions) > int(vec.AVX2):
			some |= readAVX2(&b[0], n)
		default:
			some |= readPlain(b[:n])
		}
		b = b[n:]
	}
	return some
}
