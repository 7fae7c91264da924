package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

// openReading opens a store beside whoever writes to it.
func openReading(path string) (*store.Store, error) {
	return store.Open(path, &store.Options{ReadOnly: true})
}

// lockFlag adds --wait to a command that writes.
func lockFlag(cmd *cobra.Command) *time.Duration {
	return cmd.Flags().Duration("wait", 0, "`TIME` to wait for another process that has the store open for writing, as 10s or 5m")
}

// update opens a store and commits what fn does as one batch. If the store is created for it and
// the batch fails, the store is removed again.
func update(cmd *cobra.Command, path string, opts store.Options, fn func(tx *store.Tx) error) error {
	return updateStore(cmd, path, opts, func(_ *store.Store, tx *store.Tx) error { return fn(tx) })
}

// updateStore is update for a function that reads from the store itself, too.
func updateStore(cmd *cobra.Command, path string, opts store.Options, fn func(st *store.Store, tx *store.Tx) error) error {
	if opts.LockWait < 0 {
		return usagef("--wait %v: it can't be negative", opts.LockWait)
	}
	_, err := os.Lstat(path)
	created := errors.Is(err, fs.ErrNotExist)
	st, err := store.Open(path, &opts)
	if err != nil {
		return err
	}
	// An error of Close after a batch that is durable is worth a word, but undoes nothing.
	discard := func() {}
	if created {
		discard = func() { os.RemoveAll(path) }
		defer onAbandon(path, discard)()
	}
	err = st.Update(func(tx *store.Tx) error {
		if err := fn(st, tx); err != nil {
			return err
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		committing()
		return nil
	})
	if err != nil && created && !errors.Is(err, store.ErrOutcomeUnknown) {
		// While the lock is held nobody else can have put anything into it. Windows does not
		// remove open files.
		if runtime.GOOS != "windows" {
			discard()
		}
		st.Close()
		discard()
		return fmt.Errorf("%s: %w", path, err)
	}
	if closeErr := st.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
