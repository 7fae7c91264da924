package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/cmd/tstore/internal/summary"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newDescribe() *cobra.Command {
	var bins int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe STORE NAME",
		Short: "Show what values a tensor has: range, mean, deviation, histogram",
		Long: `Read the values of a tensor, or of a part of one, in place and show how many are zero, NaN or
infinite, and of the finite ones the smallest, the largest, mean, standard deviation and a histogram.
What a sparse tensor does not store counts as zeros. Of complex values it is the absolute ones.

With --json, an object with name, dtype, shape, layout, elements, stored, nonzero, nan, inf, min, max,
mean, std (null if no value is finite) and histogram: an object with edges, one more than counts, and
counts.`,
		Example: `  tstore describe mystore train/x
  tstore describe mystore 'train/x[0, :, ::2]'
  tstore describe --json mystore train/x | jq .mean`,
		Args: names("STORE", "NAME"),
	}
	cmd.Flags().IntVar(&bins, "bins", 10, "`N` bins of the histogram, at most")
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if bins < 1 || bins > 1e6 {
			return usagef("--bins %d: it has to be from 1 to 1000000", bins)
		}
		return withSelection(args[0], args[1], func(_ *store.Store, snap *store.Snapshot, s *selection) error {
			t, err := s.view(snap)
			if err != nil {
				return err
			}
			progress := newProgress(cmd, "reading "+args[1], 1)
			defer progress.end()
			sum, err := summary.Of(cmd.Context(), t, bins, progress.report)
			if err != nil {
				return fmt.Errorf("%q: %w", args[1], err)
			}
			progress.end()
			out := bufio.NewWriter(cmd.OutOrStdout())
			if asJSON {
				out.Write(append(appendSummaryJSON(nil, args[1], t, sum), '\n'))
			} else {
				writeSummary(out, t, sum)
			}
			return out.Flush()
		})
	})
	return cmd
}

func writeSummary(out *bufio.Writer, t layout.Tensor, s *summary.Summary) {
	fmt.Fprintf(out, "%s %s %v\n", printable(t.DType().String()), shapeText(t.Shape(), t.DimNames()), t.Layout())
	pairs := [][2]string{{"elements", strconv.FormatInt(s.Elements, 10)}}
	if t.Layout() != layout.LayoutDense {
		pairs = append(pairs, [2]string{"stored", strconv.FormatInt(s.Stored, 10)})
	}
	nonzero := strconv.FormatInt(s.NonZero, 10)
	if s.Elements > 0 {
		nonzero += fmt.Sprintf(" (%.3g%%)", float64(s.NonZero)/float64(s.Elements)*100)
	}
	pairs = append(pairs, [2]string{"nonzero", nonzero},
		[2]string{"nan", strconv.FormatInt(s.NaN, 10)}, [2]string{"inf", strconv.FormatInt(s.Inf, 10)})
	if s.Absolute {
		pairs = append(pairs, [2]string{"of", "absolute values"})
	}
	if s.Finite {
		pairs = append(pairs, [2]string{"min", s.Min.String()}, [2]string{"max", s.Max.String()},
			[2]string{"mean", fmt.Sprintf("%.6g", s.Mean)}, [2]string{"std", fmt.Sprintf("%.6g", s.Std)})
	}
	writePairs(out, "", pairs)
	if s.Finite {
		out.WriteString("histogram\n")
		writeHistogram(out, s)
	}
}

// barWidth is the length of the longest bar of a histogram, in characters.
const barWidth = 40

func writeHistogram(out *bufio.Writer, s *summary.Summary) {
	most := int64(1)
	for _, n := range s.Counts {
		most = max(most, n)
	}
	edges := edgeTexts(s.Edges)
	rows := make([][]string, len(s.Counts))
	bars := make([]string, len(s.Counts))
	for k, n := range s.Counts {
		rows[k] = []string{edges[k], edges[k+1], strconv.FormatInt(n, 10)}
		bars[k] = bar(float64(n) / float64(most))
	}
	widths := [3]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for k, row := range rows {
		line := fmt.Sprintf("  %*s  %*s  %*s  %s", widths[0], row[0], widths[1], row[1], widths[2], row[2], bars[k])
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// edgeTexts writes edges with as many digits as they need to differ.
func edgeTexts(edges []float64) []string {
	texts := make([]string, len(edges))
	for digits := 4; digits <= 17; digits++ {
		differ := true
		for k, e := range edges {
			texts[k] = strconv.FormatFloat(e, 'g', digits, 64)
			differ = differ && (k == 0 || texts[k] != texts[k-1])
		}
		if differ {
			break
		}
	}
	return texts
}

// bar draws a share of the longest bar in eighths of a character. What is not nothing can be seen.
func bar(share float64) string {
	eighths := int(math.Round(share * barWidth * 8))
	if share > 0 {
		eighths = max(eighths, 1)
	}
	b := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		b += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return b
}

// appendSummaryJSON appends the object that describe --json prints. The keys and their order are part
// of the command's interface.
func appendSummaryJSON(b []byte, name string, t layout.Tensor, s *summary.Summary) []byte {
	b = appendString(append(b, `{"name":`...), name)
	b = appendString(append(b, `,"dtype":`...), t.DType().String())
	b = appendShape(append(b, `,"shape":`...), t.Shape())
	b = appendString(append(b, `,"layout":`...), t.Layout().String())
	b = appendInt(b, "elements", s.Elements)
	b = appendInt(b, "stored", s.Stored)
	b = appendInt(b, "nonzero", s.NonZero)
	b = appendInt(b, "nan", s.NaN)
	b = appendInt(b, "inf", s.Inf)
	if !s.Finite {
		return append(b, `,"min":null,"max":null,"mean":null,"std":null,"histogram":{"edges":[],"counts":[]}}`...)
	}
	b = append(append(b, `,"min":`...), s.Min.JSON()...)
	b = append(append(b, `,"max":`...), s.Max.JSON()...)
	b = appendFloat(append(b, `,"mean":`...), s.Mean)
	b = appendFloat(append(b, `,"std":`...), s.Std)
	b = append(b, `,"histogram":{"edges":[`...)
	for k, e := range s.Edges {
		if k > 0 {
			b = append(b, ',')
		}
		b = appendFloat(b, e)
	}
	b = append(b, `],"counts":[`...)
	for k, n := range s.Counts {
		if k > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return append(b, "]}}"...)
}

// appendFloat appends a JSON number, or null for what JSON has none for.
func appendFloat(b []byte, v float64) []byte {
	number, err := json.Marshal(v)
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) {
		return append(b, "null"...)
	}
	return append(b, number...)
}
