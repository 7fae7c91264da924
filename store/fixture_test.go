package store_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// reader is what a Store, a Tx and a Snapshot have in common.
type reader interface {
	Get(name string) (layout.Tensor, error)
	Stat(name string) (*store.Entry, error)
	List(prefix string) iter.Seq2[*store.Entry, error]
}

// stored is a tensor as it was put.
type stored struct {
	tensor layout.Tensor
	attrs  []layout.Attr
}

// contents is what a store should hold, by name.
type contents map[string]stored

// open opens a store that is closed, if the test has not done so, when the test
// ends.
func open(t testing.TB, dir string, opts *store.Options) *store.Store {
	t.Helper()
	st, err := store.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("closing the store at the end of the test: %v", err)
		}
	})
	return st
}

func closeStore(t testing.TB, st *store.Store) {
	t.Helper()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// compare says in which way r does not hold exactly what want says.
func compare(r reader, want contents) error {
	var names []string
	for e, err := range r.List("") {
		if err != nil {
			return fmt.Errorf("listing: %w", err)
		}
		names = append(names, e.Name)
		w, ok := want[e.Name]
		if !ok {
			return fmt.Errorf("%q is there and should not be", e.Name)
		}
		if err := compareEntry(e, w); err != nil {
			return fmt.Errorf("listed as %q: %w", e.Name, err)
		}
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(want)), names, cmpopts.EquateEmpty()); d != "" {
		return fmt.Errorf("names (-want +got):\n%s", d)
	}
	for name, w := range want {
		e, err := r.Stat(name)
		if err != nil {
			return err
		}
		if err := compareEntry(e, w); err != nil {
			return fmt.Errorf("stat of %q: %w", name, err)
		}
		got, err := r.Get(name)
		if err != nil {
			return err
		}
		if err := compareTensor(got, w.tensor); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	return nil
}

func compareEntry(e *store.Entry, want stored) error {
	w := want.tensor
	got := fmt.Sprintf("%v %v %v nnz %d, %d bytes, names %q", e.DType, e.Layout, e.Shape, e.NNZ, e.Bytes, e.DimNames)
	should := fmt.Sprintf("%v %v %v nnz %d, %d bytes, names %q", w.DType(), w.Layout(), w.Shape(), w.NNZ(), w.NNZ()*int64(w.DType().Size()), w.DimNames())
	if got != should {
		return fmt.Errorf("entry says %s, it should say %s", got, should)
	}
	if !slices.Equal(want.attrs, e.Attrs) { // cmp alone is slow on long ones
		return fmt.Errorf("attributes (-want +got):\n%s", cmp.Diff(want.attrs, e.Attrs))
	}
	return nil
}

func compareTensor(got, want layout.Tensor) error {
	if !layout.Equal(got, want) {
		return fmt.Errorf("got %v %v of other elements than the %v %v that was put", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	if !layout.SameDimNames(got, want) {
		return fmt.Errorf("got dimension names %q, want %q", got.DimNames(), want.DimNames())
	}
	return nil
}

// stamped is a tensor of n elements that follow from stamp, so that no part of it
// can be taken for a part of one with another stamp.
func stamped(stamp uint64, n int) *layout.Dense {
	values := make([]uint64, n)
	for i := range values {
		values[i] = stampedValue(stamp, i)
	}
	return layout.DenseOf(values, int64(n))
}

func stampedValue(stamp uint64, i int) uint64 {
	x := stamp*0x9E3779B97F4A7C15 + uint64(i)*0xD1B54A32D192ED03 + 1
	x ^= x >> 29
	return x * 0xBF58476D1CE4E5B9
}

// stampOf is the stamp of a tensor that stamped made; it is an error if t is no
// such tensor.
func stampOf(t layout.Tensor, attrs []layout.Attr) (uint64, error) {
	var stamp uint64
	if len(attrs) != 1 || attrs[0].Key != "stamp" {
		return 0, fmt.Errorf("attributes are %q, want a stamp alone", attrs)
	}
	if _, err := fmt.Sscan(attrs[0].Value, &stamp); err != nil {
		return 0, err
	}
	values, err := layout.Values[uint64](t)
	if err != nil {
		return 0, err
	}
	for i, v := range values {
		if v != stampedValue(stamp, i) {
			return 0, fmt.Errorf("element %d of %d is %#x, with stamp %d it should be %#x", i, len(values), v, stamp, stampedValue(stamp, i))
		}
	}
	return stamp, nil
}

// stampAttr is the attribute that says which stamp a tensor was made with.
func stampAttr(stamp uint64) layout.Attr { return layout.Attr{Key: "stamp", Value: fmt.Sprint(stamp)} }

// copyDir copies the directory of a store. A copy of an open store, taken while
// nothing is written, is what a killed process leaves behind.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(quickDir(t), "copy")
	copyInto(t, from, to)
	return to
}

func copyInto(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		return copyFile(path, filepath.Join(to, rel))
	})
	must(t, err)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// removeCatalog deletes the catalog of a store and what belongs to it.
func removeCatalog(t testing.TB, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "catalog.*"))
	must(t, err)
	for _, p := range paths {
		must(t, os.Remove(p))
	}
}

// segmentFiles are the paths of the segments of a store, in order.
func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
	must(t, err)
	slices.Sort(paths)
	return paths
}

// wantError checks that err wraps want and that its text has all of mentions in
// it.
func wantError(t testing.TB, err, want error, mentions ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want one that wraps %q", err, want)
		return
	}
	for _, m := range mentions {
		if !strings.Contains(err.Error(), m) {
			t.Errorf("error %q does not mention %q", err, m)
		}
	}
}

// openFile opens segment n in directory dir for changing it behind the store's
// back.
func openFile(t testing.TB, dir string, n uint64) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%010d.seg", n)), os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}
