package powercut

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// must passes a value through that comes without an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string, flags int) *os.File {
	t.Helper()
	f := must(os.OpenFile(path, flags, 0o644))(t)
	t.Cleanup(func() { f.Close() }) // most were closed before, or are dead
	return f
}

func create(t testing.TB, path string) *os.File {
	t.Helper()
	return open(t, path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func writeAt(t testing.TB, f *os.File, data []byte, off int64) {
	t.Helper()
	must(f.WriteAt(data, off))(t)
}

func syncDir(t testing.TB, dir string) {
	t.Helper()
	d := must(os.Open(dir))(t)
	check(t, d.Sync())
	check(t, d.Close())
}

// tree lists a directory: names, sizes of files.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel := path[len(dir)+1:]
		if d.IsDir() {
			seen[rel] = "directory"
			return nil
		}
		data, err := os.ReadFile(path)
		if len(data) > 40 {
			data = data[:40]
		}
		seen[rel] = string(data)
		return err
	}))
	return seen
}

func wantTree(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	got := tree(t, dir)
	if len(got) != len(want) {
		t.Errorf("%s holds %q, want %q", dir, got, want)
		return
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s holds %q, want %q", dir, got, want)
		}
	}
}

func TestFileSystem(t *testing.T) {
	c := Start(t, Options{})
	path := func(name string) string { return filepath.Join(c.Dir, name) }

	f := create(t, path("a"))
	writeAt(t, f, []byte("hello"), 0)
	if _, err := os.OpenFile(path("a"), os.O_CREATE|os.O_EXCL, 0o644); !errors.Is(err, fs.ErrExist) {
		t.Errorf("exclusive creation of what is there: %v", err)
	}
	check(t, os.Mkdir(path("d"), 0o755))
	check(t, os.WriteFile(path("d/b"), []byte("b"), 0o600))
	check(t, os.Link(path("a"), path("d/hard")))
	check(t, os.Rename(path("d/b"), path("d/c")))
	wantTree(t, c.Dir, map[string]string{"a": "hello", "d": "directory", "d/c": "b", "d/hard": "hello"})
	check(t, os.Rename(path("d/c"), path("a"))) // over what is there
	wantTree(t, c.Dir, map[string]string{"a": "b", "d": "directory", "d/hard": "hello"})
	if err := os.Remove(path("d")); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("removal of a directory that is not empty: %v", err)
	}
	if err := unix.Renameat2(unix.AT_FDCWD, path("a"), unix.AT_FDCWD, path("d/hard"), unix.RENAME_NOREPLACE); !errors.Is(err, unix.EEXIST) {
		t.Errorf("rename that may not replace: %v", err)
	}
	if err := os.Rename(path("d"), path("d/e")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("rename of a directory into itself: %v", err)
	}
	if _, err := os.Stat(path("missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}

	// An open file outlives its name.
	check(t, os.Remove(path("d/hard")))
	got := make([]byte, 5)
	must(f.ReadAt(got, 0))(t)
	if string(got) != "hello" {
		t.Errorf("unlinked file reads %q", got)
	}

	// Appending, truncating, extending.
	check(t, os.WriteFile(path("a"), []byte("0123456789"), 0o644))
	a := open(t, path("a"), os.O_WRONLY|os.O_APPEND)
	must(a.WriteString("ab"))(t)
	check(t, a.Truncate(4))
	must(a.WriteString("c"))(t)
	check(t, a.Truncate(8))
	if got := must(os.ReadFile(path("a")))(t); string(got) != "0123c\x00\x00\x00" {
		t.Errorf("after appends and truncations: %q", got)
	}
	if err := unix.Fallocate(int(a.Fd()), 0, 0, 20); err != nil {
		t.Errorf("fallocate: %v", err)
	}
	if err := unix.Fallocate(int(a.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 1, 2); err != nil {
		t.Errorf("punch a hole: %v", err)
	}
	if got := must(os.ReadFile(path("a")))(t); string(got) != "0\x00\x003c"+strings.Repeat("\x00", 15) {
		t.Errorf("after fallocate: %q", got)
	}

	// Many names, listed over several requests.
	check(t, os.Mkdir(path("many"), 0o755))
	var want []string
	for i := range 1000 {
		name := strings.Repeat("x", 20) + string(rune('a'+i%26)) + time.Duration(i).String()
		check(t, os.WriteFile(path("many/"+name), nil, 0o644))
		want = append(want, name)
	}
	slices.Sort(want)
	var names []string
	for _, e := range must(os.ReadDir(path("many")))(t) {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("%d names listed, want %d", len(names), len(want))
	}
	check(t, os.RemoveAll(path("many")))

	var st unix.Statfs_t
	check(t, unix.Statfs(c.Dir, &st))
	if st.Bavail == 0 || st.Bsize != 4096 {
		t.Errorf("statfs: %+v", st)
	}
}

func TestLocks(t *testing.T) {
	c := Start(t, Options{})
	a := create(t, filepath.Join(c.Dir, "lock"))
	b := open(t, filepath.Join(c.Dir, "lock"), os.O_RDWR)
	check(t, unix.Flock(int(a.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	if err := unix.Flock(int(b.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("second flock: %v, want that it would block", err)
	}
	check(t, a.Close())
	check(t, unix.Flock(int(b.Fd()), unix.LOCK_EX|unix.LOCK_NB))
}

func TestMaps(t *testing.T) {
	c := Start(t, Options{})
	f := create(t, filepath.Join(c.Dir, "f"))
	writeAt(t, f, bytes.Repeat([]byte("a"), 10000), 0)
	const length = 1 << 20
	m := must(unix.Mmap(int(f.Fd()), 0, length, unix.PROT_READ, unix.MAP_SHARED))(t)
	defer func() { check(t, unix.Munmap(m)) }()
	if m[0] != 'a' || m[9999] != 'a' || m[10000] != 0 {
		t.Error("the map does not show the file")
	}
	// The file grows under a map that is longer than it, and changes.
	writeAt(t, f, bytes.Repeat([]byte("b"), 500_000), 100_000)
	writeAt(t, f, []byte("c"), 5000)
	if m[100_000] != 'b' || m[599_999] != 'b' || m[5000] != 'c' || m[50_000] != 0 {
		t.Error("the map does not show later writes")
	}
	if !faults(func() byte { return m[length-1] }) {
		t.Error("reading the map behind the end of the file gives no fault")
	}
}

// faults tells whether reading memory gives a fault.
func faults(read func() byte) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	sink = read()
	return false
}

var sink byte

func TestImagesHoldWhatWasSynced(t *testing.T) {
	c := Start(t, Options{})
	check(t, os.Mkdir(filepath.Join(c.Dir, "d"), 0o755))
	syncDir(t, c.Dir)
	f := create(t, filepath.Join(c.Dir, "d/f"))
	writeAt(t, f, []byte("synced"), 0)
	check(t, unix.Fdatasync(int(f.Fd())))
	syncDir(t, filepath.Join(c.Dir, "d"))
	at := must(c.Mark("done"))(t)
	writeAt(t, f, []byte("SYNCED, not"), 0)
	check(t, os.WriteFile(filepath.Join(c.Dir, "d/g"), nil, 0o644))

	seen := map[string]bool{}
	for seed := range uint64(100) {
		dir := filepath.Join(TempDir(t), "image")
		must(c.Image(Cut{At: at, Seed: seed}, dir))(t)
		wantTree(t, dir, map[string]string{"d": "directory", "d/f": "synced"})

		dir = filepath.Join(TempDir(t), "image")
		must(c.Image(Cut{At: -1, Seed: seed}, dir))(t)
		got := tree(t, dir)
		switch got["d/f"] {
		case "synced", "SYNCED, not", "SYNCED", "synced\x00\x00\x00\x00\x00":
			seen[got["d/f"]] = true
		default:
			t.Fatalf("seed %d: %q", seed, got)
		}
		if _, ok := got["d/g"]; ok {
			seen["g"] = true
		}
	}
	if len(seen) != 5 {
		t.Errorf("outcomes seen: %v, want all four contents and the unsynced file", seen)
	}
	if _, err := c.Image(Cut{At: 1 << 40}, filepath.Join(TempDir(t), "image")); err == nil {
		t.Error("made an image of the future")
	}
}

func TestTraceOrder(t *testing.T) {
	c := Start(t, Options{SyncDelay: 2 * time.Millisecond})
	f := create(t, filepath.Join(c.Dir, "f"))
	for _, step := range []string{"one", "two", "three"} {
		writeAt(t, f, []byte(step), 0)
		check(t, unix.Fdatasync(int(f.Fd())))
		must(c.Mark(step))(t)
	}
	var got []string
	for i, e := range must(c.Trace())(t) {
		if e.Seq != int64(i) {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
		got = append(got, e.Op+e.Text)
	}
	want := []string{"create", "write", "sync", "synced", "markone", "write", "sync", "synced", "marktwo", "write", "sync", "synced", "markthree"}
	if !slices.Equal(got, want) {
		t.Errorf("trace %q, want %q", got, want)
	}
	// The saved trace is replayed by the program alone.
	saved := filepath.Join(t.TempDir(), "trace")
	check(t, c.SaveTrace(saved))
	if st := must(os.Stat(saved))(t); st.Size() < 100 {
		t.Errorf("trace of %d bytes", st.Size())
	}
	counts := must(c.Counts())(t)
	if counts.Writes != 3 || counts.Fdatasyncs != 3 || counts.Changes != 1 || counts.Ops != int64(len(want)) || counts.WriteBytes != 11 {
		t.Errorf("counts %+v", counts)
	}
}

func TestOSyncWrites(t *testing.T) {
	c := Start(t, Options{})
	f := open(t, filepath.Join(c.Dir, "f"), os.O_RDWR|os.O_CREATE|unix.O_DSYNC)
	syncDir(t, c.Dir)
	writeAt(t, f, []byte("abc"), 0)
	for seed := range uint64(20) {
		dir := filepath.Join(TempDir(t), "image")
		must(c.Image(Cut{At: -1, Seed: seed}, dir))(t)
		wantTree(t, dir, map[string]string{"f": "abc"})
	}
}

func TestLiveCut(t *testing.T) {
	c := Start(t, Options{})
	path := func(name string) string { return filepath.Join(c.Dir, name) }
	check(t, os.Mkdir(path("d"), 0o755))
	f := create(t, path("d/f"))
	writeAt(t, f, bytes.Repeat([]byte("old "), 2048), 0)
	check(t, f.Sync())
	syncDir(t, path("d"))
	syncDir(t, c.Dir)
	writeAt(t, f, bytes.Repeat([]byte("new "), 2048), 0)
	create(t, path("d/g"))
	must(os.ReadFile(path("d/f")))(t) // into the kernel's cache
	root := must(os.Open(c.Dir))(t)
	defer root.Close()

	check(t, c.Cut(1, Policy{Blocks: "drop", Entries: "drop", Sizes: "old", Tear: -1}))
	buf := make([]byte, 4)
	if _, err := f.ReadAt(buf, 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("reading an old handle: %q, %v, want EIO", buf, err)
	}
	if _, err := f.WriteAt(buf, 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("writing an old handle: %v, want EIO", err)
	}
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("syncing an old handle: %v, want EIO", err)
	}
	if _, err := f.Stat(); !errors.Is(err, syscall.EIO) {
		t.Errorf("stat of an old handle: %v, want EIO", err)
	}
	if err := root.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("syncing an old handle of the root: %v, want EIO", err)
	}
	wantTree(t, c.Dir, map[string]string{"d": "directory", "d/f": strings.Repeat("old ", 10)})

	// It goes on, and can be cut again.
	check(t, os.Rename(path("d/f"), path("d/h")))
	check(t, c.Cut(1, Policy{Entries: "keep"}))
	wantTree(t, c.Dir, map[string]string{"d": "directory", "d/h": strings.Repeat("old ", 10)})
	dir := filepath.Join(TempDir(t), "image")
	must(c.Image(Cut{At: -1}, dir))(t)
	wantTree(t, dir, map[string]string{"d": "directory", "d/h": strings.Repeat("old ", 10)})
}

func TestStartFromDirectory(t *testing.T) {
	from := t.TempDir()
	check(t, os.WriteFile(filepath.Join(from, "f"), []byte("there"), 0o644))
	c := Start(t, Options{From: from})
	wantTree(t, c.Dir, map[string]string{"f": "there"})
	check(t, os.Remove(filepath.Join(c.Dir, "f")))
	dir := filepath.Join(TempDir(t), "image")
	must(c.Image(Cut{At: -1, Policy: Policy{Entries: "drop"}}, dir))(t)
	wantTree(t, dir, map[string]string{"f": "there"})
}
