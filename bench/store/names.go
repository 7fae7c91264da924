package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// names measures a store with a million names. What it does with the store it does in processes
// of their own: one that has filled a store has caches, a heap and maps that one which has just
// opened it lacks, and only another process can be killed.

// tinyBytes is the payload of the tensors that a million names stand for.
const tinyBytes = 256

// names runs the measurements with a million names.
func (b *bench) names() error {
	count := b.size(1_000_000, 20_000)
	dir, small := b.path("names"), b.path("few")
	defer os.RemoveAll(dir)
	defer os.RemoveAll(small)
	var filled struct{ Seconds float64 }
	if err := b.inChild(&filled, "fill", dir, "0", strconv.Itoa(count)); err != nil {
		return err
	}
	b.table.add("1,000,000 names put in batches of 1,000", float64(count)/filled.Seconds, "tensors/s", nil, "of %d bytes each", tinyBytes)

	var opened []float64
	var memory memoryUse
	for range b.size(7, 2) {
		var o struct {
			Seconds float64
			Memory  memoryUse
		}
		if err := b.inChild(&o, "open", dir); err != nil {
			return err
		}
		opened, memory = append(opened, o.Seconds), o.Memory
	}
	clean := quantile(opened, 0.5)
	b.table.add("open with 1,000,000 names after a clean close", 1e3*clean, "ms", atMost(50), "slowest of %d: %.1f ms", len(opened), 1e3*quantile(opened, 1))
	b.table.add("memory of a process that has it open", float64(memory.Anonymous)/(1<<20), "MiB", atMost(64),
		"after a million lookups; %.1f MiB of it live in the Go heap", float64(memory.Heap)/(1<<20))

	if err := b.randomLookups(dir, count); err != nil {
		return err
	}
	return b.replays(dir, small, count, clean)
}

// randomLookups measures looking names up and listing them.
func (b *bench) randomLookups(dir string, count int) error {
	var l lookupTimes
	if err := b.inChild(&l, "lookup", dir, strconv.Itoa(count), strconv.Itoa(b.size(512<<20, 64<<20)), strconv.Itoa(b.size(100, 10))); err != nil {
		return err
	}
	const load, random, repeated, list, inside = 0, 1, 2, 3, 4
	t := l.Times
	r := t.ratio(random, load)
	b.table.add("View + Get of a random name, time : load from DRAM", r.median, "×", atMost(4),
		"%.2f µs, a load %.3f; %v", 1e6*t.median(random), 1e6*t.median(load), r)
	r = t.ratio(inside, load)
	b.table.add("Get of a random name in one View, time : load from DRAM", r.median, "×", nil,
		"%.2f µs; %v", 1e6*t.median(inside), r)
	b.table.add("View + Get of one name again and again", 1e6*t.median(repeated), "µs", atMost(0.3), "")
	b.table.add("allocations of Get in a View", math.Round(10*l.GetAllocations)/10, "", atMost(1), "%.1f with the View", l.ViewAllocations)
	b.table.add("listing the 100 names of a prefix", 1e6*t.median(list), "µs", atMost(100), "a random prefix each time")
	return nil
}

// replays measures opening after the writer was killed. What counts is the time beyond that of a
// clean opening, for tails of two lengths, with a million names before them and with none.
func (b *bench) replays(dir, small string, count int, clean float64) error {
	if err := b.inChild(nil, "fill", small, "0", "0"); err != nil {
		return err
	}
	var o struct{ Seconds float64 }
	if err := b.inChild(&o, "open", small); err != nil {
		return err
	}
	cleanSmall := o.Seconds
	next := count
	tail := func(dir string, n int) func() (float64, error) {
		return func() (float64, error) {
			if err := b.inChild(nil, "killed", dir, strconv.Itoa(next), strconv.Itoa(n)); err != nil {
				return 0, err
			}
			next += n
			err := b.inChild(&o, "open", dir)
			return o.Seconds, err
		}
	}
	short, long := b.size(500, 100), b.size(5000, 1000)
	t, err := takeTurns(b.size(9, 2), tail(small, short), tail(small, long), tail(dir, short), tail(dir, long))
	if err != nil {
		return err
	}
	b.table.add("replay of a tail of 5,000 after a crash, beyond a clean open : of 500", (t.median(3)-clean)/(t.median(2)-clean), "×", nil,
		"%.1f ms and %.1f ms, clean %.1f ms", 1e3*t.median(3), 1e3*t.median(2), 1e3*clean)
	b.table.add("the same of 5,000 behind 1,000,000 names : behind few", (t.median(3)-clean)/(t.median(1)-cleanSmall), "×", atMost(2),
		"%.1f ms more than clean behind 1,000,000, %.1f ms behind few", 1e3*(t.median(3)-clean), 1e3*(t.median(1)-cleanSmall))
	if err := b.remove(dir); err != nil {
		return err
	}
	return b.remove(small)
}

// memoryUse is what a process needs, in bytes.
type memoryUse struct{ Anonymous, Heap int64 }

// lookupTimes are seconds a lookup: of a load from DRAM, View + Get of a random name, of one name
// again and again, of a list of 100, Get of a random name within one View.
type lookupTimes struct {
	Times           turns
	GetAllocations  float64
	ViewAllocations float64
}

// childArg as the first argument makes the program do one thing with a store and write what it
// has found to standard output.
const childArg = "child"

// inChild runs a child and decodes what it has found into result.
func (b *bench) inChild(result any, args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, append([]string{childArg}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && args[0] == "killed" && !exit.Exited() {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("child %v: %w", args, err)
	}
	if result == nil {
		return nil
	}
	return json.NewDecoder(bytes.NewReader(out)).Decode(result)
}

// child does what args ask for.
func child(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s is not for people", childArg)
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
	fill(data, 7)
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
			if err := viewOne(st, e.Name); err != nil {
				return memoryUse{}, err
			}
		}
	}
	anonymous := anonymousMemory()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memoryUse{Anonymous: anonymous, Heap: int64(m.HeapAlloc)}, nil
}

// lookupTurns measures lookups among count names, with a walk through so many bytes beside them.
func lookupTurns(st *store.Store, count, walkBytes, rounds int) (*lookupTimes, error) {
	const n = 5000
	walk := newChase(walkBytes)
	names := newRandomNames(count, n)
	one := make([]string, n)
	for i := range one {
		one[i] = itemName(count / 2)
	}
	view := func(name string) error { return viewOne(st, name) }
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
		return func() (float64, error) { return timeEach(names.next(), f) }
	}
	inOneView := func(names []string) (seconds, allocs float64, err error) {
		err = st.View(func(tx *store.Tx) error {
			get := func(name string) error {
				t, err := tx.Get(name)
				kept = t
				return err
			}
			if seconds, err = timeEach(names, get); err != nil {
				return err
			}
			allocs = allocations(names, get)
			return nil
		})
		return seconds, allocs, err
	}
	// Warm: all records and what leads to them has been touched.
	for i := range count {
		if err := viewOne(st, itemName(i)); err != nil {
			return nil, err
		}
	}
	var result lookupTimes
	var err error
	result.Times, err = takeTurns(rounds,
		func() (float64, error) { return walk.walk(n), nil },
		random(view),
		func() (float64, error) { return timeEach(one, view) },
		func() (float64, error) {
			names.next()
			for i := range prefixes {
				prefixes[i] = itemPrefix(names.numbers[i] / 100)
			}
			return timeEach(prefixes, list)
		},
		func() (float64, error) {
			s, allocs, err := inOneView(names.next())
			result.GetAllocations = allocs
			return s, err
		})
	result.ViewAllocations = allocations(names.next(), view)
	return &result, err
}
