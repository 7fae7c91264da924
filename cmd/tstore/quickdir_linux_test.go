package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// quickDir is a directory in memory, if there is room: the scripts open and sync hundreds of stores, to
// which a disk adds nothing but time. Elsewhere it is empty, for the usual place.
func quickDir(t *testing.T) string {
	t.Helper()
	const memory, room = "/dev/shm", 1 << 30
	var fs unix.Statfs_t
	if err := unix.Statfs(memory, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC || fs.Bavail*uint64(fs.Bsize) < room {
		return ""
	}
	dir, err := os.MkdirTemp(memory, "tstore-test-")
	if err != nil {
		return ""
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
