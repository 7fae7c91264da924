package layout

import "syscall"

// machineMemory returns the bytes of the machine, or 0 if they are not known.
func machineMemory() int64 {
	// The call takes the 8 bytes for a string and cuts a final zero byte off it.
	text, err := syscall.Sysctl("hw.memsize")
	if err != nil || len(text) > 8 {
		return 0
	}
	n := int64(0)
	for i := range len(text) {
		n |= int64(text[i]) << (8 * i)
	}
	return n
}
