package store_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// TestReadAgainAndAgain reads names so often that their tensors are kept, between changes of what
// is stored under them.
func TestReadAgainAndAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	st, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	check := func(when string) {
		t.Helper()
		for range 100 {
			err := st.View(func(tx *store.Tx) error {
				for name, value := range want {
					x, err := tx.Get(name)
					if err != nil {
						return err
					}
					v, err := layout.Values[int64](x)
					if err != nil || len(v) != 1 || v[0] != value {
						return fmt.Errorf("%s: %v, %v, want [%d]", name, v, err, value)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
		}
	}
	for round := range int64(5) {
		for i := range int64(4) {
			name, value := fmt.Sprint("x", i), 10*round+i
			if err := st.Put(name, layout.DenseOf([]int64{value}, 1)); err != nil {
				t.Fatal(err)
			}
			want[name] = value
		}
		check("put")
		if err := st.Delete("x0"); err != nil {
			t.Fatal(err)
		}
		delete(want, "x0")
		if err := st.Rename("x1", "x0"); err != nil {
			t.Fatal(err)
		}
		want["x0"] = want["x1"]
		delete(want, "x1")
		check("renamed")
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if st, err = store.Open(dir, nil); err != nil {
			t.Fatal(err)
		}
		check("opened again")
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadingAgainDoesNotAllocate(t *testing.T) {
	st, err := store.Open(filepath.Join(t.TempDir(), "s"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Put("x", layout.DenseOf([]float32{1, 2}, 2)); err != nil {
		t.Fatal(err)
	}
	err = st.View(func(tx *store.Tx) error {
		get := func() {
			if _, err := tx.Get("x"); err != nil {
				t.Error(err)
			}
		}
		for range 10_000 { // it would not be kept by then with a chance of e to the -156
			get()
		}
		if n := testing.AllocsPerRun(100, get); n > 0 {
			t.Errorf("%.1f allocations", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
