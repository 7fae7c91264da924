package vec

// widenAny stores n integers of src as integers of the given size, with add added to each.
func widenAny(dst []byte, src *lane16, n, size int, add uint64, w *workspace) {
	if v := Active(); v < AVX2 || n < 16 || size == 1 || v < AVX512 && add != 0 {
		widenGo(dst, src, n, size, add)
		return
	} else if v < AVX512 {
		convertAny(dst[:n*size], memory(src[slack:slack+n]), size, 2)
		return
	}
	if cap(w.pattern) < 64 {
		w.pattern = make([]byte, 64)
	}
	w.pattern = w.pattern[:64]
	Fill(w.pattern, unsignedIndex(size), add)
	widenAddAVX512(&dst[:n*size][0], &src[slack], n, size, w.pattern)
}

func distinctAny(values, places, src *lane16, n int) int {
	if Active() < AVX512VBMI2 {
		return distinctGo(values, places, src, n)
	}
	ran("distinctVBMI2")
	return distinctVBMI2(&values[slack], &places[slack], &src[slack], n)
}
