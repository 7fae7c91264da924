package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks one byte far behind the end of the file, so that the pid in it
// can still be read by others.
func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLockHeld
	}
	return os.NewSyscallError("LockFileEx", err)
}

// lockDir does nothing: Windows does not let an open LOCK be deleted.
func lockDir(string) (*os.File, error) { return nil, nil }
