package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/vec"
)

// large measures one tensor of 1 GiB: writing it, and reading it through fresh maps.
func (b *bench) large() error {
	n := b.size(1<<30, 96<<20)
	data := make([]byte, n)
	fill(data, 1)
	t, err := layout.NewDense(layout.Float32, []int64{int64(n / 4)}, data)
	if err != nil {
		return err
	}
	plain, dir := b.path("plain"), b.path("large")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	times, err := takeTurns(b.size(9, 3),
		func() (float64, error) {
			s, err := seconds(func() error { return writeFile(plain, data) })
			if err != nil {
				return 0, err
			}
			return s, b.remove(plain)
		},
		func() (float64, error) {
			// Into a new store each time, as a new file is written by the other one.
			if err := st.Close(); err != nil {
				return 0, err
			}
			if err := b.remove(dir); err != nil {
				return 0, err
			}
			if st, err = store.Open(dir, nil); err != nil {
				return 0, err
			}
			return seconds(func() error { return st.Put("large", t) })
		})
	if err != nil {
		return err
	}
	r := times.ratio(0, 1)
	b.table.add("put of 1 GiB, speed : write + fsync", r.median, "×", atLeast(0.9),
		"%.2f GB/s, plain %.2f; %v", float64(n)/times.median(1)/1e9, float64(n)/times.median(0)/1e9, r)
	if err := st.Close(); err != nil {
		return err
	}
	if err := b.readMaps(dir, "1 GiB tensor", atLeast(0.5)); err != nil {
		return err
	}
	return b.remove(dir)
}

// remove removes a file or directory and waits until the disk is done with it: a freed extent is
// discarded when the journal commits, which would otherwise fall into the next measurement.
func (b *bench) remove(name string) error {
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	d, err := os.Open(b.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// readMaps measures the first and the second read of fresh maps of the largest segment of the
// store in dir against reading its file by pread, all through the kernel that counts nonzeros.
// The file is in the page cache.
func (b *bench) readMaps(dir, what string, firstAim *aim) error {
	file, size, err := largestFile(dir)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	count := 0
	use := func(b []byte) { count += vec.CountNonZero(b, vec.Float32) }
	var huge, read int64
	var first, second []float64
	pread := func() (float64, error) {
		s, err := processorSeconds(func() error { return readPieces(f, 0, size, buf, use) })
		return float64(size) / s, err
	}
	fresh := func() (float64, error) {
		st, err := store.Open(dir, nil)
		if err != nil {
			return 0, err
		}
		defer st.Close()
		pass := func() (float64, error) {
			read = 0
			s, err := processorSeconds(func() error {
				return st.View(func(tx *store.Tx) error {
					for e, err := range tx.List("") {
						if err != nil {
							return err
						}
						t, err := tx.Get(e.Name)
						if err != nil {
							return err
						}
						bytes, err := t.(*layout.Dense).Bytes()
						if err != nil {
							return err
						}
						use(bytes)
						read += int64(len(bytes))
					}
					return nil
				})
			})
			return float64(read) / s, err
		}
		one, err := pass()
		if err != nil {
			return 0, err
		}
		two, err := pass()
		if err != nil {
			return 0, err
		}
		first, second = append(first, one), append(second, two)
		huge = hugeMapped(dir)
		return one, st.Close()
	}
	rates, err := takeTurns(b.size(21, 3), pread, fresh)
	if err != nil {
		return err
	}
	if count == 0 {
		return fmt.Errorf("%s holds nothing but zeros", file)
	}
	rates[1] = first
	rates = append(rates, second)
	r := rates.ratio(1, 2)
	b.table.add(what+", first read of a map : second", r.median, "×", firstAim,
		"first %.1f GB/s, second %.1f; %.0f %% in huge pages; %v", rates.median(1)/1e9, rates.median(2)/1e9, 100*float64(huge)/float64(size), r)
	r = rates.ratio(1, 0)
	b.table.add(what+", first read of a map : pread", r.median, "×", nil, "pread of 1 MiB pieces %.1f GB/s; %v", rates.median(0)/1e9, r)
	return nil
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
