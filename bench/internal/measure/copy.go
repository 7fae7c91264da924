package measure

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// CopyFile copies a file by cp, or where there is none by a plain copy, and syncs the copy if it is told to.
func CopyFile(from, to string, sync bool) error {
	if cp, err := exec.LookPath("cp"); err == nil {
		cmd := exec.Command(cp, "--", from, to)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	} else {
		in, err := os.Open(from)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(to)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	if !sync {
		return nil
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
