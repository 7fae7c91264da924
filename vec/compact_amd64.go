package vec

import "unsafe"

func compactAny(values, positions []byte, t Index, src []byte, e Elem, base uint64) (consumed, written int) {
	v, size, psize := Active(), e.Size(), t.Size()
	if v < AVX2 || size == 16 {
		return compactGo(values, positions, t, src, e, base)
	}
	if psize < 2 && v < AVX512VBMI2 {
		return compactNarrow(values, positions, t, src, e, base)
	}
	room := min(len(values)/size, len(positions)/psize)
	n := len(src) / size
	for consumed < n {
		m := min(n-consumed, piece/size)
		c, w := compactKernel(v, e, ptr(values, written*size), ptr(positions, written*psize), psize, room-written,
			ptr(src, consumed*size), m, base+uint64(consumed))
		consumed, written = consumed+c, written+w
		if c == m {
			continue
		}
		// Less room than a step of the kernel may need.
		c, w = compactTight(v, values[written*size:room*size], positions[written*psize:room*psize], psize,
			src[consumed*size:], e, base+uint64(consumed))
		return consumed + c, written + w
	}
	return consumed, written
}

// tight is how many elements are compacted at a time to a staging buffer on the stack. It is more than
// any kernel's step.
const tight = 256

// compactTight compacts to outputs that may have too little room for whole vectors, by way of a staging
// buffer. It has a frame of its own, which is large.
//
//go:noinline
func compactTight(v Version, values, positions []byte, psize int, src []byte, e Elem, base uint64) (consumed, written int) {
	var stagedValues, stagedPositions [2 * tight * 8]byte
	size := e.Size()
	n, room := len(src)/size, len(values)/size
	for consumed < n {
		m := min(n-consumed, tight)
		_, w := compactKernel(v, e, &stagedValues[0], &stagedPositions[0], psize, 2*tight,
			ptr(src, consumed*size), m, base+uint64(consumed))
		take := min(w, room-written)
		copy(values[written*size:], stagedValues[:take*size])
		copy(positions[written*psize:], stagedPositions[:take*psize])
		written += take
		if take < w {
			// Stop at the first that found no room.
			at := unsignedIndex(psize).At(stagedPositions[:], take) - (base + uint64(consumed))
			return consumed + int(at&unsignedIndex(psize).Max()), written
		}
		consumed += m
	}
	return consumed, written
}

// compactNarrow makes positions of 1 byte from some of 4.
//
//go:noinline
func compactNarrow(values, positions []byte, t Index, src []byte, e Elem, base uint64) (consumed, written int) {
	var wide [4 * tight * 4]byte
	size, psize := e.Size(), t.Size()
	room := min(len(values)/size, len(positions)/psize)
	n := len(src) / size
	for consumed < n {
		m := min(n-consumed, 4*tight)
		c, w := compactAny(values[written*size:room*size], wide[:], U32, src[consumed*size:(consumed+m)*size], e, base+uint64(consumed))
		if narrow := positions[written*psize : (written+w)*psize]; base+uint64(n) <= t.Max() {
			convertAny(narrow, wide[:4*w], psize, 4)
		} else { // the kernels may saturate what does not fit
			convertGo(narrow, wide[:4*w], psize, 4)
		}
		consumed, written = consumed+c, written+w
		if c < m {
			break
		}
	}
	return consumed, written
}

// compactKernel calls the kernel for the version, element and positions, of 2 bytes or more if the version is
// not AVX512VBMI2. Its consumed is
// less than n only if there is room for less than 64 more nonzeros.
func compactKernel(v Version, e Elem, values, positions *byte, psize, room int, src *byte, n int, base uint64) (consumed, written int) {
	switch v {
	case AVX512VBMI2:
		return compactVBMI2(e, values, positions, psize, room, src, n, base)
	case AVX512:
		return compactAVX512(e, values, positions, psize, room, src, n, base)
	}
	consumed, written = compactAVX2(e, values, positions, psize, room, src, n, base)
	if rest := n - consumed; rest > 0 && rest < 32 && room-written >= rest {
		// Less than a step is left.
		size := e.Size()
		_, w := compactGo(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(values), written*size)), rest*size),
			unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(positions), written*psize)), rest*psize), unsignedIndex(psize),
			unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(src), consumed*size)), rest*size), e, base+uint64(consumed))
		return n, written + w
	}
	return consumed, written
}

func compactVBMI2(e Elem, values, positions *byte, psize, room int, src *byte, n int, base uint64) (consumed, written int) {
	mask := e.mask()
	switch e.Size() | psize<<4 {
	case 1 | 1<<4:
		ran("compact1to1VBMI2")
		return compact1to1VBMI2(values, positions, room, src, n, mask, base)
	case 2 | 1<<4:
		ran("compact2to1VBMI2")
		return compact2to1VBMI2(values, positions, room, src, n, mask, base)
	case 4 | 1<<4:
		ran("compact4to1VBMI2")
		return compact4to1VBMI2(values, positions, room, src, n, mask, base)
	case 8 | 1<<4:
		ran("compact8to1VBMI2")
		return compact8to1VBMI2(values, positions, room, src, n, mask, base)
	case 1 | 2<<4:
		ran("compact1to2VBMI2")
		return compact1to2VBMI2(values, positions, room, src, n, mask, base)
	case 2 | 2<<4:
		ran("compact2to2VBMI2")
		return compact2to2VBMI2(values, positions, room, src, n, mask, base)
	case 4 | 2<<4:
		ran("compact4to2VBMI2")
		return compact4to2VBMI2(values, positions, room, src, n, mask, base)
	case 8 | 2<<4:
		ran("compact8to2VBMI2")
		return compact8to2VBMI2(values, positions, room, src, n, mask, base)
	case 1 | 4<<4:
		ran("compact1to4VBMI2")
		return compact1to4VBMI2(values, positions, room, src, n, mask, base)
	case 2 | 4<<4:
		ran("compact2to4VBMI2")
		return compact2to4VBMI2(values, positions, room, src, n, mask, base)
	case 4 | 4<<4:
		ran("compact4to4VBMI2")
		return compact4to4VBMI2(values, positions, room, src, n, mask, base)
	case 8 | 4<<4:
		ran("compact8to4VBMI2")
		return compact8to4VBMI2(values, positions, room, src, n, mask, base)
	case 1 | 8<<4:
		ran("compact1to8VBMI2")
		return compact1to8VBMI2(values, positions, room, src, n, mask, base)
	case 2 | 8<<4:
		ran("compact2to8VBMI2")
		return compact2to8VBMI2(values, positions, room, src, n, mask, base)
	case 4 | 8<<4:
		ran("compact4to8VBMI2")
		return compact4to8VBMI2(values, positions, room, src, n, mask, base)
	}
	ran("compact8to8VBMI2")
	return compact8to8VBMI2(values, positions, room, src, n, mask, base)
}

func compactAVX512(e Elem, values, positions *byte, psize, room int, src *byte, n int, base uint64) (consumed, written int) {
	mask := e.mask()
	switch e.Size() | psize<<4 {
	case 1 | 2<<4:
		ran("compact1to2AVX512")
		return compact1to2AVX512(values, positions, room, src, n, mask, base)
	case 2 | 2<<4:
		ran("compact2to2AVX512")
		return compact2to2AVX512(values, positions, room, src, n, mask, base)
	case 4 | 2<<4:
		ran("compact4to2AVX512")
		return compact4to2AVX512(values, positions, room, src, n, mask, base)
	case 8 | 2<<4:
		ran("compact8to2AVX512")
		return compact8to2AVX512(values, positions, room, src, n, mask, base)
	case 1 | 4<<4:
		ran("compact1to4AVX512")
		return compact1to4AVX512(values, positions, room, src, n, mask, base)
	case 2 | 4<<4:
		ran("compact2to4AVX512")
		return compact2to4AVX512(values, positions, room, src, n, mask, base)
	case 4 | 4<<4:
		ran("compact4to4AVX512")
		return compact4to4AVX512(values, positions, room, src, n, mask, base)
	case 8 | 4<<4:
		ran("compact8to4AVX512")
		return compact8to4AVX512(values, positions, room, src, n, mask, base)
	case 1 | 8<<4:
		ran("compact1to8AVX512")
		return compact1to8AVX512(values, positions, room, src, n, mask, base)
	case 2 | 8<<4:
		ran("compact2to8AVX512")
		return compact2to8AVX512(values, positions, room, src, n, mask, base)
	case 4 | 8<<4:
		ran("compact4to8AVX512")
		return compact4to8AVX512(values, positions, room, src, n, mask, base)
	}
	ran("compact8to8AVX512")
	return compact8to8AVX512(values, positions, room, src, n, mask, base)
}

func compactAVX2(e Elem, values, positions *byte, psize, room int, src *byte, n int, base uint64) (consumed, written int) {
	mask := e.mask()
	switch e.Size() | psize<<4 {
	case 1 | 2<<4:
		ran("compact1to2AVX2")
		return compact1to2AVX2(values, positions, room, src, n, mask, base)
	case 2 | 2<<4:
		ran("compact2to2AVX2")
		return compact2to2AVX2(values, positions, room, src, n, mask, base)
	case 4 | 2<<4:
		ran("compact4to2AVX2")
		return compact4to2AVX2(values, positions, room, src, n, mask, base)
	case 8 | 2<<4:
		ran("compact8to2AVX2")
		return compact8to2AVX2(values, positions, room, src, n, mask, base)
	case 1 | 4<<4:
		ran("compact1to4AVX2")
		return compact1to4AVX2(values, positions, room, src, n, mask, base)
	case 2 | 4<<4:
		ran("compact2to4AVX2")
		return compact2to4AVX2(values, positions, room, src, n, mask, base)
	case 4 | 4<<4:
		ran("compact4to4AVX2")
		return compact4to4AVX2(values, positions, room, src, n, mask, base)
	case 8 | 4<<4:
		ran("compact8to4AVX2")
		return compact8to4AVX2(values, positions, room, src, n, mask, base)
	case 1 | 8<<4:
		ran("compact1to8AVX2")
		return compact1to8AVX2(values, positions, room, src, n, mask, base)
	case 2 | 8<<4:
		ran("compact2to8AVX2")
		return compact2to8AVX2(values, positions, room, src, n, mask, base)
	case 4 | 8<<4:
		ran("compact4to8AVX2")
		return compact4to8AVX2(values, positions, room, src, n, mask, base)
	}
	ran("compact8to8AVX2")
	return compact8to8AVX2(values, positions, room, src, n, mask, base)
}
