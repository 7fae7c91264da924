package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
)

// writeOutput makes a file of what write writes, or sends it to standard output if path is "-".
// The file appears under its name when it is whole: until then it has another one beside it, so
// that an interrupt or a full disk leaves what was there before.
func writeOutput(cmd *cobra.Command, path string, size int64, write func(io.Writer) error) error {
	progress := newProgress(cmd, "writing "+path, size)
	defer progress.end()
	if path == "-" {
		w := bufio.NewWriter(cmd.OutOrStdout())
		if err := write(&pacedWriter{cmd: cmd, w: w, progress: progress}); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		return nil
	}

	// Through a symbolic link the file that it leads to is replaced, not the link.
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: it is a directory; give the name of a file in it", path)
	case err == nil && !info.Mode().IsRegular(): // a device or a pipe
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return plainPathError(err)
		}
		return finishOutput(cmd, f, path, progress, write)
	}
	f, err := createBeside(target)
	if err != nil {
		return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	remove := func() { os.Remove(f.Name()) }
	done := onAbandon(f.Name(), remove)
	defer done()
	if err := finishOutput(cmd, f, path, progress, write); err != nil {
		remove()
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		remove()
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// finishOutput writes and closes f.
func finishOutput(cmd *cobra.Command, f *os.File, path string, progress *progress, write func(io.Writer) error) error {
	err := write(&pacedWriter{cmd: cmd, w: f, progress: progress})
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, plainPathError(err))
	}
	return nil
}

// createBeside creates an empty file with a name of its own in the directory of target.
func createBeside(target string) (*os.File, error) {
	dir, name := filepath.Split(target)
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, "."+name+".tstore-"+strconv.Itoa(os.Getpid()+n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) || n == 1000 {
			return f, err
		}
	}
}

// pieceSize is how much is written between two looks at whether the command was interrupted.
const pieceSize = 4 << 20

// pacedWriter writes in pieces, counts them, and stops when the command is interrupted.
type pacedWriter struct {
	cmd      *cobra.Command
	w        io.Writer
	progress *progress
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	written := 0
	for {
		if err := p.cmd.Context().Err(); err != nil {
			return written, err
		}
		n, err := p.w.Write(b[written:min(len(b), written+pieceSize)])
		written += n
		p.progress.add(int64(n))
		if err != nil || written == len(b) {
			return written, err
		}
	}
}
