package store_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// allFiles lists the files below dir, to see what is left behind.
func allFiles(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files[path] = info.Size()
		}
		return err
	}))
	return files
}

// TestCanceled cancels what may take long in the middle: it ends with the error of the
// context, changes nothing and leaves nothing behind.
func TestCanceled(t *testing.T) {
	dir := quickDir(t)
	from := open(t, filepath.Join(dir, "from"), nil)
	large, err := layout.NewDense(layout.Uint8, []int64{20 << 20}, make([]byte, 20<<20))
	must(t, err)
	must(t, from.Put("large", large))
	must(t, from.Update(func(tx *store.Tx) error {
		for i := range 20 {
			if err := tx.Put(string(rune('a'+i)), stamped(uint64(i), 20_000)); err != nil {
				return err
			}
		}
		return nil
	}))
	path := filepath.Join(dir, "p.tstore")
	_, err = from.Pack(context.Background(), path, nil)
	must(t, err)
	pkg := open(t, path, &store.Options{ReadOnly: true})
	sn, err := pkg.Snapshot()
	must(t, err)
	defer sn.Close()
	st := open(t, filepath.Join(dir, "to"), nil)
	must(t, st.Put("x", scalar))

	type progress = func(done, total int64)
	works := map[string]func(ctx context.Context, p progress) error{
		"packing": func(ctx context.Context, p progress) error {
			_, err := from.Pack(ctx, filepath.Join(dir, "q.tstore"), &store.PackOptions{Progress: p})
			return err
		},
		"packing a large tensor": func(ctx context.Context, p progress) error {
			_, err := from.Pack(ctx, filepath.Join(dir, "q.tstore"), &store.PackOptions{Progress: p, Prefixes: []string{"large"}})
			return err
		},
		"packing into a writer": func(ctx context.Context, p progress) error {
			w, err := store.NewPackageWriter(io.Discard)
			if err != nil {
				return err
			}
			defer w.Abort()
			if err := sn.PackTo(ctx, w, &store.PackOptions{Progress: p}); err != nil {
				if _, cerr := w.Close(); !errors.Is(cerr, context.Canceled) {
					t.Errorf("the package of which a part is missing is closed with %v", cerr)
				}
				return err
			}
			_, err = w.Close()
			return err
		},
		"attaching": func(ctx context.Context, p progress) error {
			_, err := st.Attach(ctx, path, &store.AttachOptions{Progress: p})
			return err
		},
		"unpacking": func(ctx context.Context, p progress) error {
			_, err := st.Unpack(ctx, sn, &store.UnpackOptions{Progress: p})
			return err
		},
	}
	before := allFiles(t, dir)
	for what, work := range works {
		t.Run(what, func(t *testing.T) {
			early, cancel := context.WithCancel(context.Background())
			cancel()
			if err := work(early, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("with a context that has ended: %v", err)
			}
			// After each step that it tells of.
			for stop := 1; ; stop++ {
				ctx, cancel := context.WithCancel(context.Background())
				calls, after := 0, 0
				var last, all int64
				err := work(ctx, func(done, total int64) {
					if calls++; calls == stop {
						cancel()
					} else if calls > stop {
						after++
					}
					if done < last || done > total || (all > 0 && total != all) {
						t.Errorf("progress of %d of %d after %d of %d", done, total, last, all)
					}
					last, all = done, total
				})
				if calls < stop { // it was told of all steps
					if err != nil || last != all || calls < 4 {
						t.Errorf("not canceled: %v, after %d steps to %d of %d", err, calls, last, all)
					}
					cancel()
					break
				}
				// Canceled behind the last step it may come too late.
				if err == nil && last == all {
					cancel()
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("canceled in step %d: %v", stop, err)
				}
				if after > 8 {
					t.Errorf("canceled in step %d, %d more followed", stop, after)
				}
				after2 := allFiles(t, dir)
				for path := range after2 {
					if _, ok := before[path]; !ok {
						t.Errorf("canceled in step %d: %s is left behind", stop, path)
					}
				}
				must(t, compare(st, contents{"x": {tensor: scalar}}))
				cancel()
			}
			os.Remove(filepath.Join(dir, "q.tstore"))
			if what == "attaching" || what == "unpacking" { // which was done in the end
				if n := len(names(t, st)); n != 22 {
					t.Errorf("%d names, want 22", n)
				}
				must(t, st.Update(func(tx *store.Tx) error {
					for _, name := range names(t, pkg) {
						if err := tx.Delete(name); err != nil {
							return err
						}
					}
					return nil
				}))
				_, err := st.Compact(context.Background(), nil)
				must(t, err)
				before = allFiles(t, dir)
			}
		})
	}
}

// TestUnpack compares unpacking, of parts and under other names, with the package.
func TestUnpack(t *testing.T) {
	dir := quickDir(t)
	path := filepath.Join(dir, "p.tstore")
	packOf(t, path, map[string]int64{"a/x": 1, "a/y": 2, "b": 3})
	pkg := open(t, path, &store.Options{ReadOnly: true})
	sn, err := pkg.Snapshot()
	must(t, err)
	one := func(n int64) stored { return stored{tensor: layout.DenseOf([]int64{n}, 1)} }
	for _, test := range []struct {
		what    string
		options *store.UnpackOptions
		n       int
		err     error
		want    contents
	}{
		{what: "all", n: 3, err: store.ErrExists, want: contents{"b": one(9)}},
		{what: "a part", options: &store.UnpackOptions{Prefixes: []string{"a/"}}, n: 2, want: contents{"a/x": one(1), "a/y": one(2), "b": one(9)}},
		{what: "parts", options: &store.UnpackOptions{Prefixes: []string{"b", "a/y"}, Clash: store.ClashReplaces}, n: 2, want: contents{"a/y": one(2), "b": one(3)}},
		{what: "under a prefix", options: &store.UnpackOptions{Prefix: "p/"}, n: 3, want: contents{"p/a/x": one(1), "p/a/y": one(2), "p/b": one(3), "b": one(9)}},
		{what: "what is missing", options: &store.UnpackOptions{Clash: store.ClashKeeps}, n: 2, want: contents{"a/x": one(1), "a/y": one(2), "b": one(9)}},
		{what: "nothing", options: &store.UnpackOptions{Prefixes: []string{"c"}}, want: contents{"b": one(9)}},
		{what: "a name that can't be", options: &store.UnpackOptions{Prefix: "\x01"}, err: store.ErrName, want: contents{"b": one(9)}},
	} {
		t.Run(test.what, func(t *testing.T) {
			into := filepath.Join(quickDir(t), "s")
			st := open(t, into, nil)
			must(t, st.Put("b", layout.DenseOf([]int64{9}, 1)))
			n, err := st.Unpack(context.Background(), sn, test.options)
			if !errors.Is(err, test.err) || (err == nil && n != test.n) {
				t.Errorf("unpacked %d, %v; want %d, %v", n, err, test.n, test.err)
			}
			must(t, compare(st, test.want))
			if files := segmentFiles(t, into); (err != nil || n == 0) && len(files) != 1 {
				t.Errorf("nothing was unpacked, and there are %v", files)
			}
			closeStore(t, st)
			must(t, os.Remove(filepath.Join(into, "catalog.db")))
			must(t, compare(open(t, into, nil), test.want))
		})
	}
	must(t, sn.Close())
	st := open(t, filepath.Join(dir, "s"), nil)
	must(t, st.Put("x", scalar))
	if _, err := st.Unpack(context.Background(), sn, nil); !errors.Is(err, store.ErrTxDone) {
		t.Errorf("unpacking a snapshot that was closed: %v", err)
	}
	closeStore(t, pkg)
	reader := open(t, filepath.Join(dir, "s"), &store.Options{ReadOnly: true})
	sn, err = reader.Snapshot()
	must(t, err)
	defer sn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	n, err := open(t, filepath.Join(dir, "other"), nil).Unpack(ctx, sn, &store.UnpackOptions{Committing: cancel})
	if n != len(names(t, reader)) || err != nil {
		t.Errorf("canceled while it is being committed: %d, %v", n, err)
	}
	if _, err := reader.Unpack(context.Background(), sn, nil); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("unpacking into a store that is open for reading: %v", err)
	}
}

// TestPutSorted puts tensors one after the other, as one batch or not at all.
func TestPutSorted(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	must(t, st.Put("b", scalar))
	add := func(names ...string) func(p *store.PackageWriter) error {
		return func(p *store.PackageWriter) error {
			for i, name := range names {
				if err := p.Add(name, stamped(uint64(i), 10), layout.Attr{Key: "unit", Value: name}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	put := func(name string, i int) stored {
		return stored{stamped(uint64(i), 10), []layout.Attr{{Key: "unit", Value: name}}}
	}
	want := contents{"b": {tensor: scalar}}
	if _, err := st.PutSorted(ctx, nil, add("a", "b")); !errors.Is(err, store.ErrExists) {
		t.Errorf("a name that is there: %v", err)
	}
	if _, err := st.PutSorted(ctx, nil, add("d", "c")); err == nil {
		t.Error("names in the wrong order are put")
	}
	given := errors.New("given up")
	if _, err := st.PutSorted(ctx, nil, func(p *store.PackageWriter) error { return errors.Join(add("e")(p), given) }); !errors.Is(err, given) {
		t.Errorf("the error of fill is %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	if _, err := st.PutSorted(canceled, nil, func(p *store.PackageWriter) error { cancel(); return add("e")(p) }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	must(t, compare(st, want))
	if files := segmentFiles(t, dir); len(files) != 1 {
		t.Errorf("nothing was put, and there are %v", files)
	}
	if n, err := st.PutSorted(ctx, nil, add("a", "c")); n != 2 || err != nil {
		t.Errorf("put %d, %v", n, err)
	}
	want["a"], want["c"] = put("a", 0), put("c", 1)
	must(t, compare(st, want))
	committing := 0
	n, err := st.PutSorted(ctx, &store.SortedOptions{Clash: store.ClashReplaces, Committing: func() { committing++ }}, add("b", "c"))
	if n != 2 || err != nil || committing != 1 {
		t.Errorf("put %d, %v, told %d times", n, err, committing)
	}
	want["b"], want["c"] = put("b", 0), put("c", 1)
	must(t, compare(st, want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want))
}
