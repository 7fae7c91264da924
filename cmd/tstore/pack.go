package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// readmeKey is the attribute of a dataset that holds a text about it.
const readmeKey = "readme"

func newPack() *cobra.Command {
	var attrs datasetFlags
	var from fromFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pack STORE OUT.tstore [PREFIX...]",
		Short: "Make a package: a whole dataset in one file",
		Long: `Write the tensors of STORE, or those whose names begin with one of the PREFIXes, into one file that
can be copied, mapped and read by any number of programs at once. With --from, STORE is left out and
the tensors come from the files in a directory, each named after its path in it, without extension.
OUT - is standard output. The file gets its name when it is whole and on disk.

The same tensors, names and attributes make the same bytes, in whichever order they were stored;
"tstore digest" prints the identity of a package.

--attr says what the dataset is: title, license, version, created-from, or whatever you like; what
STORE says of itself, if it is a package, stays. --readme embeds a text. "tstore stat OUT" shows them.`,
		Example: `  tstore pack mystore digits.tstore
  tstore pack mystore digits.tstore --attr title="Handwritten digits" --attr license=CC-BY-4.0 --readme README.md
  tstore pack mystore train.tstore train/ meta/       (a part of it)
  tstore pack digits.tstore --from arrays/            (straight from files)
  tstore pack all.tstore --from arrays/ --from more/ --exclude 'old/*'
  tstore pack mystore - | ssh host 'cat > digits.tstore'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(from.roots) > 0 {
				return checkCount(args, len(args) == 1, []string{"OUT.tstore", "--from", "DIR"})
			}
			return checkCount(args, len(args) >= 2, []string{"STORE", "OUT.tstore", "[PREFIX...]"})
		},
	}
	attrs.addTo(cmd)
	from.addTo(cmd)
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if err := attrs.parse(cmd); err != nil {
			return err
		}
		var done packed
		var err error
		if len(from.roots) > 0 {
			done, err = packFiles(cmd, &from, args[0], attrs.pairs)
		} else {
			if err := from.check(); err != nil {
				return err
			}
			done, err = packStore(cmd, args[0], args[1], attrs.pairs, args[2:])
		}
		if err != nil {
			return err
		}
		return done.report(cmd, asJSON)
	})
	return cmd
}

// datasetFlags are the flags that say what a dataset is.
type datasetFlags struct {
	attrs  []string
	readme string

	pairs []layout.Attr
}

func (f *datasetFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.attrs, "attr", nil, "`KEY=VALUE` to keep with the dataset; may be repeated")
	cmd.Flags().StringVar(&f.readme, "readme", "", "embed the text in `FILE` as attribute "+readmeKey)
}

func (f *datasetFlags) parse(cmd *cobra.Command) error {
	var err error
	if f.pairs, err = parseAttrs(f.attrs); err != nil {
		return err
	}
	if !cmd.Flags().Changed("readme") {
		return nil
	}
	if slices.ContainsFunc(f.pairs, func(a layout.Attr) bool { return a.Key == readmeKey }) {
		return usagef("--readme and --attr %s= exclude each other", readmeKey)
	}
	in, err := openInput(cmd, f.readme)
	if err != nil {
		return err
	}
	defer in.close()
	if len(in.bytes) > store.MaxAttrsLen {
		return usagef("--readme %s: it has %d bytes, and attributes at most %d in all", f.readme, len(in.bytes), store.MaxAttrsLen)
	}
	if !utf8.Valid(in.bytes) {
		return usagef("--readme %s: it is no UTF-8 text", f.readme)
	}
	f.pairs = append(f.pairs, layout.Attr{Key: readmeKey, Value: string(in.bytes)})
	return nil
}

// withAttrs returns the attributes that a dataset had, with others in place of those of the same key.
func withAttrs(had, given []layout.Attr) []layout.Attr {
	kept := slices.DeleteFunc(slices.Clone(had), func(a layout.Attr) bool {
		return slices.ContainsFunc(given, func(g layout.Attr) bool { return g.Key == a.Key })
	})
	return append(kept, given...)
}

// packed is what has been packed.
type packed struct {
	path    string
	tensors int64
	bytes   int64 // of the file
	digest  store.Digest
	skipped []skipped
}

// report says what was packed. If the package itself went to standard output, there is no place for
// it.
func (p *packed) report(cmd *cobra.Command, asJSON bool) error {
	if !asJSON {
		reportSkipped(cmd, p.skipped)
	}
	if p.path == "-" {
		return nil
	}
	if asJSON {
		b := append([]byte(`{"file":`), appendString(nil, p.path)...)
		b = appendInt(b, "tensors", p.tensors)
		b = appendInt(b, "bytes", p.bytes)
		b = appendString(append(b, `,"digest":`...), p.digest.String())
		b = appendSkipped(b, p.skipped)
		_, err := cmd.OutOrStdout().Write(append(b, "}\n"...))
		return err
	}
	return say(cmd, "packed %s, %s, digest %v", count(p.tensors, "tensor"), roundBytes(p.bytes), p.digest)
}

// packStore packs a store, or another package, or parts of one.
func packStore(cmd *cobra.Command, path, out string, attrs []layout.Attr, prefixes []string) (packed, error) {
	st, err := openReading(path)
	if err != nil {
		return packed{}, err
	}
	defer st.Close()
	had, err := st.Attrs()
	if err != nil {
		return packed{}, err
	}
	snap, err := st.Snapshot()
	if err != nil {
		return packed{}, err
	}
	defer snap.Close()
	done := packed{path: out}
	total, err := choose(cmd, snap, prefixes, &done.tensors)
	if err != nil {
		return packed{}, fmt.Errorf("%s: %w", path, err)
	}
	options := &store.PackOptions{Prefixes: prefixes, Attrs: withAttrs(had, attrs)}
	if target, ok := ordinaryTarget(out); ok {
		return done, packInto(cmd, &done, snap, target, total, options)
	}
	err = writePackage(cmd, &done, total, options.Attrs, func(p *store.PackageWriter) error {
		return snap.PackTo(cmd.Context(), p, options)
	})
	return done, err
}

// ordinaryTarget returns the file that a path leads to, which need not be there yet, and whether it is
// an ordinary one.
func ordinaryTarget(path string) (string, bool) {
	if path == "-" {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(path))
		return path, err == nil
	}
	return path, err == nil && info.Mode().IsRegular()
}

// packInto packs into an ordinary file. The store writes it itself, so that the disk has its work from
// the start and there is no long sync at the end, which can't be interrupted.
func packInto(cmd *cobra.Command, done *packed, snap *store.Snapshot, target string, total int64, o *store.PackOptions) error {
	progress := newProgress(cmd, "writing "+done.path, total)
	defer progress.end()
	if progress.bar != nil { // else nobody needs to know, which costs another look at all names
		o.Progress = progress.report
	}
	p, err := store.CreatePackage(target, o.Attrs...)
	if errors.Is(err, store.ErrAttrs) {
		return usagef("--attr: %v", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", done.path, plainPathError(err))
	}
	defer onAbandon("package", p.Abort)()
	defer p.Abort()
	if err := snap.PackTo(cmd.Context(), p, o); err != nil {
		return fmt.Errorf("%s: %w", done.path, plainPathError(err))
	}
	if done.digest, err = p.Close(); err != nil {
		return fmt.Errorf("%s: %w", done.path, plainPathError(err))
	}
	info, err := os.Stat(target)
	if err == nil {
		done.bytes = info.Size()
	}
	return err
}

// choose counts the tensors whose names begin with one of the prefixes, and their bytes. Each prefix
// has to be one of a name: it may be mistyped.
func choose(cmd *cobra.Command, snap *store.Snapshot, prefixes []string, tensors *int64) (bytes int64, err error) {
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for i, prefix := range prefixes {
		found := prefix == "" // an empty store can be packed
		for e, err := range eachEntry(cmd, snap.List(prefix)) {
			if err != nil {
				return 0, err
			}
			found = true
			if slices.ContainsFunc(prefixes[:i], func(p string) bool { return strings.HasPrefix(e.Name, p) }) {
				continue // counted already
			}
			*tensors++
			bytes += min(e.Length, math.MaxInt64-bytes) // of a package from elsewhere this may be anything
		}
		if !found {
			return 0, fmt.Errorf("%w whose name begins with %q", store.ErrNotFound, prefix)
		}
	}
	return bytes, nil
}

// writePackage makes a package of what fill adds.
func writePackage(cmd *cobra.Command, done *packed, size int64, attrs []layout.Attr, fill func(p *store.PackageWriter) error) error {
	if done.path == "-" && isTerminal(cmd.OutOrStdout()) {
		return usagef("standard output is a terminal; redirect it, or give the name of a file")
	}
	return output{path: done.path, size: size, durable: true}.write(cmd, func(w io.Writer) error {
		counted := &countingWriter{w: w}
		p, err := store.NewPackageWriter(counted, attrs...)
		if errors.Is(err, store.ErrAttrs) {
			return usagef("--attr: %v", err)
		}
		if err != nil {
			return err
		}
		defer onAbandon("package", p.Abort)()
		defer p.Abort()
		if err := fill(p); err != nil {
			return err
		}
		if done.digest, err = p.Close(); err != nil {
			return err
		}
		done.bytes = counted.n
		return nil
	})
}

// countingWriter counts what goes through it.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
