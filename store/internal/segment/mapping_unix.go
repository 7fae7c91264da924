//go:build unix

package segment

import (
	"fmt"
	"unsafe"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/unix"
)

// mapBeyondEnd says that a map may be longer than its file.
const mapBeyondEnd = true

// truncateMapped says that a file can be made shorter while it is mapped.
const truncateMapped = true

func retire(b mmap.MMap) error {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_FIXED | unix.MAP_NORESERVE
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)), unix.PROT_NONE, flags)
	if err != nil {
		return fmt.Errorf("retiring a map of %d bytes: %w", len(b), err)
	}
	return nil
}
