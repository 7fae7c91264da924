package main

import (
	"bufio"
	"fmt"
	"strconv"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newStat() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stat STORE NAME",
		Short: "Show all that is known of a tensor",
		Long: `Show what the store knows of a tensor without reading its values: element type, shape, layout,
size, attributes, and where its record lies. With --json, the object that "tstore ls --json" prints.`,
		Example: `  tstore stat mystore train/x
  tstore stat --json mystore train/x | jq .attrs`,
		Args: names("STORE", "NAME"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		st, err := openReading(args[0])
		if err != nil {
			return err
		}
		defer st.Close()
		e, err := st.Stat(args[1])
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		if asJSON {
			out.Write(append(appendEntryJSON(nil, e), '\n'))
		} else {
			writeStat(out, e)
		}
		return out.Flush()
	})
	return cmd
}

// writeStat writes an entry as a list of keys and values.
func writeStat(out *bufio.Writer, e *store.Entry) {
	list := [][2]string{
		{"name", e.Name},
		{"dtype", printable(e.DType.String())},
		{"shape", shapeText(e.Shape, e.DimNames)},
		{"layout", e.Layout.String()},
	}
	if e.Layout != layout.LayoutDense {
		list = append(list, [2]string{"nnz", strconv.FormatInt(e.NNZ, 10)}, [2]string{"density", density(e)})
		if e.IndptrType.Valid() {
			list = append(list, [2]string{"indptr", e.IndptrType.String()})
		}
		list = append(list, [2]string{"indices", e.IndicesType.String()})
	}
	list = append(list,
		[2]string{"bytes", byteText(e.Bytes)},
		[2]string{"record", fmt.Sprintf("segment %d, offset %d, %d bytes, CRC-32C %08x", e.Segment, e.Offset, e.Length, e.CRC)},
		[2]string{"batch", strconv.FormatUint(e.Seq, 10)},
	)
	writePairs(out, "", list)
	if len(e.Attrs) > 0 {
		out.WriteString("attributes\n")
		attrs := make([][2]string, len(e.Attrs))
		for i, a := range e.Attrs {
			attrs[i] = [2]string{printable(a.Key), printable(a.Value)}
		}
		writePairs(out, "  ", attrs)
	}
}

// writePairs writes keys and values in two aligned columns.
func writePairs(out *bufio.Writer, indent string, pairs [][2]string) {
	width := 0
	for _, p := range pairs {
		width = max(width, uniseg.StringWidth(p[0]))
	}
	for _, p := range pairs {
		out.WriteString(indent + p[0])
		writeSpaces(out, width-uniseg.StringWidth(p[0])+2)
		out.WriteString(p[1] + "\n")
	}
}

// byteText writes a number of bytes, with a rounded one behind it where that is easier to read.
func byteText(n int64) string {
	s := strconv.FormatInt(n, 10)
	if n < 1<<10 {
		return s
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if v /= 1024; v < 1024 {
			break
		}
	}
	return fmt.Sprintf("%s (%.1f %s)", s, v, unit)
}
