package main

import (
	"bufio"

	"github.com/rivo/uniseg"
)

// writeTable writes rows of cells in aligned columns, those from column right on to the right.
func writeTable(out *bufio.Writer, indent string, rows [][]string, right int) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	for _, row := range rows {
		out.WriteString(indent)
		for i, cell := range row {
			if i > 0 {
				out.WriteString("  ")
			}
			fill := widths[i] - uniseg.StringWidth(cell)
			switch {
			case i >= right:
				writeSpaces(out, fill)
				out.WriteString(cell)
			case i == len(row)-1:
				out.WriteString(cell)
			default:
				out.WriteString(cell)
				writeSpaces(out, fill)
			}
		}
		out.WriteByte('\n')
	}
}

func writeSpaces(out *bufio.Writer, n int) {
	for range n {
		out.WriteByte(' ')
	}
}
