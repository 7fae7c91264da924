package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

// What an argument of a command is, for the completion of the shell.
type argKind int

const (
	aFile argKind = iota // a store, a package or any other file
	aName                // of a tensor in the store that the last argument of that kind before it is
	aNew                 // nothing that is there already
)

// completeArgs completes the arguments of a command, of which the last kind may be repeated.
func completeArgs(cmd *cobra.Command, kinds ...argKind) *cobra.Command {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch at := min(len(args), len(kinds)-1); kinds[at] {
		case aName:
			for i := at - 1; i >= 0; i-- {
				if kinds[i] == aFile {
					return completeName(args[i], toComplete)
				}
			}
		case aNew:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// completionTime is how long names are looked for. Someone waits.
const completionTime = 500 * time.Millisecond

// completeName returns the names in a store that begin as a word does, up to the next slash.
func completeName(path, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const nothing = cobra.ShellCompDirectiveNoFileComp
	st, err := openReading(path)
	if err != nil {
		return nil, nothing
	}
	defer st.Close()
	var found []cobra.Completion
	directive := nothing
	end := time.Now().Add(completionTime)
	last := ""
	for e, err := range st.List(word) {
		if err != nil || time.Now().After(end) {
			break
		}
		if i := strings.IndexByte(e.Name[len(word):], '/'); i >= 0 {
			if group := e.Name[:len(word)+i+1]; group != last {
				last = group
				found = append(found, cobra.Completion(group))
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			continue
		}
		found = append(found, cobra.CompletionWithDesc(e.Name, describeEntry(e)))
	}
	return found, directive
}

func describeEntry(e *store.Entry) string {
	return printable(fmt.Sprintf("%v %s %v", e.DType, shapeText(e.Shape, nil), e.Layout))
}

// completeFlag gives the values that a flag can have.
func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}
