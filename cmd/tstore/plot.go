package main

import (
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tstore/tstore/cmd/tstore/internal/plot"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newPlot() *cobra.Command {
	var file, kind, size string
	var bins int
	cmd := &cobra.Command{
		Use:   "plot STORE NAME [-o FILE.png]",
		Short: "Draw a tensor: sparsity pattern, heat map or histogram",
		Long: `Draw a tensor, or a part of one, on the terminal or, with -o, as a PNG image with axes and labels.

  --kind heatmap  the values of a matrix as colours; dense matrices are drawn so
  --kind spy      which elements of a matrix are not zero, or stored; sparse ones are drawn so
  --kind hist     how often values occur; everything else is drawn so

Of more than two dimensions choose a part, as 'x[0]': only that is read. What is larger than the
picture is drawn as means, or as the share of elements that are not zero. NaNs and infinities have
colours of their own. Of complex values it is the absolute ones. An attribute called unit or units
stands beside the values. Where one bar of a histogram is above all others, the axis is logarithmic.

Without -o the picture is as wide as the terminal, or 80 columns where there is none, and has colours
only on a terminal. FILE - is standard output.`,
		Example: `  tstore plot mystore train/x
  tstore plot mystore 'train/x[0]'
  tstore plot mystore graph -o graph.png
  tstore plot mystore graph --kind heatmap -o graph.png --size 1200x900
  tstore plot mystore train/x --kind hist --bins 100 -o hist.png`,
		Args: names("STORE", "NAME"),
	}
	kinds := make([]string, len(plot.Kinds))
	for i, k := range plot.Kinds {
		kinds[i] = string(k)
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write a PNG image to `FILE` instead of drawing on the terminal")
	cmd.Flags().StringVar(&kind, "kind", "", "`WHAT` to draw: "+listOr(kinds))
	completeFlag(cmd, "kind", kinds...)
	cmd.Flags().IntVar(&bins, "bins", 0, "`N` bins of a histogram, at most")
	cmd.Flags().StringVar(&size, "size", "800x600", "`SIZE` of the image in dots")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		path, name := args[0], args[1]
		o := plot.Options{Kind: plot.Kind(kind), Title: printable(name), Bins: bins}
		switch {
		case kind != "" && !strings.Contains(" "+strings.Join(kinds, " ")+" ", " "+kind+" "):
			return usagef("--kind %s: it has to be %s", kind, listOr(kinds))
		case cmd.Flags().Changed("bins") && (bins < 1 || bins > plot.MaxBins):
			return usagef("--bins %d: it has to be from 1 to %d", bins, plot.MaxBins)
		case bins > 0 && kind != "" && o.Kind != plot.Hist:
			return usagef("--bins is for --kind hist")
		case bins > 0:
			o.Kind = plot.Hist
		}
		toFile := cmd.Flags().Changed("output")
		if !toFile && cmd.Flags().Changed("size") {
			return usagef("--size is for -o FILE")
		}
		width, height, err := parseSize(size)
		if err != nil {
			return usagef("--size %s: %v", size, err)
		}
		if toFile {
			if err := checkImageFile(cmd, file); err != nil {
				return err
			}
		}
		return withSelection(path, name, func(_ *store.Store, snap *store.Snapshot, s *selection) error {
			t, err := s.view(snap)
			if err != nil {
				return err
			}
			o.Subtitle = printable(t.DType().String()) + " " + shapeText(t.Shape(), t.DimNames())
			if t.Layout() != layout.LayoutDense {
				o.Subtitle += " " + t.Layout().String()
			}
			o.Unit = unitOf(s.entry.Attrs)
			progress := newProgress(cmd, "drawing "+name, 1)
			defer progress.end()
			o.Progress = progress.report
			if toFile {
				return saveImage(cmd, t, o, file, width, height, progress)
			}
			columns, lines, colours := screen(cmd.OutOrStdout())
			text, err := plot.Text(cmd.Context(), t, o, columns, lines, colours)
			if err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			progress.end()
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		})
	})
	return cmd
}

// parseSize returns the sides of an image, given as 800x600.
func parseSize(s string) (width, height int, err error) {
	w, h, ok := strings.Cut(strings.ToLower(s), "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if !ok || errW != nil || errH != nil {
		return 0, 0, errors.New("it has to be WIDTHxHEIGHT, as 800x600")
	}
	if min(width, height) < plot.MinSize || max(width, height) > plot.MaxSize {
		return 0, 0, fmt.Errorf("each side has to be from %d to %d", plot.MinSize, plot.MaxSize)
	}
	return width, height, nil
}

// checkImageFile makes sure that an image can be written to what -o says.
func checkImageFile(cmd *cobra.Command, file string) error {
	switch {
	case file == "":
		return usagef("-o needs the name of a file, or - for standard output")
	case file == "-" && isTerminal(cmd.OutOrStdout()):
		return usagef("standard output is a terminal; leave -o away to draw on it")
	case file != "-" && !strings.HasSuffix(strings.ToLower(file), ".png") && !isDevice(file):
		return usagef("-o %s: images are PNG; call it %s.png", file, file)
	}
	return nil
}

// isDevice reports whether something is there that is no ordinary file, as a pipe.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

func saveImage(cmd *cobra.Command, t layout.Tensor, o plot.Options, file string, width, height int, progress *progress) error {
	image, err := plot.Draw(cmd.Context(), t, o, width, height)
	if err != nil {
		return fmt.Errorf("%q: %w", o.Title, err)
	}
	progress.end()
	err = writeOutput(cmd, file, int64(width*height), func(w io.Writer) error { return png.Encode(w, image) })
	if err != nil {
		err = &outputError{err}
	}
	return err
}

// unitOf returns the unit of a tensor's values, if its attributes tell.
func unitOf(attrs []layout.Attr) string {
	for _, a := range attrs {
		if a.Key == "unit" || a.Key == "units" {
			return printable(a.Value)
		}
	}
	return ""
}

// screen returns how large a picture may be, and which colours it may have.
func screen(stream any) (columns, lines int, colours plot.Colours) {
	columns, lines = 80, 25
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return columns, lines, plot.NoColours
	}
	if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
		columns, lines = w, h-1 // the prompt comes below
	}
	return columns, lines, coloursOf(os.Getenv)
}

// coloursOf returns the colours of a terminal, by what its environment says of it. NO_COLOR is that of
// no-color.org.
func coloursOf(env func(string) string) plot.Colours {
	switch {
	case env("NO_COLOR") != "" || env("TERM") == "dumb":
		return plot.NoColours
	case env("COLORTERM") == "truecolor" || env("COLORTERM") == "24bit":
		return plot.ColoursTrue
	}
	return plot.Colours256
}
