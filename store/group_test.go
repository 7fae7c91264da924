package store_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Batches that wait for a sync together may still be in memory; an Update among them reads them
// all the same, and a store that is opened again has them.
func TestUpdateReadsBatchesThatAreNotSynced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	st, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 40
	name := func(g, i int) string { return fmt.Sprintf("%d/%03d", g, i) }
	value := func(g, i int) int64 { return int64(g*each + i + 1) }
	check := func(got layout.Tensor, want int64) error {
		v, err := layout.Values[int64](got)
		if err != nil {
			return err
		}
		if len(v) != 1 || v[0] != want {
			return fmt.Errorf("read %v, want [%d]", v, want)
		}
		return nil
	}
	var wg sync.WaitGroup
	for g := range writers {
		wg.Go(func() {
			for i := range each {
				if err := st.Put(name(g, i), layout.DenseOf([]int64{value(g, i)}, 1)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	seen := 0
	for seen < writers*each && !t.Failed() {
		err := st.Update(func(tx *store.Tx) error {
			seen = 0
			for g := range writers {
				for i := range each {
					if _, err := tx.Stat(name(g, i)); err != nil {
						break
					}
					x, err := tx.Get(name(g, i))
					if err != nil {
						return err
					}
					if err := check(x, value(g, i)); err != nil {
						return fmt.Errorf("%s: %w", name(g, i), err)
					}
					seen++
				}
			}
			return tx.Put("seen", layout.DenseOf([]int64{int64(seen)}, 1))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if st, err = store.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for g := range writers {
		for i := range each {
			x, err := st.Get(name(g, i))
			if err != nil {
				t.Fatal(err)
			}
			if err := check(x, value(g, i)); err != nil {
				t.Errorf("%s: %v", name(g, i), err)
			}
		}
	}
}
