package vec

import "encoding/binary"

// pairKeysAny makes the first keys, and returns how many.
func pairKeysAny(keys []uint64, pairs []byte, size int, factors [2]uint64, most *[4]uint64) (done int) {
	v := Active()
	if v < AVX2 || size < 4 || size == 4 && (factors[0]|factors[1])>>32 != 0 || size == 8 && v < AVX512 {
		return 0
	}
	// As they lie beside the first indices of four pairs of 4 bytes, or of two of 8.
	lanes := [4]uint64{factors[0], factors[1], factors[0], factors[1]}
	if size == 8 {
		lanes = [4]uint64{factors[0], 0, factors[1], 0}
	}
	for len(keys)-done >= 8 {
		n := min(len(keys)-done, piece/16) &^ 7
		var largest [64]byte // first and second indices by turns
		p, k := &pairs[2*size*done], &keys[done]
		switch {
		case size == 8:
			ran("pairKeys8AVX512")
			pairKeys8AVX512(k, p, n, &lanes[0], &largest[0])
		case v >= AVX512:
			ran("pairKeys4AVX512")
			pairKeys4AVX512(k, p, n, &lanes[0], &largest[0])
		default:
			ran("pairKeys4AVX2")
			pairKeys4AVX2(k, p, n, &lanes[0], &largest[0])
		}
		for at := 0; at < 64; at += size {
			if size == 4 {
				most[at/4%4] = max(most[at/4%4], uint64(binary.LittleEndian.Uint32(largest[at:])))
			} else {
				most[at/8%4] = max(most[at/8%4], binary.LittleEndian.Uint64(largest[at:]))
			}
		}
		done += n
	}
	return done
}
