package main

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newLs() *cobra.Command {
	var long, reverse, asJSON bool
	var by string
	cmd := &cobra.Command{
		Use:   "ls STORE [PREFIX]",
		Short: "List the tensors in a store",
		Long: `List the names of the tensors in STORE, or of those that begin with PREFIX, sorted, one a line.

With -l each line has name, element type, shape, layout and bytes, and if there are sparse tensors,
number and share of stored elements and the types of the index arrays. With --json each line is
an object with name, dtype, shape, dims (where the dimensions have names), layout, nnz, indptr and
indices (where the layout is sparse), bytes and attrs; in attrs, a key that occurs twice has an
array.`,
		Example: `  tstore ls mystore
  tstore ls -l mystore train/
  tstore ls -l --sort size digits.tstore
  tstore ls --json mystore | jq -r 'select(.bytes > 1e9) | .name'`,
		Args: func(_ *cobra.Command, args []string) error {
			return checkCount(args, len(args) == 1 || len(args) == 2, []string{"STORE", "[PREFIX]"})
		},
	}
	cmd.Flags().BoolVarP(&long, "long", "l", false, "show element type, shape, layout and bytes too")
	cmd.Flags().StringVar(&by, "sort", "name", "sort by `WHAT`: name, size (the largest first) or nnz (the most first)")
	completeFlag(cmd, "sort", "name", "size", "nnz")
	cmd.Flags().BoolVarP(&reverse, "reverse", "r", false, "the other way round")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if long && asJSON {
			return usagef("-l and --json exclude each other")
		}
		order, ok := orders[by]
		if !ok {
			return usagef("--sort %s: it has to be name, size or nnz", by)
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
		if by != "name" || reverse {
			if entries, err = entries.sorted(order, reverse); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
		}
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

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
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

// orders are the values of --sort.
var orders = map[string]func(a, b *store.Entry) int{
	"name": func(a, b *store.Entry) int { return strings.Compare(a.Name, b.Name) },
	"size": func(a, b *store.Entry) int { return cmp.Compare(b.Bytes, a.Bytes) },
	"nnz":  func(a, b *store.Entry) int { return cmp.Compare(b.NNZ, a.NNZ) },
}

// sorted returns the listing in another order. Entries that are equal in it are sorted by name.
func (l listing) sorted(order func(a, b *store.Entry) int, reverse bool) (listing, error) {
	var all []*store.Entry
	var err error
	for e, nextErr := range eachEntry(l.cmd, l.entries) {
		if err = nextErr; err != nil {
			break
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b *store.Entry) int {
		if reverse {
			a, b = b, a
		}
		return order(a, b)
	})
	return listing{l.cmd, func(yield func(*store.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}}, err
}

func (l listing) names(out *bufio.Writer) error {
	shown := func(name string) string { return name } // as the next command takes it
	if isTerminal(l.cmd.OutOrStdout()) {
		shown = printable
	}
	return l.each(func(e *store.Entry) error {
		_, err := out.WriteString(shown(e.Name) + "\n")
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

// columns are the columns of the table. Those of sparse tensors appear if there is one.
var columns = []struct {
	head   string
	right  bool // aligned to the right
	sparse bool
	cell   func(e *store.Entry) string
}{
	{"NAME", false, false, func(e *store.Entry) string { return printable(e.Name) }},
	{"DTYPE", false, false, func(e *store.Entry) string { return printable(e.DType.String()) }},
	{"SHAPE", false, false, func(e *store.Entry) string { return shapeText(e.Shape, nil) }},
	{"LAYOUT", false, false, func(e *store.Entry) string { return e.Layout.String() }},
	{"NNZ", true, true, ofSparse(func(e *store.Entry) string { return strconv.FormatInt(e.NNZ, 10) })},
	{"DENSITY", true, true, ofSparse(density)},
	{"INDICES", false, true, ofSparse(indexTypes)},
	{"BYTES", true, false, func(e *store.Entry) string { return strconv.FormatInt(e.Bytes, 10) }},
}

// ofSparse is a cell that has something to say of sparse tensors only.
func ofSparse(cell func(e *store.Entry) string) func(e *store.Entry) string {
	return func(e *store.Entry) string {
		if e.Layout == layout.LayoutDense {
			return "-"
		}
		return cell(e)
	}
}

// density returns the share of the elements that are stored.
func density(e *store.Entry) string {
	elements, ok := layout.CheckedProduct(e.Shape, 1)
	if !ok || elements == 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(e.NNZ)/float64(elements)*100, 'g', 3, 64) + "%"
}

// indexTypes returns the types of the index arrays, indptr first where there is one.
func indexTypes(e *store.Entry) string {
	if e.IndptrType.Valid() {
		return e.IndptrType.String() + ", " + e.IndicesType.String()
	}
	return e.IndicesType.String()
}

// table goes through the entries twice, first for the widths of the columns, so that a store with
// millions of them needs no memory.
func (l listing) table(out *bufio.Writer, header bool) error {
	widths := make([]int, len(columns))
	sparse, empty := false, true
	for e, err := range eachEntry(l.cmd, l.entries) {
		if err != nil {
			return err
		}
		empty = false
		sparse = sparse || e.Layout != layout.LayoutDense
		for i, c := range columns {
			widths[i] = max(widths[i], uniseg.StringWidth(c.cell(e)))
		}
	}
	if empty {
		return nil
	}
	row := func(cell func(i int) string) error {
		for i, c := range columns {
			if c.sparse && !sparse {
				continue
			}
			if i > 0 {
				out.WriteString("  ")
			}
			text := cell(i)
			fill := widths[i] - uniseg.StringWidth(text)
			if c.right {
				writeSpaces(out, fill)
				out.WriteString(text)
			} else {
				out.WriteString(text)
				writeSpaces(out, fill)
			}
		}
		_, err := out.WriteString("\n")
		return err
	}
	if header {
		for i, c := range columns {
			widths[i] = max(widths[i], len(c.head))
		}
		if err := row(func(i int) string { return columns[i].head }); err != nil {
			return err
		}
	}
	return l.each(func(e *store.Entry) error {
		return row(func(i int) string { return columns[i].cell(e) })
	})
}
