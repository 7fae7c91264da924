package png

import "errors"

// The errors of this package. They come wrapped with what was wrong; test with errors.Is.
var (
	// ErrInvalid says that a file is not a PNG, or breaks the format's rules.
	ErrInvalid = errors.New("png: malformed file")

	// ErrTruncated says that a file ends before its image does.
	ErrTruncated = errors.New("png: truncated file")

	// ErrUnsupported says that an image is too large, or that a tensor can't be written as one.
	ErrUnsupported = errors.New("png: unsupported")
)
