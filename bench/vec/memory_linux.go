package main

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuTime returns how long the calling thread has run. Other programs, which take it off the processor, do not
// count.
func cpuTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// hugeBuffer returns n bytes of memory in huge pages, where the kernel has some.
func hugeBuffer(n int) []byte {
	const page = 2 << 20
	b, err := unix.Mmap(-1, 0, n+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // without huge pages, with small ones
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1)
	b = b[skip:][:n:n]
	clear(b)
	return b
}
