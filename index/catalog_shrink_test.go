package index

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/layout"
)

// grown returns a closed catalog that once held 5,000 entries of a log that is gone, and what is
// left in it.
func grown(t *testing.T) (path string, left contents) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "catalog.db")
	left = contents{}
	c := mustOpen(t, path)
	for i, step := range []struct {
		batch []LogEntries
		drop  []uint64
	}{
		{[]LogEntries{{1, some("a/", 5000, 1)}, {2, some("b/", 300, 2)}}, nil},
		{[]LogEntries{{3, some("c/", 20, 3)}}, []uint64{1}},
		{[]LogEntries{{3, some("c/", 10, 4)}}, nil},
	} {
		mustApply(t, c, step.batch, step.drop, position(uint64(i+1)))
		left.apply(step.batch, step.drop)
	}
	return path, left
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// checkLeft opens the catalog and compares it with what should be in it.
func checkLeft(t *testing.T, path string, left contents) *Catalog {
	t.Helper()
	c := mustOpen(t, path)
	got, err := readCatalog(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(left, got, cmpopts.EquateComparable(layout.DType{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	if p, ok := c.Position(); !ok || !cmp.Equal(p, position(3)) {
		t.Errorf("position %+v, %v", p, ok)
	}
	return c
}

// What was once in a catalog costs nothing when it is opened the next time.
func TestCloseGivesFreePagesBack(t *testing.T) {
	path, left := grown(t)
	c := mustOpenAgain(t, path)
	before := size(t, path)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	after := size(t, path)
	if before < 500<<10 || after > 128<<10 {
		t.Errorf("the database had %d bytes, now %d", before, after)
	}
	c = checkLeft(t, path, left)
	if !c.summed {
		t.Error("it was closed without a checksum")
	}
	// It goes on as any other, and is not written anew if it has no more to give.
	inode := func() os.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	was := inode()
	mustApply(t, c, []LogEntries{{3, some("c/", 5, 5)}}, nil, position(3))
	left.apply([]LogEntries{{3, some("c/", 5, 5)}}, nil)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(was, inode()) {
		t.Error("a database that is mostly in use was written anew")
	}
	checkLeft(t, path, left)
}

// mustOpenAgain opens a catalog whose process was killed.
func mustOpenAgain(t *testing.T, path string) *Catalog {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // of who has it open still
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, path)
}

// A catalog that was closed with its checksum, by a version that did not shrink it, is shrunk too;
// what an interrupted attempt has left is removed.
func TestCloseShrinksWhatWasClosedLarge(t *testing.T) {
	path, left := grown(t)
	c := mustOpenAgain(t, path)
	if err := c.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := writeSum(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+temporary, []byte("half of a copy"), 0o666); err != nil {
		t.Fatal(err)
	}
	c = checkLeft(t, path, left)
	if !c.summed || exists(path+temporary) {
		t.Errorf("summed %v, what was left is there %v", c.summed, exists(path+temporary))
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n := size(t, path); n > 128<<10 {
		t.Errorf("the database has %d bytes", n)
	}
	checkLeft(t, path, left)
}

// If the copy can't be made, the catalog is closed as it is.
func TestShrinkingFails(t *testing.T) {
	path, left := grown(t)
	c := mustOpenAgain(t, path)
	if err := os.MkdirAll(filepath.Join(path+temporary, "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := size(t, path)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n := size(t, path); n != before {
		t.Errorf("the database had %d bytes, now %d", before, n)
	}
	if c := checkLeft(t, path, left); !c.summed {
		t.Error("it was closed without a checksum")
	}
}
