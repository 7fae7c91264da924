package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newConvert() *cobra.Command {
	var to layoutFlag
	var newName string
	cmd := &cobra.Command{
		Use:   "convert STORE NAME --layout LAYOUT [--to NEWNAME]",
		Short: "Store a tensor in another layout",
		Long: `Convert a tensor between dense and the sparse layouts COO, CSR, CSC and CSF, in place of what it was
or, with --to, under another name. Attributes and dimension names stay. From dense to sparse, zeros
are left out (−0.0 is zero, NaN is not); elements that a COO stores several times are summed.`,
		Example: `  tstore convert mystore weights --layout csr
  tstore convert mystore weights --layout auto --to weights/small`,
		Args: names("STORE", "NAME"),
	}
	to.addTo(cmd, "convert to")
	cmd.Flags().StringVar(&newName, "to", "", "store the result as `NEWNAME` and keep the original")
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		path, name := args[0], args[1]
		if err := to.parse(); err != nil {
			return err
		}
		if !to.set {
			return usagef("--layout is missing: dense, coo, csr, csc, csf or auto")
		}
		target := name
		if cmd.Flags().Changed("to") {
			target = newName
		}
		if err := store.CheckName(target); err != nil {
			return usagef("--to: %v", err)
		}
		// It is read, converted and written, each of which may take long and tells nothing until it
		// is done, but for the growth of the files.
		progress := newProgress(cmd, "converting "+name, 1)
		defer progress.end()
		defer progress.watch(path)()
		return updateStore(cmd, path, store.Options{MustExist: true, LockWait: *wait}, func(st *store.Store, tx *store.Tx) error {
			e, err := tx.Stat(name)
			if err != nil {
				return err
			}
			progress.report(0, 3*e.Bytes)
			// A copy, compared with its checksum: damage must not be stored under a new one.
			t, err := st.Get(name)
			if err != nil {
				return err
			}
			progress.set(e.Bytes)
			if t, err = to.convert(t); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			progress.goOn(2 * e.Bytes)
			return content{tensor: t, attrs: e.Attrs}.put(tx, target)
		})
	})
	return cmd
}
