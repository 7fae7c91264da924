package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newMv() *cobra.Command {
	var recursive, force bool
	cmd := &cobra.Command{
		Use:   "mv STORE NAME NEWNAME",
		Short: "Rename a tensor, or all that begin alike",
		Long: `Give a tensor another name. No data moves, however large it is. With -r, all tensors whose names begin
with NAME get names that begin with NEWNAME instead, as one batch.`,
		Example: `  tstore mv mystore train/x test/x
  tstore mv -r mystore train/ old/train/
  tstore mv mystore new/x train/x --force     (in place of what train/x was)`,
		Args: names("STORE", "NAME", "NEWNAME"),
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "rename all tensors whose names begin with NAME")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "replace tensors that have the new names")
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		from, to := args[1], args[2]
		if err := store.CheckName(to); err != nil {
			return usagef("%v", err)
		}
		return update(cmd, args[0], store.Options{MustExist: true, LockWait: *wait}, func(tx *store.Tx) error {
			moved := []string{from}
			if recursive {
				var err error
				if moved, err = namesBelow(cmd, tx, from); err != nil {
					return err
				}
			}
			return rename(tx, moved, func(name string) string { return to + strings.TrimPrefix(name, from) }, force)
		})
	})
	return cmd
}

// namesBelow returns the names that begin with a prefix, of which there has to be one.
func namesBelow(cmd *cobra.Command, tx *store.Tx, prefix string) ([]string, error) {
	var names []string
	for e, err := range eachEntry(cmd, tx.List(prefix)) {
		if err != nil {
			return nil, err
		}
		names = append(names, e.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w whose name begins with %q", store.ErrNotFound, prefix)
	}
	return names, nil
}

// rename renames tensors. Where a new name is the old one of another, that has to go first: if names
// become longer it is a longer one, otherwise a shorter one.
func rename(tx *store.Tx, names []string, to func(string) string, force bool) error {
	names = slices.SortedStableFunc(slices.Values(names), func(a, b string) int {
		if len(to(a)) > len(a) {
			a, b = b, a
		}
		return cmp.Compare(len(a), len(b))
	})
	for _, name := range names {
		next := to(name)
		if next == name {
			if _, err := tx.Stat(name); err != nil {
				return err
			}
			continue
		}
		err := tx.Rename(name, next)
		if errors.Is(err, store.ErrExists) && force {
			if err = tx.Delete(next); err == nil {
				err = tx.Rename(name, next)
			}
		}
		if errors.Is(err, store.ErrExists) {
			return fmt.Errorf("%w; delete it first, or give --force", err)
		}
		if errors.Is(err, store.ErrName) {
			return fmt.Errorf("%q: %w", next, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
