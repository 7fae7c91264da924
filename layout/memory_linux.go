package layout

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// machineMemory returns the bytes of the machine, or of the control group if that is less, or 0 if
// neither is known.
func machineMemory() int64 {
	var info syscall.Sysinfo_t
	n := int64(0)
	if syscall.Sysinfo(&info) == nil {
		n, _ = CheckedMul(int64(info.Totalram), int64(info.Unit))
	}
	// Inside a container this is the container's own group.
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if group, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && group > 0 && (n == 0 || group < n) {
			n = group
		}
	}
	return n
}
