package store_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/store"
)

// TestRepairLeavesOutWhatWasNeverAcknowledged repairs a store whose first log ends in a
// torn batch with a whole one behind it: neither counts, so what they did to names
// must not be done by repair.
func TestRepairLeavesOutWhatWasNeverAcknowledged(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &store.Options{Sync: store.SyncNever})
	must(t, st.Put("deleted by a torn batch", stamped(1, 10)))
	must(t, st.Put("overwritten by a torn batch", stamped(2, 10)))
	must(t, st.Sync())
	must(t, st.Put("torn", stamped(3, 100)))
	e, err := st.Stat("torn")
	must(t, err)
	must(t, st.Delete("deleted by a torn batch"))
	must(t, st.Put("overwritten by a torn batch", stamped(4, 10)))
	must(t, st.Put("never acknowledged", stamped(5, 10)))

	killed := copyDir(t, dir)
	f := openFile(t, filepath.Join(killed, "segments"), 1)
	_, err = f.WriteAt([]byte{0xff}, e.Offset+e.Length-1000)
	must(t, err)
	want := contents{
		"deleted by a torn batch":     {tensor: stamped(1, 10)},
		"overwritten by a torn batch": {tensor: stamped(2, 10)},
	}
	st = open(t, killed, nil)
	must(t, compare(st, want))
	must(t, st.Put("later", stamped(6, 10)))
	want["later"] = stored{tensor: stamped(6, 10)}
	closeStore(t, st)

	to := filepath.Join(quickDir(t), "repaired")
	report, err := store.Repair(context.Background(), killed, &store.RepairOptions{To: to})
	must(t, err)
	if report.Kept != len(want) {
		t.Errorf("repair kept %d tensors, there were %d: %+v", report.Kept, len(want), report)
	}
	must(t, compare(open(t, to, nil), want))
}

// TestRepairAgreesWithOpening repairs copies of a store that was killed, with one
// of its batches damaged: where opening takes the damage for a torn tail, repair has to.
func TestRepairAgreesWithOpening(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &store.Options{Sync: store.SyncNever})
	var entries []*store.Entry
	for i := range 6 {
		must(t, st.Put("x", stamped(uint64(i), 50)))
		e, err := st.Stat("x")
		must(t, err)
		entries = append(entries, e)
		if i == 2 {
			must(t, st.Sync())
		}
	}
	for i, e := range entries {
		killed := copyDir(t, dir)
		f := openFile(t, filepath.Join(killed, "segments"), 1)
		_, err := f.WriteAt([]byte{0xff}, e.Offset+e.Length-100)
		must(t, err)
		to := filepath.Join(quickDir(t), "repaired")
		report, err := store.Repair(context.Background(), killed, &store.RepairOptions{To: to})
		must(t, err)
		want := contents{"x": {tensor: stamped(uint64(i-1), 50)}}
		if i <= 2 {
			want["x"] = stored{tensor: stamped(5, 50)} // the damaged one is durable, and later ones are there
		}
		if i > 2 {
			opened := open(t, killed, nil)
			must(t, compare(opened, want))
			closeStore(t, opened)
		}
		if err := compare(open(t, to, nil), want); err != nil {
			t.Errorf("batch %d damaged: %v\n%+v", i, err, report)
		}
	}
}
