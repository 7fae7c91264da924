package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/cmd/tstore/internal/arraytext"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// largeText is the size in bytes from which on a tensor that is only printed is not read as a
// whole: most of it is left out anyway.
const largeText = 64 << 20

func newGet() *cobra.Command {
	var file, formatName string
	var raw, asJSON bool
	var to layoutFlag
	cmd := &cobra.Command{
		Use:   "get STORE NAME [-o FILE]",
		Short: "Print a tensor or a part of one, or write it to a file",
		Long: `Print the values of a tensor the way NumPy does, or write the tensor to FILE. FILE - is standard
output. A .msg file keeps everything: element type, dimension names and attributes. A .npy file
keeps what NumPy knows; a sparse tensor becomes dense in it, but not in .npz, where it is what SciPy
has. A .mtx file is text and holds a matrix, a .csv file a table. See "tstore help formats".

NAME may be followed by an index in brackets, as NumPy has it; then only that part is read. See
"tstore help slices".

With --json, an object with name, dtype, shape, dims (where the dimensions have names), layout and
values, nested as the shape is; of a sparse tensor, coordinates and values of what it stores. Complex
values are pairs; NaN, infinities, dates and the like are strings.`,
		Example: `  tstore get mystore train/x
  tstore get mystore 'train/x[0]'
  tstore get mystore 'train/x[:10, ::-1]' -o part.npy
  tstore get mystore train/x -o x.npy
  tstore get mystore train/x -o x.msg
  tstore get mystore graph -o graph.mtx.gz
  tstore get mystore graph -o graph.npz               (for scipy.sparse.load_npz)
  tstore get mystore x -o x.csv
  tstore get mystore graph --layout dense
  tstore get --json mystore 'train/x[0, 0]' | jq .values
  tstore get mystore weights -o weights.npy --raw     (bfloat16 as uint16)
  tstore get mystore train/x -o - --format npy | ssh host 'cat > x.npy'`,
		Args: names("STORE", "NAME"),
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to `FILE` instead of printing the values")
	cmd.Flags().StringVar(&formatName, "format", "", "`FORMAT` of FILE, if its extension does not tell: "+formatNames(writes))
	completeFlag(cmd, "format", formatList(writes)...)
	to.addTo(cmd, "convert to")
	cmd.Flags().BoolVar(&raw, "raw", false, "write the bits of each element as unsigned integers, for types that the format lacks")
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		path, name := args[0], args[1]
		if err := to.parse(); err != nil {
			return err
		}
		if !cmd.Flags().Changed("output") {
			if formatName != "" || raw {
				return usagef("--format and --raw are for -o FILE")
			}
			return printTensor(cmd, path, name, &to, asJSON)
		}
		if asJSON {
			return usagef("--json prints the values; it is not for -o FILE")
		}
		if file == "" {
			return usagef("-o needs the name of a file, or - for standard output")
		}
		f, packing, err := pickFormat(formatName, file, writes)
		if err != nil {
			return err
		}
		if f == nil || f.write == nil {
			return usagef("-o %s: %s; call it %s, or give --format %s", file, noFormat, formatExtensions(writes), formatNames(writes))
		}
		return saveTensor(cmd, path, name, target{file, f, packing}, &to, raw)
	})
	return cmd
}

// target is a file that is written.
type target struct {
	file        string
	format      *format
	compression *compression
}

// saveTensor writes a tensor to a file.
func saveTensor(cmd *cobra.Command, path, name string, out target, to *layoutFlag, raw bool) error {
	return withSelection(path, name, func(st *store.Store, snap *store.Snapshot, s *selection) error {
		t, err := s.read(st, snap)
		if err != nil {
			return err
		}
		if t, err = to.convert(t); err == nil && (out.format.dense != nil && out.format.dense(false) || raw) && t.Layout() != layout.LayoutDense {
			t, err = convertTensor(t, layout.LayoutDense)
		}
		if err == nil && raw {
			t, err = npy.Raw(t)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		size := s.entry.Bytes
		if d, ok := t.(*layout.Dense); ok {
			size = d.NumBytes()
		}
		c := content{tensor: t, attrs: s.entry.Attrs, name: s.entry.Name}
		if s.index != nil { // its columns may be others
			c.attrs = slices.DeleteFunc(slices.Clone(c.attrs), func(a layout.Attr) bool { return a.Key == headerKey })
		}
		err = writeOutput(cmd, out.file, sizeAs(out.format, out.compression, size), compressed(out.compression, func(w io.Writer) error { return out.format.write(w, c) }))
		if err != nil {
			err = &outputError{err}
		}
		return err
	})
}

// outputError is an error that is about where the output goes, not about the store.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// withSelection opens a store for reading and calls fn for the tensor, or part of one, that name is.
func withSelection(path, name string, fn func(st *store.Store, snap *store.Snapshot, s *selection) error) error {
	st, err := openReading(path)
	if err != nil {
		return err
	}
	defer st.Close()
	snap, err := st.Snapshot()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer snap.Close()
	s, err := find(snap.Stat, name)
	if err == nil {
		err = fn(st, snap, s)
	}
	var out *outputError
	if err != nil && !errors.As(err, &out) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// printTensor prints a tensor's type, shape and values.
func printTensor(cmd *cobra.Command, path, name string, to *layoutFlag, asJSON bool) error {
	return withSelection(path, name, func(st *store.Store, snap *store.Snapshot, s *selection) error {
		var t layout.Tensor
		var err error
		if s.entry.Bytes > largeText && !asJSON {
			t, err = s.view(snap)
		} else {
			t, err = s.read(st, snap)
		}
		if err != nil {
			return err
		}
		if t, err = to.convert(t); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if asJSON {
			return writeTensorJSON(cmd, name, t)
		}
		return writeTensor(cmd.OutOrStdout(), t)
	})
}

func writeTensor(w io.Writer, t layout.Tensor) error {
	head := fmt.Sprintf("%v %s", t.DType(), shapeText(t.Shape(), t.DimNames()))
	write := arraytext.WriteSparse
	if t.Layout() != layout.LayoutDense {
		head += fmt.Sprintf(" %v, %d stored", t.Layout(), t.NNZ())
	} else {
		write = func(w io.Writer, t layout.Tensor) error { return arraytext.Write(w, t.(*layout.Dense)) }
	}
	if _, err := io.WriteString(w, printable(head)+"\n"); err != nil {
		return err
	}
	if err := write(w, t); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// shapeText writes a shape as Python does, with the names of the dimensions that have one:
// (), (3,), (1797, 8, 8), (image: 1797, row: 8, 8).
func shapeText(shape []int64, names []string) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, n := range shape {
		if i > 0 {
			b.WriteString(", ")
		}
		if names != nil && names[i] != "" {
			b.WriteString(printable(names[i]) + ": ")
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	if len(shape) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return b.String()
}
