package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// smallBytes is the payload of a small tensor.
const smallBytes = 4 << 10

// smallTensor makes a tensor of smallBytes.
func smallTensor(seed uint64) *layout.Dense {
	data := make([]byte, smallBytes)
	measure.Fill(data, seed)
	t, err := layout.NewDense(layout.Float32, []int64{32, smallBytes / 4 / 32}, data)
	if err != nil {
		panic(err) // the shape fits by construction
	}
	return t
}

// goroutines is how many put at the same time where group commit is measured.
const goroutines = 8

// durable measures puts of 4 KiB that are on disk when they return.
func durable(b *measure.Bench) error {
	dir := b.Path("durable")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := newAppender(b.Path("plain"))
	if err != nil {
		return err
	}
	defer plain.remove()
	t := smallTensor(1)
	data := t.Data()

	ops := b.Size(50, 10) // of each in a round
	next := 0
	var latency, plainLatency []float64
	one := func() error {
		next++
		return st.Put(fmt.Sprintf("one/%08d", next), t)
	}
	times, err := measure.TakeTurns(b.Size(120, 5),
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
	r := times.Ratio(1, 0)
	note := fmt.Sprintf("%.0f µs, plain %.0f; %v", 1e6*times.Median(1), 1e6*times.Median(0), r)
	b.Table.Add("durable put of 4 KiB, time : append + fdatasync", r.Median, "×", measure.AtMost(0.8), "%s", note)
	b.Table.Add("the same, 99th percentile", measure.Quantile(latency, 0.99)/measure.Quantile(plainLatency, 0.99), "×", nil,
		"%.0f µs, plain %.0f; longest %.1f ms, plain %.1f", 1e6*measure.Quantile(latency, 0.99), 1e6*measure.Quantile(plainLatency, 0.99), 1e3*measure.Quantile(latency, 1), 1e3*measure.Quantile(plainLatency, 1))
	r = times.Ratio(1, 2)
	b.Table.Add("durable puts of 8 goroutines : of one", r.Median, "×", measure.AtLeast(5),
		"%.0f/s, one %.0f/s; %v", 1/times.Median(2), 1/times.Median(1), r)
	if err := st.Close(); err != nil {
		return err
	}
	return b.Remove(dir)
}

// medium measures puts of 16 MiB, which go into the log as a batch of several chunks.
func medium(b *measure.Bench) error {
	const n = 16 << 20
	data := make([]byte, n)
	measure.Fill(data, 2)
	t, err := layout.NewDense(layout.Float32, []int64{n / 4}, data)
	if err != nil {
		return err
	}
	dir := b.Path("medium")
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := newAppender(b.Path("plain"))
	if err != nil {
		return err
	}
	defer plain.remove()
	count := 0
	times, err := measure.TakeTurns(b.Size(60, 3),
		func() (float64, error) { return measure.Seconds(func() error { return plain.append(data) }) },
		func() (float64, error) {
			count++
			return measure.Seconds(func() error { return st.Put(fmt.Sprintf("medium/%04d", count), t) })
		})
	if err != nil {
		return err
	}
	r := times.Ratio(0, 1)
	b.Table.Add("put of 16 MiB, speed : append + fdatasync", r.Median, "×", nil,
		"%.2f GB/s, plain %.2f; %v", n/times.Median(1)/1e9, n/times.Median(0)/1e9, r)
	if err := st.Close(); err != nil {
		return err
	}
	return b.Remove(dir)
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
	s, _ := measure.Seconds(func() error {
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
