package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newImport() *cobra.Command {
	var flags contentFlags
	var from sourceFlags
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "import STORE FILE...",
		Short: "Store many files, named after them, as one batch",
		Long: `Store what is in each FILE under the file's name without directory and extension, as one batch: all
tensors become visible at once, and if one can't be stored, none is. The store is created if there is
none. Tensors that have such a name already are replaced.

A FILE of many tensors (.npz, .safetensors, .arrow, or the index of a set of .safetensors files) gives
NAME/TENSOR for each. A FILE that is a directory stands for the files in it, at any depth, named after
their paths there. FILE - is standard input, whose tensors have the names that it gives them.

What is skipped is said on standard error, with the reason. What holds other than numbers, as arrays of
strings or objects, is an error that lists all of it, unless --skip leaves it out. --dry-run reads
everything, says what would be stored, and changes nothing.`,
		Example: `  tstore import mystore *.npy
  tstore import mystore images.npy labels.npy --prefix train/
  tstore import mystore *.npy --attr source=camera2
  tstore import mystore arrays/ --exclude 'old/*' --dry-run
  tstore import mystore arrays/ --skip     (leaves out arrays of strings and the like)
  tstore import mystore model.safetensors --strip model/ --prefix weights/
  tstore import mystore model.safetensors --map model/decoder.=d/ --layout auto
  tstore import mystore arrays.npz table.csv.gz image.png`,
		Args: namesAndMore("STORE", "FILE"),
	}
	flags.add(cmd)
	from.rename.addTo(cmd)
	addExclude(cmd, &from.exclude, "files, directories and tensors whose name or path")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be stored, and store nothing")
	jsonFlag(cmd, &asJSON)
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if err := flags.parse(); err != nil {
			return err
		}
		if err := from.rename.parse(); err != nil {
			return err
		}
		if err := checkPatterns(from.exclude); err != nil {
			return err
		}
		from.format, from.read, from.skip = flags.format, flags.readOptions(), flags.skip
		// What takes memory here is what is known of each of many tensors: little compared with reading
		// them, so it is worth to be collected earlier.
		defer debug.SetGCPercent(debug.SetGCPercent(50))
		s, err := findSources(cmd, args[1:], &from)
		if err != nil {
			return err
		}
		defer s.close()
		if len(s.all) == 0 && len(s.refused.all) == 0 {
			return fmt.Errorf("%s: %w; files of tensors are called %s", listOr(args[1:]), errNoTensors, formatExtensions(reads))
		}
		done := imported{store: args[0], dryRun: dryRun, list: dryRun || asJSON}
		if dryRun {
			err = done.look(cmd, s, &flags)
		} else {
			err = done.run(cmd, s, &flags, store.Options{LockWait: *wait})
		}
		if err != nil {
			return err
		}
		done.skipped = s.left()
		return done.report(cmd, asJSON)
	})
	return cmd
}

// imported is what was imported, or would be.
type imported struct {
	store    string
	dryRun   bool
	list     bool // say what each tensor is
	count    int64
	tensors  []importedTensor // if they are listed
	bytes    int64
	replaced int64
	skipped  []skipped
}

type importedTensor struct {
	name string
	from string // a file, or a tensor in one
	what string // of the tensor: type, shape and layout
}

// add counts a tensor.
func (done *imported) add(x source, c content) {
	t := c.tensor
	done.count++
	done.bytes += tensorBytes(t)
	if !done.list {
		return
	}
	what := fmt.Sprintf("%v %s %v", t.DType(), shapeText(t.Shape(), t.DimNames()), t.Layout())
	done.tensors = append(done.tensors, importedTensor{x.name, x.file.what(x.member), what})
}

// inputError is an error that is about what is read, not about the store.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// plainInput drops what was said about a store, or a file that is written, from an error about what is read.
func plainInput(err error) error {
	var about *inputError
	if errors.As(err, &about) {
		return about.err
	}
	return err
}

// run stores the tensors.
func (done *imported) run(cmd *cobra.Command, s *sources, flags *contentFlags, o store.Options) error {
	r := s.reader(flags)
	r.keep = true
	return plainInput(withWriting(done.store, o, func(w *writing) error {
		return storeBatch(cmd, w, s.size, func() (*loaded, error) {
			x, err := r.next()
			if x == nil || err != nil {
				return nil, err
			}
			switch _, err := w.Stat(x.name); {
			case err == nil:
				done.replaced++
			case !errors.Is(err, store.ErrNotFound):
				return nil, err
			}
			done.add(r.source(), x.content)
			return x, nil
		}, r.release)
	}))
}

// look reads the tensors and stores none.
func (done *imported) look(cmd *cobra.Command, s *sources, flags *contentFlags) error {
	progress := newProgress(cmd, "reading", s.size)
	defer progress.end()
	r := s.reader(flags)
	for {
		x, err := r.next()
		if x == nil || err != nil {
			return plainInput(err)
		}
		done.add(r.source(), x.content)
	}
}

// report says what was imported.
func (done *imported) report(cmd *cobra.Command, asJSON bool) error {
	if asJSON {
		b := append([]byte(`{"store":`), appendString(nil, done.store)...)
		b = strconv.AppendBool(append(b, `,"dry_run":`...), done.dryRun)
		b = appendInt(b, "tensors", done.count)
		b = appendInt(b, "bytes", done.bytes)
		b = appendInt(b, "replaced", done.replaced)
		b = append(b, `,"imported":[`...)
		for i, t := range done.tensors {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(append(b, `{"name":`...), t.name)
			b = append(appendString(append(b, `,"from":`...), t.from), '}')
		}
		b = appendSkipped(append(b, ']'), done.skipped)
		_, err := cmd.OutOrStdout().Write(append(b, "}\n"...))
		return err
	}
	reportSkipped(cmd, done.skipped)
	if done.dryRun {
		for _, t := range done.tensors {
			if err := say(cmd, "%s  %s  from %s", printable(t.name), printable(t.what), printable(t.from)); err != nil {
				return err
			}
		}
		return say(cmd, "would import %s, %s", count(done.count, "tensor"), roundBytes(done.bytes))
	}
	replaced := ""
	if done.replaced > 0 {
		replaced = fmt.Sprintf(", %d in place of others", done.replaced)
	}
	return say(cmd, "imported %s, %s%s", count(done.count, "tensor"), roundBytes(done.bytes), replaced)
}

// skippedShown is how many files that were skipped are named.
const skippedShown = 10

// reportSkipped says what was left out.
func reportSkipped(cmd *cobra.Command, all []skipped) {
	if quiet(cmd) {
		return
	}
	for i, s := range all {
		if i == skippedShown && len(all) > skippedShown+1 {
			fmt.Fprintf(cmd.ErrOrStderr(), "skipped %d more; --json lists them\n", len(all)-i)
			break
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "skipped %s: %s\n", printable(s.path), s.why)
	}
}

// appendSkipped appends a key, which is not the first of its object, with what was left out.
func appendSkipped(b []byte, all []skipped) []byte {
	b = append(b, `,"skipped":[`...)
	for i, s := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"file":`...), s.path)
		b = append(appendString(append(b, `,"why":`...), s.why), '}')
	}
	return append(b, ']')
}

// tensorBytes returns the bytes of a tensor's elements and indices.
func tensorBytes(t layout.Tensor) int64 {
	if d, ok := t.(*layout.Dense); ok {
		return d.NumBytes()
	}
	n := int64(0)
	if r, err := codec.Encode(t, nil); err == nil {
		for length := range r.Buffers() {
			n += length
		}
	}
	return n
}
