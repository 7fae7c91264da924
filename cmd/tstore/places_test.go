package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Names of files that can't be made everywhere, or lead out of the directory, are refused.
func TestPathsThatAreRefused(t *testing.T) {
	for _, file := range []string{
		"", "/etc/passwd", "..", "../x.npy", "a/../../x.npy", "a/..", "./x.npy", "a//b.npy", "a/", ".hidden.npy", "a/.git/x.npy",
		`..\x.npy`, `a\b.npy`, "C:x.npy", `\\server\share`, "a:stream.npy", "a*.npy", "a?.npy", `"a".npy`, "<a>.npy", "a|b.npy",
		"aux.npy", "AUX", "a/nul.npy", "Con.tar.npy", "com1.npy", "LPT9.npy", "com¹.npy", "conin$.npy", "prn .npy",
		"a./x.npy", "a /x.npy", "x.npy.", strings.Repeat("x", 256),
	} {
		if err := newPlaces().add(file, "tensor"); err == nil {
			t.Errorf("%q is taken", file)
		} else if strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%q: error has more than one line: %v", file, err)
		}
	}
	for _, file := range []string{
		"x.npy", "a/b/c.npy", "auxiliary.npy", "com.npy", "com10.npy", "comA.npy", "lpt.npy", "console.npy", "größe/名前.npy", "a b.npy",
		"x..y.npy", "layer.0.weight.npy", strings.Repeat("x", 255),
	} {
		if err := newPlaces().add(file, "tensor"); err != nil {
			t.Errorf("%q is refused: %v", file, err)
		}
	}
}

// Files that would be one and the same on some system, or a file and a directory, are refused.
func TestPathsThatClash(t *testing.T) {
	for _, c := range []struct {
		first, second string
		reason        string
	}{
		{"a.npy", "A.npy", `where "1" would have "a.npy"`},
		{"a/x.npy", "A/y.npy", "the same where case does not count"},
		{"größe.npy", "GRÖSSE.npy", ""},
		{"GRÖßE.npy", "größe.npy", "would have"},
		{"K.npy", "k.npy", "would have"}, // the sign for kelvin
		{"a.npy", "a.npy/b.npy", "would have"},
		{"a.npy/b.npy", "A.npy", "would have"},
	} {
		p := newPlaces()
		if err := p.add(c.first, "1"); err != nil {
			t.Fatal(err)
		}
		err := p.add(c.second, "2")
		if c.reason == "" && err != nil || c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)) {
			t.Errorf("%q, %q: error %v, want one that says %q", c.first, c.second, err, c.reason)
		}
	}
	p := newPlaces()
	for _, file := range []string{"a/x.npy", "a/y.npy", "a/b/x.npy", "b.npy"} {
		if err := p.add(file, file); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// Whatever tensors are called, an export makes no file outside of its directory, and says which name is to
// blame.
func TestExportLeadsNowhere(t *testing.T) {
	dir := t.TempDir()
	s := filepath.Join(dir, "s")
	st, err := store.Open(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := []string{"../out", "/tmp/tstore-absolute", "a/../../out", `..\out`, "aux", "a//b", "..", "x/./y", "c:/out"}
	for _, name := range bad {
		if err := st.Put("bad/"+name, layout.DenseOf([]int8{1}, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range bad {
		out := filepath.Join(inner, "out")
		code, _, stderr := inside(t, "export", s, out, "bad/"+name, "--strip", "bad/")
		if code != exitUsage || !strings.Contains(stderr, "--map gives it another name") {
			t.Errorf("%q: exit code %d: %s", name, code, stderr)
		}
		if files, err := os.ReadDir(inner); err != nil || len(files) > 0 {
			t.Errorf("%q: there is %v, %v", name, files, err)
		}
	}
	// In one file, they are only names; an archive has those that can be files.
	if code, _, stderr := inside(t, "export", s, filepath.Join(dir, "all.safetensors"), "--strip", "bad/"); code != exitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := inside(t, "export", s, filepath.Join(dir, "all.npz"), "--strip", "bad/"); code == exitDone {
		t.Errorf("an archive was made: %s", stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "all.npz")); err == nil {
		t.Error("something is left of the archive")
	}
	if code, _, stderr := inside(t, "import", filepath.Join(dir, "t"), filepath.Join(dir, "all.safetensors")); code != exitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
