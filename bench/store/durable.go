package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// smallBytes is the payload of a small tensor.
const smallBytes = 4 << 10

// smallTensor makes a tensor of smallBytes.
func smallTensor(seed uint64) *layout.Dense {
	data := make([]byte, smallBytes)
	fill(data, seed)
	t, err := layout.NewDense(layout.Float32, []int64{32, smallBytes / 4 / 32}, data)
	if err != nil {
		panic(err) // the shape fits by construction
	}
	return t
}

// goroutines is how many put at the same time where group commit is measured.
const goroutines = 8

// durable measures puts of 4 KiB that are on disk when they return.
func (b *bench) durable() error {
	dir := b.path("durable")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := newAppender(b.path("plain"))
	if err != nil {
		return err
	}
	defer plain.remove()
	t := smallTensor(1)
	data := t.Data()

	ops := b.size(50, 10) // of each in a round
	next := 0
	var latency, plainLatency []float64
	one := func() error {
		next++
		return st.Put(fmt.Sprintf("one/%08d", next), t)
	}
	times, err := takeTurns(b.size(120, 5),
		func() (float64, error) {
			return perOp(ops, &plainLatency, func() error { return plain.append(data) })
		},
		func() (float64, error) { return perOp(ops, &latency, one) },
		func() (float64, error) {
			next++
			return atOnce(ops, func(g, i int) error {
				return st.Put(fmt.Sprintf("eight/%08d/%d/%04d", next, g, i), t)
			})
		})
	if err != nil {
		return err
	}
	r := times.ratio(1, 0)
	note := fmt.Sprintf("%.0f µs, plain %.0f; %v", 1e6*times.median(1), 1e6*times.median(0), r)
	b.table.add("durable put of 4 KiB, time : append + fdatasync", r.median, "×", atMost(0.8), "%s", note)
	b.table.add("the same, 99th percentile", quantile(latency, 0.99)/quantile(plainLatency, 0.99), "×", nil,
		"%.0f µs, plain %.0f; longest %.1f ms, plain %.1f", 1e6*quantile(latency, 0.99), 1e6*quantile(plainLatency, 0.99), 1e3*quantile(latency, 1), 1e3*quantile(plainLatency, 1))
	r = times.ratio(1, 2)
	b.table.add("durable puts of 8 goroutines : of one", r.median, "×", atLeast(5),
		"%.0f/s, one %.0f/s; %v", 1/times.median(2), 1/times.median(1), r)
	if err := st.Close(); err != nil {
		return err
	}
	return b.remove(dir)
}

// medium measures puts of 16 MiB, which go into the log as a batch of several chunks.
func (b *bench) medium() error {
	const n = 16 << 20
	data := make([]byte, n)
	fill(data, 2)
	t, err := layout.NewDense(layout.Float32, []int64{n / 4}, data)
	if err != nil {
		return err
	}
	dir := b.path("medium")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := newAppender(b.path("plain"))
	if err != nil {
		return err
	}
	defer plain.remove()
	count := 0
	times, err := takeTurns(b.size(60, 3),
		func() (float64, error) { return seconds(func() error { return plain.append(data) }) },
		func() (float64, error) {
			count++
			return seconds(func() error { return st.Put(fmt.Sprintf("medium/%04d", count), t) })
		})
	if err != nil {
		return err
	}
	r := times.ratio(0, 1)
	b.table.add("put of 16 MiB, speed : append + fdatasync", r.median, "×", nil,
		"%.2f GB/s, plain %.2f; %v", n/times.median(1)/1e9, n/times.median(0)/1e9, r)
	if err := st.Close(); err != nil {
		return err
	}
	return b.remove(dir)
}

// perOp calls f n times, notes how long each call took and returns the mean.
func perOp(n int, each *[]float64, f func() error) (float64, error) {
	start := time.Now()
	last := start
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
		now := time.Now()
		*each = append(*each, now.Sub(last).Seconds())
		last = now
	}
	return last.Sub(start).Seconds() / float64(n), nil
}

// atOnce calls f n times in each of several goroutines and returns the time per call, that of
// all together divided by their number.
func atOnce(n int, f func(g, i int) error) (float64, error) {
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	s, _ := seconds(func() error {
		for g := range goroutines {
			wg.Go(func() {
				for i := range n {
					if errs[g] = f(g, i); errs[g] != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		return nil
	})
	return s / float64(goroutines*n), errors.Join(errs...)
}
