package safetensors

import "errors"

// The errors of this package. They come wrapped with what was wrong and in which tensor; test with
// errors.Is.
var (
	// ErrInvalid says that the bytes are not a .safetensors file, or one that breaks the format's
	// rules.
	ErrInvalid = errors.New("safetensors: malformed file")

	// ErrTruncated says that the file ends before its header or its tensors do.
	ErrTruncated = errors.New("safetensors: truncated file")

	// ErrUnsupported says that the file is fine but holds elements that no tensor has, or that a
	// tensor can't be kept in a .safetensors file.
	ErrUnsupported = errors.New("safetensors: unsupported")
)
