package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
)

// TestManyGoroutines has some goroutines write, in every way, and others read, in
// every way, all on the same names, while logs are rotated, sealed and compacted. The
// race detector watches; what is read must be whole: pairs are always replaced
// together.
func TestManyGoroutines(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	opts := store.WithSealing(tiny, 20, 100)
	st := open(t, dir, opts)
	const pairs = 4
	var stamp atomic.Uint64
	replace := func(pair int) error {
		s := stamp.Add(1)
		return st.Update(func(tx *store.Tx) error {
			for _, half := range []string{"left", "right"} {
				name := fmt.Sprintf("%d/%s", pair, half)
				if err := tx.Put(name, stamped(s, int(s%7)*100), stampAttr(s)); err != nil {
					return err
				}
				x, err := tx.Get(name)
				if err != nil {
					return err
				}
				if err := compareTensor(x, stamped(s, int(s%7)*100)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for pair := range pairs {
		must(t, replace(pair))
	}
	whole := func(r reader, pair int) error {
		var stamps []uint64
		for e, err := range r.List(fmt.Sprintf("%d/", pair)) {
			if err != nil {
				return err
			}
			x, err := r.Get(e.Name)
			if err != nil {
				return err
			}
			s, err := stampOf(x, e.Attrs)
			if err != nil {
				return fmt.Errorf("%q: %w", e.Name, err)
			}
			stamps = append(stamps, s)
		}
		if len(stamps) != 2 || stamps[0] != stamps[1] {
			return fmt.Errorf("pair %d has stamps %d", pair, stamps)
		}
		return nil
	}
	follower := open(t, dir, &store.Options{ReadOnly: true})

	var done atomic.Bool
	var all sync.WaitGroup
	var counts [9]atomic.Int64
	run := func(i int, do func(n int) error) {
		all.Go(func() {
			for n := i; !done.Load(); n++ {
				if err := do(n); err != nil {
					t.Errorf("goroutine %d: %v", i, err)
					done.Store(true)
				}
				counts[i].Add(1)
			}
		})
	}
	run(0, func(n int) error { return replace(n % pairs) })
	run(1, func(n int) error { return replace(n % pairs) })
	run(2, func(n int) error { // names of its own: put, rename, delete
		s := stamp.Add(1)
		return errors.Join(
			st.Put("z/a", stamped(s, 4500), stampAttr(s)), // a segment of its own
			st.Rename("z/a", "z/b"),
			st.Delete("z/b"))
	})
	run(3, func(n int) error { return st.View(func(tx *store.Tx) error { return whole(tx, n%pairs) }) })
	run(4, func(n int) error {
		sn, err := st.Snapshot()
		if err != nil {
			return err
		}
		defer sn.Close()
		err = whole(sn, n%pairs)
		time.Sleep(time.Millisecond)
		return errors.Join(err, whole(sn, (n+1)%pairs))
	})
	run(5, func(n int) error { // may see one before and one after a batch, each whole
		for _, half := range []string{"left", "right"} {
			x, err := st.Get(fmt.Sprintf("%d/%s", n%pairs, half))
			if err != nil {
				return err
			}
			if x.NNZ() > 600 {
				return fmt.Errorf("%d elements", x.NNZ())
			}
		}
		_, err := st.Stat(fmt.Sprintf("%d/left", n%pairs))
		return err
	})
	run(6, func(n int) error {
		if err := follower.Refresh(); err != nil {
			return err
		}
		return follower.View(func(tx *store.Tx) error { return whole(tx, n%pairs) })
	})
	run(7, func(n int) error { return follower.View(func(tx *store.Tx) error { return whole(tx, n%pairs) }) })
	run(8, func(n int) error {
		time.Sleep(20 * time.Millisecond)
		if _, err := st.Compact(context.Background(), nil); err != nil {
			return err
		}
		return st.Sync()
	})
	time.Sleep(1500 * time.Millisecond)
	done.Store(true)
	all.Wait()
	for i := range counts {
		if counts[i].Load() < 1 {
			t.Errorf("goroutine %d never came round", i)
		}
	}
	closeStore(t, follower)
	closeStore(t, st)
	st = open(t, dir, opts)
	for pair := range pairs {
		must(t, whole(st, pair))
	}
}

// TestConcurrentPuts has goroutines put tensors of their own, and compares all of it.
func TestConcurrentPuts(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &tiny)
	want := contents{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 40 {
				name := fmt.Sprintf("%d/%d", g, i%15)
				x := stamped(uint64(g*1000+i), (g*7+i*13)%40*150)
				if err := st.Put(name, x); err != nil {
					t.Error(err)
					return
				}
				got, err := st.Get(name) // one's own write is seen at once
				if err == nil {
					err = compareTensor(got, x)
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				want[name] = stored{tensor: x}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	must(t, compare(st, want))
	must(t, compare(open(t, copyDir(t, dir), nil), want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want))
}
