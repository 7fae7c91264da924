package store

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/tstore/tstore/store/internal/powercut"
)

// faultRun is a run on a disk that fails once, or from some moment on.
type faultRun struct {
	*powerRun
	fault powercut.Fault
	errno syscall.Errno
	drop  bool // drop the cache before reopening, so that what a failed sync has lost can't be seen
	clean bool // the fault has been taken away
}

// heal takes the fault away and drops the cache, if that is wanted.
func (r *faultRun) heal() error {
	r.clean = true
	if err := r.disk.Unfault(0); err != nil {
		return err
	}
	if r.drop {
		return r.disk.DropCache()
	}
	return nil
}

// excuse accepts an error that the fault explains: it is that of the disk, or says that the outcome is unknown.
func (r *faultRun) excuse(err error) error {
	if r.clean {
		return fmt.Errorf("after the fault was taken away: %w", err)
	}
	if !errors.Is(err, r.errno) {
		return fmt.Errorf("the disk's error %v is not what is returned: %w", r.errno, err)
	}
	return nil
}

// again opens the store after a failure, finds out in which state it is, and goes on from there.
func (r *faultRun) again() error {
	if err := r.heal(); err != nil {
		return err
	}
	if err := r.open(); err != nil {
		return fmt.Errorf("opening after the failure: %w", err)
	}
	got, err := readHolding(r.s)
	if err != nil {
		return fmt.Errorf("opened after the failure: %w", err)
	}
	state, err := r.match(got, r.sure, r.maybe)
	if err != nil {
		return fmt.Errorf("opened after the failure: %w", err)
	}
	return r.settled(state)
}

// work makes n batches and closes the store, whatever fails on the way, and demands that what is said of the failures is true.
func (r *faultRun) work(n int) error {
	if err := r.open(); err != nil {
		if err := r.excuse(err); err != nil {
			return err
		}
		if err := r.again(); err != nil {
			return err
		}
	}
	for i := range n {
		err := r.commit()
		switch {
		case err == nil:
		case errors.Is(err, ErrOutcomeUnknown):
			if err := r.excuse(err); err != nil {
				return err
			}
			if err := r.refuses(); err != nil {
				return err
			}
			if err := r.again(); err != nil {
				return err
			}
		default: // it says that nothing happened, and the store goes on
			if err := r.excuse(err); err != nil {
				return err
			}
			got, err := readHolding(r.s)
			if err != nil {
				return err
			}
			if !maps.Equal(got, r.last()) {
				return fmt.Errorf("after a write that did nothing: %s", holdingDifference(got, r.last()))
			}
			if r.fault.Times < 0 && i > n/2 {
				if err := r.disk.Unfault(0); err != nil {
					return err
				}
				r.clean = true
			}
		}
		if i == n/3 || i == 2*n/3 {
			if err := r.close(); err != nil {
				return err
			}
			if err := r.open(); err != nil {
				if err := r.excuse(err); err != nil {
					return err
				}
				if err := r.again(); err != nil {
					return err
				}
			}
		}
	}
	return r.close()
}

// close closes the store. If that fails, the store must nevertheless be open to the next one, with everything in it.
func (r *faultRun) close() error {
	err := r.s.Close()
	if err == nil {
		return r.synced()
	}
	if err := r.excuse(err); err != nil {
		return err
	}
	if err := r.again(); err != nil {
		return err
	}
	return r.s.Close()
}

// refuses checks a store that does not know the outcome of a batch: it takes no writes, shows what is durable, and can be closed.
func (r *faultRun) refuses() error {
	if err := r.s.Put("more", versionTensor(1, 8)); !errors.Is(err, ErrOutcomeUnknown) {
		return fmt.Errorf("a write after one with unknown outcome: %w, want ErrOutcomeUnknown", err)
	}
	got, err := readHolding(r.s)
	if err != nil {
		return fmt.Errorf("reading after an unknown outcome: %w", err)
	}
	if !maps.Equal(got, r.states[r.sure]) {
		return fmt.Errorf("a store with an unknown outcome shows what is not durable: %s", holdingDifference(got, r.states[r.sure]))
	}
	if err := r.s.Close(); err != nil && !errors.Is(err, ErrOutcomeUnknown) && !errors.Is(err, r.errno) {
		return fmt.Errorf("closing after an unknown outcome: %w", err)
	}
	return nil
}

// faultWork is the number of batches of a run with a fault.
const faultWork = 24

// TestFaultSweep lets each write, sync and directory change of a run fail, one run for each, or as many as TSTORE_POWERCUTS
// allows. What was acknowledged must be there, what was reported as failed must not; then the power is cut as well.
func TestFaultSweep(t *testing.T) {
	o := Options{SegmentSize: MinSegmentSize, sealMin: 3}
	counting := powercut.Start(t, powercut.Options{})
	if err := (&faultRun{powerRun: newPowerRun(counting, o, 5), clean: true}).work(faultWork); err != nil {
		t.Fatal(err)
	}
	c, err := counting.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []struct {
		fault powercut.Fault
		n     int64
	}{
		{powercut.Fault{Op: "write", Err: "EIO"}, c.Writes},
		{powercut.Fault{Op: "write", Err: "ENOSPC"}, c.Writes},
		{powercut.Fault{Op: "write", Err: "ENOSPC", Times: -1}, c.Writes},
		{powercut.Fault{Op: "fsync", Err: "EIO"}, c.Fsyncs + c.Fdatasyncs},
		{powercut.Fault{Op: "fsync", Err: "EIO", Seed: 1}, c.Fsyncs + c.Fdatasyncs},
		{powercut.Fault{Op: "fsync", Err: "ENOSPC", Times: 3}, c.Fsyncs + c.Fdatasyncs},
		{powercut.Fault{Op: "fsyncdir", Err: "EIO"}, c.DirSyncs},
		{powercut.Fault{Op: "truncate", Err: "EIO"}, faultWork / 2},
		{powercut.Fault{Op: "change", Err: "EIO"}, c.Changes},
		{powercut.Fault{Op: "change", Err: "ENOSPC", Times: -1}, c.Changes},
	} {
		t.Run(fmt.Sprintf("%s %s %d %d", kind.fault.Op, kind.fault.Err, kind.fault.Times, kind.fault.Seed), func(t *testing.T) {
			step := sweepStep(t, kind.n)
			for n := 1 + (step-1)/2; n <= kind.n; n += step {
				fault := kind.fault
				fault.Nth = n
				sweepOne(t, o, fault, n%2 == 0)
			}
		})
	}
}

func sweepOne(t *testing.T, o Options, fault powercut.Fault, drop bool) {
	t.Helper()
	disk := powercut.Start(t, powercut.Options{})
	defer disk.Close()
	if _, err := disk.Fault(fault); err != nil {
		t.Fatal(err)
	}
	r := &faultRun{powerRun: newPowerRun(disk, o, 5), fault: fault, errno: map[string]syscall.Errno{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC}[fault.Err], drop: drop}
	if err := r.work(faultWork); err != nil {
		t.Errorf("%s number %d fails with %s, drop the cache %v: %v\n\tpowercut list %s", fault.Op, fault.Nth, fault.Err, drop, err, disk.KeepTrace(t))
		return
	}
	r.cut(t, 8, uint64(fault.Nth))
}

// TestKillSweep has nothing reach the disk's cache from some operation on, as if the process were killed there, once for each
// operation of a run or as often as TSTORE_POWERCUTS allows. Then the store is opened again, on the same disk, and the power is
// cut: what the killed process had not synced, and the new one relies on, must have been synced by the new one.
func TestKillSweep(t *testing.T) {
	for _, kill := range []struct {
		opts Options
		tend bool
	}{
		{Options{SegmentSize: MinSegmentSize, sealMin: 3}, false},
		{Options{SegmentSize: MinSegmentSize, logMax: 4}, false},
		{Options{SegmentSize: MinSegmentSize, sealMin: 2}, true},
	} {
		counting := powercut.Start(t, powercut.Options{})
		r := newKillRun(t, counting, kill.opts, kill.tend)
		if err := r.work(faultWork); err != nil {
			t.Fatal(err)
		}
		events, err := counting.Trace()
		if err != nil {
			t.Fatal(err)
		}
		operations := int64(0)
		for _, e := range events {
			if e.Op != "mark" && e.Op != "synced" {
				operations++
			}
		}
		step := sweepStep(t, operations)
		for n := 1 + (step-1)/2; n <= operations; n += step {
			killOne(t, kill.opts, kill.tend, n)
		}
	}
}

func newKillRun(t *testing.T, disk *powercut.Client, o Options, tend bool) *powerRun {
	t.Helper()
	r := newPowerRun(disk, o, 6)
	if tend {
		r.outside = t.TempDir()
	}
	return r
}

func killOne(t *testing.T, o Options, tend bool, n int64) {
	t.Helper()
	disk := powercut.Start(t, powercut.Options{})
	defer disk.Close()
	if _, err := disk.Fault(powercut.Fault{Op: "modify", Err: "EIO", Nth: n, Times: -1}); err != nil {
		t.Fatal(err)
	}
	r := newKillRun(t, disk, o, tend)
	err := r.work(faultWork) // until it is killed
	if err == nil {
		return // by the order of things in the background it took fewer operations than the first time
	}
	if r.s != nil {
		if err := r.s.Close(); err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, ErrClosed) {
			t.Errorf("killed at operation %d: closing: %v", n, err)
		}
	}
	again := &faultRun{powerRun: r, errno: syscall.EIO}
	if err := again.again(); err != nil {
		t.Errorf("killed at operation %d: %v\n\tpowercut list %s", n, err, disk.KeepTrace(t))
		return
	}
	for range 3 {
		if err := r.commit(); err != nil {
			t.Errorf("killed at operation %d, opened again: %v", n, err)
		}
	}
	r.cut(t, 6, uint64(n)) // while the new one has it open
	if err := r.s.Close(); err != nil {
		t.Errorf("killed at operation %d, opened again: closing: %v", n, err)
	}
	if t.Failed() {
		t.Fatalf("killed at operation %d", n)
	}
}

// TestFailedSync has a put whose sync fails: the pages look clean afterwards, but are not on the disk.
func TestFailedSync(t *testing.T) {
	for _, drop := range []bool{false, true} {
		for _, seed := range []uint64{0, 1, 2} {
			t.Run(fmt.Sprint("drop cache ", drop, ", written part ", seed), func(t *testing.T) {
				disk := powercut.Start(t, powercut.Options{})
				r := &faultRun{powerRun: newPowerRun(disk, Options{}, 1), errno: syscall.EIO, drop: drop}
				if err := r.open(); err != nil {
					t.Fatal(err)
				}
				for range 5 {
					if err := r.put(20_000); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := disk.Fault(powercut.Fault{Op: "fsync", Glob: "*.seg", Seed: seed}); err != nil {
					t.Fatal(err)
				}
				if err := r.put(20_000); !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, syscall.EIO) {
					t.Fatalf("a put whose sync fails: %v, want ErrOutcomeUnknown and EIO", err)
				}
				if err := r.refuses(); err != nil {
					t.Fatal(err)
				}
				if err := r.again(); err != nil {
					t.Fatal(err)
				}
				for range 5 {
					if err := r.put(20_000); err != nil {
						t.Fatal(err)
					}
				}
				r.cut(t, 15, 1) // while it is open
				if err := r.s.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// put puts a new tensor under a new name.
func (r *powerRun) put(size int) error {
	state, version := r.last(), r.version()
	name := fmt.Sprint("put/", version)
	state[name] = version
	return r.do(state, func() error { return r.s.Put(name, versionTensor(version, size), versionAttr(version, size)) })
}

// TestFullDisk fills the disk: what fails has done nothing, deletes go on working, and so do closing and opening.
func TestFullDisk(t *testing.T) {
	for _, limit := range []int64{300 << 10, 1 << 20, 1<<20 + 12<<10} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			disk := powercut.Start(t, powercut.Options{Limit: limit})
			r := newPowerRun(disk, Options{SegmentSize: 400 << 10}, 1)
			if err := r.open(); err != nil {
				t.Fatal(err)
			}
			check := func(when string) {
				t.Helper()
				got, err := readHolding(r.s)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				if want := r.last(); !maps.Equal(got, want) {
					t.Fatalf("%s: %s", when, holdingDifference(got, want))
				}
			}
			refused := 0
			for size := 20_000; size > 0; size /= 2 {
				for {
					err := r.put(size)
					if errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrOutcomeUnknown) {
						refused++
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				check("after a put that found no room")
			}
			names := len(r.last())
			if names < 5 || refused < 10 {
				t.Fatalf("%d puts before the disk was full, %d refused", names, refused)
			}
			for i := range 10 {
				state := r.last()
				name, _ := r.some(state)
				delete(state, name)
				if err := r.do(state, func() error { return r.s.Delete(name) }); err != nil {
					t.Fatalf("delete %d on a full disk: %v", i, err)
				}
			}
			check("after deletes on a full disk")
			if err := r.s.Close(); err != nil {
				t.Fatalf("closing on a full disk: %v", err)
			}
			if err := r.open(); err != nil {
				t.Fatalf("opening on a full disk: %v", err)
			}
			check("opened again on a full disk")
			if err := disk.SetLimit(0); err != nil {
				t.Fatal(err)
			}
			if err := r.put(100_000); err != nil {
				t.Fatalf("with room again: %v", err)
			}
			check("with room again")
			if err := r.s.Close(); err != nil {
				t.Fatal(err)
			}
			r.cut(t, 20, 1)
		})
	}
}

// TestCutWhileRecovering cuts the power, opens the store on a disk that holds what was left, and cuts that again.
func TestCutWhileRecovering(t *testing.T) {
	disk := powercut.Start(t, powercut.Options{})
	r := newPowerRun(disk, Options{SegmentSize: MinSegmentSize, sealMin: 3}, 9)
	if err := r.work(40); err != nil {
		t.Fatal(err)
	}
	events, err := disk.Trace()
	if err != nil {
		t.Fatal(err)
	}
	parent := powercut.TempDir(t)
	for i, cut := range powercut.Plan(events, 0, max(3, powercut.Count(t, usualCuts)/20), 4) {
		left := filepath.Join(parent, fmt.Sprint(i))
		if _, err := disk.Image(cut, left); err != nil {
			t.Fatal(err)
		}
		sure, maybe, err := rangeAt(events, cut.At)
		if err != nil {
			t.Fatal(err)
		}
		second := powercut.Start(t, powercut.Options{From: left})
		again := newPowerRun(second, r.opts, uint64(i))
		if err := again.open(); err != nil {
			t.Fatalf("first cut %v: %v", cut, err)
		}
		got, err := readHolding(again.s)
		if err != nil {
			t.Fatalf("first cut %v: %v", cut, err)
		}
		state, err := r.match(got, sure, maybe)
		if err != nil {
			t.Fatalf("first cut %v: %v", cut, err)
		}
		// From here on the second disk has a history of its own, which begins with what was found.
		again.states, again.next = []holding{r.states[state]}, r.next
		if err := errors.Join(again.put(1000), again.put(50_000), again.s.Close()); err != nil {
			t.Fatalf("first cut %v: %v", cut, err)
		}
		// What the disk was given at its start is one operation after the other; cuts come after that.
		events, err := second.Trace()
		if err != nil {
			t.Fatal(err)
		}
		settled := slices.IndexFunc(events, func(e powercut.Event) bool { return e.Op == "settle" })
		again.cutFrom(t, int64(settled)+1, 10, uint64(i))
		if t.Failed() {
			t.Fatalf("first cut %v", cut)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckCanFail shows that the comparison finds what is lost if a disk ignores syncs.
func TestCheckCanFail(t *testing.T) {
	disk := powercut.Start(t, powercut.Options{})
	r := newPowerRun(disk, Options{SegmentSize: MinSegmentSize}, 3)
	if err := r.work(40); err != nil {
		t.Fatal(err)
	}
	events, err := disk.Trace()
	if err != nil {
		t.Fatal(err)
	}
	for _, ignore := range []string{"files", "dirs"} {
		parent := powercut.TempDir(t)
		failed := 0
		for i, cut := range powercut.Plan(events, 0, 30, 1) {
			cut.Model.Ignore = ignore
			dir := filepath.Join(parent, fmt.Sprint(i))
			if _, err := disk.Image(cut, dir); err != nil {
				t.Fatal(err)
			}
			sure, maybe, err := rangeAt(events, cut.At)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.reopen(filepath.Join(dir, "store"), &r.opts, sure, maybe); err != nil {
				failed++
			}
		}
		if failed < 5 {
			t.Errorf("a disk that ignores syncs of %s: only %d of 30 cuts found something", ignore, failed)
		}
	}
}
