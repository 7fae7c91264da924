package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Tensors of the batch tests: small ones, one that is streamed and one that gets
// a segment of its own.
var (
	one   = stamped(1, 10)
	two   = stamped(2, 20)
	three = stamped(3, 30)
	large = stamped(4, 150_000)
	own   = stamped(5, 300_000)

	batchOptions = store.Options{SegmentSize: 4 << 20}
)

// TestBatches commits one batch on a store with a = one, b = two, own = own and
// compares what comes of it, everywhere.
func TestBatches(t *testing.T) {
	type tensors map[string]layout.Tensor
	cases := []struct {
		name string
		do   func(tx *store.Tx) error
		want tensors // what changes; nil is gone
	}{
		{"nothing", func(tx *store.Tx) error { return nil }, nil},
		{"put", func(tx *store.Tx) error { return tx.Put("c", three) }, tensors{"c": three}},
		{"overwrite", func(tx *store.Tx) error { return tx.Put("a", three) }, tensors{"a": three}},
		{"overwrite with the same", func(tx *store.Tx) error { return tx.Put("a", one) }, nil},
		{"put twice", func(tx *store.Tx) error { return errors.Join(tx.Put("c", one), tx.Put("c", three)) }, tensors{"c": three}},
		{"put of every size", func(tx *store.Tx) error {
			return errors.Join(tx.Put("l1", large), tx.Put("o1", own), tx.Put("s1", one), tx.Put("o2", own), tx.Put("l2", large))
		}, tensors{"l1": large, "o1": own, "s1": one, "o2": own, "l2": large}},
		{"delete", func(tx *store.Tx) error { return tx.Delete("a") }, tensors{"a": nil}},
		{"delete of one with a segment of its own", func(tx *store.Tx) error { return tx.Delete("own") }, tensors{"own": nil}},
		{"put and delete", func(tx *store.Tx) error { return errors.Join(tx.Put("c", three), tx.Delete("c")) }, nil},
		{"put and delete, own segment", func(tx *store.Tx) error { return errors.Join(tx.Put("c", own), tx.Delete("c")) }, nil},
		{"put, own segment, and overwrite", func(tx *store.Tx) error { return errors.Join(tx.Put("c", own), tx.Put("c", one)) }, tensors{"c": one}},
		{"delete and put", func(tx *store.Tx) error { return errors.Join(tx.Delete("a"), tx.Put("a", three)) }, tensors{"a": three}},
		{"rename", func(tx *store.Tx) error { return tx.Rename("a", "c") }, tensors{"a": nil, "c": one}},
		{"rename of one with a segment of its own", func(tx *store.Tx) error { return tx.Rename("own", "c") }, tensors{"own": nil, "c": own}},
		{"rename to itself", func(tx *store.Tx) error { return tx.Rename("a", "a") }, nil},
		{"rename there and back", func(tx *store.Tx) error { return errors.Join(tx.Rename("a", "c"), tx.Rename("c", "a")) }, nil},
		{"rename on and on", func(tx *store.Tx) error {
			return errors.Join(tx.Rename("a", "c"), tx.Rename("c", "d"), tx.Rename("d", "e"))
		}, tensors{"a": nil, "e": one}},
		{"swap", func(tx *store.Tx) error {
			return errors.Join(tx.Rename("a", "c"), tx.Rename("b", "a"), tx.Rename("c", "b"))
		}, tensors{"a": two, "b": one}},
		{"rename in a ring", func(tx *store.Tx) error {
			return errors.Join(tx.Rename("a", "x"), tx.Rename("b", "a"), tx.Rename("own", "b"), tx.Rename("x", "own"))
		}, tensors{"a": two, "b": own, "own": one}},
		{"rename and put", func(tx *store.Tx) error { return errors.Join(tx.Rename("a", "c"), tx.Put("a", three)) }, tensors{"a": three, "c": one}},
		{"put and rename", func(tx *store.Tx) error { return errors.Join(tx.Put("c", three), tx.Rename("c", "d")) }, tensors{"d": three}},
		{"put, own segment, and rename", func(tx *store.Tx) error { return errors.Join(tx.Put("c", own), tx.Rename("c", "d")) }, tensors{"d": own}},
		{"put, rename, put again", func(tx *store.Tx) error {
			return errors.Join(tx.Put("c", three), tx.Rename("c", "d"), tx.Put("c", one))
		}, tensors{"c": one, "d": three}},
		{"put, rename, overwrite", func(tx *store.Tx) error {
			return errors.Join(tx.Put("c", three), tx.Rename("c", "d"), tx.Put("d", one))
		}, tensors{"d": one}},
		{"overwrite and rename", func(tx *store.Tx) error { return errors.Join(tx.Put("a", three), tx.Rename("a", "c")) }, tensors{"a": nil, "c": three}},
		{"delete and rename to it", func(tx *store.Tx) error { return errors.Join(tx.Delete("b"), tx.Rename("a", "b")) }, tensors{"a": nil, "b": one}},
		{"rename and delete", func(tx *store.Tx) error { return errors.Join(tx.Rename("a", "c"), tx.Delete("c")) }, tensors{"a": nil}},
		{"rename onto what was renamed away and put", func(tx *store.Tx) error {
			return errors.Join(tx.Rename("a", "c"), tx.Put("a", three), tx.Delete("a"), tx.Rename("c", "a"))
		}, nil},
		{"error that fn ignores", func(tx *store.Tx) error { tx.Delete("none"); tx.Put("", one); return tx.Put("c", one) }, tensors{"c": one}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			st := open(t, dir, &batchOptions)
			want := contents{"a": {tensor: one}, "b": {tensor: two}, "own": {tensor: own}}
			for name, w := range want {
				must(t, st.Put(name, w.tensor))
			}
			must(t, st.Update(c.do))
			for name, x := range c.want {
				delete(want, name)
				if x != nil {
					want[name] = stored{tensor: x}
				}
			}
			must(t, compare(st, want))
			crashed := copyDir(t, dir)
			must(t, compare(open(t, crashed, &store.Options{ReadOnly: true}), want))
			must(t, compare(open(t, crashed, &batchOptions), want))
			closeStore(t, st)
			must(t, compare(open(t, copyDir(t, dir), &batchOptions), want))
			removeCatalog(t, dir)
			must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
			must(t, compare(open(t, dir, &batchOptions), want))
		})
	}
}

// TestRenameKeepsAttributes does so within the batch of the put, later, and after
// the store was opened again.
func TestRenameKeepsAttributes(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	attrs := []layout.Attr{{Key: "unit", Value: "m"}, {Key: "by", Value: "x"}}
	must(t, st.Update(func(tx *store.Tx) error { return errors.Join(tx.Put("a", one, attrs...), tx.Rename("a", "b")) }))
	before, err := st.Stat("b")
	must(t, err)
	want := contents{"b": {one, attrs}}
	for _, to := range []string{"c", "d"} {
		must(t, compare(st, want))
		from := map[string]string{"c": "b", "d": "c"}[to]
		must(t, st.Rename(from, to))
		want = contents{to: {one, attrs}}
		must(t, compare(st, want))
		closeStore(t, st)
		removeCatalog(t, dir)
		st = open(t, dir, nil)
	}
	after, err := st.Stat("d")
	must(t, err)
	if before.Offset != after.Offset || before.CRC != after.CRC || after.Seq <= before.Seq {
		t.Errorf("renaming made %+v of %+v, want the same record with a later sequence number", after, before)
	}
}

// TestOwnWrites looks at a batch from inside.
func TestOwnWrites(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &batchOptions)
	want := contents{"a": {tensor: one}, "b": {tensor: two}}
	for name, w := range want {
		must(t, st.Put(name, w.tensor))
	}
	outside := contents{"a": {tensor: one}, "b": {tensor: two}}
	must(t, st.Update(func(tx *store.Tx) error {
		check := func() {
			t.Helper()
			must(t, compare(tx, want))
			must(t, compare(st, outside)) // nobody else sees it
		}
		check()
		must(t, tx.Put("c", large))
		want["c"] = stored{tensor: large}
		check()
		must(t, tx.Put("d", own))
		want["d"] = stored{tensor: own}
		check()
		if got, err := tx.Get("d"); err != nil || got != layout.Tensor(own) {
			t.Errorf("Get of what the batch has put: %v, %v, want the tensor as it was given", got, err)
		}
		must(t, tx.Rename("d", "e"))
		want["e"] = want["d"]
		delete(want, "d")
		check()
		must(t, tx.Delete("a"))
		delete(want, "a")
		check()
		must(t, tx.Put("b", three, layout.Attr{Key: "k", Value: "v"}))
		want["b"] = stored{three, []layout.Attr{{Key: "k", Value: "v"}}}
		check()
		must(t, tx.Rename("b", "a"))
		want["a"] = want["b"]
		delete(want, "b")
		check()
		return nil
	}))
	must(t, compare(st, want))
}

// TestListInUpdate changes a store while it lists it.
func TestListInUpdate(t *testing.T) {
	st := open(t, filepath.Join(quickDir(t), "s"), nil)
	for i := range 500 {
		must(t, st.Put(fmt.Sprintf("n%03d", i), scalar))
	}
	var got []string
	must(t, st.Update(func(tx *store.Tx) error {
		for e, err := range tx.List("n") {
			must(t, err)
			got = append(got, e.Name)
			must(t, tx.Rename(e.Name, "p"+e.Name))
			must(t, tx.Put("n"+e.Name, scalar))
			must(t, tx.Delete("n"+e.Name))
		}
		return nil
	}))
	var want, renamed, after []string
	for i := range 500 {
		want = append(want, fmt.Sprintf("n%03d", i))
		renamed = append(renamed, fmt.Sprintf("pn%03d", i))
	}
	for e, err := range st.List("") {
		must(t, err)
		after = append(after, e.Name)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("listed (-want +got):\n%s", d)
	}
	if d := cmp.Diff(renamed, after); d != "" {
		t.Errorf("after it (-want +got):\n%s", d)
	}
}

// TestFailedUpdate returns errors from fn and panics in it, after every kind of
// change.
func TestFailedUpdate(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &batchOptions)
	want := contents{"a": {tensor: one}, "b": {tensor: two}}
	for name, w := range want {
		must(t, st.Put(name, w.tensor))
	}
	change := func(tx *store.Tx) {
		must(t, errors.Join(tx.Put("c", large), tx.Put("d", own), tx.Rename("d", "e"), tx.Put("f", own), tx.Delete("f"), tx.Delete("a"), tx.Rename("b", "a")))
	}
	sn, err := st.Snapshot()
	must(t, err)
	seq := sn.Seq()
	must(t, sn.Close())
	boom := errors.New("boom")
	for range 3 {
		if err := st.Update(func(tx *store.Tx) error { change(tx); return boom }); err != boom {
			t.Errorf("Update returns %v, want the very error of its function", err)
		}
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("recovered %v, want what the function panics with", p)
				}
			}()
			st.Update(func(tx *store.Tx) error { change(tx); panic("boom") })
		}()
		must(t, compare(st, want))
	}
	if files := segmentFiles(t, dir); len(files) != 1 {
		t.Errorf("failed batches have left segments: %q", files)
	}
	sn, err = st.Snapshot()
	must(t, err)
	if sn.Seq() != seq {
		t.Errorf("failed batches moved the sequence number from %d to %d", seq, sn.Seq())
	}
	must(t, sn.Close())
	must(t, st.Put("z", three)) // and the store goes on
	want["z"] = stored{tensor: three}
	must(t, compare(open(t, copyDir(t, dir), nil), want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want))
}

// TestEmptyBatches writes nothing.
func TestEmptyBatches(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	must(t, st.Put("a", one))
	before, err := os.ReadFile(segmentFiles(t, dir)[0])
	must(t, err)
	for range 10 {
		must(t, st.Update(func(tx *store.Tx) error { return nil }))
		must(t, st.Update(func(tx *store.Tx) error { _, err := tx.Get("a"); return err }))
		must(t, st.Rename("a", "a"))
		must(t, st.Sync())
	}
	after, err := os.ReadFile(segmentFiles(t, dir)[0])
	must(t, err)
	if string(before) != string(after) {
		t.Error("batches without operations have changed the log")
	}
	// Nor does opening and closing, again and again.
	closeStore(t, st)
	before, err = os.ReadFile(segmentFiles(t, dir)[0])
	must(t, err)
	for range 3 {
		closeStore(t, open(t, dir, nil))
	}
	after, err = os.ReadFile(segmentFiles(t, dir)[0])
	must(t, err)
	if string(before) != string(after) {
		t.Error("opening and closing has changed the log")
	}
}

// TestList lists by prefix, in order.
func TestList(t *testing.T) {
	st := open(t, filepath.Join(quickDir(t), "s"), nil)
	names := []string{"", "a", "a/", "a/b", "a/b/c", "a0", "ab", "b", "train/x", "train/y", "ä", "\U0001F600"}
	must(t, st.Update(func(tx *store.Tx) error {
		for i := len(names) - 1; i > 0; i-- {
			must(t, tx.Put(names[i], scalar))
		}
		return nil
	}))
	for prefix, want := range map[string][]string{
		"":         names[1:],
		"a":        {"a", "a/", "a/b", "a/b/c", "a0", "ab"},
		"a/":       {"a/", "a/b", "a/b/c"},
		"a/b/c":    {"a/b/c"},
		"a/b/c/d":  nil,
		"train/":   {"train/x", "train/y"},
		"z":        nil,
		"\xc3":     {"ä"}, // a prefix need not be UTF-8
		"\xff\xff": nil,
	} {
		var got []string
		for e, err := range st.List(prefix) {
			must(t, err)
			got = append(got, e.Name)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("List(%q) (-want +got):\n%s", prefix, d)
		}
	}
	n := 0
	for range st.List("") { // and stops when asked to
		if n++; n == 3 {
			break
		}
	}
	closeStore(t, st)
}
