package vec

import (
	"syscall"
	"unsafe"
)

func adviseHuge(b []byte) {
	const advice = 14 // MADV_HUGEPAGE
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := -start & (hugePage - 1)
	if uintptr(len(b)) < skip+hugePage {
		return
	}
	inside := b[skip:]
	// A kernel without huge pages refuses, which is all right.
	_ = syscall.Madvise(inside[:len(inside)&^(hugePage-1)], advice)
}
