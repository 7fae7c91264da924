package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tstore/tstore/store"
)

// TestPackingTakesLittleMemory packs a package again, and unpacks it, and looks at how
// much memory that takes: it does not grow with the bytes, and little with the number
// of tensors.
func TestPackingTakesLittleMemory(t *testing.T) {
	const n = 60_000
	ctx := context.Background()
	var b bytes.Buffer
	p, err := store.NewPackageWriter(&b)
	must(t, err)
	x := stamped(1, 150) // 1,200 bytes
	for i := range n {
		must(t, p.Add(fmt.Sprintf("group-%03d/item-%03d", i/1000, i%1000), x))
	}
	_, err = p.Close()
	must(t, err)
	pkg, err := store.OpenPackageAt(bytes.NewReader(b.Bytes()), int64(b.Len()), "p")
	must(t, err)
	defer pkg.Close()
	sn, err := pkg.Snapshot()
	must(t, err)
	defer sn.Close()
	st := open(t, filepath.Join(quickDir(t), "s"), nil)

	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for what, work := range map[string]func(progress func(done, total int64)) error{
		"packing": func(progress func(done, total int64)) error {
			w, err := store.NewPackageWriter(io.Discard)
			if err != nil {
				return err
			}
			defer w.Abort()
			if err := sn.PackTo(ctx, w, &store.PackOptions{Progress: progress}); err != nil {
				return err
			}
			_, err = w.Close()
			return err
		},
		"unpacking": func(progress func(done, total int64)) error {
			_, err := st.Unpack(ctx, sn, &store.UnpackOptions{Progress: progress})
			return err
		},
	} {
		before, most, next := live(), int64(0), int64(0)
		must(t, work(func(done, total int64) {
			if done >= next {
				most, next = max(most, live()), next+total/10
			}
		}))
		// 25 bytes a tensor, and the lots that are under way, all of them if the disk is slow.
		if used, limit := most-before, int64(n*25+(12<<20)+int64(runtime.GOMAXPROCS(0))*(4<<20)); used > limit {
			t.Errorf("%s %d tensors of %d bytes in all takes %d bytes of memory, more than %d", what, n, b.Len(), used, limit)
		}
	}
	got, err := st.Get("group-059/item-999")
	must(t, err)
	must(t, compareTensor(got, x))
}
