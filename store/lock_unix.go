//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes flock(2), which belongs to the open file: the process's end
// frees it, and a second open in the same process conflicts too.
func lockFile(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLockHeld
		}
		return os.NewSyscallError("flock", err)
	}
}

// lockDir locks the directory itself, which can't be deleted under a writer
// without its files.
func lockDir(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := lockFile(d); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}
