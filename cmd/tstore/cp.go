package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newCp() *cobra.Command {
	var recursive, force bool
	cmd := &cobra.Command{
		Use:   "cp SOURCE NAME STORE [NEWNAME]",
		Short: "Copy a tensor, or all that begin alike, to another name or store",
		Long: `Copy a tensor of SOURCE, a store or a package, with its attributes to STORE, which may be the same one
and is created if there is none. NEWNAME is NAME if it is left out. NAME may be a part of a tensor, as
x[0:10]. With -r, all tensors whose names begin with NAME are copied, as one batch, to names that
begin with NEWNAME.

Every tensor is compared with its checksum on the way, unless only a part of it is read. What is
copied is in memory until it is stored; "tstore pack" and "tstore attach" move any amount.`,
		Example: `  tstore cp mystore train/x mystore copy/x
  tstore cp digits.tstore digits_images mystore
  tstore cp mystore 'train/x[:100]' mystore train/few
  tstore cp -r mystore train/ other old/train/`,
		Args: func(_ *cobra.Command, args []string) error {
			return checkCount(args, len(args) == 3 || len(args) == 4, []string{"SOURCE", "NAME", "STORE", "[NEWNAME]"})
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "copy all tensors whose names begin with NAME")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "replace tensors that have the new names")
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		source, name, path := args[0], args[1], args[2]
		to := name
		if len(args) == 4 {
			to = args[3]
			if err := store.CheckName(to); err != nil {
				return usagef("NEWNAME: %v", err)
			}
		}
		from, err := openReading(source)
		if err != nil {
			return err
		}
		defer from.Close()
		snap, err := from.Snapshot()
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		defer snap.Close()
		var all []copied
		if recursive {
			all, err = copiesBelow(cmd, snap, name, to)
		} else {
			all, err = copyOne(snap, name, to, len(args) == 4)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		var total int64
		for _, c := range all {
			total += c.entry.Length
		}
		progress := newProgress(cmd, "copying", total)
		defer progress.end()
		defer progress.watch(path)()
		return update(cmd, path, store.Options{LockWait: *wait}, func(tx *store.Tx) error {
			for _, c := range all {
				if err := c.put(cmd, from, snap, tx, force); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return cmd
}

// copied is a tensor, or a part of one, that is copied.
type copied struct {
	selection
	to string // its new name
}

// copyOne is a copy of the tensor that arg names, or of a part of it.
func copyOne(snap *store.Snapshot, arg, to string, renamed bool) ([]copied, error) {
	s, err := find(snap.Stat, arg)
	if err != nil {
		return nil, err
	}
	if !renamed {
		to = s.entry.Name
	}
	return []copied{{*s, to}}, nil
}

// copiesBelow are copies of the tensors whose names begin with a prefix.
func copiesBelow(cmd *cobra.Command, snap *store.Snapshot, prefix, to string) ([]copied, error) {
	var all []copied
	for e, err := range snap.List(prefix) {
		if err == nil {
			err = cmd.Context().Err()
		}
		if err != nil {
			return nil, err
		}
		all = append(all, copied{selection{entry: e}, to + strings.TrimPrefix(e.Name, prefix)})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w whose name begins with %q", store.ErrNotFound, prefix)
	}
	return all, nil
}

// put stores the copy.
func (c *copied) put(cmd *cobra.Command, from *store.Store, snap *store.Snapshot, tx *store.Tx, force bool) error {
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if !force {
		if _, err := tx.Stat(c.to); err == nil {
			return fmt.Errorf("%w: %q; delete it first, or give --force", store.ErrExists, c.to)
		}
	}
	t, err := c.read(from, snap)
	if err != nil {
		return err
	}
	if d, ok := t.(*layout.Dense); ok && c.index != nil {
		// What is read in place is read here, and no later.
		t = d.Clone()
	}
	return content{tensor: t, attrs: c.entry.Attrs}.put(tx, c.to)
}
