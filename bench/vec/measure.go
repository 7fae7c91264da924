package main

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tstore/tstore/vec"
)

// measure times m for every version, and prints and keeps the results.
func (b *bench) measure(e element, density float64, m measurement) {
	if !b.names.MatchString(m.name) {
		return
	}
	bytes := product(m.shape) * e.size()
	threads, fresh := b.threads, b.fresh
	if m.alone {
		threads, fresh = threads[:1], fresh[:1]
	}
	if strings.HasPrefix(m.name, "count") {
		fresh = fresh[:1] // it has no outputs
	}
	before := vec.Active()
	defer func() {
		if err := vec.Use(before); err != nil {
			panic(err)
		}
	}()
	for _, n := range threads {
		for _, f := range fresh {
			if f {
				// What was allocated before shall not be collected in the time measured.
				debug.FreeOSMemory()
			}
			// All versions and the baselines by turns.
			fs := []func(){readOnce, memset}
			for _, v := range b.versions {
				fs = append(fs, func() {
					if err := vec.Use(v); err != nil {
						panic(err)
					}
					m.run(n, f)
				})
			}
			var times []time.Duration
			if n == 1 {
				times = b.best(fs)
			} else {
				times = b.bestOfAll(fs)
			}
			read, set := gbs(baselineBytes, times[0]), gbs(baselineBytes, times[1])
			portable := 0.0
			for i, v := range b.versions {
				r := result{
					Name: m.name, Elem: e.name, Shape: m.shape, Density: density, Version: v.String(), Goroutines: n, Fresh: f,
					GBs: gbs(bytes, times[2+i]),
				}
				if m.index != 0 {
					r.Index = m.index.String()
				}
				r.OfRead, r.OfMemset = r.GBs/read, r.GBs/set
				if v == vec.Portable {
					portable = r.GBs
				}
				if portable > 0 {
					r.OfPortable = r.GBs / portable
				}
				b.results = append(b.results, r)
				r.print()
			}
		}
	}
}

func (r *result) print() {
	outputs := "reused"
	if r.Fresh {
		outputs = "fresh"
	}
	fmt.Printf("%-25s %-8s %5.3g %% %-6s %-12s %d× %-6s %8.2f GB/s  %5.2f of read  %5.2f of memset", r.Name, r.Elem, 100*r.Density,
		r.Index, r.Version, r.Goroutines, outputs, r.GBs, r.OfRead, r.OfMemset)
	if r.OfPortable > 0 {
		fmt.Printf("  %6.2f × portable", r.OfPortable)
	}
	fmt.Println()
}
