package store_test

import (
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func address(t layout.Tensor) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(t.(*layout.Dense).Data())))
}

// TestViewIsNoCopy compares addresses: everyone who looks at a tensor looks at the
// same bytes of the same map.
func TestViewIsNoCopy(t *testing.T) {
	for name, x := range map[string]*layout.Dense{
		"small":       stamped(1, 10),
		"streamed":    stamped(2, 150_000),
		"own segment": stamped(3, 300_000),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			st := open(t, dir, &batchOptions)
			must(t, st.Put("x", x))
			sn, err := st.Snapshot()
			must(t, err)
			defer sn.Close()
			seen, err := sn.Get("x")
			must(t, err)
			first := address(seen)
			if first%64 != 0 {
				t.Errorf("elements start at address %#x, no multiple of 64", first)
			}
			for range 3 {
				must(t, st.View(func(tx *store.Tx) error {
					got, err := tx.Get("x")
					must(t, err)
					if a := address(got); a != first {
						t.Errorf("View shows the tensor at %#x, the snapshot at %#x", a, first)
					}
					return nil
				}))
			}
			got, err := st.Get("x")
			must(t, err)
			if a := address(got); a == first {
				t.Error("Get returns a view of the map")
			} else if a%64 != 0 {
				t.Errorf("Get's copy starts at address %#x, no multiple of 64", a)
			}
			// It is the file that one looks at.
			e, err := st.Stat("x")
			must(t, err)
			f := openFile(t, filepath.Join(dir, "segments"), e.Segment)
			if _, err := f.WriteAt([]byte{^byte(x.Data()[0])}, e.Offset+e.Length-bodyLength(x)); err != nil {
				t.Fatal(err)
			}
			if b := seen.(*layout.Dense).Data()[0]; b != ^x.Data()[0] {
				t.Errorf("first byte is %#x after the file's was changed to %#x", b, ^x.Data()[0])
			}
			if b := got.(*layout.Dense).Data()[0]; b != x.Data()[0] {
				t.Error("the copy has changed with the file")
			}
		})
	}
}

// bodyLength is the length of the body of x's message.
func bodyLength(x *layout.Dense) int64 { return layout.Align64(x.NumBytes()) }

// TestGetIsACopy changes what Get has returned, and what it was made of.
func TestGetIsACopy(t *testing.T) {
	st := open(t, filepath.Join(quickDir(t), "s"), &batchOptions)
	for name, n := range map[string]int{"small": 10, "streamed": 150_000, "own segment": 300_000} {
		must(t, st.Put(name, stamped(1, n)))
		a, err := st.Get(name)
		must(t, err)
		b, err := st.Get(name)
		must(t, err)
		clear(a.(*layout.Dense).Data())
		must(t, compareTensor(b, stamped(1, n)))
		must(t, st.Put(name, stamped(2, n)))
		must(t, st.Delete(name))
		must(t, compareTensor(b, stamped(1, n)))
		defer func() { must(t, compareTensor(b, stamped(1, n))) }() // after Close, too
	}
	closeStore(t, st)
}

// TestViewsSurviveGrowth holds views while the log grows out of its map again and
// again.
func TestViewsSurviveGrowth(t *testing.T) {
	st := open(t, filepath.Join(quickDir(t), "s"), nil)
	x := stamped(1, 1000)
	must(t, st.Put("x", x))
	sn, err := st.Snapshot()
	must(t, err)
	defer sn.Close()
	seen, err := sn.Get("x")
	must(t, err)
	for i := range 6 {
		must(t, st.Put("y", stamped(uint64(i), 2<<20))) // 16 MiB, below the size of an own segment
		must(t, compareTensor(seen, x))
		must(t, st.View(func(tx *store.Tx) error {
			got, err := tx.Get("y")
			must(t, err)
			return compareTensor(got, stamped(uint64(i), 2<<20))
		}))
	}
}

// TestAllocations counts them: the header of the tensor, and in View the
// transaction.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	d, err := patterned(t, layout.Float32, 1, 2, 3, 4).WithDimNames("batch", "row", "column")
	must(t, err)
	must(t, st.Put("train/x", d, layout.Attr{Key: "unit", Value: "m"}))
	must(t, st.Put("large", stamped(1, 200_000)))
	for name, st := range map[string]*store.Store{"writer": st, "reader": open(t, dir, &store.Options{ReadOnly: true})} {
		for _, tensor := range []string{"train/x", "large"} {
			t.Run(name+"/"+tensor, func(t *testing.T) {
				sn, err := st.Snapshot()
				must(t, err)
				defer sn.Close()
				if n := testing.AllocsPerRun(100, func() {
					if _, err := sn.Get(tensor); err != nil {
						t.Fatal(err)
					}
				}); n > 1 {
					t.Errorf("Snapshot.Get makes %v allocations, want 1", n)
				}
				get := func(tx *store.Tx) error { _, err := tx.Get(tensor); return err }
				if n := testing.AllocsPerRun(100, func() {
					if err := st.View(get); err != nil {
						t.Fatal(err)
					}
				}); n > 2 {
					t.Errorf("View with Get makes %v allocations, want 2", n)
				}
				if n := testing.AllocsPerRun(100, func() {
					if _, err := st.Stat(tensor); err != nil {
						t.Fatal(err)
					}
				}); n > 0 {
					t.Errorf("Stat makes %v allocations, want none", n)
				}
				if n := testing.AllocsPerRun(100, func() {
					if _, err := st.Get(tensor); err != nil {
						t.Fatal(err)
					}
				}); n > 2 {
					t.Errorf("Store.Get makes %v allocations, want 2: the copy and the header", n)
				}
			})
		}
	}
}
