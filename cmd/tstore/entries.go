package main

import (
	"iter"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

// entriesTold is after how many entries progress is told.
const entriesTold = 4096

// eachEntry yields the entries of a list until the command is interrupted. It shows how many there have
// been, if that takes long, and takes it off the screen before it returns.
func eachEntry(cmd *cobra.Command, list iter.Seq2[*store.Entry, error]) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		progress := newEndlessProgress(cmd, "reading names")
		defer progress.end()
		n := int64(0)
		for e, err := range list {
			if err == nil {
				err = cmd.Context().Err()
			}
			if n++; n%entriesTold == 0 {
				progress.set(n)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
