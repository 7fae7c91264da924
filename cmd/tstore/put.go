package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func newPut() *cobra.Command {
	var flags contentFlags
	cmd := &cobra.Command{
		Use:   "put STORE NAME FILE",
		Short: "Store one array under a name",
		Long: `Store the array in FILE under NAME in STORE, in place of what NAME was before. The store is
created if there is none. FILE - is standard input. Of a FILE of many tensors, as .npz, each is stored
as NAME/TENSOR, all in one batch; a SciPy sparse .npz is one tensor.`,
		Example: `  tstore put mystore train/x x.npy
  tstore put mystore train/x x.npy --attr source=camera2 --attr unit=lux
  tstore put mystore images images.npy --dims image,row,column
  tstore put mystore graph graph.mtx --layout csr
  tstore put mystore weights model.safetensors        (weights/TENSOR for each)
  tstore put mystore table table.csv.gz
  make-array | tstore put mystore train/x - --format npy`,
		Args: names("STORE", "NAME", "FILE"),
	}
	flags.add(cmd)
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		path, name, file := args[0], args[1], args[2]
		if err := flags.parse(); err != nil {
			return err
		}
		if err := store.CheckName(name); err != nil {
			return usagef("%v", err)
		}
		// The file is looked at before the store is touched, so that a mistyped one creates no store.
		in, err := openArchive(cmd, file, flags.format)
		if err != nil {
			return err
		}
		defer in.close()
		_, a, err := readArchive(in, flags.format, flags.readOptions())
		if err != nil {
			return err
		}
		var first content
		switch len(a.names) {
		case 0:
			return fmt.Errorf("%s: %w", in.path, errNoTensors)
		case 1:
			if first, err = flags.load(a, 0, in); err != nil {
				return err
			}
		}
		opts := store.Options{LockWait: *wait}
		if len(a.names) == 1 {
			progress := newProgress(cmd, "storing "+name, int64(len(in.bytes)))
			defer progress.end()
			defer progress.watch(path)()
			return update(cmd, path, opts, func(tx *store.Tx) error { return first.put(tx, memberName(name, a.names[0])) })
		}
		order := make([]int, len(a.names))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(a.names[i], a.names[j]) })
		left, taken := refused{skip: flags.skip}, int64(0)
		err = withWriting(path, opts, func(w *writing) error {
			return storeBatch(cmd, w, int64(len(in.bytes)), func() (*loaded, error) {
				var c content
				var i int
				for found := false; !found; {
					if len(order) == 0 {
						return nil, left.err(taken)
					}
					if err := cmd.Context().Err(); err != nil {
						return nil, err
					}
					i = order[0]
					order = order[1:]
					var err error
					c, err = flags.load(a, i, in)
					switch {
					case err == nil:
						taken++
						found = !left.hopeless()
					case !left.take(in.path, a.names[i], err):
						return nil, err
					}
				}
				under := memberName(name, a.names[i])
				if err := store.CheckName(under); err != nil {
					return nil, usagef("%s: %v; \"tstore import\" gives other names, with --map", in.path, err)
				}
				return &loaded{under, c, in}, nil
			}, func() {})
		})
		if err != nil {
			return plainInput(err)
		}
		reportSkipped(cmd, left.all)
		return nil
	})
	return cmd
}

// memberName returns what a tensor of a file is called.
func memberName(name, member string) string {
	if member == "" {
		return name
	}
	return name + "/" + member
}

// contentFlags are the flags that say how files become tensors.
type contentFlags struct {
	format string
	header string
	attrs  []string
	dims   string
	layout layoutFlag
	skip   bool // see refused

	pairs []layout.Attr
	names []string
}

func (f *contentFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", "", "`FORMAT` of the file, if its extension does not tell: "+formatNames(reads))
	completeFlag(cmd, "format", formatList(reads)...)
	cmd.Flags().StringArrayVar(&f.attrs, "attr", nil, "`KEY=VALUE` to keep with the tensor; may be repeated")
	f.layout.addTo(cmd, "store as")
	cmd.Flags().StringVar(&f.dims, "dims", "", "`NAMES` for the dimensions, as x,y,z")
	headerFlag(cmd, &f.header)
	skipFlag(cmd, &f.skip, "")
}

// headerFlag adds --header to a command that reads tables.
func headerFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "header", "auto", "whether the first row of a .csv or .tsv file is a header: `yes, no` or auto, which looks for a cell that is no number")
	completeFlag(cmd, "header", "auto", "yes", "no")
}

// parse checks the flags.
func (f *contentFlags) parse() error {
	var err error
	if _, _, err = pickFormat(f.format, "", reads); err != nil {
		return err
	}
	if err := checkHeader(f.header); err != nil {
		return err
	}
	if err := f.layout.parse(); err != nil {
		return err
	}
	if f.pairs, err = parseAttrs(f.attrs); err != nil {
		return err
	}
	f.names = nil
	if f.dims != "" {
		f.names = strings.Split(f.dims, ",")
	}
	return nil
}

func checkHeader(header string) error {
	if !slices.Contains([]string{"auto", "yes", "no"}, header) {
		return usagef("--header %s: it is auto, yes or no", header)
	}
	return nil
}

func (f *contentFlags) readOptions() readOptions {
	return readOptions{header: f.header, inPlace: !f.layout.set}
}

// parseAttrs returns the attributes that --attr gives.
func parseAttrs(given []string) ([]layout.Attr, error) {
	var pairs []layout.Attr
	for _, a := range given {
		key, value, ok := strings.Cut(a, "=")
		if !ok || key == "" {
			return nil, usagef("--attr %s: it has to be KEY=VALUE", a)
		}
		if slices.ContainsFunc(pairs, func(p layout.Attr) bool { return p.Key == key }) {
			return nil, usagef("--attr %s: key %q is given twice", a, key)
		}
		pairs = append(pairs, layout.Attr{Key: key, Value: value})
	}
	return pairs, nil
}

// load returns a tensor of an input, with the attributes and names that the flags ask for.
func (f *contentFlags) load(a *archive, i int, in *input) (content, error) {
	c, err := a.loadFrom(in, i)
	if err != nil {
		return content{}, err
	}
	return f.apply(c, in.path)
}

// apply gives a tensor from a file the attributes, names and layout that the flags ask for.
func (f *contentFlags) apply(c content, path string) (content, error) {
	if len(f.pairs) > 0 {
		// An attribute from the file gives way to one from the command line.
		c.attrs, c.message = withAttrs(c.attrs, f.pairs), nil
	}
	if f.names != nil {
		named, err := withDimNames(c.tensor, f.names)
		if err != nil {
			return content{}, usagef("--dims %s: %s has %d dimensions, not %d", f.dims, path, len(c.tensor.Shape()), len(f.names))
		}
		c.tensor, c.message = named, nil
	}
	if f.layout.set {
		converted, err := f.layout.convert(c.tensor)
		if err != nil {
			return content{}, fmt.Errorf("%s: %w", path, err)
		}
		if converted != c.tensor {
			c.tensor, c.message = converted, nil
		}
	}
	return c, nil
}

// put stores the content under a name. A message that nothing was changed in is handed over as it
// is. So is a tensor with attributes of equal keys, which may come from elsewhere and are kept, as a
// message made for it: Put itself takes none.
func (c content) put(tx *store.Tx, name string) error {
	if c.message == nil && hasEqualKeys(c.attrs) {
		r, err := codec.Encode(c.tensor, c.attrs)
		if err != nil {
			return err
		}
		c.message = r.AppendTo(make([]byte, 0, r.Len()))
	}
	if c.message != nil {
		return tx.PutMessage(name, c.message)
	}
	return attrsError(tx.Put(name, c.tensor, c.attrs...))
}

// addTo adds the content to a package under a name.
func (c content) addTo(p *store.PackageWriter, name string) error {
	if c.message != nil || hasEqualKeys(c.attrs) {
		return p.AddCopy(name, c.tensor, c.attrs)
	}
	return attrsError(p.Add(name, c.tensor, c.attrs...))
}

// attrsError makes wrong usage of an error about attributes.
func attrsError(err error) error {
	if errors.Is(err, store.ErrAttrs) {
		return usagef("--attr: %v", err)
	}
	return err
}

func hasEqualKeys(attrs []layout.Attr) bool {
	seen := make(map[string]bool, len(attrs))
	for _, a := range attrs {
		if seen[a.Key] {
			return true
		}
		seen[a.Key] = true
	}
	return false
}

// names makes a command take exactly these arguments.
func names(want ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		return checkCount(args, len(args) == len(want), want)
	}
}

// namesAndMore is names for a command whose last argument may be repeated.
func namesAndMore(want ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		return checkCount(args, len(args) >= len(want), append(slices.Clone(want), "..."))
	}
}

func checkCount(args []string, ok bool, want []string) error {
	for i, a := range args {
		if a == "" && i < len(want) && !strings.HasPrefix(want[i], "[") {
			return usagef("%s is empty", want[i])
		}
	}
	if !ok {
		return usagef("arguments are %s, %d given", strings.Join(want, " "), len(args))
	}
	return nil
}
