package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// compression is a way in which a file of any format can be compressed as a whole. gzip is that of the
// standard library, Zstandard that of klauspost/compress, the one in Go that is widely used and kept up.
type compression struct {
	extension string
	magic     string
	reader    func(r io.Reader) (io.Reader, func(), error)
	writer    func(w io.Writer) (io.WriteCloser, error)
}

var compressions = []*compression{
	{
		extension: ".gz",
		magic:     "\x1f\x8b",
		reader: func(r io.Reader) (io.Reader, func(), error) {
			z, err := gzip.NewReader(r)
			return z, func() {}, err
		},
		writer: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	},
	{
		extension: ".zst",
		magic:     "\x28\xb5\x2f\xfd",
		reader: func(r io.Reader) (io.Reader, func(), error) {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return nil, nil, err
			}
			return z, z.Close, nil
		},
		writer: func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		},
	},
}

// maxWindow is how far back a Zstandard stream may refer, which takes as much memory: what zstd itself
// takes without being asked to.
const maxWindow = 128 << 20

// unpackRatio times what has been read of a compressed file is what it may unpack to, and unpackMinimum in any
// case. gzip can't exceed the first; a Zstandard file of nothing but zeros can.
const unpackRatio = 1100

var unpackMinimum int64 = 1 << 30

var (
	errCompressed = errors.New("malformed compressed file")
	errBomb       = errors.New("it unpacks to too much")
)

// splitCompression splits the extension of a compression from the name of a file.
func splitCompression(path string) (string, *compression) {
	for _, c := range compressions {
		if n := len(path) - len(c.extension); n > 0 && strings.EqualFold(path[n:], c.extension) {
			return path[:n], c
		}
	}
	return path, nil
}

// compressionOf returns the compression of a file that begins like b, or nil.
func compressionOf(b []byte) *compression {
	for _, c := range compressions {
		if bytes.HasPrefix(b, []byte(c.magic)) {
			return c
		}
	}
	return nil
}

// unpack returns a reader of what is compressed in b, which stops at the limit, and what closes it.
func (c *compression) unpack(b []byte) (io.Reader, func(), error) {
	packed := &countingReader{r: bytes.NewReader(b)}
	r, done, err := c.reader(packed)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errCompressed, err)
	}
	return &unpackReader{r: r, packed: packed}, done, nil
}

// unpackReader reads what is unpacked, and says in which way that failed.
type unpackReader struct {
	r      io.Reader
	packed *countingReader
	n      int64
}

func (u *unpackReader) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	u.n += int64(n)
	switch {
	case u.n > max(unpackMinimum, u.packed.n*unpackRatio):
		err = fmt.Errorf("%w: more than %d times its size; unpack it with another program first if it is meant to be", errBomb, unpackRatio)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = fmt.Errorf("%w: it takes a window of more than %d MiB; unpack it with another program first", errBomb, maxWindow>>20)
	case err != nil && err != io.EOF:
		err = fmt.Errorf("%w: behind %d bytes that could be unpacked: %w", errCompressed, u.n, err)
	}
	return n, err
}

// countingReader counts what is read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// compressed returns what write writes, compressed if c is not nil.
func compressed(c *compression, write func(io.Writer) error) func(io.Writer) error {
	if c == nil {
		return write
	}
	return func(w io.Writer) error {
		z, err := c.writer(w)
		if err != nil {
			return err
		}
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
}
