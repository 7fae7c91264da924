package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// names measures a store with a million names. What it does with the store it does in processes
// of their own: one that has filled a store has caches, a heap and maps that one which has just
// opened it lacks, and only another process can be killed.

// tinyBytes is the payload of the tensors that a million names stand for.
const tinyBytes = 256

// names runs the measurements with a million names.
func names(b *measure.Bench) error {
	count := b.Size(1_000_000, 20_000)
	dir, small := b.Path("names"), b.Path("few")
	defer os.RemoveAll(dir)
	defer os.RemoveAll(small)
	var filled struct{ Seconds float64 }
	if err := b.InChild(&filled, "fill", dir, "0", strconv.Itoa(count), "0"); err != nil {
		return err
	}
	b.Table.Add("1,000,000 names put in batches of 1,000", float64(count)/filled.Seconds, "tensors/s", nil, "of %d bytes each", tinyBytes)

	opened, err := openings(b, dir)
	if err != nil {
		return err
	}
	var used struct{ Memory measure.MemoryUse }
	if err := b.InChild(&used, "memory", dir); err != nil {
		return err
	}
	memory := used.Memory
	clean := measure.Quantile(opened, 0.5)
	b.Table.Add("open with 1,000,000 names after a clean close", 1e3*clean, "ms", measure.AtMost(50), "slowest of %d: %.1f ms", len(opened), 1e3*measure.Quantile(opened, 1))
	b.Table.Add("memory of a process that has it open", float64(memory.Anonymous)/(1<<20), "MiB", measure.AtMost(64),
		"after a million lookups; %.1f MiB of it live in the Go heap", float64(memory.Heap)/(1<<20))
	if err := manySegments(b, count); err != nil {
		return err
	}

	if err := randomLookups(b, dir, count); err != nil {
		return err
	}
	return replays(b, dir, small, count, clean)
}

// openings opens the store in dir in processes of their own.
func openings(b *measure.Bench, dir string) (seconds []float64, err error) {
	for range b.Size(7, 2) {
		var o struct{ Seconds float64 }
		if err := b.InChild(&o, "open", dir); err != nil {
			return nil, err
		}
		seconds = append(seconds, o.Seconds)
	}
	return seconds, nil
}

// manySegments measures opening a store with the same names in a hundred sealed logs.
func manySegments(b *measure.Bench, count int) error {
	dir := b.Path("segments")
	defer os.RemoveAll(dir)
	const entryBytes = 600 // of a record and its part of the commit record, about
	if err := b.InChild(nil, "fill", dir, "0", strconv.Itoa(count), strconv.Itoa(count/100*entryBytes)); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
	if err != nil {
		return err
	}
	opened, err := openings(b, dir)
	if err != nil {
		return err
	}
	b.Table.Add("the same in sealed logs of a hundredth", 1e3*measure.Quantile(opened, 0.5), "ms", measure.AtMost(50),
		"%d segments; slowest of %d: %.1f ms", len(files), len(opened), 1e3*measure.Quantile(opened, 1))
	return b.Remove(dir)
}

// randomLookups measures looking names up and listing them.
func randomLookups(b *measure.Bench, dir string, count int) error {
	var l measure.LookupTimes
	if err := b.InChild(&l, "lookup", dir, strconv.Itoa(count), strconv.Itoa(b.Size(512<<20, 64<<20)), strconv.Itoa(b.Size(100, 10))); err != nil {
		return err
	}
	t := l.Times
	r := t.Ratio(measure.ViewRandom, measure.Load)
	b.Table.Add("View + Get of a random name, time : load from DRAM", r.Median, "×", measure.AtMost(4),
		"%.2f µs, a load %.3f; %v", 1e6*t.Median(measure.ViewRandom), 1e6*t.Median(measure.Load), r)
	r = t.Ratio(measure.GetRandom, measure.Load)
	b.Table.Add("Get of a random name in one View, time : load from DRAM", r.Median, "×", nil,
		"%.2f µs; %v", 1e6*t.Median(measure.GetRandom), r)
	b.Table.Add("View + Get of one name again and again", 1e6*t.Median(measure.ViewOneName), "µs", measure.AtMost(0.3), "")
	b.Table.Add("allocations of Get in a View", math.Round(10*l.GetAllocations)/10, "", measure.AtMost(1), "%.1f with the View", l.ViewAllocations)
	b.Table.Add("listing the 100 names of a prefix", 1e6*t.Median(measure.ListHundred), "µs", measure.AtMost(100), "a random prefix each time")
	return nil
}

// replays measures opening after the writer was killed. What counts is the time beyond that of a
// clean opening, for tails of two lengths, with a million names before them and with none.
func replays(b *measure.Bench, dir, small string, count int, clean float64) error {
	if err := b.InChild(nil, "fill", small, "0", "0", "0"); err != nil {
		return err
	}
	var o struct{ Seconds float64 }
	if err := b.InChild(&o, "open", small); err != nil {
		return err
	}
	cleanSmall := o.Seconds
	next := count
	tail := func(dir string, n int) func() (float64, error) {
		return func() (float64, error) {
			if err := b.InChild(nil, "killed", dir, strconv.Itoa(next), strconv.Itoa(n)); err != nil {
				return 0, err
			}
			next += n
			err := b.InChild(&o, "open", dir)
			return o.Seconds, err
		}
	}
	short, long := b.Size(500, 100), b.Size(5000, 1000)
	t, err := measure.TakeTurns(b.Size(9, 2), tail(small, short), tail(small, long), tail(dir, short), tail(dir, long))
	if err != nil {
		return err
	}
	b.Table.Add("replay of a tail of 5,000 after a crash, beyond a clean open : of 500", (t.Median(3)-clean)/(t.Median(2)-clean), "×", nil,
		"%.1f ms and %.1f ms, clean %.1f ms", 1e3*t.Median(3), 1e3*t.Median(2), 1e3*clean)
	b.Table.Add("the same of 5,000 behind 1,000,000 names : behind few", (t.Median(3)-clean)/(t.Median(1)-cleanSmall), "×", measure.AtMost(2),
		"%.1f ms more than clean behind 1,000,000, %.1f ms behind few", 1e3*(t.Median(3)-clean), 1e3*(t.Median(1)-cleanSmall))
	if err := b.Remove(dir); err != nil {
		return err
	}
	return b.Remove(small)
}

// child does what args ask for.
func child(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("child %q needs a directory", args)
	}
	numbers := make([]int, 3)
	for i, a := range args[2:] {
		n, err := strconv.Atoi(a)
		if err != nil || i >= len(numbers) {
			return fmt.Errorf("argument %q", a)
		}
		numbers[i] = n
	}
	o := &store.Options{}
	if args[0] == "fill" {
		o.SegmentSize = int64(numbers[2])
	}
	start := time.Now()
	st, err := store.Open(args[1], o)
	if err != nil {
		return err
	}
	opened := time.Since(start).Seconds()
	var result any
	switch args[0] {
	case "fill":
		start := time.Now()
		if err = put(st, numbers[0], numbers[1], batchSize); err == nil {
			result = struct{ Seconds float64 }{time.Since(start).Seconds()}
		}
	case "killed":
		if err := put(st, numbers[0], numbers[1], 100); err != nil {
			return err
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Kill()
	case "open":
		result = struct{ Seconds float64 }{opened}
	case "memory":
		var m measure.MemoryUse
		m, err = measure.UseMemory(st)
		result = struct{ Memory measure.MemoryUse }{m}
	case "lookup":
		result, err = measure.LookupTurns(st, numbers[0], numbers[1], numbers[2])
	default:
		return fmt.Errorf("no such child: %q", args[0])
	}
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// put puts n tensors from name number first on, so many a batch.
func put(st *store.Store, first, n, batch int) error {
	data := make([]byte, tinyBytes)
	measure.Fill(data, 7)
	t, err := layout.NewDense(layout.Float32, []int64{tinyBytes / 4}, data)
	if err != nil {
		return err
	}
	for i := 0; i < n; i += batch {
		err := st.Update(func(tx *store.Tx) error {
			for k := i; k < min(i+batch, n); k++ {
				if err := tx.Put(measure.ItemName(first+k), t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
