package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/edsrzf/mmap-go"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// imported is what a process says that has imported a file.
type imported struct {
	Seconds float64 // until the tensors are durable, in a store that is open
	Whole   float64 // with making the store before and closing it after
	Memory  int64   // that no file backs, at its most beyond what the process began with
	Tensors int
}

// child imports a file, in a process of its own: "safetensors FILE STORE" or "npz FILE STORE".
func child(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("child %q needs a format, a file and a store", args)
	}
	begin := measure.AnonymousMemory()
	most := make(chan int64)
	stop := make(chan struct{})
	go func() {
		top := begin
		for {
			select {
			case <-stop:
				most <- max(top, measure.AnonymousMemory())
				return
			case <-time.After(10 * time.Millisecond):
				top = max(top, measure.AnonymousMemory())
			}
		}
	}()
	var result imported
	var err error
	result.Whole, err = measure.Seconds(func() error {
		st, err := store.Open(args[2], nil)
		if err != nil {
			return err
		}
		result.Seconds, err = measure.Seconds(func() (err error) {
			result.Tensors, err = importFile(st, args[0], args[1])
			return err
		})
		return errors.Join(err, st.Close())
	})
	if err != nil {
		return err
	}
	close(stop)
	result.Memory = <-most - begin
	return json.NewEncoder(os.Stdout).Encode(result)
}

// importFile puts the tensors of a file into a store, as one batch, and returns how many there
// were. When it returns they are durable.
func importFile(st *store.Store, format, file string) (count int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer m.Unmap()
	err = st.Update(func(tx *store.Tx) error {
		put := func(name string, d *layout.Dense, err error) error {
			if err != nil {
				return err
			}
			count++
			return tx.Put(name, d)
		}
		if format == "safetensors" {
			parsed, err := safetensors.Parse(m)
			if err != nil {
				return err
			}
			for _, e := range parsed.Entries {
				d, err := e.View()
				if err := put(e.Name, d, err); err != nil {
					return err
				}
			}
			return nil
		}
		archive, err := npz.Open(m, &npz.Options{Load: spill})
		if err != nil {
			return err
		}
		for _, member := range archive.Members {
			d, err := member.View()
			if err := put(member.Name, d, err); err != nil {
				return err
			}
		}
		return nil
	})
	return count, err
}

// spill reads a compressed member into a temporary file and returns a map of that.
func spill(_ int64, r io.Reader) ([]byte, error) {
	f, err := os.CreateTemp("", "tstore-bench-*")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	if _, err := io.Copy(f, r); err != nil {
		return nil, err
	}
	return mmap.Map(f, mmap.RDONLY, 0)
}

// compare imports a file into new stores, in turns with copies of it, and adds what that takes to
// the table. speedAim and memoryAim may be nil.
func compare(b *measure.Bench, what, format, file string, speedAim, memoryAim *measure.Aim) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	copied, dir := b.Path("copy"), b.Path("store")
	var most int64
	var tensors int
	var whole []float64
	times, err := measure.TakeTurns(b.Size(7, 2),
		func() (float64, error) {
			s, err := measure.Seconds(func() error { return measure.CopyFile(file, copied, false) })
			return s, errors.Join(err, b.Remove(copied))
		},
		func() (float64, error) {
			s, err := measure.Seconds(func() error { return measure.CopyFile(file, copied, true) })
			return s, errors.Join(err, b.Remove(copied))
		},
		func() (float64, error) {
			var result imported
			err := b.InChild(&result, format, file, dir)
			most, tensors, whole = max(most, result.Memory), result.Tensors, append(whole, result.Whole)
			return result.Seconds, errors.Join(err, b.Remove(dir))
		})
	if err != nil {
		return err
	}
	if tensors == 0 {
		return fmt.Errorf("%s: no tensors were imported", what)
	}
	bytes := float64(info.Size()) / 1e9
	r := times.Ratio(1, 2)
	b.Table.Add("import of "+what+", speed : cp + fsync", r.Median, "×", speedAim,
		"%d tensors, %.2f GB/s, cp + fsync %.2f; %v", tensors, bytes/times.Median(2), bytes/times.Median(1), r)
	b.Table.Add("with making and closing the store", times.Median(1)/measure.Quantile(whole, 0.5), "×", nil, "%.2f GB/s; ratio of the medians", bytes/measure.Quantile(whole, 0.5))
	r = times.Ratio(0, 2)
	b.Table.Add("the same : cp, which leaves it in memory", r.Median, "×", nil, "cp %.2f GB/s; %v", bytes/times.Median(0), r)
	if most > 0 {
		b.Table.Add("memory beside the page cache for it", float64(most)/(1<<20), "MiB", memoryAim, "the most of all rounds")
	}
	return nil
}
