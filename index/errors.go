package index

import "errors"

// The errors of this package. They come wrapped with what was wrong, where, and in which name or
// file; test with errors.Is.
var (
	// ErrCorrupt says that bytes that should be an entry or a frozen index are not: a checksum, a
	// length, an offset or the order is wrong.
	ErrCorrupt = errors.New("index: corrupt")

	// ErrNewerFormat says that an entry or a frozen index is of a version or kind that this
	// program does not know; a newer tstore wrote it.
	ErrNewerFormat = errors.New("index: written by a newer tstore")

	// ErrCatalog says that the catalog of a store is damaged, torn, of another version or in any
	// other way not beyond doubt. Nothing is lost: delete it with [RemoveCatalog] and fill a new
	// one from the logs.
	ErrCatalog = errors.New("index: catalog in doubt")

	// ErrCatalogLocked says that another process, or another Catalog of this one, has the catalog
	// open.
	ErrCatalogLocked = errors.New("index: catalog is open elsewhere")

	// ErrName says that a name can't be the name of a tensor; see [CheckName].
	ErrName = errors.New("invalid name")

	// ErrClosed says that a catalog was used after it was closed.
	ErrClosed = errors.New("index: catalog is closed")
)
