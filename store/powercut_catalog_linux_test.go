package store

import (
	"fmt"
	"testing"

	"github.com/tstore/tstore/store/internal/powercut"
)

// TestPowerCutsWhileTheCatalogShrinks closes a store whose catalog has once held many names more than it does now, so
// that it is written anew and takes the place of the old one, and cuts the power at every moment of that.
func TestPowerCutsWhileTheCatalogShrinks(t *testing.T) {
	const many = 600
	disk := powercut.Start(t, powercut.Options{})
	r := newPowerRun(disk, Options{sealMin: 50, logMax: many}, 21)
	var before int
	for round := range 2 {
		if err := r.open(); err != nil {
			t.Fatal(err)
		}
		state := r.last()
		names := map[string]uint64{}
		for i := range many {
			names[fmt.Sprintf("many/%d/%03d", round, i)] = r.version()
		}
		for name, version := range names {
			state[name] = version
		}
		err := r.do(state, func() error {
			return r.s.Update(func(tx *Tx) error {
				for name, version := range names {
					if err := tx.Put(name, versionTensor(version, 8), versionAttr(version, 8)); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		r.s.catalog.write()                 // now, as it would have been in a second
		if err := r.put(1000); err != nil { // in the next log: the one before is sealed
			t.Fatal(err)
		}
		if round == 1 {
			events, err := disk.Trace()
			if err != nil {
				t.Fatal(err)
			}
			before = len(events)
		}
		if err := r.s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	events, err := disk.Trace()
	if err != nil {
		t.Fatal(err)
	}
	renamed := 0
	for _, e := range events[before:] {
		if e.Op == "rename" && e.ToName == catalogName {
			renamed++
		}
	}
	if renamed != 1 {
		t.Fatalf("while the store was closed, %d files became the catalog", renamed)
	}
	r.cutFrom(t, int64(before), max(10, powercut.Count(t, usualCuts)/20), powercutSeed(t))
}
