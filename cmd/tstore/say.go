package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

const quietFlag = "quiet"

// quiet reports whether --quiet was given: no progress, and no word about work that went well.
func quiet(cmd *cobra.Command) bool {
	q, err := cmd.Flags().GetBool(quietFlag)
	return err == nil && q
}

// say prints a line about work that went well.
func say(cmd *cobra.Command, format string, args ...any) error {
	if quiet(cmd) {
		return nil
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...)
	return err
}

// count writes a number of things: 1 tensor, 2 tensors.
func count[N int | int64](n N, what string) string {
	s := strconv.FormatInt(int64(n), 10) + " " + what
	if n != 1 {
		s += "s"
	}
	return s
}

// jsonFlag adds --json to a command that prints one object.
func jsonFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print a JSON object")
}
