package npy

import "errors"

// The errors of this package. They come wrapped with what was wrong; test with errors.Is.
var (
	// ErrInvalid says that the bytes are not a .npy file, or one that breaks the format's rules.
	ErrInvalid = errors.New("npy: malformed file")

	// ErrTruncated says that the file ends before its array does.
	ErrTruncated = errors.New("npy: truncated file")

	// ErrUnsupported says that the file is fine but holds elements that no tensor has, or that a
	// tensor can't be kept in a .npy file.
	ErrUnsupported = errors.New("npy: unsupported")
)
