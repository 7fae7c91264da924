package main

import (
	"io"
	"os"
	"os/exec"
)

// copyFile is what packages are compared with: cp, or where there is none a plain copy, and fsync.
func copyFile(from, to string) error {
	if cp, err := exec.LookPath("cp"); err == nil {
		cmd := exec.Command(cp, "--", from, to)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
		f, err := os.OpenFile(to, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}

func sizeOf(file string) (int64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
