package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newRepair() *cobra.Command {
	var inPlace, asJSON bool
	cmd := &cobra.Command{
		Use:   "repair DAMAGED REPAIRED",
		Short: "Make a sound store or package of a damaged one",
		Long: `Make a new store or package REPAIRED of what is whole in DAMAGED: every tensor that agrees with its
checksum, whatever became of the catalog, the indexes, and of a package its beginning or its end.
What is damaged is set aside in a directory called lost, with a list of what can be told of it, and
listed; then the exit code is 4. DAMAGED is not changed.

With --in-place, the repaired one takes the place of DAMAGED, which is kept beside it under another
name, and nobody may have it open for writing. With --json, an object with result, kept (a number of
tensors), lost (objects with name, file, offset, length, reason, saved_as), lost_in, notes and old.`,
		Example: `  tstore repair mystore repaired
  tstore repair digits.tstore repaired.tstore
  tstore repair mystore --in-place`,
		Args: func(_ *cobra.Command, args []string) error {
			if inPlace {
				return checkCount(args, len(args) == 1, []string{"DAMAGED", "--in-place"})
			}
			return checkCount(args, len(args) == 2, []string{"DAMAGED", "REPAIRED"})
		},
	}
	cmd.Flags().BoolVar(&inPlace, "in-place", false, "put the repaired one in the place of DAMAGED, which gets another name")
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		report, err := repair(cmd, args, inPlace)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		switch {
		case asJSON:
			out.Write(append(appendRepairJSON(nil, &report), '\n'))
		default:
			writeRepair(out, &report, quiet(cmd))
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if n := len(report.Lost); n > 0 {
			return &damage{fmt.Sprintf("%s: %s could not be kept: see %s", args[0], count(n, "record"), report.LostIn), ""}
		}
		return nil
	})
	return cmd
}

// repair repairs a store or package.
func repair(cmd *cobra.Command, args []string, inPlace bool) (store.RepairReport, error) {
	path := args[0]
	opts := store.RepairOptions{InPlace: inPlace}
	if isFile(path) {
		if err := checkPackage(path); err != nil {
			return store.RepairReport{}, err
		}
	} else if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return store.RepairReport{}, fmt.Errorf("%s: %w", path, store.ErrNoStore)
	}
	if !inPlace {
		opts.To = args[1]
		if _, err := os.Lstat(opts.To); !errors.Is(err, fs.ErrNotExist) {
			return store.RepairReport{}, usagef("%s is there already; give a name that is not, or --in-place", opts.To)
		}
		defer onAbandon(opts.To, func() { os.RemoveAll(opts.To) })()
	}
	progress := newCountProgress(cmd, "repairing "+path)
	defer progress.end()
	opts.Progress = func(done, total int) { progress.report(int64(done), int64(total)) }
	return store.Repair(cmd.Context(), path, &opts)
}

func writeRepair(out *bufio.Writer, r *store.RepairReport, quiet bool) {
	for _, l := range r.Lost {
		what := "a record without a name"
		if l.Name != "" {
			what = "tensor " + printable(l.Name)
		}
		fmt.Fprintf(out, "lost: %s, %d bytes at offset %d of %s: %s\n", what, l.Length, l.Offset, printable(l.File), printable(l.Reason))
	}
	for _, note := range r.Notes {
		out.WriteString("note: " + printable(note) + "\n")
	}
	if quiet {
		return
	}
	fmt.Fprintf(out, "%s kept in %s\n", count(r.Kept, "tensor"), printable(r.Result))
	if r.Old != "" {
		fmt.Fprintf(out, "what it was made of is now %s\n", printable(r.Old))
	}
}

// appendRepairJSON appends the object that repair --json prints. The keys and their order are part of
// the command's interface.
func appendRepairJSON(b []byte, r *store.RepairReport) []byte {
	b = appendString(append(b, `{"result":`...), r.Result)
	b = strconv.AppendInt(append(b, `,"kept":`...), int64(r.Kept), 10)
	b = append(b, `,"lost":[`...)
	for i, l := range r.Lost {
		if i > 0 {
			b = append(b, ',')
		}
		object, err := json.Marshal(l)
		if err != nil {
			panic(err) // strings and numbers always have a JSON form
		}
		b = append(b, object...)
	}
	b = appendString(append(b, `],"lost_in":`...), r.LostIn)
	b = appendStrings(append(b, `,"notes":`...), r.Notes)
	b = appendString(append(b, `,"old":`...), r.Old)
	return append(b, '}')
}
