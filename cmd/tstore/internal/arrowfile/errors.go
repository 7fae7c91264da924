package arrowfile

import "errors"

// The errors of this package. They come wrapped with what was wrong and where; test with errors.Is.
var (
	// ErrInvalid says that a file is no Arrow IPC file or stream, or breaks the format's rules.
	ErrInvalid = errors.New("arrow: malformed file")

	// ErrTruncated says that a file ends before its table does.
	ErrTruncated = errors.New("arrow: truncated file")

	// ErrUnsupported says that a tensor can't be written to a table, or that a column holds what no
	// tensor has.
	ErrUnsupported = errors.New("arrow: unsupported")
)
