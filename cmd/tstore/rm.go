package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newRm() *cobra.Command {
	var recursive, yes bool
	cmd := &cobra.Command{
		Use:   "rm STORE NAME...",
		Short: "Delete tensors, as one batch",
		Long: `Delete the tensors of these names. If one of them is not there, none is deleted. With -r, delete all
tensors whose names begin with one of the NAMEs; on a terminal, you are asked before.

Their space comes back with "tstore compact".`,
		Example: `  tstore rm mystore train/x
  tstore rm mystore train/x train/y
  tstore rm -r mystore train/
  tstore rm -r mystore old/ older/ --yes`,
		Args: namesAndMore("STORE", "NAME"),
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "delete all tensors whose names begin with NAME")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		path, names := args[0], args[1:]
		if yes && !recursive {
			return usagef("--yes is for -r")
		}
		ask := recursive && !yes && isTerminal(cmd.InOrStdin())
		if ask {
			// Before the store is locked: an answer may take its time.
			if err := confirmRemoval(cmd, path, names); err != nil {
				return err
			}
		}
		deleted := make(map[string]bool, len(names))
		return update(cmd, path, store.Options{MustExist: true, LockWait: *wait}, func(tx *store.Tx) error {
			if recursive {
				var all []string
				for _, prefix := range names {
					below, err := namesBelow(cmd, tx, prefix)
					if err != nil {
						return err
					}
					all = append(all, below...)
				}
				names = all
			}
			for _, name := range names {
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

var errNotConfirmed = errors.New("nothing was deleted")

// confirmRemoval asks whether all tensors whose names begin with one of the prefixes are to be deleted.
func confirmRemoval(cmd *cobra.Command, path string, prefixes []string) error {
	st, err := openReading(path)
	if err != nil {
		return err
	}
	defer st.Close()
	snap, err := st.Snapshot()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer snap.Close()
	var tensors int64
	bytes, err := choose(cmd, snap, prefixes, &tensors)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	quoted := make([]string, len(prefixes))
	for i, p := range prefixes {
		quoted[i] = fmt.Sprintf("%q", p)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Delete %s of %s whose names begin with %s, %s? [y/N] ", count(tensors, "tensor"), printable(path), listOr(quoted), roundBytes(bytes))
	return readYes(cmd)
}

// readYes reads an answer, which has to be yes.
func readYes(cmd *cobra.Command) error {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok {
		return errNotConfirmed
	}
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case a := <-answer:
		if a == "y" || a == "yes" {
			return nil
		}
		return errNotConfirmed
	case <-cmd.Context().Done():
		return cmd.Context().Err()
	}
}
