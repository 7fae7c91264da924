package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newCompact() *cobra.Command {
	var minDead string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compact STORE",
		Short: "Give back the space of what was overwritten and deleted",
		Long: `Write the tensors that are there to new files, without those that were overwritten or deleted, and
remove the old ones. Programs that read meanwhile notice nothing. An interrupt or a crash at any
moment leaves the store with the same contents.

"tstore stat STORE" shows how much there is to gain. With --min-dead, only files are rewritten of
which at least that share is dead, so that the work is in proportion to what it gains. With --json,
an object with removed and created (numbers of files), before and after (their bytes) and gained.`,
		Example: `  tstore compact mystore
  tstore compact mystore --min-dead 50%`,
		Args: names("STORE"),
	}
	cmd.Flags().StringVar(&minDead, "min-dead", "0%", "rewrite only files of which this `SHARE` is dead, as 50%")
	jsonFlag(cmd, &asJSON)
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		share, err := parseShare(minDead)
		if err != nil {
			return usagef("--min-dead %s: %v", minDead, err)
		}
		var done store.CompactResult
		err = withWriting(args[0], store.Options{MustExist: true, LockWait: *wait}, func(w *writing) error {
			progress := newProgress(cmd, "compacting "+args[0], 1)
			defer progress.end()
			var err error
			done, err = w.Compact(cmd.Context(), &store.CompactOptions{MinDead: share, Progress: progress.report})
			return err
		})
		if err != nil {
			return err
		}
		if asJSON {
			b := appendInt(nil, "removed", int64(done.Removed))
			b = appendInt(b, "created", int64(done.Created))
			b = appendInt(b, "before", done.Before)
			b = appendInt(b, "after", done.After)
			b = appendInt(b, "gained", done.Before-done.After)
			b[0] = '{' // in place of the comma
			_, err := cmd.OutOrStdout().Write(append(b, "}\n"...))
			return err
		}
		if done.Removed == 0 {
			return say(cmd, "nothing to gain")
		}
		return say(cmd, "gained %s: %s of %s became %s of %s", roundBytes(done.Before-done.After),
			count(done.Removed, "file"), roundBytes(done.Before), count(done.Created, "file"), roundBytes(done.After))
	})
	return cmd
}

// parseShare returns a share between 0 and 1, given as 50% or 0.5.
func parseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("it has to be a share, as 50%% or 0.5")
	}
	if percent {
		v /= 100
	}
	if !(0 <= v && v <= 1) {
		return 0, fmt.Errorf("it has to be from 0%% to 100%%")
	}
	return v, nil
}
