// Package elements puts elements that come from files into the form that tensors have them in.
package elements

import "unsafe"

// Aligned returns data itself if it starts at a multiple of width, a power of two of at most 8,
// else a copy that does.
func Aligned(data []byte, width int) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%uintptr(width) == 0 {
		return data
	}
	// make aligns 8 bytes or more for every number of Go; for fewer bytes it need not, so ask for 8.
	return append(make([]byte, 0, max(8, len(data))), data...)
}

// Bools returns data itself if every byte is 0 or 1, else a copy in which every other byte is 1.
func Bools(data []byte) []byte {
	for i, b := range data {
		if b > 1 {
			data = append([]byte(nil), data...)
			for j, b := range data[i:] {
				data[i+j] = min(b, 1)
			}
			break
		}
	}
	return data
}
