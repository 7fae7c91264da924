package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/store"
)

// sizes measures how much larger a package is than what is in it.
func sizes(b *measure.Bench) error {
	for _, c := range []struct {
		name  string
		bytes int
		count int
		aim   float64
	}{
		{"package of tensors of 1 MiB, size : payload", 1 << 20, b.Size(128, 16), 1.001},
		{"package of tensors of 4 KiB, size : payload", 4 << 10, b.Size(20_000, 2_000), 1.15},
	} {
		t, err := tensorOf(randomBytes(c.bytes))
		if err != nil {
			return err
		}
		file := b.Path("size.tstore")
		p, err := store.CreatePackage(file)
		if err != nil {
			return err
		}
		defer p.Abort()
		for i := range c.count {
			if err := p.Add(measure.ItemName(i), t); err != nil {
				return err
			}
		}
		if _, err := p.Close(); err != nil {
			return err
		}
		size, err := sizeOf(file)
		if err != nil {
			return err
		}
		payload := int64(c.bytes) * int64(c.count)
		b.Table.Add(c.name, float64(size)/float64(payload), "×", measure.AtMost(c.aim), "%.0f bytes more a tensor", float64(size-payload)/float64(c.count))
		if err := b.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// largeBytes is the payload of a large tensor.
const largeBytes = 64 << 20

// large measures a package of large tensors: packing a store into it, against copying the package,
// and reading it through fresh maps.
func large(b *measure.Bench) error {
	size := *gibibytes
	if b.Quick {
		size = 0.25
	}
	count := max(1, int(size*(1<<30)/largeBytes))
	dir, file, plain := b.Path("large"), b.Path("large.tstore"), b.Path("copy")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	data := randomBytes(largeBytes)
	for i := range count {
		data[0] = byte(i)
		t, err := tensorOf(data)
		if err != nil {
			return err
		}
		if err := st.Put(measure.ItemName(i), t); err != nil {
			return err
		}
	}
	data = nil
	if _, err := st.Pack(context.Background(), file, nil); err != nil {
		return err
	}
	rounds := b.Size(5, 2)
	if size > 4 {
		rounds = 2 // which are long enough to be equal
	}
	var processor []float64
	times, err := measure.TakeTurns(rounds,
		func() (float64, error) {
			s, err := measure.Seconds(func() error { return measure.CopyFile(file, plain, true) })
			return s, errors.Join(err, b.Remove(plain))
		},
		func() (float64, error) {
			other := b.Path("other.tstore")
			before := measure.ProcessorTime()
			s, err := measure.Seconds(func() error {
				_, err := st.Pack(context.Background(), other, nil)
				return err
			})
			processor = append(processor, (measure.ProcessorTime() - before).Seconds())
			return s, errors.Join(err, b.Remove(other))
		})
	if err != nil {
		return err
	}
	bytes := float64(count) * largeBytes
	r := times.Ratio(0, 1)
	b.Table.Add(fmt.Sprintf("packing %.3g GiB of tensors of 64 MiB, speed : cp + fsync", bytes/(1<<30)), r.Median, "×", measure.AtLeast(0.8),
		"%.2f GB/s, cp %.2f; %.2f s of processor a GB; %v", bytes/times.Median(1)/1e9, bytes/times.Median(0)/1e9, 1e9*measure.Quantile(processor, 0.5)/bytes, r)
	if err := st.Close(); err != nil {
		return err
	}
	if err := b.Remove(dir); err != nil {
		return err
	}
	open := func() (*store.Store, error) { return store.OpenPackage(file) }
	if err := measure.ReadMaps(b, open, file, "that package", measure.AtLeast(0.6)); err != nil {
		return err
	}
	return os.Remove(file)
}
