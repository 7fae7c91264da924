package vec

// signBits returns a word with the top bit of each integer set if the type is signed: exclusive or with it
// makes an order of signed integers one of unsigned integers.
func signBits(t Index) uint64 {
	if !t.Signed() {
		return 0
	}
	switch t.Size() {
	case 1:
		return 0x8080808080808080
	case 2:
		return 0x8000800080008000
	case 4:
		return 0x8000000080000000
	}
	return 1 << 63
}

func firstAboveAny(indices []byte, t Index, last uint64) int {
	v, done := Active(), 0
	for v >= AVX2 && len(indices)-done >= 64 {
		n := min(len(indices)-done, piece) &^ 63
		if _, hi := minMaxPiece(v, indices[done:done+n], t.Size(), 0); hi > last {
			break
		}
		done += n
	}
	if at := firstAboveGo(indices[done:], t, last); at >= 0 {
		return done/t.Size() + at
	}
	return -1
}

func minMaxAny(indices []byte, t Index) (first, last uint64) {
	v := Active()
	if v < AVX2 || len(indices) < 64 {
		return minMaxGo(indices, t)
	}
	// Everything in the order of unsigned integers.
	size, bias := t.Size(), signBits(t)
	lo, hi := ^uint64(0), uint64(0)
	for len(indices) >= 64 {
		n := min(len(indices), piece) &^ 63
		a, b := minMaxPiece(v, indices[:n], size, bias)
		lo, hi = min(lo, a), max(hi, b)
		indices = indices[n:]
	}
	one := bias >> (64 - 8*size) // the bias of one integer
	lo, hi = signExtend(lo^one, t), signExtend(hi^one, t)
	if len(indices) > 0 {
		a, b := minMaxGo(indices, t)
		if t.Signed() {
			lo, hi = uint64(min(int64(lo), int64(a))), uint64(max(int64(hi), int64(b)))
		} else {
			lo, hi = min(lo, a), max(hi, b)
		}
	}
	return lo, hi
}

func signExtend(x uint64, t Index) uint64 {
	if !t.Signed() {
		return x
	}
	shift := 64 - 8*t.Size()
	return uint64(int64(x<<shift) >> shift)
}

// minMaxPiece returns the least and greatest integer of b, exclusive or bias, as unsigned ones.
func minMaxPiece(v Version, b []byte, size int, bias uint64) (lo, hi uint64) {
	var out [2][16]byte
	if v >= AVX512 {
		minMaxAVX512(&b[0], len(b), size, bias, &out)
	} else {
		minMaxAVX2(&b[0], len(b), size, bias, &out)
	}
	t := unsignedIndex(size)
	lo, _ = minMaxGo(out[0][:], t)
	_, hi = minMaxGo(out[1][:], t)
	return lo, hi
}

func minMaxAVX512(src *byte, n, size int, bias uint64, out *[2][16]byte) {
	switch size {
	case 1:
		ran("minMax1AVX512")
		minMax1AVX512(src, n, bias, out)
	case 2:
		ran("minMax2AVX512")
		minMax2AVX512(src, n, bias, out)
	case 4:
		ran("minMax4AVX512")
		minMax4AVX512(src, n, bias, out)
	default:
		ran("minMax8AVX512")
		minMax8AVX512(src, n, bias, out)
	}
}

func minMaxAVX2(src *byte, n, size int, bias uint64, out *[2][16]byte) {
	switch size {
	case 1:
		ran("minMax1AVX2")
		minMax1AVX2(src, n, bias, out)
	case 2:
		ran("minMax2AVX2")
		minMax2AVX2(src, n, bias, out)
	case 4:
		ran("minMax4AVX2")
		minMax4AVX2(src, n, bias, out)
	default:
		ran("minMax8AVX2")
		minMax8AVX2(src, n, bias, out)
	}
}

// firstDisorderAny returns the first integer that is less than the one before it or, if strict, not
// greater, or −1.
func firstDisorderAny(indices []byte, t Index, strict bool) int {
	v, size := Active(), t.Size()
	done := size // the first one has none before it
	bias := signBits(t)
	for v >= AVX2 && len(indices)-done >= 64 {
		n := min(len(indices)-done, piece) &^ 63
		good := order(v, &indices[done], n, size, bias, strict)
		done += good
		if good < n {
			break
		}
	}
	done -= size
	if at := firstDisorderGo(indices[min(done, len(indices)):], t, strict); at >= 0 {
		return done/size + at
	}
	return -1
}

func order(v Version, src *byte, n, size int, bias uint64, strict bool) int {
	equal := uint64(0)
	if strict {
		equal--
	}
	if v >= AVX512 {
		switch size {
		case 1:
			ran("order1AVX512")
			return order1AVX512(src, n, bias, equal)
		case 2:
			ran("order2AVX512")
			return order2AVX512(src, n, bias, equal)
		case 4:
			ran("order4AVX512")
			return order4AVX512(src, n, bias, equal)
		}
		ran("order8AVX512")
		return order8AVX512(src, n, bias, equal)
	}
	switch size {
	case 1:
		ran("order1AVX2")
		return order1AVX2(src, n, bias, equal)
	case 2:
		ran("order2AVX2")
		return order2AVX2(src, n, bias, equal)
	case 4:
		ran("order4AVX2")
		return order4AVX2(src, n, bias, equal)
	}
	ran("order8AVX2")
	return order8AVX2(src, n, bias, equal)
}
