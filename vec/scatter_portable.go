package vec

// scatterGo trusts its caller that every index is inside dst; such an index reads the same signed or
// unsigned.
func scatterGo(dst []byte, size int, indices []byte, t Index, values []byte) {
	switch t.Size() {
	case 1:
		scatterFrom(dst, size, indices, values)
	case 2:
		scatterFrom(dst, size, view[uint16](indices), values)
	case 4:
		scatterFrom(dst, size, view[uint32](indices), values)
	default:
		scatterFrom(dst, size, view[uint64](indices), values)
	}
}

func scatterFrom[I uint8 | uint16 | uint32 | uint64](dst []byte, size int, idx []I, values []byte) {
	switch size {
	case 1:
		scatter(dst, idx, values)
	case 2:
		scatter(view[uint16](dst), idx, view[uint16](values))
	case 4:
		scatter(view[uint32](dst), idx, view[uint32](values))
	case 8:
		scatter(view[uint64](dst), idx, view[uint64](values))
	case 16:
		scatter(view[word128](dst), idx, view[word128](values))
	default:
		for i, at := range idx {
			copy(dst[int(at)*size:][:size], values[i*size:])
		}
	}
}

func scatter[T any, I uint8 | uint16 | uint32 | uint64](dst []T, idx []I, values []T) {
	values = values[:len(idx)]
	for i, at := range idx {
		dst[at] = values[i]
	}
}

// erase puts zeros at the elements of dst with these indices.
func erase[T any, I uint8 | uint16 | uint32 | uint64](dst []T, idx []I) {
	var zero T
	for _, at := range idx {
		dst[at] = zero
	}
}
