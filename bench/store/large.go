package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// large measures one tensor of 1 GiB: writing it, and reading it through fresh maps.
func large(b *measure.Bench) error {
	n := b.Size(1<<30, 96<<20)
	data := make([]byte, n)
	measure.Fill(data, 1)
	t, err := layout.NewDense(layout.Float32, []int64{int64(n / 4)}, data)
	if err != nil {
		return err
	}
	plain, dir := b.Path("plain"), b.Path("large")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	times, err := measure.TakeTurns(b.Size(9, 3),
		func() (float64, error) {
			s, err := measure.Seconds(func() error { return measure.WriteFile(plain, data) })
			if err != nil {
				return 0, err
			}
			return s, b.Remove(plain)
		},
		func() (float64, error) {
			// Into a new store each time, as a new file is written by the other one.
			if err := st.Close(); err != nil {
				return 0, err
			}
			if err := b.Remove(dir); err != nil {
				return 0, err
			}
			if st, err = store.Open(dir, nil); err != nil {
				return 0, err
			}
			return measure.Seconds(func() error { return st.Put("large", t) })
		})
	if err != nil {
		return err
	}
	r := times.Ratio(0, 1)
	b.Table.Add("put of 1 GiB, speed : write + fsync", r.Median, "×", measure.AtLeast(0.9),
		"%.2f GB/s, plain %.2f; %v", float64(n)/times.Median(1)/1e9, float64(n)/times.Median(0)/1e9, r)
	if err := st.Close(); err != nil {
		return err
	}
	if err := readSegment(b, dir, "1 GiB tensor", measure.AtLeast(0.5)); err != nil {
		return err
	}
	return b.Remove(dir)
}

// readSegment measures the first and the second read of fresh maps of the largest segment of the
// store in dir.
func readSegment(b *measure.Bench, dir, what string, aim *measure.Aim) error {
	file, _, err := largestFile(dir)
	if err != nil {
		return err
	}
	open := func() (*store.Store, error) { return store.Open(dir, nil) }
	return measure.ReadMaps(b, open, file, what, aim)
}

// largestFile is the largest segment of the store in dir.
func largestFile(dir string) (string, int64, error) {
	names, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
	if err != nil || len(names) == 0 {
		return "", 0, fmt.Errorf("no segments in %s", dir)
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	name := slices.MaxFunc(names, func(a, b string) int { return int(size(a) - size(b)) })
	return name, size(name), nil
}
