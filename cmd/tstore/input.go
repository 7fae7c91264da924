package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/edsrzf/mmap-go"
	"github.com/spf13/cobra"
)

const (
	// spillSize is the number of bytes from which on what comes through a pipe, or out of a compressed
	// file, is put in a temporary file rather than in memory.
	spillSize = 16 << 20

	// smallFile is the size below which a file is read rather than mapped: a process can have some 65,000
	// maps, and a directory more files.
	smallFile = 64 << 10
)

// input is a file that is read. Its bytes are a map of the file where that is possible, so that a
// large one takes no memory.
type input struct {
	path  string // as the user gave it
	bytes []byte
	lasts bool // it can't be opened again, as standard input can't

	cmd     *cobra.Command
	expect  func(b []byte) error // says what is wrong with how a pipe begins; nil if anything may come
	maps    [][]byte             // what is mapped, of it and of what it was unpacked to
	closing []func()
}

// openInput opens a file, or standard input if path is "-". What is compressed is unpacked.
func openInput(cmd *cobra.Command, path string) (*input, error) {
	return openExpected(cmd, path, nil)
}

// openExpected is openInput that does not wait for the end of a pipe which does not begin as expected:
// it may have none.
func openExpected(cmd *cobra.Command, path string, expect func(b []byte) error) (*input, error) {
	in := &input{cmd: cmd, path: path, expect: expect}
	err := in.open()
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *input) open() error {
	var f *os.File
	if in.path == "-" {
		in.path = "standard input"
		var ok bool
		if f, ok = in.cmd.InOrStdin().(*os.File); !ok {
			return errors.New("standard input is not a file")
		}
		in.lasts = true
	} else {
		var err error
		if f, err = os.Open(in.path); err != nil {
			return plainPathError(err)
		}
		defer f.Close()
	}
	err := in.readFile(f)
	if err == nil {
		err = in.decompress()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", in.path, err)
	}
	return nil
}

// close gives back what the input takes. What was read lies there no more.
func (in *input) close() {
	for _, f := range slices.Backward(in.closing) {
		f()
	}
	in.closing, in.maps = nil, nil
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

// readFile takes what is left of f, from its current position on.
func (in *input) readFile(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular():
		in.lasts = true
		in.bytes, err = in.take(f)
		return err
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	at = min(at, info.Size())
	if info.Size()-at < smallFile {
		in.bytes, err = io.ReadAll(f)
		return err
	}
	in.bytes, err = in.mapFile(f, at)
	return err
}

// mapFile maps f and returns its bytes from position at on.
func (in *input) mapFile(f *os.File, at int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == at { // an empty map is an error
		return nil, err
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("mapping it: %w", err)
	}
	guard(m, f.Name())
	in.maps = append(in.maps, m)
	in.closing = append(in.closing, func() { m.Unmap() })
	return m[at:], nil
}

// decompress unpacks the input if it is compressed.
func (in *input) decompress() error {
	_, named := splitCompression(in.path)
	c := compressionOf(in.bytes)
	if c == nil {
		if named != nil && len(in.bytes) > 0 {
			return fmt.Errorf("%w: it is called %s and does not begin like one", errCompressed, named.extension)
		}
		return nil
	}
	r, done, err := c.unpack(in.bytes)
	if err != nil {
		return err
	}
	defer done()
	packed := in.closing
	in.closing, in.maps = nil, nil
	unpacked, err := in.take(r)
	for _, f := range packed {
		f()
	}
	in.bytes, in.lasts = unpacked, true
	return err
}

// take reads r to its end: into memory, or to a temporary file that it maps if there is much.
func (in *input) take(r io.Reader) ([]byte, error) {
	r = &contextReader{cmd: in.cmd, r: r}
	b, err := io.ReadAll(io.LimitReader(r, spillSize))
	if err != nil || len(b) < spillSize {
		return b, err
	}
	if in.expect != nil && compressionOf(b) == nil {
		if err := in.expect(b); err != nil {
			return nil, err
		}
	}
	return in.spill(func(w io.Writer) error {
		if _, err := w.Write(b); err != nil {
			return err
		}
		_, err := io.Copy(w, r)
		return err
	})
}

// unpack reads a part of an archive that says how large it is.
func (in *input) unpack(size int64, r io.Reader) ([]byte, error) {
	r = &contextReader{cmd: in.cmd, r: r}
	if size < spillSize {
		return io.ReadAll(r)
	}
	return in.spill(func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// spill maps a temporary file of what write writes. It goes when the input is closed.
func (in *input) spill(write func(io.Writer) error) ([]byte, error) {
	f, err := os.CreateTemp("", "tstore-*")
	if err != nil {
		return nil, err
	}
	remove := func() { os.Remove(f.Name()) }
	done := onAbandon(f.Name(), remove)
	in.closing = append(in.closing, func() {
		remove()
		done()
	})
	defer f.Close()
	if err := write(&spillWriter{f}); err != nil {
		return nil, err
	}
	b, err := in.mapFile(f, 0)
	if err != nil {
		return nil, fmt.Errorf("temporary file %s: %w", f.Name(), err)
	}
	return b, nil
}

// spillWriter says where there was no room.
type spillWriter struct{ f *os.File }

func (s *spillWriter) Write(b []byte) (int, error) {
	n, err := s.f.Write(b)
	if err != nil {
		err = fmt.Errorf("temporary file %w", plainPathError(err))
	}
	return n, err
}

// holds reports whether bytes lie in the map of a file, and not in memory.
func (in *input) holds(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for _, m := range in.maps {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
		if start <= at && at-start < uintptr(len(m)) {
			return true
		}
	}
	return false
}

// beside opens a file in the directory of this one. It is closed with it.
func (in *input) beside(name string) (*input, error) {
	if in.path == "standard input" {
		return nil, fmt.Errorf("the files that it lists are beside it; give its path")
	}
	part, err := openInput(in.cmd, filepath.Join(filepath.Dir(in.path), name))
	if err != nil {
		return nil, err
	}
	in.maps = append(in.maps, part.maps...)
	in.closing = append(in.closing, part.close)
	return part, nil
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
