package csv

import "errors"

// The errors of this package. They come wrapped with what was wrong and where; test with errors.Is.
var (
	// ErrInvalid says that a file is not a table of numbers.
	ErrInvalid = errors.New("csv: malformed file")

	// ErrUnsupported says that a tensor can't be written as a table of numbers, or that no type holds
	// the numbers of a file.
	ErrUnsupported = errors.New("csv: unsupported")
)
