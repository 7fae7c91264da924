package measure

import (
	"fmt"
	"os"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/vec"
)

// ReadMaps measures the first and the second read of fresh maps of a store or package, whose dense
// tensors are nearly all of the file of that name, against reading the file by pread, all through
// the kernel that counts nonzeros. The file is in the page cache.
func ReadMaps(b *Bench, open func() (*store.Store, error), file, what string, firstAim *Aim) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	buf := make([]byte, 1<<20)
	count := 0
	use := func(b []byte) { count += vec.CountNonZero(b, vec.Float32) }
	var huge, read int64
	var first, second []float64
	pread := func() (float64, error) {
		s, err := ProcessorSeconds(func() error { return ReadPieces(f, 0, size, buf, use) })
		return float64(size) / s, err
	}
	fresh := func() (float64, error) {
		st, err := open()
		if err != nil {
			return 0, err
		}
		defer st.Close()
		pass := func() (float64, error) {
			read = 0
			s, err := ProcessorSeconds(func() error {
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
		huge = HugeMapped(file)
		return one, st.Close()
	}
	rates, err := TakeTurns(b.Size(21, 3), pread, fresh)
	if err != nil {
		return err
	}
	if count == 0 {
		return fmt.Errorf("%s holds nothing but zeros", file)
	}
	rates[1] = first
	rates = append(rates, second)
	r := rates.Ratio(1, 2)
	b.Table.Add(what+", first read of a map : second", r.Median, "×", firstAim,
		"first %.1f GB/s, second %.1f; %.0f %% in huge pages; %v", rates.Median(1)/1e9, rates.Median(2)/1e9, 100*float64(huge)/float64(size), r)
	r = rates.Ratio(1, 0)
	b.Table.Add(what+", first read of a map : pread", r.Median, "×", nil, "pread of 1 MiB pieces %.1f GB/s; %v", rates.Median(0)/1e9, r)
	return nil
}
