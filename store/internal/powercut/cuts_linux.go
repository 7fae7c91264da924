package powercut

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Plan chooses n points of a trace to cut at, from index first on, in order: all those around a sync (just before it, while it
// runs, just before it ends, just after it), or as many of them as there is room for, and for the rest any point, half of them around
// a sync again. Each cut has a seed of its own that follows from seed.
func Plan(events []Event, first int64, n int, seed uint64) []Cut {
	rng := rand.New(rand.NewPCG(seed, 0x706f776572))
	var around []int64
	for _, e := range events {
		if e.Op == "synced" {
			for _, at := range []int64{e.Begin, e.Begin + 1, e.Seq, e.Seq + 1} {
				if at >= first {
					around = append(around, at)
				}
			}
		}
	}
	slices.Sort(around)
	around = slices.Compact(around)
	points := slices.Clone(around)
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	points = points[:min(len(points), n)]
	for len(points) < n {
		if len(around) > 0 && rng.IntN(2) == 0 {
			points = append(points, around[rng.IntN(len(around))])
		} else {
			points = append(points, first+rng.Int64N(int64(len(events))+1-first))
		}
	}
	slices.Sort(points)
	cuts := make([]Cut, n)
	for i, at := range points {
		cuts[i] = Cut{At: at, Seed: rng.Uint64()}
	}
	return cuts
}

// tooMany is how many failures are reported before the rest is left out.
const tooMany = 5

// Each makes the images of cuts, which should be in order, and has each one checked, several at a time. Each image is in a
// directory of its own that is removed after the check. For failures the trace is kept and the command printed that makes the image again.
func (c *Client) Each(t testing.TB, cuts []Cut, check func(cut Cut, dir string) error) {
	t.Helper()
	parent := TempDir(t)
	var next, failures atomic.Int64
	var mu sync.Mutex
	var trace string
	report := func(cut Cut, err error) {
		mu.Lock()
		defer mu.Unlock()
		if failures.Add(1) > tooMany {
			return
		}
		if trace == "" {
			trace = c.KeepTrace(t)
		}
		t.Errorf("after a power cut: %v\n\tto see it again: powercut image -v -trace %s %v OUT", err, trace, cut)
	}
	var wg sync.WaitGroup
	const workers = 3
	for range workers {
		wg.Go(func() {
			for failures.Load() < tooMany {
				i := next.Add(1) - 1
				if i >= int64(len(cuts)) {
					return
				}
				dir := filepath.Join(parent, fmt.Sprint(i))
				_, err := c.Image(cuts[i], dir)
				if err == nil {
					err = check(cuts[i], dir)
				}
				if err != nil {
					report(cuts[i], err)
				}
				if err := os.RemoveAll(dir); err != nil {
					report(cuts[i], err)
				}
			}
		})
	}
	wg.Wait()
}

// KeepTrace writes the trace to a new file that outlives the test, for people to look at, and returns its name.
func (c *Client) KeepTrace(t testing.TB) string {
	t.Helper()
	f, err := os.CreateTemp("", "powercut-*.trace")
	if err == nil {
		err = errors.Join(f.Close(), c.SaveTrace(f.Name()))
	}
	if err != nil {
		t.Error(err)
		return ""
	}
	return f.Name()
}

// Acknowledged returns the marks that came before a cut, in order.
func Acknowledged(events []Event, at int64) []string {
	var marks []string
	for _, e := range events {
		if e.Seq >= at {
			break
		}
		if e.Op == "mark" {
			marks = append(marks, e.Text)
		}
	}
	return marks
}
