package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tstore/tstore/store/internal/segment"
)

const lockName = "LOCK"

// writerLock keeps other writers out, of this process too. The operating system
// gives it up when the process ends, however it ends. It never keeps readers out.
type writerLock struct {
	file *os.File
	dir  *os.File // locked too where that is possible: LOCK itself may get deleted
}

// acquireLock takes the lock of the store in dir, waiting up to wait for it. The
// file LOCK stays behind for ever; it holds the pid of the last writer for people
// to read.
func acquireLock(dir string, wait time.Duration) (*writerLock, error) {
	deadline := time.Now().Add(wait)
	for {
		l, err := tryLock(dir)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, ErrLocked) || !time.Now().Before(deadline) {
			return nil, err
		}
		time.Sleep(min(20*time.Millisecond, time.Until(deadline)))
	}
}

func tryLock(dir string) (*writerLock, error) {
	path := filepath.Join(dir, lockName)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			holder := lockHolder(f)
			f.Close()
			if errors.Is(err, errLockHeld) {
				return nil, fmt.Errorf("%w%s: %s", ErrLocked, holder, path)
			}
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		// Somebody may have replaced the file between opening and locking it.
		if same, err := segment.IsFileAt(f, path); err != nil || !same {
			f.Close()
			if err != nil {
				return nil, err
			}
			continue
		}
		d, err := lockDir(dir)
		if err != nil {
			f.Close()
			if errors.Is(err, errLockHeld) {
				return nil, fmt.Errorf("%w, which lost its file %s", ErrLocked, path)
			}
			return nil, fmt.Errorf("locking %s: %w", dir, err)
		}
		l := &writerLock{file: f, dir: d}
		// The pid is information; a full disk must not keep the store shut.
		if err := f.Truncate(0); err == nil {
			f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		}
		return l, nil
	}
}

func (l *writerLock) release() error {
	err := l.file.Close()
	if l.dir != nil {
		err = errors.Join(err, l.dir.Close())
	}
	return err
}

// lockHolder is " (pid N)" of the process that has the lock, as far as is known.
func lockHolder(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid, perr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || perr != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

var errLockHeld = errors.New("lock is held")
