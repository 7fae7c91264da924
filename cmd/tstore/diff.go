package main

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/cmd/tstore/internal/arraytext"
	"github.com/tstore/tstore/cmd/tstore/internal/compare"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// errDifferent says that diff has found and listed differences.
var errDifferent = errors.New("different")

func newDiff() *cobra.Command {
	var prefix string
	var valuesOnly, asJSON bool
	cmd := &cobra.Command{
		Use:   "diff A B [NAME [NAMEB]]",
		Short: "Compare two stores, packages or tensors",
		Long: `Compare the tensors of A and B, stores or packages: which names only one of them has, and where both
have one, whether element type, shape, dimension names, layout, attributes and values are the same,
and how far values are apart at most. A NaN is the same as itself. With NAME, compare that tensor, or
part of one, with the one of the same name in B, or with NAMEB.

With --values, only element types, shapes and values count: a sparse and a dense tensor of the same
values are equal. Packages with equal digests are equal without being read.

With --json, each difference is an object with name and either only ("a" or "b") or what differs:
dtype, shape, dims, layout, attrs (each an array of both), differing (a number of elements), nan (how
many of them are NaN in one of both), max_abs_diff and at (where that is).

The exit code is 0 if they are equal, 1 if they are not, 6 if something went wrong.`,
		Example: `  tstore diff mystore digits.tstore
  tstore diff old.tstore new.tstore --prefix train/
  tstore diff mystore mystore train/x backup/x
  tstore diff --quiet a.tstore b.tstore && echo equal`,
		Args: func(_ *cobra.Command, args []string) error {
			return checkCount(args, 2 <= len(args) && len(args) <= 4, []string{"A", "B", "[NAME", "[NAMEB]]"})
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "compare only the tensors whose names begin with `TEXT`")
	cmd.Flags().BoolVar(&valuesOnly, "values", false, "compare only element types, shapes and values")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if prefix != "" && len(args) > 2 {
			return usagef("--prefix and NAME exclude each other")
		}
		a, err := openSide(args[0])
		if err != nil {
			return err
		}
		defer a.close()
		b, err := openSide(args[1])
		if err != nil {
			return err
		}
		defer b.close()
		out := bufio.NewWriter(cmd.OutOrStdout())
		d := differ{cmd: cmd, a: a, b: b, valuesOnly: valuesOnly, show: func(x *difference) {
			switch {
			case asJSON:
				out.Write(append(x.appendJSON(nil), '\n'))
			case !quiet(cmd):
				x.write(out, args[0], args[1])
			}
		}}
		d.progress = newProgress(cmd, "comparing", 1)
		defer d.progress.end()
		out.Reset(d.progress.above(cmd.OutOrStdout()))
		if len(args) > 2 {
			err = d.tensors(args[2], args[len(args)-1])
		} else {
			err = d.stores(prefix)
		}
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
		if err == nil && d.different {
			err = errDifferent
		}
		return err
	})
	return cmd
}

// side is one of two stores that are compared.
type side struct {
	*store.Store
	path string
	snap *store.Snapshot
}

func openSide(path string) (*side, error) {
	st, err := openReading(path)
	if err != nil {
		return nil, err
	}
	snap, err := st.Snapshot()
	if err != nil {
		st.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &side{st, path, snap}, nil
}

func (s *side) close() {
	s.snap.Close()
	s.Close()
}

// read returns a tensor, compared with its checksum unless it is large.
func (s *side) read(sel *selection) (layout.Tensor, error) {
	read := sel.view
	if sel.entry.Bytes <= largeText {
		read = func(snap *store.Snapshot) (layout.Tensor, error) { return sel.read(s.Store, snap) }
	}
	t, err := read(s.snap)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return t, nil
}

// differ compares two stores.
type differ struct {
	cmd        *cobra.Command
	a, b       *side
	valuesOnly bool
	show       func(*difference)
	different  bool
	progress   *progress
}

// difference is what differs between two tensors.
type difference struct {
	name   string
	only   string               // "a" or "b" if the other has none
	pairs  map[string][2]string // what differs of what is known of them, as text
	json   map[string][2]string // the same as JSON
	values *compare.Difference
	size   int64     // elements
	ends   [2]string // the elements that differ most
}

func (d *differ) found(x *difference) {
	d.different = true
	d.show(x)
}

// stores compares all tensors whose names begin with a prefix.
func (d *differ) stores(prefix string) error {
	digestA, pkgA := d.a.Digest()
	digestB, pkgB := d.b.Digest()
	if pkgA && pkgB && digestA == digestB {
		return nil
	}
	total, err := d.size(prefix)
	if err != nil {
		return err
	}
	done := int64(0)
	nextA, stopA := iter.Pull2(d.a.snap.List(prefix))
	defer stopA()
	nextB, stopB := iter.Pull2(d.b.snap.List(prefix))
	defer stopB()
	a, errA, okA := nextA()
	b, errB, okB := nextB()
	for okA || okB {
		if err := errors.Join(errA, errB, d.cmd.Context().Err()); err != nil {
			return err
		}
		switch {
		case !okB || okA && a.Name < b.Name:
			d.found(&difference{name: a.Name, only: "a"})
			a, errA, okA = nextA()
		case !okA || b.Name < a.Name:
			d.found(&difference{name: b.Name, only: "b"})
			b, errB, okB = nextB()
		default:
			if err := d.compare(a.Name, &selection{entry: a}, &selection{entry: b}); err != nil {
				return err
			}
			done += a.Bytes
			d.progress.report(done, total)
			a, errA, okA = nextA()
			b, errB, okB = nextB()
		}
	}
	return nil
}

// tensors compares two tensors, or parts of them.
func (d *differ) tensors(nameA, nameB string) error {
	a, err := find(d.a.snap.Stat, nameA)
	if err != nil {
		return fmt.Errorf("%s: %w", d.a.path, err)
	}
	b, err := find(d.b.snap.Stat, nameB)
	if err != nil {
		return fmt.Errorf("%s: %w", d.b.path, err)
	}
	d.progress.report(0, a.entry.Bytes)
	return d.compare(nameA, a, b)
}

// size is how many bytes there are to compare, for the progress. Looking at all names takes time itself.
func (d *differ) size(prefix string) (int64, error) {
	var total int64
	if !d.progress.visible() {
		return 1, nil
	}
	for e, err := range eachEntry(d.cmd, d.a.snap.List(prefix)) {
		if err != nil {
			return 0, err
		}
		if _, err := d.b.snap.Stat(e.Name); err == nil {
			total += e.Bytes
		}
	}
	d.progress.report(0, total)
	return total, nil
}

func (d *differ) compare(name string, a, b *selection) error {
	x := &difference{name: name, pairs: map[string][2]string{}, json: map[string][2]string{}}
	s, err := d.a.read(a)
	if err != nil {
		return err
	}
	t, err := d.b.read(b)
	if err != nil {
		return err
	}
	note := func(what, textA, textB string, jsonOf func(t layout.Tensor) []byte) {
		if textA != textB {
			x.pairs[what] = [2]string{textA, textB}
			x.json[what] = [2]string{string(jsonOf(s)), string(jsonOf(t))}
		}
	}
	note("dtype", s.DType().String(), t.DType().String(), func(t layout.Tensor) []byte { return appendString(nil, t.DType().String()) })
	note("shape", shapeText(s.Shape(), nil), shapeText(t.Shape(), nil), func(t layout.Tensor) []byte { return appendShape(nil, t.Shape()) })
	if len(x.pairs) == 0 {
		if x.values, err = compare.Tensors(d.cmd.Context(), s, t, d.progress.add); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		x.size, _ = layout.CheckedProduct(s.Shape(), 1)
		if x.values.Differing > 0 {
			x.ends = [2]string{elementText(s, x.values.At), elementText(t, x.values.At)}
		}
	}
	if !d.valuesOnly {
		if len(s.Shape()) == len(t.Shape()) && !layout.SameDimNames(s, t) {
			note("dims", shapeText(s.Shape(), s.DimNames()), shapeText(t.Shape(), t.DimNames()), func(t layout.Tensor) []byte { return appendStrings(nil, t.DimNames()) })
		}
		note("layout", s.Layout().String(), t.Layout().String(), func(t layout.Tensor) []byte { return appendString(nil, t.Layout().String()) })
		if attrsA, attrsB := sortedAttrs(a), sortedAttrs(b); !slices.Equal(attrsA, attrsB) {
			onlyA, onlyB := onlyIn(attrsA, attrsB), onlyIn(attrsB, attrsA)
			x.pairs["attrs"] = [2]string{attrsText(onlyA), attrsText(onlyB)}
			x.json["attrs"] = [2]string{string(appendAttrs(nil, onlyA)), string(appendAttrs(nil, onlyB))}
		}
	}
	if len(x.pairs) > 0 || x.values != nil && x.values.Differing > 0 {
		d.found(x)
	}
	return nil
}

func sortedAttrs(s *selection) []layout.Attr {
	return slices.SortedFunc(slices.Values(s.entry.Attrs), func(a, b layout.Attr) int {
		return strings.Compare(a.Key+"\x00"+a.Value, b.Key+"\x00"+b.Value)
	})
}

// onlyIn returns the attributes in a that b has not.
func onlyIn(a, b []layout.Attr) []layout.Attr {
	return slices.DeleteFunc(slices.Clone(a), func(x layout.Attr) bool { return slices.Contains(b, x) })
}

func attrsText(attrs []layout.Attr) string {
	if len(attrs) == 0 {
		return "none"
	}
	texts := make([]string, len(attrs))
	for i, a := range attrs {
		texts[i] = fmt.Sprintf("%s=%q", printable(a.Key), a.Value)
	}
	return strings.Join(texts, " ")
}

// elementText writes one element of a tensor.
func elementText(t layout.Tensor, at []int64) string {
	x := make(index, len(at))
	for i, n := range at {
		x[i] = indexItem{kind: itemAt, at: n}
	}
	e, err := x.of(t)
	if err != nil {
		return "?"
	}
	d, ok := e.(*layout.Dense)
	if !ok {
		return "?"
	}
	var b strings.Builder
	if err := arraytext.Write(&b, d); err != nil {
		return "?"
	}
	return b.String()
}

// compared are what may differ, in the order in which it is shown.
var compared = []string{"dtype", "shape", "dims", "layout", "attrs"}

func (x *difference) write(out *bufio.Writer, pathA, pathB string) {
	name := printable(x.name)
	switch x.only {
	case "a":
		fmt.Fprintf(out, "%s: only in %s\n", name, printable(pathA))
		return
	case "b":
		fmt.Fprintf(out, "%s: only in %s\n", name, printable(pathB))
		return
	}
	for _, what := range compared {
		if pair, ok := x.pairs[what]; ok {
			fmt.Fprintf(out, "%s: %s: %s, %s\n", name, what, printable(pair[0]), printable(pair[1]))
		}
	}
	v := x.values
	if v == nil || v.Differing == 0 {
		return
	}
	fmt.Fprintf(out, "%s: values: %d of %d differ", name, v.Differing, x.size)
	if v.Numbers {
		fmt.Fprintf(out, ", by at most %s", strconv.FormatFloat(v.Max, 'g', 6, 64))
	}
	if v.NaN > 0 {
		fmt.Fprintf(out, ", %d are NaN in one of both", v.NaN)
	}
	fmt.Fprintf(out, ": at [%s] %s, %s\n", joinNumbers(v.At), printable(x.ends[0]), printable(x.ends[1]))
}

func joinNumbers(at []int64) string {
	texts := make([]string, len(at))
	for i, n := range at {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(texts, ", ")
}

// appendJSON appends the object that diff --json prints. The keys and their order are part of the
// command's interface.
func (x *difference) appendJSON(b []byte) []byte {
	b = appendString(append(b, `{"name":`...), x.name)
	if x.only != "" {
		return append(appendString(append(b, `,"only":`...), x.only), '}')
	}
	for _, what := range compared {
		if pair, ok := x.json[what]; ok {
			b = append(b, fmt.Sprintf(`,"%s":[%s,%s]`, what, pair[0], pair[1])...)
		}
	}
	if v := x.values; v != nil && v.Differing > 0 {
		b = appendInt(b, "differing", v.Differing)
		if v.Numbers {
			b = appendInt(b, "nan", v.NaN)
			b = appendFloat(append(b, `,"max_abs_diff":`...), v.Max)
		}
		b = appendShape(append(b, `,"at":`...), v.At)
	}
	return append(b, '}')
}
