package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
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
	if err := b.InChild(&filled, "fill", dir, "0", strconv.Itoa(count)); err != nil {
		return err
	}
	b.Table.Add("1,000,000 names put in batches of 1,000", float64(count)/filled.Seconds, "tensors/s", nil, "of %d bytes each", tinyBytes)

	var opened []float64
	var memory memoryUse
	for range b.Size(7, 2) {
		var o struct {
			Seconds float64
			Memory  memoryUse
		}
		if err := b.InChild(&o, "open", dir); err != nil {
			return err
		}
		opened, memory = append(opened, o.Seconds), o.Memory
	}
	clean := measure.Quantile(opened, 0.5)
	b.Table.Add("open with 1,000,000 names after a clean close", 1e3*clean, "ms", measure.AtMost(50), "slowest of %d: %.1f ms", len(opened), 1e3*measure.Quantile(opened, 1))
	b.Table.Add("memory of a process that has it open", float64(memory.Anonymous)/(1<<20), "MiB", measure.AtMost(64),
		"after a million lookups; %.1f MiB of it live in the Go heap", float64(memory.Heap)/(1<<20))

	if err := randomLookups(b, dir, count); err != nil {
		return err
	}
	return replays(b, dir, small, count, clean)
}

// randomLookups measures looking names up and listing them.
func randomLookups(b *measure.Bench, dir string, count int) error {
	var l lookupTimes
	if err := b.InChild(&l, "lookup", dir, strconv.Itoa(count), strconv.Itoa(b.Size(512<<20, 64<<20)), strconv.Itoa(b.Size(100, 10))); err != nil {
		return err
	}
	const load, random, repeated, list, inside = 0, 1, 2, 3, 4
	t := l.Times
	r := t.Ratio(random, load)
	b.Table.Add("View + Get of a random name, time : load from DRAM", r.Median, "×", measure.AtMost(4),
		"%.2f µs, a load %.3f; %v", 1e6*t.Median(random), 1e6*t.Median(load), r)
	r = t.Ratio(inside, load)
	b.Table.Add("Get of a random name in one View, time : load from DRAM", r.Median, "×", nil,
		"%.2f µs; %v", 1e6*t.Median(inside), r)
	b.Table.Add("View + Get of one name again and again", 1e6*t.Median(repeated), "µs", measure.AtMost(0.3), "")
	b.Table.Add("allocations of Get in a View", math.Round(10*l.GetAllocations)/10, "", measure.AtMost(1), "%.1f with the View", l.ViewAllocations)
	b.Table.Add("listing the 100 names of a prefix", 1e6*t.Median(list), "µs", measure.AtMost(100), "a random prefix each time")
	return nil
}

// replays measures opening after the writer was killed. What counts is the time beyond that of a
// clean opening, for tails of two lengths, with a million names before them and with none.
func replays(b *measure.Bench, dir, small string, count int, clean float64) error {
	if err := b.InChild(nil, "fill", small, "0", "0"); err != nil {
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

// memoryUse is what a process needs, in bytes.
type memoryUse struct{ Anonymous, Heap int64 }

// lookupTimes are seconds a lookup: of a load from DRAM, View + Get of a random name, of one name
// again and again, of a list of 100, Get of a random name within one View.
type lookupTimes struct {
	Times           measure.Turns
	GetAllocations  float64
	ViewAllocations float64
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
	start := time.Now()
	st, err := store.Open(args[1], nil)
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
		var m memoryUse
		m, err = useMemory(st)
		result = struct {
			Seconds float64
			Memory  memoryUse
		}{opened, m}
	case "lookup":
		result, err = lookupTurns(st, numbers[0], numbers[1], numbers[2])
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
				if err := tx.Put(itemName(first+k), t); err != nil {
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

// useMemory looks up a million names of a store, if it has any, and returns the memory that the
// process has then.
func useMemory(st *store.Store) (memoryUse, error) {
	for range 10 {
		i := 0
		for e, err := range st.List("") {
			if err != nil {
				return memoryUse{}, err
			}
			if i++; i > 100_000 {
				break
			}
			if err := measure.ViewOne(st, e.Name); err != nil {
				return memoryUse{}, err
			}
		}
	}
	anonymous := measure.AnonymousMemory()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memoryUse{Anonymous: anonymous, Heap: int64(m.HeapAlloc)}, nil
}

// lookupTurns measures lookups among count names, with a walk through so many bytes beside them.
func lookupTurns(st *store.Store, count, walkBytes, rounds int) (*lookupTimes, error) {
	const n = 5000
	walk := measure.NewChase(walkBytes)
	names := measure.NewRandomNames(count, n, itemName)
	one := make([]string, n)
	for i := range one {
		one[i] = itemName(count / 2)
	}
	view := func(name string) error { return measure.ViewOne(st, name) }
	list := func(name string) error {
		found := 0
		for e, err := range st.List(name) {
			if err != nil {
				return err
			}
			found++
			_ = e
		}
		if found != 100 {
			return fmt.Errorf("%d names with the prefix %q, there should be 100", found, name)
		}
		return nil
	}
	prefixes := make([]string, n/50)
	random := func(f func(string) error) func() (float64, error) {
		return func() (float64, error) { return measure.TimeEach(names.Next(), f) }
	}
	inOneView := func(names []string) (seconds, allocs float64, err error) {
		err = st.View(func(tx *store.Tx) error {
			get := func(name string) error {
				t, err := tx.Get(name)
				measure.Kept = t
				return err
			}
			if seconds, err = measure.TimeEach(names, get); err != nil {
				return err
			}
			allocs = measure.Allocations(names, get)
			return nil
		})
		return seconds, allocs, err
	}
	// Warm: all records and what leads to them has been touched.
	for i := range count {
		if err := measure.ViewOne(st, itemName(i)); err != nil {
			return nil, err
		}
	}
	var result lookupTimes
	var err error
	result.Times, err = measure.TakeTurns(rounds,
		func() (float64, error) { return walk.Walk(n), nil },
		random(view),
		func() (float64, error) { return measure.TimeEach(one, view) },
		func() (float64, error) {
			names.Next()
			for i := range prefixes {
				prefixes[i] = itemPrefix(names.Numbers[i] / 100)
			}
			return measure.TimeEach(prefixes, list)
		},
		func() (float64, error) {
			s, allocs, err := inOneView(names.Next())
			result.GetAllocations = allocs
			return s, err
		})
	result.ViewAllocations = measure.Allocations(names.Next(), view)
	return &result, err
}
