package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func init() {
	children["soak-writer"] = soakWriter
	children["soak-reader"] = soakReader
}

// soakEnv is how long TestSoak runs, as a duration; `make soak` gives 10 minutes.
const soakEnv = "TSTORE_SOAK"

const soakKeys = 200

// soakTensor is a version of what belongs to key: every element follows from key,
// version and place, so that a reader can tell a mixture.
func soakTensor(key string, version uint64) layout.Tensor {
	h := fnv.New64a()
	h.Write([]byte(key))
	n := 2 + int(version*2654435761%5000)
	if version%50 == 0 {
		n = 20_000 // in a segment of its own
	}
	v := make([]uint64, n)
	v[0], v[1] = h.Sum64(), version
	for i := 2; i < n; i++ {
		v[i] = v[0] ^ version*uint64(i)
	}
	return layout.DenseOf(v, int64(n))
}

// soakCheck compares a tensor with the name that it was found under.
func soakCheck(name string, t layout.Tensor) error {
	key := name[strings.LastIndex(name, "/")+1:]
	v, err := layout.Values[uint64](t)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	want, err := layout.Values[uint64](soakTensor(key, v[1]))
	if err != nil {
		return err
	}
	if len(v) != len(want) {
		return fmt.Errorf("%s: %d elements of version %d, want %d", name, len(v), v[1], len(want))
	}
	for i := range v {
		if v[i] != want[i] {
			return fmt.Errorf("%s: element %d of version %d is %x, want %x", name, i, v[1], v[i], want[i])
		}
	}
	return nil
}

// soakWriter changes the store in args[0] for the duration args[1]: two goroutines
// put, overwrite, delete and rename, one compacts, one packs and attaches. It prints
// what it has done.
func soakWriter(args []string) error {
	dir := args[0]
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	s, err := store.Open(dir, &store.Options{SegmentSize: 1 << 20})
	if err != nil {
		return err
	}
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	var puts, others, compactions, attaches int
	work := func(f func() error) {
		wg.Go(func() {
			for time.Now().Before(end) {
				if err := f(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for w := range 2 {
		version := uint64(w)
		work(func() error {
			version += 2
			key := fmt.Sprintf("k%03d", rand.IntN(soakKeys/2)*2+w)
			err := s.Update(func(tx *store.Tx) error {
				name, moved := "a/"+key, "b/"+key
				if _, err := tx.Stat(moved); err == nil {
					name, moved = moved, name
				}
				switch rand.IntN(10) {
				case 0:
					if err := tx.Delete(name); !errors.Is(err, store.ErrNotFound) {
						return err
					}
				case 1:
					if err := tx.Rename(name, moved); !errors.Is(err, store.ErrNotFound) {
						return err
					}
				default:
					return tx.Put(name, soakTensor(key, version))
				}
				return nil
			})
			if w == 0 {
				puts++
			} else {
				others++
			}
			return err
		})
	}
	work(func() error {
		time.Sleep(200 * time.Millisecond)
		_, err := s.Compact(context.Background(), &store.CompactOptions{MinDead: 0.3})
		compactions++
		return err
	})
	work(func() error {
		time.Sleep(700 * time.Millisecond)
		path := filepath.Join(filepath.Dir(dir), "soak.tstore")
		if _, err := s.Pack(context.Background(), path, &store.PackOptions{Prefixes: []string{"a/"}}); err != nil {
			return err
		}
		_, err := s.Attach(context.Background(), path, &store.AttachOptions{Prefix: "p/", Clash: store.ClashReplaces})
		attaches++
		return err
	})
	wg.Wait()
	close(errs)
	for err := range errs {
		return err
	}
	report, err := s.Verify(context.Background(), nil)
	if err != nil || len(report.Problems) > 0 {
		return fmt.Errorf("verify at the end: %v %v", err, report.Problems)
	}
	if err := s.Close(); err != nil {
		return err
	}
	fmt.Printf("writes %d compactions %d attaches %d\n", puts+others, compactions, attaches)
	return nil
}

// soakReader follows the store in args[0] until its standard input ends: by turns
// it opens it anew and refreshes one that stays open. It checks every value that it
// sees against its name, and prints how many, and its memory and open files early
// on and at the end.
func soakReader(args []string) error {
	stop := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadByte()
		close(stop)
	}()
	follower, err := store.Open(args[0], &store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	checked, rounds := 0, 0
	look := func(s *store.Store) error {
		return s.View(func(tx *store.Tx) error {
			for e, err := range tx.List("") {
				if err != nil {
					return err
				}
				t, err := tx.Get(e.Name)
				if err != nil {
					return err
				}
				if err := soakCheck(e.Name, t); err != nil {
					return err
				}
				checked++
			}
			return nil
		})
	}
	var early usage
	for done := false; !done; rounds++ {
		select {
		case <-stop:
			done = true
		default:
		}
		if rounds == 20 {
			early = usageNow()
		}
		if rounds%4 == 0 {
			s, err := store.Open(args[0], &store.Options{ReadOnly: true})
			if err != nil {
				return err
			}
			if err := errors.Join(look(s), s.Close()); err != nil {
				return err
			}
			continue
		}
		if err := follower.Refresh(); err != nil {
			return err
		}
		if err := look(follower); err != nil {
			return err
		}
	}
	late := usageNow()
	if err := follower.Close(); err != nil {
		return err
	}
	fmt.Printf("checked %d rounds %d heap %d %d files %d %d\n", checked, rounds, early.heap, late.heap, early.files, late.files)
	return nil
}

// usage is what a process holds.
type usage struct {
	heap  uint64 // bytes, after a collection
	files int    // open ones; -1 where that can't be told
}

func usageNow() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{heap: m.HeapAlloc, files: -1}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	return u
}

// One process changes a store in every way, four others read it all the time. No
// reader ever sees a wrong value, waits or fails, and none grows.
func TestSoak(t *testing.T) {
	d := 3 * time.Second
	if s := os.Getenv(soakEnv); s != "" {
		var err error
		if d, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "s")
	s := openStore(t, dir, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	type result struct {
		out string
		err error
	}
	results := make(chan result, 4)
	var stops []func() error
	for range 4 {
		cmd := child(t, "soak-reader", dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, in.Close)
		var out strings.Builder
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			err := cmd.Wait()
			results <- result{out.String(), err}
		}()
	}
	written, err := child(t, "soak-writer", dir, d.String()).Output()
	if err != nil {
		t.Errorf("the writer failed: %v %s", err, written)
	}
	t.Logf("writer: %s", strings.TrimSpace(string(written)))
	for _, stop := range stops {
		stop()
	}
	total := 0
	for range stops {
		r := <-results
		if r.err != nil {
			t.Errorf("a reader failed: %v %s", r.err, r.out)
			continue
		}
		f := strings.Fields(r.out)
		n := func(i int) int {
			v, err := strconv.Atoi(f[i])
			if err != nil {
				t.Fatalf("a reader printed %q", r.out)
			}
			return v
		}
		total += n(1)
		t.Logf("reader: %s", strings.TrimSpace(r.out))
		if rounds := n(3); rounds > 20 {
			if n(6) > 2*n(5)+(16<<20) {
				t.Errorf("a reader's memory grew from %d to %d bytes", n(5), n(6))
			}
			if n(9) > n(8)+40 {
				t.Errorf("a reader's open files grew from %d to %d", n(8), n(9))
			}
		}
	}
	if total == 0 {
		t.Error("the readers have checked nothing")
	}
}
