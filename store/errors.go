package store

import (
	"errors"

	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/store/internal/segment"
)

// The errors that a caller may want to test for with errors.Is. What is returned
// wraps one of them with what was being done, to which name, in which file and
// at which offset.
var (
	// ErrNotFound says that there is no tensor of that name.
	ErrNotFound = errors.New("no such tensor")
	// ErrExists says that there is a tensor of that name already.
	ErrExists = errors.New("tensor exists")
	// ErrName says that a name is empty, too long, no UTF-8, or has control characters.
	ErrName = index.ErrName
	// ErrAttrs says that attributes have a repeated or reserved key, are no UTF-8, or are too large.
	ErrAttrs = errors.New("invalid attributes")
	// ErrNoStore says that there is no store at the path.
	ErrNoStore = errors.New("no store")
	// ErrLocked says that another writer has the store open.
	ErrLocked = errors.New("store is locked by another writer")
	// ErrReadOnly says that the store, transaction or snapshot is for reading only.
	ErrReadOnly = errors.New("read-only")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrTxDone says that a transaction or snapshot was used after its end.
	ErrTxDone = errors.New("transaction or snapshot has ended")
	// ErrInUse says that the store can't be closed while snapshots or transactions are open.
	ErrInUse = errors.New("store is in use")
	// ErrOutcomeUnknown says that a write to disk failed in such a way that the batch
	// may or may not be there when the store is opened again. The store takes no
	// more writes until then.
	ErrOutcomeUnknown = errors.New("outcome unknown, reopen the store")
	// ErrCorrupt says that bytes which were durable are not what was written.
	ErrCorrupt = segment.ErrCorrupt
	// ErrNewerFormat says that the store was written by a newer version of tstore.
	ErrNewerFormat = segment.ErrNewerFormat
)
