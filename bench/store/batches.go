package main

import (
	"fmt"
	"os"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// batchSize is how many tensors are put in one Update.
const batchSize = 1000

// batches measures 100,000 tensors of 4 KiB: putting them in batches, reading them by random
// name, and reading all of them through fresh maps.
func (b *bench) batches() error {
	dir := b.path("batches")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := newAppender(b.path("plain"))
	if err != nil {
		return err
	}
	defer plain.remove()
	tensors := make([]*layout.Dense, batchSize)
	var together []byte
	for i := range tensors {
		tensors[i] = smallTensor(uint64(i))
		together = append(together, tensors[i].Data()...)
	}
	count := 0
	times, err := takeTurns(b.size(100, 5),
		func() (float64, error) { return seconds(func() error { return plain.append(together) }) },
		func() (float64, error) {
			return seconds(func() error {
				return st.Update(func(tx *store.Tx) error {
					for _, t := range tensors {
						if err := tx.Put(itemName(count), t); err != nil {
							return err
						}
						count++
					}
					return nil
				})
			})
		})
	if err != nil {
		return err
	}
	r := times.ratio(0, 1)
	b.table.add("100,000 of 4 KiB in batches of 1,000, speed : append + fdatasync a batch", r.median, "×", nil,
		"%.0f tensors/s, %.2f GB/s, plain %.2f; %v", batchSize/times.median(1), batchSize*smallBytes/times.median(1)/1e9, batchSize*smallBytes/times.median(0)/1e9, r)
	if err := b.lookups(st, dir, count); err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	if err := b.readMaps(dir, "log of 4 KiB tensors", nil); err != nil {
		return err
	}
	return b.remove(dir)
}

// itemName is the name of tensor i of a store with many: a hundred share a prefix.
func itemName(i int) string { return fmt.Sprintf("%s%02d", itemPrefix(i/100), i%100) }

// itemPrefix is the prefix of the hundred names of group g.
func itemPrefix(g int) string { return fmt.Sprintf("group-%06d/item-", g) }

// lookups measures Get and View by random name in a store of count small tensors in one log.
func (b *bench) lookups(st *store.Store, dir string, count int) error {
	file, size, err := largestFile(dir)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	walk := newChase(b.size(512<<20, 64<<20))
	names := newRandomNames(count, 5000)
	offsets := newRandomNames(int(size/smallBytes)-1, len(names.next()))
	n := len(names.names)
	view := func(name string) error { return viewOne(st, name) }
	get := func(name string) error {
		t, err := st.Get(name)
		kept = t
		return err
	}
	times, err := takeTurns(b.size(60, 5),
		func() (float64, error) { return walk.walk(n), nil },
		func() (float64, error) {
			offsets.next()
			s, err := processorSeconds(func() error {
				for _, k := range offsets.numbers {
					if _, err := f.ReadAt(make([]byte, smallBytes), int64(k)*smallBytes); err != nil {
						return err
					}
				}
				return nil
			})
			return s / float64(n), err
		},
		func() (float64, error) { return timeEach(names.next(), get) },
		func() (float64, error) { return timeEach(names.next(), view) })
	if err != nil {
		return err
	}
	r := times.ratio(2, 1)
	b.table.add("Get of a random name of 100,000, time : pread of 4 KiB", r.median, "×", nil,
		"%.2f µs, pread %.2f; %.1f allocations; %v", 1e6*times.median(2), 1e6*times.median(1), allocations(names.next(), get), r)
	r = times.ratio(3, 0)
	b.table.add("View + Get of a random name of 100,000, time : load from DRAM", r.median, "×", nil,
		"%.2f µs, a load %.3f; %.1f allocations; %v", 1e6*times.median(3), 1e6*times.median(0), allocations(names.next(), view), r)
	return nil
}
