package vec

// convertGo widens or narrows unsigned integers. Its caller has seen that every value fits.
func convertGo(dst, src []byte, to, from int) {
	if to == from {
		copy(dst, src)
		return
	}
	switch from {
	case 1:
		convertFrom(dst, src, to)
	case 2:
		convertFrom(dst, view[uint16](src), to)
	case 4:
		convertFrom(dst, view[uint32](src), to)
	case 8:
		convertFrom(dst, view[uint64](src), to)
	}
}

func convertFrom[F uint8 | uint16 | uint32 | uint64](dst []byte, src []F, to int) {
	switch to {
	case 1:
		convert(dst, src)
	case 2:
		convert(view[uint16](dst), src)
	case 4:
		convert(view[uint32](dst), src)
	case 8:
		convert(view[uint64](dst), src)
	}
}

func convert[T, F uint8 | uint16 | uint32 | uint64](dst []T, src []F) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = T(x)
	}
}

func fillGo(dst []byte, t Index, v uint64) {
	switch t.Size() {
	case 1:
		fill(dst, uint8(v))
	case 2:
		fill(view[uint16](dst), uint16(v))
	case 4:
		fill(view[uint32](dst), uint32(v))
	case 8:
		fill(view[uint64](dst), v)
	}
}

func fill[I uint8 | uint16 | uint32 | uint64](dst []I, v I) {
	head := dst[:min(len(dst), 64)]
	for i := range head {
		head[i] = v
	}
	// The rest is copied from what is there, which the runtime does with wide registers.
	for done := len(head); done < len(dst); done *= 2 {
		copy(dst[done:], dst[:min(done, 2048)])
		if done >= 2048 {
			for ; done < len(dst); done += 2048 {
				copy(dst[done:], dst[:2048])
			}
			return
		}
	}
}

func iotaGo(dst []byte, t Index, base uint64) {
	switch t.Size() {
	case 1:
		ascend(dst, uint8(base))
	case 2:
		ascend(view[uint16](dst), uint16(base))
	case 4:
		ascend(view[uint32](dst), uint32(base))
	case 8:
		ascend(view[uint64](dst), base)
	}
}

func ascend[I uint8 | uint16 | uint32 | uint64](dst []I, base I) {
	for i := range dst {
		dst[i] = base + I(i)
	}
}
