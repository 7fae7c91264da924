package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// smallPackage makes a package of a dense tensor and a sparse one.
func smallPackage(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	p, err := store.NewPackageWriter(&b, layout.Attr{Key: "title", Value: "small"})
	if err != nil {
		t.Fatal(err)
	}
	dense := layout.DenseOf([]float32{0, 1, 0, 0, 2, 3}, 2, 3)
	csr, err := layout.Convert(dense, layout.LayoutCSR, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Add("a", dense, layout.Attr{Key: "unit", Value: "m"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Add("b", csr); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inside runs the command in this process.
func inside(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// TestFlippedBytes flips bytes all over a package. Verify finds each, and no command does worse than to
// refuse it in one line.
func TestFlippedBytes(t *testing.T) {
	whole := smallPackage(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "p.tstore")
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(whole)
	if code, _, stderr := inside(t, "verify", path); code != exitDone {
		t.Fatalf("the package itself: exit code %d: %s", code, stderr)
	}
	commands := [][]string{
		{"ls", "-l", path},
		{"stat", path},
		{"stat", path, "a"},
		{"get", path, "a"},
		{"get", path, "b"},
		{"get", "--json", path, "b"},
		{"describe", path, "b"},
		{"plot", path, "a"},
		{"plot", path, "b"},
		{"plot", path, "b", "--kind", "heatmap"},
		{"digest", path},
		{"pack", path, filepath.Join(dir, "out.tstore")},
	}
	for i := 0; i < len(whole); i += 3 {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		write(flipped)
		code, _, stderr := inside(t, "verify", path)
		if code != exitCorrupt || strings.Count(stderr, "\n") != 1 {
			t.Errorf("byte %d: verify: exit code %d: %s", i, code, stderr)
		}
		if i%15 != 0 {
			continue
		}
		for _, c := range commands {
			switch code, _, stderr := inside(t, c...); code {
			case exitDone, exitCorrupt, exitNotFound, exitFailure:
				if (code == exitDone) == (strings.Count(stderr, "\n") == 1) {
					t.Errorf("byte %d: %v: exit code %d: %q", i, c, code, stderr)
				}
			default:
				t.Errorf("byte %d: %v: exit code %d: %s", i, c, code, stderr)
			}
		}
		if i%150 != 0 {
			continue
		}
		for _, c := range [][]string{{"unpack", path, filepath.Join(dir, "u")}, {"attach", filepath.Join(dir, "a"), path}} {
			code, _, stderr := inside(t, c...)
			_, err := os.Stat(filepath.Join(dir, map[string]string{"unpack": "u", "attach": "a"}[c[0]]))
			if (code == exitDone) != (err == nil) {
				t.Errorf("byte %d: %v: exit code %d: %s: the store: %v", i, c, code, stderr, err)
			}
			os.RemoveAll(filepath.Join(dir, "u"))
			os.RemoveAll(filepath.Join(dir, "a"))
		}
	}
}

// TestTruncatedPackages cuts a package short, everywhere.
func TestTruncatedPackages(t *testing.T) {
	whole := smallPackage(t)
	path := filepath.Join(t.TempDir(), "p.tstore")
	for n := 0; n < len(whole); n += 16 {
		if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{"verify", "ls", "stat", "digest"} {
			if code, _, stderr := inside(t, c, path); code != exitCorrupt && code != exitNotFound || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%d of %d bytes: %s: exit code %d: %s", n, len(whole), c, code, stderr)
			}
		}
	}
}

// TestPackagesWhoseRecordsShareBytes has a package whose second entry names the record of the first one:
// nothing is made of it that could be larger than it.
func TestPackagesWhoseRecordsShareBytes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p.tstore")
	var b bytes.Buffer
	p, err := store.NewPackageWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := p.Add(name, layout.DenseOf([]int32{1, 2, 3}, 3)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Close(); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	number := func(at int) int { return int(binary.LittleEndian.Uint64(whole[at:])) }
	// FORMAT.md, 9: the header of the index, its order and its entries.
	h := bytes.Index(whole, []byte("tsfrozen"))
	order, first := h+number(h+72), h+number(h+80)
	one, two := h+number(order), h+number(order+8)
	copy(whole[two+32:two+52], whole[one+32:])
	name := int(binary.LittleEndian.Uint16(whole[two+6:]))
	binary.LittleEndian.PutUint32(whole[two:], sum(whole[two+4:two+56+name]))
	binary.LittleEndian.PutUint32(whole[h+120:], sum(whole[first:first+number(h+88)]))
	binary.LittleEndian.PutUint32(whole[h+252:], sum(whole[h:h+252]))
	index := number(len(whole) - 64 + 44)
	end := index + number(len(whole)-64+52) - 4
	binary.LittleEndian.PutUint32(whole[end:], sum(whole[index:end]))
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := inside(t, "get", path, "b"); code != exitDone || !strings.Contains(stdout, "[1 2 3]") {
		t.Fatalf("the package is not what it should be: %d: %s%s", code, stdout, stderr)
	}
	for _, args := range [][]string{
		{"verify", path}, {"verify", "--quick", path},
		{"unpack", path, filepath.Join(dir, "s")},
		{"attach", filepath.Join(dir, "s"), path},
		{"pack", path, filepath.Join(dir, "q.tstore")},
		{"pack", path, "-"},
		{"export", path, filepath.Join(dir, "files")},
		{"export", path, filepath.Join(dir, "files.npz")},
	} {
		if code, _, stderr := inside(t, args...); code != exitCorrupt || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	if left := filesBelow(t, dir); len(left) != 1 {
		t.Errorf("there are now %v", left)
	}
}

// filesBelow lists the files in a directory, which may be missing.
func filesBelow(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files := map[string]bool{}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files[name] = true
		}
		return nil
	})
	return files
}
