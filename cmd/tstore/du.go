package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func newDu() *cobra.Command {
	var depth int
	var human, asJSON bool
	cmd := &cobra.Command{
		Use:   "du STORE [PREFIX]",
		Short: "Show how much space groups of tensors take",
		Long: `Add up the bytes of the tensors in STORE, or of those whose names begin with PREFIX, by the first part
of their names, up to a slash; with --depth 2 by the first two. Each line has bytes, number of tensors
and the group, the largest first; the last line has all of them. "tstore stat STORE" shows what the
files take, with what was overwritten. With --json each line is an object with prefix, tensors, bytes.`,
		Example: `  tstore du mystore
  tstore du --human mystore train/
  tstore du --depth 2 mystore
  tstore du --json mystore | jq 'select(.tensors > 1000)'`,
		Args: func(_ *cobra.Command, args []string) error {
			return checkCount(args, len(args) == 1 || len(args) == 2, []string{"STORE", "[PREFIX]"})
		},
	}
	cmd.Flags().IntVarP(&depth, "depth", "d", 1, "`N` parts of a name that make a group")
	cmd.Flags().BoolVar(&human, "human", false, "show bytes as 1.5 GiB")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if depth < 0 {
			return usagef("--depth %d: it can't be negative", depth)
		}
		prefix := ""
		if len(args) == 2 {
			prefix = args[1]
		}
		groups, total, err := addUp(cmd, args[0], prefix, depth)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		if asJSON {
			for _, g := range groups {
				b := appendString([]byte(`{"prefix":`), g.prefix)
				b = appendInt(b, "tensors", g.tensors)
				out.Write(append(appendInt(b, "bytes", g.bytes), "}\n"...))
			}
			return out.Flush()
		}
		size := func(n int64) string { return strconv.FormatInt(n, 10) }
		if human {
			size = roundBytes
		}
		var rows [][3]string
		var widths [2]int
		for _, g := range append(groups, total) {
			row := [3]string{size(g.bytes), count(g.tensors, "tensor"), printable(g.prefix)}
			rows = append(rows, row)
			for i := range widths {
				widths[i] = max(widths[i], len(row[i]))
			}
		}
		for _, row := range rows {
			fmt.Fprintf(out, "%*s  %-*s  %s\n", widths[0], row[0], widths[1], row[1], row[2])
		}
		return out.Flush()
	})
	return cmd
}

// group is the tensors whose names begin alike.
type group struct {
	prefix  string
	tensors int64
	bytes   int64
}

// addUp adds up what groups of tensors take, the largest first, and all of them.
func addUp(cmd *cobra.Command, path, prefix string, depth int) (groups []group, total group, err error) {
	st, err := openReading(path)
	if err != nil {
		return nil, group{}, err
	}
	defer st.Close()
	byPrefix := map[string]*group{}
	for e, err := range eachEntry(cmd, st.List(prefix)) {
		if err != nil {
			return nil, group{}, fmt.Errorf("%s: %w", path, err)
		}
		at := groupOf(e.Name, prefix, depth)
		g := byPrefix[at]
		if g == nil {
			g = &group{prefix: at}
			byPrefix[at] = g
		}
		g.tensors++
		g.bytes += e.Bytes
		total.tensors++
		total.bytes += e.Bytes
	}
	total.prefix = "in all"
	if depth > 0 {
		for _, g := range slices.SortedFunc(maps.Values(byPrefix), func(a, b *group) int {
			return cmp.Or(cmp.Compare(b.bytes, a.bytes), strings.Compare(a.prefix, b.prefix))
		}) {
			groups = append(groups, *g)
		}
	}
	return groups, total, nil
}

// groupOf returns the first parts of a name, those of the prefix not counted, with the slash behind the
// last one; or the name itself if it has no more.
func groupOf(name, prefix string, depth int) string {
	end := len(prefix)
	for range depth {
		i := strings.IndexByte(name[end:], '/')
		if i < 0 {
			return name
		}
		end += i + 1
	}
	return name[:end]
}
