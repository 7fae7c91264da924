package main

import (
	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newRm() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rm STORE NAME...",
		Short: "Delete tensors, as one batch",
		Long:  `Delete the tensors of these names. If one of them is not there, none is deleted.`,
		Example: `  tstore rm mystore train/x
  tstore rm mystore train/x train/y`,
		Args: namesAndMore("STORE", "NAME"),
	}
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		deleted := make(map[string]bool, len(args))
		return update(cmd, args[0], store.Options{MustExist: true, LockWait: *wait}, func(tx *store.Tx) error {
			for _, name := range args[1:] {
				if deleted[name] {
					continue // given twice
				}
				deleted[name] = true
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				if err := tx.Delete(name); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return cmd
}
