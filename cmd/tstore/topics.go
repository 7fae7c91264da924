package main

import "github.com/spf13/cobra"

// newTopics returns the texts of "tstore help TOPIC": commands that do nothing.
func newTopics() []*cobra.Command {
	topics := []struct{ name, short, text string }{
		{"slices", "How to name a part of a tensor", `  tstore get mystore 'x[0]'              the first row
  tstore get mystore 'x[-1]'             the last one
  tstore get mystore 'x[:10]'            the first ten
  tstore get mystore 'x[:, 3]'           column 3
  tstore get mystore 'x[::2, ::-1]'      every second row, backwards
  tstore get mystore 'x[..., 0]'         the first element of the last axis, whatever the others
  tstore get mystore 'x[None]'           with an axis of length 1 before the others
  tstore get mystore 'x[:, 0]' -o y.npy   in any format
  tstore plot mystore 'x[:100, :100]'    as a picture

Behind the name of a tensor, get, describe, plot, diff and cp take an index in brackets, as NumPy has it: for
each axis a number, start:stop:step, or nothing more; one ... for all axes that are left; None for a
new axis. Negative numbers count from the end. Quote it: shells have their own use for brackets.

Of a dense tensor only that part is read, in place, without being compared with the checksum of the
whole. If there is a tensor of exactly that name, brackets and all, it is meant.`},
		{"names", "What tensors can be called", `  tstore put mystore train/x x.npy
  tstore ls mystore train/
  tstore rm -r mystore train/

A name is UTF-8 text without control characters, from 1 to 1024 bytes long. A slash means nothing to the
store, but ls, du, mv -r, cp -r, rm -r, export and pack take prefixes, so that train/ does what one
expects.
Names are sorted byte by byte.`},
		{"formats", "Which files tensors come from and go to", `  tstore put mystore x x.npy
  tstore get mystore x -o x.msg
  tstore put mystore graph graph.mtx.gz --layout csr
  tstore put mystore table table.csv.gz
  tstore import mystore model.safetensors
  tstore export mystore arrays-out.npz train/
  make-array | tstore put mystore x - --format npy

  .npy             NumPy's array: dense, without attributes and dimension names. What NumPy writes comes
                   back byte for byte. Fortran order and both byte orders; no structured or object arrays.
  .npz             NumPy's archive of arrays, or one sparse matrix or tensor of SciPy and pydata/sparse
  .safetensors     the weights of a model, bfloat16 and float8 too; of a large one, which is several files,
                   give the .safetensors.index.json
  .arrow, .arrows  a table in an Arrow file or stream, as pandas, polars and DuckDB read it: a tensor in each
                   row, beside its name. Columns of numbers are read, too. .feather is .arrow.
  .msg             one Arrow message: keeps everything, and Arrow's libraries read it
  .mtx             Matrix Market: a matrix as text, dense or sparse
  .csv, .tsv       a table of numbers as text, with a header or without
  .png             an image: uint8 or uint16, of rows, columns and, in colour, channels

Each may be compressed, with .gz or .zst behind its name. The format is that of the extension, or of the
first bytes, or what --format says. A file of many tensors gives NAME/TENSOR for each; get writes one
tensor, export many. "tstore plot -o x.png" draws with axes and colours, "tstore get -o x.png" makes
the values themselves an image.`},
		{"layouts", "How sparse tensors are kept", `  tstore put mystore graph graph.mtx --layout csr
  tstore convert mystore weights --layout auto
  tstore get mystore graph --layout dense -o graph.npy

  dense  every element
  coo    a list of coordinates and values; any number of dimensions
  csr    a matrix, row by row
  csc    a matrix, column by column
  csf    a tree with a level for each axis; two or more dimensions
  auto   the one of these that takes the fewest bytes

An element is zero if it compares equal to 0: −0.0 is, NaN is not. From dense to sparse, zeros are left
out; from sparse to sparse, stored zeros stay; elements that a COO stores several times are summed.`},
		{"packages", "A dataset in one file", `  tstore pack mystore digits.tstore --attr title=Digits --attr license=CC-BY-4.0 --readme README.md
  tstore pack digits.tstore --from arrays/
  tstore stat digits.tstore
  tstore get digits.tstore labels
  tstore verify digits.tstore
  tstore digest digits.tstore
  tstore unpack digits.tstore mystore
  tstore attach mystore digits.tstore --prefix digits/

A package is a file that holds tensors with their names, attributes and checksums, and never changes.
Every command that reads a store reads a package in place, however large it is: nothing is unpacked,
nothing is locked, and read-only media are fine. The same tensors make the same file, byte for byte, and
its digest is the identity of what is in it.

unpack copies tensors into a store and checks each; attach makes the file itself a part of the store.`},
		{"json", "What commands print with --json", `  tstore stat --json mystore train/x
  tstore ls --json mystore train/ | jq -r .name
  tstore describe --json mystore train/x | jq .mean

One object for ls, du and diff on each line, otherwise one in all. Numbers of bytes and elements are
whole; what is * is there only where it applies; (...) are the fields of an object, [...] those of the
objects in an array. Fields that are here stay what they are; others may be added.

` + jsonFieldsText() + `
dtype and layout are called as everywhere; shape, dims and at are arrays; attrs has a key for each
attribute, with an array where it occurs more than once. min and max of complex values are those of the
absolute values; min, max, mean and std are null if no value is finite. Where diff says only, one of
both lacks the tensor; dtype, shape, dims, layout and attrs of diff are there if they differ, as arrays
of both. Exit codes are the same as without --json.`},
		{"exit-codes", "What the exit code of a command says", `  tstore verify digits.tstore || echo "damaged, or not there: $?"

  0  done
  1  something else went wrong
  2  wrong usage
  3  the store or a tensor is not there
  4  corrupt data, in a store, a package or a file
  5  another process has the store open for writing

diff has its own: 0 equal, 1 different, 6 anything else. Errors are one line on standard error. Whatever
the code, nothing is half done: a command changes all that it is asked to, or nothing.`},
	}
	var all []*cobra.Command
	for _, t := range topics {
		c := &cobra.Command{Use: t.name, Short: t.short, Long: t.short + ":\n\n" + t.text}
		c.SetHelpTemplate("{{.Long}}\n")
		all = append(all, c)
	}
	return all
}
