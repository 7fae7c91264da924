package store

import (
	"strings"
	"testing"

	"github.com/tstore/tstore/store/internal/powercut"
)

// TestKilledBeforeNamesAreDurable kills the process while the directories of a store are being made, and whenever a
// segment has got its name but the directory was not synced yet. Who opens the store next finds these names and relies
// on them: so it has to sync them, or a power cut takes away with them what it has acknowledged.
func TestKilledBeforeNamesAreDurable(t *testing.T) {
	o := Options{SegmentSize: MinSegmentSize, logMax: 4}
	counting := powercut.Start(t, powercut.Options{})
	if err := newKillRun(t, counting, o, false).work(faultWork); err != nil {
		t.Fatal(err)
	}
	events, err := counting.Trace()
	if err != nil {
		t.Fatal(err)
	}
	const creating = 9 // operations until the first log is there
	operations, renames := int64(0), 0
	for _, e := range events {
		if e.Op == "mark" || e.Op == "synced" {
			continue
		}
		operations++
		rename := e.Op == "rename" && strings.HasSuffix(e.ToName, ".seg")
		if rename {
			renames++
		}
		if operations < creating || rename && renames <= 6 {
			killOne(t, o, false, operations+1)
		}
	}
	if renames < 4 {
		t.Errorf("%d segments were made, too few to mean anything", renames)
	}
}
