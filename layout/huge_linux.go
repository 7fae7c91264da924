package layout

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a huge page, or a multiple of it, on the machines that have them.
const hugePage = 2 << 20

// adviseHuge asks for huge pages where b lies. That is advice: a kernel that has none, or wants none of it,
// says so, and the memory is as good as before.
func adviseHuge(b []byte) {
	if inside := insideAligned(b, hugePage); len(inside) > 0 {
		_ = syscall.Madvise(inside, syscall.MADV_HUGEPAGE)
	}
}

// absent reports whether b, whole huge pages, seems to have no memory yet. It looks at a few pages.
func absent(b []byte) bool {
	const looks = 8
	var present byte
	for i := range looks {
		at := (len(b)/hugePage - 1) * i / (looks - 1) * hugePage
		_, _, failed := syscall.RawSyscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&b[at])), 1, uintptr(unsafe.Pointer(&present)))
		if failed != 0 || present&1 != 0 {
			return false
		}
	}
	return true
}

// dropPages gives the memory of b, whole pages, back to the system, after which it is zero. It reports whether it has
// done so.
func dropPages(b []byte) bool { return syscall.Madvise(b, syscall.MADV_DONTNEED) == nil }
