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
		Use:   "stat STORE [NAME]",
		Short: "Show all that is known of a tensor, or of a whole store or package",
		Long: `Show what the store knows of a tensor without reading its values: element type, shape, layout,
size, attributes, and where its record lies. With --json, the object that "tstore ls --json" prints.

Without NAME, show the store itself: of a package the attributes of the dataset and its digest, of a
store how much of each segment file is live and how much is dead, which "tstore compact" gives back.
With --json, an object with path, kind (store or package), tensors, bytes (of the elements), size (of
the files); of a package digest and attrs; of a store live, dead, and segments: an array of objects
with number, kind, file, size, live, dead, tensors, sealed and active.`,
		Example: `  tstore stat mystore
  tstore stat digits.tstore
  tstore stat mystore train/x
  tstore stat --json mystore train/x | jq .attrs`,
		Args: func(_ *cobra.Command, args []string) error {
			return checkCount(args, len(args) == 1 || len(args) == 2, []string{"STORE", "[NAME]"})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		st, err := openReading(args[0])
		if err != nil {
			return err
		}
		defer st.Close()
		if len(args) == 1 {
			return statStore(cmd, st, asJSON)
		}
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
	list = append(list, [2]string{"bytes", byteText(e.Bytes)}, [2]string{"record", recordText(e)})
	if e.Seq != 0 { // in a package there are no batches
		list = append(list, [2]string{"batch", strconv.FormatUint(e.Seq, 10)})
	}
	writePairs(out, "", list)
	writeAttrs(out, e.Attrs)
}

// recordText says where the record of an entry lies.
func recordText(e *store.Entry) string {
	segment := ""
	if e.Segment != 0 {
		segment = fmt.Sprintf("segment %d, ", e.Segment)
	}
	return fmt.Sprintf("%soffset %d, %d bytes, CRC-32C %08x", segment, e.Offset, e.Length, e.CRC)
}

// writeAttrs writes attributes, if there are any, under a heading.
func writeAttrs(out *bufio.Writer, attrs []layout.Attr) {
	if len(attrs) == 0 {
		return
	}
	out.WriteString("attributes\n")
	pairs := make([][2]string, len(attrs))
	for i, a := range attrs {
		pairs[i] = [2]string{printable(a.Key), printable(a.Value)}
	}
	writePairs(out, "  ", pairs)
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
	return s + " (" + roundBytes(n) + ")"
}

// roundBytes writes a number of bytes with a unit.
func roundBytes(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if v /= 1024; v < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}
