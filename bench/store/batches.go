package main

import (
	"os"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// batchSize is how many tensors are put in one Update.
const batchSize = 1000

// batches measures 100,000 tensors of 4 KiB: putting them in batches, reading them by random
// name, and reading all of them through fresh maps.
func batches(b *measure.Bench) error {
	dir := b.Path("batches")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := newAppender(b.Path("plain"))
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
	times, err := measure.TakeTurns(b.Size(100, 5),
		func() (float64, error) { return measure.Seconds(func() error { return plain.append(together) }) },
		func() (float64, error) {
			return measure.Seconds(func() error {
				return st.Update(func(tx *store.Tx) error {
					for _, t := range tensors {
						if err := tx.Put(measure.ItemName(count), t); err != nil {
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
	r := times.Ratio(0, 1)
	b.Table.Add("100,000 of 4 KiB in batches of 1,000, speed : append + fdatasync a batch", r.Median, "×", nil,
		"%.0f tensors/s, %.2f GB/s, plain %.2f; %v", batchSize/times.Median(1), batchSize*smallBytes/times.Median(1)/1e9, batchSize*smallBytes/times.Median(0)/1e9, r)
	if err := lookups(b, st, dir, count); err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	if err := readSegment(b, dir, "log of 4 KiB tensors", nil); err != nil {
		return err
	}
	return b.Remove(dir)
}

// lookups measures Get and View by random name in a store of count small tensors in one log.
func lookups(b *measure.Bench, st *store.Store, dir string, count int) error {
	file, size, err := largestFile(dir)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	walk := measure.NewChase(b.Size(512<<20, 64<<20))
	names := measure.NewRandomNames(count, 5000)
	offsets := measure.NewRandomNames(int(size/smallBytes)-1, len(names.Next()))
	n := len(names.Names)
	view := func(name string) error { return measure.ViewOne(st, name) }
	get := func(name string) error {
		t, err := st.Get(name)
		measure.Kept = t
		return err
	}
	times, err := measure.TakeTurns(b.Size(60, 5),
		func() (float64, error) { return walk.Walk(n), nil },
		func() (float64, error) {
			offsets.Next()
			s, err := measure.ProcessorSeconds(func() error {
				for _, k := range offsets.Numbers {
					if _, err := f.ReadAt(make([]byte, smallBytes), int64(k)*smallBytes); err != nil {
						return err
					}
				}
				return nil
			})
			return s / float64(n), err
		},
		func() (float64, error) { return measure.TimeEach(names.Next(), get) },
		func() (float64, error) { return measure.TimeEach(names.Next(), view) })
	if err != nil {
		return err
	}
	r := times.Ratio(2, 1)
	b.Table.Add("Get of a random name of 100,000, time : pread of 4 KiB", r.Median, "×", nil,
		"%.2f µs, pread %.2f; %.1f allocations; %v", 1e6*times.Median(2), 1e6*times.Median(1), measure.Allocations(names.Next(), get), r)
	r = times.Ratio(3, 0)
	b.Table.Add("View + Get of a random name of 100,000, time : load from DRAM", r.Median, "×", nil,
		"%.2f µs, a load %.3f; %.1f allocations; %v", 1e6*times.Median(3), 1e6*times.Median(0), measure.Allocations(names.Next(), view), r)
	return nil
}
