package mtx

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that is read. The format allows 1,024 characters.
const maxLine = 64 << 10

// lines reads a file line by line and counts them.
type lines struct {
	r      *bufio.Reader
	number int64 // of the line that was read last, from 1

	source   *bytes.Reader    // what r reads
	progress func(done int64) // may be nil
}

// newLines returns the lines of a file, which may be gzipped.
func newLines(file []byte) (*lines, error) {
	source := bytes.NewReader(file)
	var r io.Reader = source
	if bytes.HasPrefix(file, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, (&lines{}).readError(err)
		}
		r = z
	}
	return &lines{r: bufio.NewReaderSize(r, maxLine), source: source}, nil
}

// progressLines is how many lines are read between two calls of a progress function.
const progressLines = 4096

// next returns the next line that is neither blank nor, unless comments are wanted, a comment,
// without white space at its ends. It is valid until the next call. At the end of the file the
// error is io.EOF.
func (l *lines) next(comments bool) ([]byte, error) {
	for {
		line, err := l.r.ReadSlice('\n')
		if len(line) > 0 {
			l.number++
			if l.progress != nil && l.number%progressLines == 0 {
				l.progress(l.source.Size() - int64(l.source.Len()))
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, l.fail("it is longer than %d bytes", maxLine)
		case err == io.EOF && len(line) == 0:
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, l.readError(err)
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && (comments || line[0] != '%') {
			return line, nil
		}
	}
}

// readError says what is wrong with the compressed form of the file.
func (l *lines) readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the gzip stream ends after line %d", ErrTruncated, l.number)
	}
	return fmt.Errorf("%w: after line %d: %w", ErrInvalid, l.number, err)
}

// fail returns an error about the line that was read last.
func (l *lines) fail(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrInvalid, l.number, fmt.Sprintf(format, args...))
}
