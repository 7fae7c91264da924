package layout

import "syscall"

// hugePage is the size of a huge page, or a multiple of it, on the machines that have them.
const hugePage = 2 << 20

// adviseHuge asks for huge pages where b lies. That is advice: a kernel that has none, or wants none of it,
// says so, and the memory is as good as before.
func adviseHuge(b []byte) {
	if inside := insideAligned(b, hugePage); len(inside) > 0 {
		_ = syscall.Madvise(inside, syscall.MADV_HUGEPAGE)
	}
}
