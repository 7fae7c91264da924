package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tstore/tstore/layout"
)

// everything reads all tensors of what is at path.
func everything(t *testing.T, path string) map[string]layout.Tensor {
	t.Helper()
	s, err := Open(path, &Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := map[string]layout.Tensor{}
	for e, err := range s.List("") {
		if err != nil {
			t.Fatal(err)
		}
		if got[e.Name], err = s.Get(e.Name); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// Whatever byte is damaged, repair keeps every tensor that the byte is not part of,
// unchanged, and says what became of the others. The damaged files stay as they are.
func TestRepairKeepsAllButTheDamaged(t *testing.T) {
	dir, pkg := smallStore(t)
	want := map[string]map[string]layout.Tensor{dir: everything(t, dir), pkg: everything(t, pkg)}
	files, err := filepath.Glob(filepath.Join(dir, segmentsName, "*"))
	if err != nil {
		t.Fatal(err)
	}
	repaired, lost := 0, 0
	for _, file := range append(files, pkg) {
		path := dir
		if file == pkg {
			path = pkg
		}
		sound, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		step := max(len(sound)/15, 1)
		for i := repaired % step; i < len(sound); i += step {
			bad := append([]byte(nil), sound...)
			bad[i] ^= 0x10
			if err := os.WriteFile(file, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "r")
			report, err := Repair(context.Background(), path, &RepairOptions{To: to})
			if err != nil {
				t.Fatalf("%s, byte %d: %v", filepath.Base(file), i, err)
			}
			got := everything(t, to)
			named := map[string]bool{}
			for _, l := range report.Lost {
				named[l.Name] = true
			}
			for name, x := range want[path] {
				switch y := got[name]; {
				case y == nil && !named[name] && !lostSegment(report):
					t.Errorf("%s, byte %d: %q is gone, and nothing is said of it: %+v", filepath.Base(file), i, name, report)
				case y == nil:
					lost++
				case !layout.Equal(x, y):
					t.Errorf("%s, byte %d: %q is another tensor", filepath.Base(file), i, name)
				}
			}
			if missing := len(want[path]) - len(got); missing > 8 {
				t.Errorf("%s, byte %d: %d tensors are missing: %+v", filepath.Base(file), i, missing, report)
			}
			for name := range got {
				if want[path][name] == nil {
					t.Errorf("%s, byte %d: %q was not there before", filepath.Base(file), i, name)
				}
			}
			if report.Kept != len(got) {
				t.Errorf("%s, byte %d: says %d were kept, there are %d", filepath.Base(file), i, report.Kept, len(got))
			}
			if after, err := os.ReadFile(file); err != nil || !slices.Equal(after, bad) {
				t.Errorf("%s, byte %d: the damaged file was changed", filepath.Base(file), i)
			}
			repaired++
		}
		if err := os.WriteFile(file, sound, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("repaired %d times, %d tensors were set aside in all", repaired, lost)
	if repaired < 80 || lost == 0 {
		t.Error("too little was damaged for this to mean anything")
	}
}

// lostSegment reports whether the report says that a whole segment, or which ones
// count, could not be read.
func lostSegment(r RepairReport) bool {
	for _, n := range r.Notes {
		if len(n) > 0 {
			return true
		}
	}
	return false
}

func TestRepairInPlace(t *testing.T) {
	dir, pkg := smallStore(t)
	for _, path := range []string{dir, pkg} {
		want := everything(t, path)
		report, err := Repair(context.Background(), path, &RepairOptions{InPlace: true})
		if err != nil {
			t.Fatal(err)
		}
		if report.Kept != len(want) || len(report.Lost) > 0 || report.Result != path {
			t.Errorf("%s is sound, repairing it did %+v", path, report)
		}
		for name, x := range everything(t, path) {
			if !layout.Equal(x, want[name]) {
				t.Errorf("%s: %q is another tensor", path, name)
			}
		}
		if _, err := os.Stat(report.Old); err != nil {
			t.Errorf("the old one is not kept: %v", err)
		}
	}
}

// A log that has lost its end, which opening refuses, is accepted.
func TestRepairAcceptsAShorterLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := s.Put(fmt.Sprint("n", i), layout.DenseOf([]int64{int64(i)}, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, segmentsName, "0000000001.seg")
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, info.Size()/2&^63); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("opening a store whose log has lost half: %v", err)
	}
	to := filepath.Join(t.TempDir(), "r")
	report, err := Repair(context.Background(), dir, &RepairOptions{To: to})
	if err != nil || report.Kept < 3 || report.Kept > 6 {
		t.Errorf("%+v, %v", report, err)
	}
}
