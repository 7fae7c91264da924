package store_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// quickDir is a directory of the test's own, in memory if there is room: what is
// tested with it opens and syncs thousands of stores, and a disk adds nothing
// but time.
func quickDir(t testing.TB) string {
	t.Helper()
	const memory, room = "/dev/shm", 1 << 30
	var fs unix.Statfs_t
	if err := unix.Statfs(memory, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC || fs.Bavail*uint64(fs.Bsize) < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "tstore-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
