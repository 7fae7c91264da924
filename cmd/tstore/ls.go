package main

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tstore/tstore/store"
)

func newLs() *cobra.Command {
	var long, asJSON bool
	cmd := &cobra.Command{
		Use:   "ls STORE [PREFIX]",
		Short: "List the tensors in a store",
		Long: `List the names of the tensors in STORE, or of those that begin with PREFIX, sorted, one a line.

With -l each line has name, element type, shape, layout and bytes. With --json each line is an
object with name, dtype, shape, dims (where the dimensions have names), layout, nnz (where the
layout is sparse), bytes and attrs; in attrs, a key that occurs twice has an array.`,
		Example: `  tstore ls mystore
  tstore ls -l mystore train/
  tstore ls --json mystore | jq -r 'select(.bytes > 1e9) | .name'`,
		Args: func(_ *cobra.Command, args []string) error {
			return checkCount(args[:min(len(args), 1)], 1 <= len(args) && len(args) <= 2, []string{"STORE", "[PREFIX]"})
		},
	}
	cmd.Flags().BoolVarP(&long, "long", "l", false, "show element type, shape, layout and bytes too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if long && asJSON {
			return usagef("-l and --json exclude each other")
		}
		prefix := ""
		if len(args) == 2 {
			prefix = args[1]
		}
		st, err := openReading(args[0])
		if err != nil {
			return err
		}
		defer st.Close()
		snap, err := st.Snapshot()
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		defer snap.Close()
		out := bufio.NewWriter(cmd.OutOrStdout())
		entries := listing{cmd, snap.List(prefix)}
		switch {
		case asJSON:
			err = entries.json(out)
		case long:
			err = entries.table(out, isTerminal(cmd.OutOrStdout()))
		default:
			err = entries.names(out)
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		return nil
	})
	return cmd
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// listing is the entries to show. It may be gone through more than once.
type listing struct {
	cmd     *cobra.Command
	entries iter.Seq2[*store.Entry, error]
}

// each calls show for every entry, until the command is interrupted.
func (l listing) each(show func(e *store.Entry) error) error {
	for e, err := range l.entries {
		if err == nil {
			err = l.cmd.Context().Err()
		}
		if err == nil {
			err = show(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l listing) names(out *bufio.Writer) error {
	return l.each(func(e *store.Entry) error {
		_, err := out.WriteString(e.Name + "\n")
		return err
	})
}

func (l listing) json(out *bufio.Writer) error {
	var line []byte
	return l.each(func(e *store.Entry) error {
		line = append(appendEntryJSON(line[:0], e), '\n')
		_, err := out.Write(line)
		return err
	})
}

// columns are the columns of the table; right ones are aligned to the right.
var columns = []struct {
	head  string
	right bool
	cell  func(e *store.Entry) string
}{
	{"NAME", false, func(e *store.Entry) string { return e.Name }},
	{"DTYPE", false, func(e *store.Entry) string { return printable(e.DType.String()) }},
	{"SHAPE", false, func(e *store.Entry) string { return shapeText(e.Shape, nil) }},
	{"LAYOUT", false, func(e *store.Entry) string { return e.Layout.String() }},
	{"BYTES", true, func(e *store.Entry) string { return strconv.FormatInt(e.Bytes, 10) }},
}

// table goes through the entries twice, first for the widths of the columns, so that a store with
// millions of them needs no memory.
func (l listing) table(out *bufio.Writer, header bool) error {
	widths := make([]int, len(columns))
	if header {
		for i, c := range columns {
			widths[i] = len(c.head)
		}
	}
	empty := true
	err := l.each(func(e *store.Entry) error {
		empty = false
		for i, c := range columns {
			widths[i] = max(widths[i], uniseg.StringWidth(c.cell(e)))
		}
		return nil
	})
	if err != nil || empty {
		return err
	}
	row := func(cell func(i int) string) error {
		for i, c := range columns {
			text := cell(i)
			fill := widths[i] - uniseg.StringWidth(text)
			switch {
			case c.right:
				writeSpaces(out, fill)
				out.WriteString(text)
			default:
				out.WriteString(text)
				if i < len(columns)-1 {
					writeSpaces(out, fill)
				}
			}
			if i < len(columns)-1 {
				out.WriteString("  ")
			}
		}
		_, err := out.WriteString("\n")
		return err
	}
	if header {
		if err := row(func(i int) string { return columns[i].head }); err != nil {
			return err
		}
	}
	return l.each(func(e *store.Entry) error {
		return row(func(i int) string { return columns[i].cell(e) })
	})
}

func writeSpaces(out *bufio.Writer, n int) {
	for range n {
		out.WriteByte(' ')
	}
}
