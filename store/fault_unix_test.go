//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/edsrzf/mmap-go"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// faults reports whether reading b is a memory fault.
func faults(b []byte) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			_, fault = p.(interface{ Addr() uintptr })
		}
	}()
	var sum byte
	for i := 0; i < len(b); i += 4096 {
		sum += b[i]
	}
	return sum == 0 && len(b) == 0 // never true: the sum is there to be computed
}

// TestSlicesKeptTooLong reads through slices of the map after Close, of every map
// that the log has had, and after other memory was mapped.
func TestSlicesKeptTooLong(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		dir := filepath.Join(quickDir(t), "s")
		w := open(t, dir, &batchOptions)
		must(t, w.Put("small", stamped(1, 100)))
		must(t, w.Put("own", stamped(2, 300_000)))
		st := w
		if readOnly {
			st = open(t, dir, &store.Options{ReadOnly: true})
		}
		kept := map[string][]byte{}
		must(t, st.View(func(tx *store.Tx) error {
			for e, err := range tx.List("") {
				must(t, err)
				x, err := tx.Get(e.Name)
				must(t, err)
				kept[e.Name] = x.(*layout.Dense).Data()
			}
			return nil
		}))
		for name, b := range kept {
			if faults(b) {
				t.Errorf("%s can't be read before Close", name)
			}
		}
		must(t, st.Close())
		// What is mapped now must not show through.
		other := filepath.Join(quickDir(t), "other")
		fill(t, other, contents{"x": {tensor: stamped(9, 300_000)}})
		again := open(t, other, nil)
		must(t, compare(again, contents{"x": {tensor: stamped(9, 300_000)}}))
		for name, b := range kept {
			if !faults(b) {
				t.Errorf("%s (read-only %v) can be read after Close", name, readOnly)
			}
		}
	}
}

// TestFileCutWhileOpen cuts the file of a tensor short while it is mapped: Get and
// the decoding of a view notice.
func TestFileCutWhileOpen(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &batchOptions)
	must(t, st.Put("x", stamped(2, 300_000)))
	e, err := st.Stat("x")
	must(t, err)
	path := segmentFiles(t, dir)[1]
	must(t, os.Truncate(path, e.Offset+e.Length-64))
	_, err = st.Get("x")
	wantError(t, err, store.ErrCorrupt, path, `"x"`)
	must(t, os.Truncate(path, 0))
	_, err = st.Get("x")
	wantError(t, err, store.ErrCorrupt, path, `"x"`)
	err = st.View(func(tx *store.Tx) error { _, err := tx.Get("x"); return err })
	wantError(t, err, store.ErrCorrupt, path, `"x"`)
}

// TestLateChecksumOfLostMemory puts a tensor in a map of a file that is cut short
// before its checksum is computed: the batch comes to nothing, and the store goes on.
func TestLateChecksumOfLostMemory(t *testing.T) {
	dir := quickDir(t)
	st := open(t, dir, nil)
	must(t, st.Put("before", stamped(1, 10)))
	path := filepath.Join(quickDir(t), "source")
	must(t, os.WriteFile(path, make([]byte, 200_000*8), 0o666))
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	must(t, err)
	defer m.Unmap()
	lost, err := layout.NewDense(layout.Int64, []int64{200_000}, m)
	must(t, err)
	fails := func(fn func(tx *store.Tx) error) {
		t.Helper()
		err := st.Update(fn)
		if err == nil || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Fatalf("a batch with memory that can't be read: %v", err)
		}
	}
	must(t, st.Put("intact", lost))
	must(t, st.Delete("intact"))
	must(t, os.Truncate(path, 8192))
	fails(func(tx *store.Tx) error {
		must(t, tx.Put("lost", lost))
		return tx.Put("beside", stamped(2, 10))
	})
	fails(func(tx *store.Tx) error {
		must(t, tx.Put("lost", lost))
		_, err := tx.Stat("lost")
		return err
	})
	must(t, st.Put("after", stamped(3, 10)))
	want := contents{"before": {tensor: stamped(1, 10)}, "after": {tensor: stamped(3, 10)}}
	must(t, compare(st, want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want))
}
