package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newExport() *cobra.Command {
	var e export
	var formatName string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "export STORE OUT [PREFIX...]",
		Short: "Write many tensors to files in a directory, or to one file",
		Long: `Write the tensors of STORE, or those whose names begin with one of the PREFIXes: to one file, if OUT is
called .npz, .safetensors, .arrow or .arrows, and else to a new directory OUT, with a file for each
tensor at the path that its name is. OUT - is standard output, with --format. All is written, or
nothing.

Files in a directory are .npy where NumPy has the type of the elements and the tensor is dense, else
.msg, which keeps everything; --format makes them all the same. Into formats that have no sparse tensors
they are written dense. Names that no file can have everywhere, as "..", "aux" or two that differ in
case only, are refused before anything is written: --map gives other names, --exclude leaves them out.`,
		Example: `  tstore export mystore arrays-out
  tstore export mystore train.npz train/ --strip train/
  tstore export mystore model.safetensors weights --raw
  tstore export mystore table.arrow train/
  tstore export mystore out train/ --format csv --exclude train/x --dry-run
  tstore export mystore - train/ --format arrows > tensors.arrows`,
		Args: func(cmd *cobra.Command, args []string) error {
			return checkCount(args, len(args) >= 2, []string{"STORE", "OUT", "[PREFIX...]"})
		},
	}
	cmd.Flags().StringVar(&formatName, "format", "", "`FORMAT` of the files, or of OUT if it is one: "+formatNames(writes))
	completeFlag(cmd, "format", formatList(writes)...)
	e.layout.addTo(cmd, "convert to")
	cmd.Flags().BoolVar(&e.raw, "raw", false, "write the bits of elements as unsigned integers where the format lacks their type")
	e.rename.addTo(cmd)
	addExclude(cmd, &e.exclude, "tensors whose name, or the part of it behind the last slash,")
	cmd.Flags().BoolVar(&e.dryRun, "dry-run", false, "say what would be written, and write nothing")
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		e.cmd, e.path, e.out = cmd, args[0], args[1]
		if err := e.parse(formatName); err != nil {
			return err
		}
		if err := e.run(args[2:]); err != nil {
			return err
		}
		return e.report(asJSON)
	})
	return cmd
}

// export is what is exported.
type export struct {
	cmd     *cobra.Command
	path    string // of the store
	out     string
	layout  layoutFlag
	raw     bool
	rename  renameFlags
	exclude []string
	dryRun  bool

	has     map[formatType]bool
	format  *format // of the files; nil for the one that suits each tensor
	packing *compression
	one     bool // all tensors go to one file

	snap    *store.Snapshot
	tensors []exported
	skipped []skipped
	bytes   int64
	without int64 // tensors some of whose attributes are left out
}

// exported is a tensor that is exported.
type exported struct {
	entry  *store.Entry // of the store
	head   *store.Entry // as it is written: with another name, dense, raw
	format *format
	file   string // in the directory
	raw    bool
}

// parse checks the flags.
func (e *export) parse(formatName string) error {
	if err := e.layout.parse(); err != nil {
		return err
	}
	if err := e.rename.parse(); err != nil {
		return err
	}
	if err := checkPatterns(e.exclude); err != nil {
		return err
	}
	var err error
	if e.format, e.packing, err = pickFormat(formatName, e.out, writes); err != nil {
		return err
	}
	e.one = e.format != nil && e.format.writeAll != nil
	switch {
	case formatName == "" && e.format != nil && !e.one:
		return usagef("%s: a %s file holds one tensor, which \"tstore get -o\" writes; OUT is a directory, or is called %s", e.out, e.format.extensions[0], formatExtensions(holdsMany))
	case e.out == "-" && !e.one:
		return usagef("OUT - needs --format %s", formatNames(holdsMany))
	case e.out == "-" && isTerminal(e.cmd.OutOrStdout()) && !e.dryRun:
		return usagef("standard output is a terminal; redirect it, or give the name of a file")
	}
	return nil
}

// run exports the tensors whose names begin with one of the prefixes.
func (e *export) run(prefixes []string) error {
	st, err := openChecking(e.path)
	if err != nil {
		return err
	}
	defer st.Close()
	snap, err := st.Snapshot()
	if err != nil {
		return fmt.Errorf("%s: %w", e.path, err)
	}
	defer snap.Close()
	e.snap = snap
	if err := e.choose(snap, prefixes); err != nil {
		return fmt.Errorf("%s: %w", e.path, err)
	}
	if st.IsPackage() {
		if err := e.checkRecords(); err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
	}
	if e.one {
		err = e.checkNames()
	} else {
		err = e.placeFiles()
	}
	if err != nil || e.dryRun {
		return err
	}
	if e.one {
		return e.writeFile()
	}
	return e.writeDirectory()
}

// checkRecords makes sure that no two tensors of a package share bytes: it may be made so that a small
// file gives endless data.
func (e *export) checkRecords() error {
	entries := make([]*store.Entry, len(e.tensors))
	for i, x := range e.tensors {
		entries[i] = x.entry
	}
	slices.SortFunc(entries, func(a, b *store.Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(entries); i++ {
		if a, b := entries[i-1], entries[i]; b.Offset < a.Offset+a.Length {
			return fmt.Errorf("%w: the records of %q and %q share bytes", store.ErrCorrupt, a.Name, b.Name)
		}
	}
	return nil
}

// choose finds the tensors. Each prefix has to be one of a name: it may be mistyped.
func (e *export) choose(snap *store.Snapshot, prefixes []string) error {
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	seen := map[string]bool{}
	for _, prefix := range prefixes {
		found := false
		for entry, err := range snap.List(prefix) {
			if err == nil {
				err = e.cmd.Context().Err()
			}
			if err != nil {
				return err
			}
			found = true
			if seen[entry.Name] {
				continue
			}
			seen[entry.Name] = true
			if excluded(e.exclude, entry.Name) {
				e.skipped = append(e.skipped, skipped{entry.Name, "excluded"})
				continue
			}
			if err := e.add(entry); err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("%w whose name begins with %q", store.ErrNotFound, prefix)
		}
	}
	if len(e.tensors) == 0 {
		return errNoTensors
	}
	return nil
}

// add adds a tensor, and says what it is when it is written.
func (e *export) add(entry *store.Entry) error {
	x := exported{entry: entry, format: e.format}
	head := *entry
	head.Name = e.rename.apply(entry.Name)
	if x.format == nil {
		x.format = msgFormat
		if entry.Layout == layout.LayoutDense && !e.layout.set && (e.raw || e.holds(npyFormat, entry.DType)) {
			x.format = npyFormat
		}
	}
	if e.raw && !e.holds(x.format, entry.DType) {
		x.raw = true
		view, err := layout.NewStrided(entry.DType, entry.Shape, make([]int64, len(entry.Shape)), 0, make([]byte, entry.DType.Size()))
		if err == nil {
			view, err = npy.Raw(view)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", entry.Name, err)
		}
		head.DType, head.Shape = view.DType(), view.Shape()
		if head.DimNames != nil && len(head.DimNames) < len(head.Shape) {
			head.DimNames = append(slices.Clone(head.DimNames), "")
		}
	}
	var shared []layout.Attr // what a file of all tensors keeps is known at its end
	if !e.one || x.format != safetensorsFormat {
		shared = x.format.holds(entry.Attrs)
	}
	if len(shared) < len(entry.Attrs) {
		e.without++
	}
	x.head = &head
	e.tensors = append(e.tensors, x)
	e.bytes += entry.Bytes
	return nil
}

// formatType is a format and a type of elements.
type formatType struct {
	format *format
	dtype  layout.DType
}

// holds reports whether a format has elements of a type, by trying.
func (e *export) holds(f *format, dt layout.DType) bool {
	key := formatType{f, dt}
	has, known := e.has[key]
	if !known {
		d, err := layout.NewDense(dt, []int64{1, 1}, make([]byte, dt.Size()))
		has = err == nil && f.write(io.Discard, content{tensor: d, name: "x"}) == nil
		if e.has == nil {
			e.has = map[formatType]bool{}
		}
		e.has[key] = has
	}
	return has
}

// read returns a tensor as it is written, in place if it needs no change. It is compared with its checksum.
func (e *export) read(x *exported) (layout.Tensor, error) {
	t, err := e.snap.Get(x.entry.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.path, err)
	}
	if t, err = e.layout.convert(t); err == nil && (x.raw || x.format.dense != nil && x.format.dense(e.one)) && t.Layout() != layout.LayoutDense {
		t, err = convertTensor(t, layout.LayoutDense)
	}
	if err == nil && x.raw {
		t, err = npy.Raw(t)
	}
	if err == nil && x.raw && x.head.DimNames != nil {
		t, err = withDimNames(t, x.head.DimNames)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", x.entry.Name, err)
	}
	return t, nil
}

// checkNames checks that tensors in one file have names of their own.
func (e *export) checkNames() error {
	seen := map[string]string{}
	for _, x := range e.tensors {
		if other, ok := seen[x.head.Name]; ok {
			return usagef("%q and %q would both be called %q", other, x.entry.Name, x.head.Name)
		}
		seen[x.head.Name] = x.entry.Name
	}
	return nil
}

// placeFiles gives each tensor a file in the directory.
func (e *export) placeFiles() error {
	places := newPlaces()
	for i := range e.tensors {
		x := &e.tensors[i]
		x.file = x.head.Name + x.format.extensions[0]
		if e.packing != nil {
			x.file += e.packing.extension
		}
		if err := places.add(x.file, x.entry.Name); err != nil {
			return usagef("%v; --map gives it another name, --exclude leaves it out", err)
		}
	}
	switch entries, err := os.ReadDir(e.out); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return plainPathError(err)
	case len(entries) > 0:
		return fmt.Errorf("%s: there are files in it already; give a new directory, or an empty one", e.out)
	}
	return nil
}

// writeFile writes one file of all tensors.
func (e *export) writeFile() error {
	heads := make([]*store.Entry, len(e.tensors))
	for i := range e.tensors {
		heads[i] = e.tensors[i].head
	}
	if e.format == safetensorsFormat {
		kept := sharedAttrs(heads)
		e.without = 0
		for _, h := range heads {
			if len(h.Attrs) > len(kept) {
				e.without++
			}
		}
	}
	return output{path: e.out, what: "exporting", size: sizeAs(e.format, e.packing, e.bytes)}.write(e.cmd, compressed(e.packing, func(w io.Writer) error {
		return e.format.writeAll(w, heads, func(i int) (*layout.Dense, error) {
			if err := e.cmd.Context().Err(); err != nil {
				return nil, err
			}
			t, err := e.read(&e.tensors[i])
			if err != nil {
				return nil, err
			}
			return t.(*layout.Dense), nil
		})
	}))
}

// writeDirectory writes a file for each tensor. The directory gets its name, or the one that is there gets its
// files, when all are written.
func (e *export) writeDirectory() error {
	out := filepath.Clean(e.out)
	working := ".tstore-" + strconv.Itoa(os.Getpid())
	_, err := os.Stat(out)
	there := err == nil
	if there {
		working = filepath.Join(out, working)
	} else {
		working = filepath.Join(filepath.Dir(out), working+"-"+filepath.Base(out))
	}
	if err := os.Mkdir(working, 0o777); err != nil {
		return plainPathError(err)
	}
	remove := func() { os.RemoveAll(working) }
	defer onAbandon(working, remove)()
	whole := false
	defer func() {
		if !whole {
			remove()
		}
	}()
	// No path leads out of a root, whatever it is.
	root, err := os.OpenRoot(working)
	if err != nil {
		return plainPathError(err)
	}
	defer root.Close()
	size := e.bytes
	for _, x := range e.tensors {
		size = min(size, sizeAs(x.format, e.packing, e.bytes))
	}
	progress := newProgress(e.cmd, "exporting", size)
	defer progress.end()
	progress.then("exporting")
	for i := range e.tensors {
		if err := e.writeTensor(root, &e.tensors[i], progress); err != nil {
			return err
		}
	}
	if err := root.Close(); err != nil {
		return err
	}
	if there {
		err = moveInto(out, working)
	} else {
		err = os.Rename(working, out)
	}
	if err != nil {
		return plainLinkError(err)
	}
	whole = true
	return nil
}

// moveInto moves what is in a directory into another, and removes it.
func moveInto(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.Rename(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())); err != nil {
			return err
		}
	}
	return os.Remove(from)
}

// plainLinkError drops the name of the system call and of the temporary directory.
func plainLinkError(err error) error {
	var le *os.LinkError
	if errors.As(err, &le) {
		return fmt.Errorf("%s: %w", le.New, le.Err)
	}
	return err
}

// writeTensor writes a file.
func (e *export) writeTensor(root *os.Root, x *exported, progress *progress) error {
	if err := e.cmd.Context().Err(); err != nil {
		return err
	}
	t, err := e.read(x)
	if err != nil {
		return err
	}
	path := filepath.FromSlash(x.file)
	if err := root.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return plainPathError(err)
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return plainPathError(err)
	}
	name := x.head.Name
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	c := content{tensor: t, attrs: x.head.Attrs, name: name}
	write := compressed(e.packing, func(w io.Writer) error { return x.format.write(w, c) })
	if err := (output{path: x.file}).finish(e.cmd, f, progress, write); err != nil {
		return fmt.Errorf("%q: %w", x.entry.Name, err)
	}
	return nil
}

// report says what was exported.
func (e *export) report(asJSON bool) error {
	n := int64(len(e.tensors))
	if asJSON && e.out != "-" {
		b := append([]byte(`{"out":`), appendString(nil, e.out)...)
		b = strconv.AppendBool(append(b, `,"dry_run":`...), e.dryRun)
		b = appendInt(b, "tensors", n)
		b = appendInt(b, "bytes", e.bytes)
		b = appendInt(b, "without_attrs", e.without)
		b = append(b, `,"exported":[`...)
		for i, x := range e.tensors {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(append(b, `{"name":`...), x.entry.Name)
			b = append(appendString(append(b, `,"to":`...), x.to()), '}')
		}
		b = appendSkipped(append(b, ']'), e.skipped)
		_, err := e.cmd.OutOrStdout().Write(append(b, "}\n"...))
		return err
	}
	reportSkipped(e.cmd, e.skipped)
	if e.without > 0 && !quiet(e.cmd) {
		fmt.Fprintf(e.cmd.ErrOrStderr(), "left out attributes of %s, which the format has no place for\n", count(e.without, "tensor"))
	}
	if e.dryRun {
		for _, x := range e.tensors {
			if err := say(e.cmd, "%s  %v %s  to %s", printable(x.entry.Name), x.head.DType, shapeText(x.head.Shape, nil), printable(x.to())); err != nil {
				return err
			}
		}
		return say(e.cmd, "would export %s, %s", count(n, "tensor"), roundBytes(e.bytes))
	}
	if e.out == "-" {
		return nil
	}
	return say(e.cmd, "exported %s, %s", count(n, "tensor"), roundBytes(e.bytes))
}

// to says where a tensor goes: to a file, or to a name in one.
func (x *exported) to() string {
	if x.file != "" {
		return x.file
	}
	return x.head.Name
}
