package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/store"
)

// many measures a package of two million small tensors: packing a store into it, opening it, finding
// tensors by name. What opens it is a process of its own, which has no caches, heap or maps yet.
func many(b *measure.Bench) error {
	count := b.Size(2_000_000, 20_000)
	dir, file, plain := b.Path("many"), b.Path("many.tstore"), b.Path("copy")
	payload, err := fillStore(dir, count)
	if err != nil {
		return err
	}
	st, err := store.Open(dir, &store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer st.Close()
	// The copy needs a package, so there is one more than is measured.
	if _, err := st.Pack(context.Background(), file, nil); err != nil {
		return err
	}
	var processor []float64
	times, err := measure.TakeTurns(b.Size(5, 2),
		func() (float64, error) {
			if err := b.Remove(file); err != nil {
				return 0, err
			}
			before := measure.ProcessorTime()
			s, err := measure.Seconds(func() error {
				_, err := st.Pack(context.Background(), file, nil)
				return err
			})
			processor = append(processor, (measure.ProcessorTime() - before).Seconds())
			return s, err
		},
		func() (float64, error) {
			return measure.Seconds(func() error { return packTo(st, io.Discard) })
		},
		func() (float64, error) {
			s, err := measure.Seconds(func() error { return measure.CopyFile(file, plain, true) })
			return s, errors.Join(err, b.Remove(plain))
		})
	if err != nil {
		return err
	}
	size, err := sizeOf(file)
	if err != nil {
		return err
	}
	n := float64(count)
	b.Table.Add("packing 2,000,000 tensors of 256 bytes to 4 KiB", n/times.Median(0), "tensors/s", measure.AtLeast(300_000),
		"%.2f s, fastest %.2f; %.2f GB, %.2f GB/s; %.1f µs of processor each", times.Median(0), measure.Quantile(times[0], 0), float64(size)/1e9, float64(size)/times.Median(0)/1e9, 1e6*measure.Quantile(processor, 0.5)/n)
	b.Table.Add("the same into a writer that drops it", n/times.Median(1), "tensors/s", nil, "%.2f s, fastest %.2f", times.Median(1), measure.Quantile(times[1], 0))
	r := times.Ratio(2, 0)
	b.Table.Add("packing them, speed : cp + fsync", r.Median, "×", nil, "cp %.2f s; %v", times.Median(2), r)
	b.Table.Add("size of that package : payload", float64(size)/float64(payload), "×", nil, "%.0f bytes a tensor, payload %.0f", float64(size)/n, float64(payload)/n)
	if err := st.Close(); err != nil {
		return err
	}
	if err := b.Remove(dir); err != nil {
		return err
	}
	if err := opening(b, file); err != nil {
		return err
	}
	if err := finding(b, file, count); err != nil {
		return err
	}
	return b.Remove(file)
}

// packTo packs the store into w.
func packTo(st *store.Store, w io.Writer) error {
	sn, err := st.Snapshot()
	if err != nil {
		return err
	}
	defer sn.Close()
	p, err := store.NewPackageWriter(w)
	if err != nil {
		return err
	}
	defer p.Abort()
	if err := sn.PackTo(context.Background(), p, nil); err != nil {
		return err
	}
	_, err = p.Close()
	return err
}

// opened is what a process found that opened a package and looked up a million names in it.
type opened struct {
	Seconds        float64 // of opening
	Before, Opened int64   // anonymous memory of the process
	Memory         measure.MemoryUse
}

func opening(b *measure.Bench, file string) error {
	var seconds []float64
	var o opened
	for range b.Size(11, 2) {
		if err := b.InChild(&o, "open", file); err != nil {
			return err
		}
		seconds = append(seconds, o.Seconds)
	}
	b.Table.Add("opening it", 1e3*measure.Quantile(seconds, 0.5), "ms", measure.AtMost(5), "in a new process; slowest of %d: %.2f ms", len(seconds), 1e3*measure.Quantile(seconds, 1))
	b.Table.Add("memory of a process that has it open", float64(o.Memory.Anonymous)/(1<<20), "MiB", measure.AtMost(10),
		"after a million lookups; %.1f MiB before opening, %.1f after", float64(o.Before)/(1<<20), float64(o.Opened)/(1<<20))
	return nil
}

func finding(b *measure.Bench, file string, count int) error {
	var l measure.LookupTimes
	if err := b.InChild(&l, "lookup", file, strconv.Itoa(count), strconv.Itoa(b.Size(512<<20, 64<<20)), strconv.Itoa(b.Size(100, 10))); err != nil {
		return err
	}
	t := l.Times
	r := t.Ratio(measure.GetRandom, measure.Load)
	b.Table.Add("Get of a random name of 2,000,000, time : load from DRAM", r.Median, "×", measure.AtMost(4),
		"%.2f µs, a load %.3f; %.1f allocations; %v", 1e6*t.Median(measure.GetRandom), 1e6*t.Median(measure.Load), l.GetAllocations, r)
	r = t.Ratio(measure.ViewRandom, measure.Load)
	b.Table.Add("the same, each in a View of its own", r.Median, "×", nil, "%.2f µs; %.1f allocations; %v", 1e6*t.Median(measure.ViewRandom), l.ViewAllocations, r)
	b.Table.Add("Get of one name again and again", 1e6*t.Median(measure.GetOneName), "µs", measure.AtMost(0.15), "each in a View of its own %.3f µs", 1e6*t.Median(measure.ViewOneName))
	b.Table.Add("listing the 100 names of a prefix", 1e6*t.Median(measure.ListHundred), "µs", measure.AtMost(100), "a random prefix each time")
	return nil
}

// child does what args ask for with a package and writes what it has found to standard output.
func child(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("child %q needs a package", args)
	}
	before := measure.AnonymousMemory()
	start := time.Now()
	st, err := store.OpenPackage(args[1])
	if err != nil {
		return err
	}
	defer st.Close()
	o := opened{Seconds: time.Since(start).Seconds(), Before: before, Opened: measure.AnonymousMemory()}
	var result any
	switch args[0] {
	case "open":
		o.Memory, err = measure.UseMemory(st)
		result = o
	case "lookup":
		var n [3]int
		if len(args) != 2+len(n) {
			return fmt.Errorf("child %q needs %d numbers", args, len(n))
		}
		for i := range n {
			if n[i], err = strconv.Atoi(args[2+i]); err != nil {
				return err
			}
		}
		result, err = measure.LookupTurns(st, n[0], n[1], n[2])
	default:
		err = fmt.Errorf("no such child: %q", args[0])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}
