package vec

// canStream reports whether there are stores past the caches.
func canStream() bool { return Active() >= AVX2 }

// streamCopy copies len(dst) bytes, a multiple of 64, from src to dst, which is aligned to 64, past the
// caches, and prefetches as next says. After the last, streamDone is due.
func streamCopy(dst, src []byte, next *[4]uintptr) {
	src = src[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), piece)
		if Active() >= AVX512 {
			ran("streamCopyAVX512")
			streamCopyAVX512(&dst[0], &src[0], n, next)
		} else {
			ran("streamCopyAVX2")
			streamCopyAVX2(&dst[0], &src[0], n, next)
		}
		dst, src = dst[n:], src[n:]
	}
}

// streamMove is streamCopy that leaves zeros in src.
func streamMove(dst, src []byte, next *[4]uintptr) {
	src = src[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), piece)
		if Active() >= AVX512 {
			ran("streamMoveAVX512")
			streamMoveAVX512(&dst[0], &src[0], n, next)
		} else {
			ran("streamMoveAVX2")
			streamMoveAVX2(&dst[0], &src[0], n, next)
		}
		dst, src = dst[n:], src[n:]
	}
}

// streamDone makes what was written past the caches visible before anything that is written later.
func streamDone() {
	ran("storeFence")
	storeFence()
}
