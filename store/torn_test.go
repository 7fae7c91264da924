package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/store/internal/segment"
)

// TestTornTailStays opens a store for writing whose log ends in a batch that is torn and
// one that is whole. Neither counts, and neither must ever again: the writer leaves the
// bytes as they are, goes on in a new log, and says there how much of the old one
// counts. What it writes lies nowhere near them.
func TestTornTailStays(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, &store.Options{Sync: store.SyncNever})
	must(t, st.Put("kept", stamped(1, 10)))
	must(t, st.Sync())
	must(t, st.Put("torn", stamped(2, 100)))
	torn, err := st.Stat("torn")
	must(t, err)
	must(t, st.Put("whole", stamped(3, 10)))
	must(t, st.Delete("kept"))

	killed := copyDir(t, dir)
	path := filepath.Join(killed, "segments", segment.FileName(1))
	f := openFile(t, filepath.Join(killed, "segments"), 1)
	_, err = f.WriteAt([]byte{0xff}, torn.Offset+torn.Length-64)
	must(t, err)
	before, err := os.ReadFile(path)
	must(t, err)

	want := contents{"kept": {tensor: stamped(1, 10)}}
	for round := range 3 { // as large as what is torn, so that they would meet its end
		st := open(t, killed, nil)
		must(t, compare(st, want))
		want["later"] = stored{tensor: stamped(uint64(10+round), 100)}
		must(t, st.Put("later", want["later"].tensor))
		crashed := copyDir(t, killed)
		must(t, compare(open(t, crashed, nil), want))
		closeStore(t, st)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if n := torn.Offset + torn.Length; !bytes.Equal(before[:n], after[:n]) {
		t.Errorf("the bytes up to the end of the torn batch, at %d, are not as they were", n)
	}
	if n := len(segmentFiles(t, killed)); n < 2 {
		t.Errorf("there are %d segments: no new log was begun", n)
	}
	if valid, ok := liveLogs(t, killed)[path]; !ok || valid > torn.Offset {
		t.Errorf("of the old log %d bytes count (%v), the torn record lies at %d", valid, ok, torn.Offset)
	}
}
