package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"
)

// output is where a command writes what it makes: a file, or standard output if path is "-".
type output struct {
	path    string
	what    string // is being done, for the progress; "writing" and the path if it is empty
	size    int64  // about how many bytes, for the progress; negative if nobody knows
	durable bool   // the file has to be on disk before it gets its name
}

// writeOutput makes a file of what write writes.
func writeOutput(cmd *cobra.Command, path string, size int64, write func(io.Writer) error) error {
	return output{path: path, size: size}.write(cmd, write)
}

// write makes the file. It appears under its name when it is whole: until then it has another one
// beside it, so that an interrupt or a full disk leaves what was there before.
func (o output) write(cmd *cobra.Command, write func(io.Writer) error) error {
	if o.what == "" {
		o.what = "writing " + o.path
	}
	progress := newProgress(cmd, o.what, o.size)
	defer progress.end()
	progress.then(o.what)
	if o.path == "-" {
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
	target := o.path
	if real, err := filepath.EvalSymlinks(o.path); err == nil {
		target = real
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: it is a directory; give the name of a file in it", o.path)
	case err == nil && !info.Mode().IsRegular(): // a device or a pipe
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return plainPathError(err)
		}
		o.durable = false
		return o.finish(cmd, f, progress, write)
	}
	f, err := createBeside(target)
	if err != nil {
		return fmt.Errorf("%s: %w", o.path, errors.Unwrap(err))
	}
	remove := func() { os.Remove(f.Name()) }
	defer onAbandon(f.Name(), remove)()
	whole := false
	defer func() {
		if !whole { // also when write panics
			f.Close()
			remove()
		}
	}()
	if err := o.finish(cmd, f, progress, write); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return fmt.Errorf("%s: %w", o.path, err)
	}
	whole = true
	if o.durable {
		if err := syncDirectory(filepath.Dir(target)); err != nil {
			return fmt.Errorf("%s: %w", o.path, plainPathError(err))
		}
	}
	return nil
}

// finish writes and closes f.
func (o output) finish(cmd *cobra.Command, f *os.File, progress *progress, write func(io.Writer) error) error {
	w := &blockWriter{w: &pacedWriter{cmd: cmd, w: f, progress: progress}}
	err := write(w)
	if err == nil {
		err = w.flush()
	}
	if err == nil && o.durable {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.path, plainPathError(err))
	}
	return nil
}

// createBeside creates an empty file with a name of its own in the directory of target. The name ends
// like the target's.
func createBeside(target string) (*os.File, error) {
	dir, name := filepath.Split(target)
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, ".tstore-"+strconv.Itoa(os.Getpid()+n)+"-"+name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) || n == 1000 {
			return f, err
		}
	}
}

// syncDirectory makes the names in a directory durable. Windows does that by itself.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// pieceSize is how much is written between two looks at whether the command was interrupted.
const pieceSize = 4 << 20

// blockWriter writes in blocks of pieceSize that lie at multiples of it: a file that was written so
// can be mapped with huge pages. What is larger than a block goes out without being copied.
type blockWriter struct {
	w     io.Writer
	block []byte // the beginning of the next block
}

func (b *blockWriter) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		if len(b.block) == 0 && len(p) >= pieceSize {
			n := len(p) / pieceSize * pieceSize
			if _, err := b.w.Write(p[:n]); err != nil {
				return 0, err
			}
			p = p[n:]
			continue
		}
		if b.block == nil {
			b.block = make([]byte, 0, pieceSize)
		}
		n := min(len(p), pieceSize-len(b.block))
		b.block = append(b.block, p[:n]...)
		p = p[n:]
		if len(b.block) == pieceSize {
			if err := b.flush(); err != nil {
				return 0, err
			}
		}
	}
	return total, nil
}

// flush writes what is left.
func (b *blockWriter) flush() error {
	_, err := b.w.Write(b.block)
	b.block = b.block[:0]
	return err
}

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
