package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newUnpack() *cobra.Command {
	var clash clashFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "unpack FILE STORE [PREFIX...]",
		Short: "Put the tensors of a package into a store",
		Long: `Put the tensors of a package into STORE, or those whose names begin with one of the PREFIXes. All of
them appear at once. The store is created if there is none.

Every tensor is compared with its checksum on the way, so that damage stays outside. "tstore attach"
is faster: it takes the whole package in as it is.`,
		Example: `  tstore unpack digits.tstore mystore
  tstore unpack digits.tstore mystore train/
  tstore unpack digits.tstore mystore --prefix digits/ --keep`,
		Args: namesAndMore("FILE", "STORE"),
	}
	clash.addTo(cmd)
	jsonFlag(cmd, &asJSON)
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		file, path, prefixes := args[0], args[1], args[2:]
		if err := clash.parse(); err != nil {
			return err
		}
		pkg, err := openPackage(file)
		if err != nil {
			return err
		}
		defer pkg.Close()
		snap, err := pkg.Snapshot()
		if err != nil {
			return err
		}
		defer snap.Close()
		var tensors int64
		if _, err := choose(cmd, snap, prefixes, &tensors); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		var n int
		err = withWriting(path, store.Options{LockWait: *wait}, func(w *writing) error {
			progress := newProgress(cmd, "unpacking "+file, 1)
			defer progress.end()
			defer w.onAbandon()()
			n, err = w.Unpack(cmd.Context(), snap, &store.UnpackOptions{
				Prefixes: prefixes, Prefix: clash.prefix, Clash: clash.clash, Progress: progress.report, Committing: committing,
			})
			return clash.explain(err)
		})
		if err != nil {
			return err
		}
		if asJSON {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "{\"tensors\":%d}\n", n)
			return err
		}
		return say(cmd, "unpacked %s", count(n, "tensor"))
	})
	return cmd
}
