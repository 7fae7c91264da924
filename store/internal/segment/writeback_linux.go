package segment

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeBack has n bytes of f from off on written to the disk and returns when that is
// done. It makes nothing durable: what tells where the bytes are, and what the disk
// keeps in its own memory, stays there.
func writeBack(f *os.File, off, n int64) error {
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	err := unix.SyncFileRange(int(f.Fd()), off, n, all)
	if err == unix.EIO || err == unix.ENOSPC || err == unix.EDQUOT {
		return &os.PathError{Op: "sync_file_range", Path: f.Name(), Err: err}
	}
	return nil // or a file system that has no such thing
}

// beginWriteBack lets n bytes of f from off on begin to go to the disk, and does not
// wait for it. Whether that works the next sync says: without waiting, the call takes
// no error away from it.
func beginWriteBack(f *os.File, off, n int64) {
	unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
