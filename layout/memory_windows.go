package layout

import (
	"syscall"
	"unsafe"
)

var globalMemoryStatusEx = syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// machineMemory returns the bytes of the machine, or 0 if they are not known.
func machineMemory() int64 {
	// MEMORYSTATUSEX of the Windows API.
	var status struct {
		length, load                                                    uint32
		totalPhys, availPhys, totalPage, availPage, totalVirtual, avail uint64
		availExtended                                                   uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return int64(status.totalPhys)
}
