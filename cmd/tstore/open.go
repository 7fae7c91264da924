package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

// errNoPackage says that a file is something other than a package.
var errNoPackage = errors.New("no store and no package")

// openReading opens a store beside whoever writes to it, or a package.
func openReading(path string) (*store.Store, error) {
	return openToRead(path, store.Options{ReadOnly: true})
}

// openChecking is openReading for what is copied: each tensor is compared with its checksum, so that
// damage is not stored under a new one.
func openChecking(path string) (*store.Store, error) {
	return openToRead(path, store.Options{ReadOnly: true, Checksums: true})
}

func openToRead(path string, opts store.Options) (*store.Store, error) {
	pkg := isFile(path)
	if pkg {
		if err := checkPackage(path); err != nil {
			return nil, err
		}
	}
	guardStore(path, pkg)
	return store.Open(path, &opts)
}

// isFile reports whether there is an ordinary file at path, or a link to one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// openPackage opens a package, and nothing else.
func openPackage(path string) (*store.Store, error) {
	st, err := openReading(path)
	if err != nil {
		return nil, err
	}
	if !st.IsPackage() {
		st.Close()
		return nil, fmt.Errorf("%s: it is a store, not a package; make one of it with \"tstore pack %s OUT.tstore\"", path, path)
	}
	return st, nil
}

// What a package begins and ends with: FORMAT.md, 2.1 and 6.1.
const (
	packageKey      = "tstore.segment"
	packageTrailer  = "TSTORE\r\n"
	packageHeadSize = 1 << 10
	packageTailSize = 64
)

// checkPackage returns an error if a file neither begins nor ends like a package. One that does
// only one of both is a damaged package, which store.Open explains.
func checkPackage(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return plainPathError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return plainPathError(err)
	}
	head := make([]byte, min(packageHeadSize, info.Size()))
	if n, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return plainPathError(err)
	} else {
		head = head[:n]
	}
	if bytes.Contains(head, []byte(packageKey)) {
		return nil
	}
	if info.Size() >= packageTailSize {
		tail := make([]byte, len(packageTrailer))
		if _, err := f.ReadAt(tail, info.Size()-packageTailSize); err == nil && string(tail) == packageTrailer {
			return nil
		}
	}
	if known := sniff(head); known != nil {
		return fmt.Errorf("%s: %w: it is a %s file; \"tstore put\" and \"tstore import\" take it into a store", path, errNoPackage, known.extensions[0])
	}
	what := "it neither begins nor ends like a package"
	if len(head) == 0 {
		what = "the file is empty"
	}
	return fmt.Errorf("%s: %w: %s", path, errNoPackage, what)
}

// lockFlag adds --wait to a command that writes.
func lockFlag(cmd *cobra.Command) *time.Duration {
	return cmd.Flags().Duration("wait", 0, "`TIME` to wait for another process that has the store open for writing, as 10s or 5m")
}

// writing is a store that is open for writing. If it was created for a command that fails, it is
// removed again.
type writing struct {
	*store.Store
	path    string
	created bool
	done    func() // nothing is to be removed any more
}

// errUnfinished is what a work ended in that a panic has ended.
var errUnfinished = errors.New("unfinished")

// withWriting opens a store for writing, calls fn and closes the store. If it was created for fn and
// fn fails, it is removed again.
func withWriting(path string, opts store.Options, fn func(w *writing) error) (err error) {
	w, err := openWriting(path, opts)
	if err != nil {
		return err
	}
	err = errUnfinished
	defer func() { err = w.close(err) }()
	return fn(w)
}

// openWriting opens a store for writing. It has to be closed with the error that the work ended in.
func openWriting(path string, opts store.Options) (*writing, error) {
	if opts.LockWait < 0 {
		return nil, usagef("--wait %v: it can't be negative", opts.LockWait)
	}
	_, err := os.Lstat(path)
	created := errors.Is(err, fs.ErrNotExist)
	if isFile(path) && checkPackage(path) == nil {
		return nil, fmt.Errorf("%s: it is a package, which never changes; take it into a store with \"tstore unpack\" or \"tstore attach\"", path)
	}
	guardStore(path, false)
	st, err := store.Open(path, &opts)
	if err != nil {
		return nil, err
	}
	w := &writing{Store: st, path: path, created: created, done: func() {}}
	if created {
		w.done = onAbandon(path, func() { os.RemoveAll(path) })
	}
	return w, nil
}

// close ends the use of the store. err is what the work ended in, which it returns, or else what
// closing ended in.
func (w *writing) close(err error) error {
	defer w.done()
	if err != nil && w.created && !errors.Is(err, store.ErrOutcomeUnknown) {
		// While the lock is held nobody else can have put anything into it. Windows does not
		// remove open files.
		if runtime.GOOS != "windows" {
			os.RemoveAll(w.path)
		}
		w.Close()
		os.RemoveAll(w.path)
		return fmt.Errorf("%s: %w", w.path, err)
	}
	// An error of Close after a batch that is durable is worth a word, but undoes nothing.
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	return nil
}

// update opens a store and commits what fn does as one batch. If the store is created for it and
// the batch fails, the store is removed again.
func update(cmd *cobra.Command, path string, opts store.Options, fn func(tx *store.Tx) error) error {
	return updateStore(cmd, path, opts, func(_ *store.Store, tx *store.Tx) error { return fn(tx) })
}

// updateStore is update for a function that reads from the store itself, too.
func updateStore(cmd *cobra.Command, path string, opts store.Options, fn func(st *store.Store, tx *store.Tx) error) error {
	return withWriting(path, opts, func(w *writing) error {
		return w.Update(func(tx *store.Tx) error {
			if err := fn(w.Store, tx); err != nil {
				return err
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			committing()
			return nil
		})
	})
}
