package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/edsrzf/mmap-go"
	"github.com/spf13/cobra"
)

// spillSize is the number of bytes from which on what comes through a pipe is put in a temporary
// file rather than in memory.
const spillSize = 64 << 20

// input is a file that is read. Its bytes are a map of the file where that is possible, so that a
// large one takes no memory.
type input struct {
	path  string // as the user gave it
	bytes []byte
	close func()
}

// openInput opens a file, or standard input if path is "-".
func openInput(cmd *cobra.Command, path string) (*input, error) {
	if path == "-" {
		f, ok := cmd.InOrStdin().(*os.File)
		if !ok {
			return nil, errors.New("standard input is not a file")
		}
		in, err := readFile(cmd, f)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		in.path = "standard input"
		return in, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer f.Close()
	in, err := readFile(cmd, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	in.path = path
	return in, nil
}

// plainPathError drops the name of the system call: "open x: no such file" says no more than
// "x: no such file".
func plainPathError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// readFile returns what is left of f, from its current position on.
func readFile(cmd *cobra.Command, f *os.File) (*input, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return readStream(cmd, f)
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	return mapFile(f, min(at, info.Size()))
}

// mapFile maps f and returns its bytes from position at on.
func mapFile(f *os.File, at int64) (*input, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == at { // an empty map is an error
		return &input{close: func() {}}, nil
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("mapping it: %w", err)
	}
	guard(m, f.Name())
	return &input{bytes: m[at:], close: func() { m.Unmap() }}, nil
}

// readStream reads a pipe or a device to its end.
func readStream(cmd *cobra.Command, f *os.File) (*input, error) {
	r := &contextReader{cmd: cmd, r: f}
	b, err := io.ReadAll(io.LimitReader(r, spillSize))
	if err != nil {
		return nil, err
	}
	if len(b) < spillSize {
		return &input{bytes: b, close: func() {}}, nil
	}
	spill, err := os.CreateTemp("", "tstore-*")
	if err != nil {
		return nil, err
	}
	remove := func() { os.Remove(spill.Name()) }
	done := onAbandon(spill.Name(), remove)
	in, err := spillStream(spill, b, r)
	spill.Close()
	if err != nil {
		remove()
		done()
		return nil, fmt.Errorf("temporary file %s: %w", spill.Name(), err)
	}
	unmap := in.close
	in.close = func() {
		unmap()
		remove()
		done()
	}
	return in, nil
}

func spillStream(spill *os.File, first []byte, rest io.Reader) (*input, error) {
	if _, err := spill.Write(first); err != nil {
		return nil, err
	}
	if _, err := io.Copy(spill, rest); err != nil {
		return nil, err
	}
	return mapFile(spill, 0)
}

// contextReader stops when the command is interrupted.
type contextReader struct {
	cmd *cobra.Command
	r   io.Reader
}

func (r *contextReader) Read(b []byte) (int, error) {
	if err := r.cmd.Context().Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
