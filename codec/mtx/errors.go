package mtx

import "errors"

// The errors of this package. They come wrapped with what was wrong and in which line; test with
// errors.Is.
var (
	// ErrInvalid says that a file is not a Matrix Market file, or breaks the format's rules.
	ErrInvalid = errors.New("mtx: malformed file")

	// ErrTruncated says that a file ends before its matrix does.
	ErrTruncated = errors.New("mtx: truncated file")

	// ErrUnsupported says that a file holds something other than a matrix, or that a tensor can't
	// be written as one.
	ErrUnsupported = errors.New("mtx: unsupported")
)
