package main

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tstore/tstore/vec"
)

// readPlain reads b without vectors.
func readPlain(b []byte) uint64 {
	var w, x, y, z uint64
	for len(b) >= 32 {
		w |= binary.LittleEndian.Uint64(b)
		x |= binary.LittleEndian.Uint64(b[8:])
		y |= binary.LittleEndian.Uint64(b[16:])
		z |= binary.LittleEndian.Uint64(b[24:])
		b = b[32:]
	}
	return w | x | y | z
}

// baseline has the buffers that the machine's own speeds are measured with.
var baseline struct {
	from, to []byte
	sink     uint64
}

const baselineBytes = 256 << 20

// machine prints what machine this is and what its memory can do.
func (b *bench) machine() {
	baseline.from, baseline.to = hugeBuffer(baselineBytes), hugeBuffer(baselineBytes)
	for i := range baseline.from {
		baseline.from[i] = byte(i)
	}
	var names []string
	for _, v := range vec.Available() {
		names = append(names, v.String())
	}
	fmt.Printf("%s/%s, %d processors, kernels: %s\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), strings.Join(names, ", "))
	speeds := b.best([]func(){readOnce, memset, memcpy})
	fmt.Printf("one goroutine, %d MiB: read %.1f, memset %.1f, memcpy %.1f GB/s\n\n", baselineBytes>>20,
		gbs(baselineBytes, speeds[0]), gbs(baselineBytes, speeds[1]), gbs(baselineBytes, speeds[2]))
}

func readOnce() { baseline.sink |= readAll(baseline.from) }
func memset()   { clear(baseline.to) }
func memcpy()   { copy(baseline.to, baseline.from) }

func gbs(bytes int, t time.Duration) float64 { return float64(bytes) / float64(t.Nanoseconds()) }

// best runs the functions by turns and returns the shortest time of each, by the clock of the thread.
func (b *bench) best(fs []func()) []time.Duration { return b.bestBy(alone, fs) }

// bestOfAll is best for functions that use several goroutines, by the clock on the wall.
func (b *bench) bestOfAll(fs []func()) []time.Duration {
	return b.bestBy(func(f func()) time.Duration {
		t := time.Now()
		f()
		return time.Since(t)
	}, fs)
}

func (b *bench) bestBy(clock func(func()) time.Duration, fs []func()) []time.Duration {
	times := make([]time.Duration, len(fs))
	for round := range b.rounds {
		for i, f := range fs {
			if d := clock(f); round == 0 || d < times[i] {
				times[i] = d
			}
		}
	}
	return times
}

// alone returns how long f takes by the clock of the thread that runs it.
func alone(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := cpuTime()
	f()
	return cpuTime() - t
}

// parallel calls f for each of n parts at the same time.
func parallel(n int, f func(part int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	for part := range n {
		wg.Go(func() { f(part) })
	}
	wg.Wait()
}
