package npz

import "errors"

// The errors of this package. They come wrapped with what was wrong and in which member; test with
// errors.Is. Those of a member's array are the errors of package npy.
var (
	// ErrInvalid says that the bytes are not an archive, or one that breaks the rules of zip, of
	// NumPy or of SciPy, or whose checksums tell that it was damaged.
	ErrInvalid = errors.New("npz: malformed archive")

	// ErrTruncated says that the bytes are the beginning of an archive.
	ErrTruncated = errors.New("npz: truncated archive")

	// ErrUnsupported says that the archive is fine but is encrypted, compressed in another way than
	// NumPy's, or holds a sparse tensor that has no layout, or that a tensor can't be written.
	ErrUnsupported = errors.New("npz: unsupported")

	// ErrTooLarge says that the members of an archive would take more memory than was allowed.
	ErrTooLarge = errors.New("npz: too large when decompressed")
)
