package powercut

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFailedWrites(t *testing.T) {
	c := Start(t, Options{})
	f := create(t, filepath.Join(c.Dir, "f"))
	g := create(t, filepath.Join(c.Dir, "g"))
	must(c.Fault(Fault{Op: "write", Glob: "f", Nth: 2, Times: 2, Err: "EIO"}))(t)
	var failed []int
	for i := range 5 {
		writeAt(t, g, []byte("x"), 0)
		if _, err := f.WriteAt([]byte{byte('0' + i)}, int64(i)); errors.Is(err, syscall.EIO) {
			failed = append(failed, i)
		} else {
			check(t, err)
		}
	}
	if len(failed) != 2 || failed[0] != 1 || failed[1] != 2 {
		t.Errorf("writes %v failed, want 1 and 2", failed)
	}
	if got := must(os.ReadFile(f.Name()))(t); string(got) != "0\x00\x0034" {
		t.Errorf("after failed writes the file is %q", got)
	}
	faults := must(c.Faults())(t)
	if len(faults) != 1 || faults[0].Seen != 5 || faults[0].Hits != 2 {
		t.Errorf("faults %+v, want 5 seen, 2 hit", faults)
	}
	check(t, c.Unfault(0))
	if left := must(c.Faults())(t); len(left) != 0 {
		t.Errorf("faults %+v are left", left)
	}

	must(c.Fault(Fault{Op: "write", Accept: 3}))(t)
	must(c.Fault(Fault{Op: "write", Nth: 2, Err: "ENOSPC"}))(t)
	if n, err := unix.Pwrite(int(f.Fd()), []byte("abcdef"), 0); n != 3 || err != nil {
		t.Errorf("short write: %d, %v, want 3", n, err)
	}
	if n, err := unix.Pwrite(int(f.Fd()), []byte("def"), 3); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the rest of it: %d, %v, want ENOSPC", n, err)
	}
	for _, bad := range []Fault{{Op: "nonsense"}, {Op: "write", Err: "EWHAT"}, {Op: "write", Glob: "["}} {
		if _, err := c.Fault(bad); err == nil {
			t.Errorf("fault %+v was accepted", bad)
		}
	}
}

func TestFailedChanges(t *testing.T) {
	c := Start(t, Options{})
	a, b := filepath.Join(c.Dir, "a"), filepath.Join(c.Dir, "b")
	check(t, os.WriteFile(a, nil, 0o644))
	must(c.Fault(Fault{Op: "rename", Err: "ENOSPC"}))(t)
	must(c.Fault(Fault{Op: "create", Err: "EACCES"}))(t)
	must(c.Fault(Fault{Op: "open", Glob: "a", Err: "EMFILE"}))(t)
	must(c.Fault(Fault{Op: "fsyncdir", Err: "EIO"}))(t)
	if err := os.Rename(a, b); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("rename: %v, want ENOSPC", err)
	}
	check(t, os.Rename(a, b))
	check(t, os.Rename(b, a))
	if err := os.WriteFile(b, nil, 0o644); !errors.Is(err, syscall.EACCES) {
		t.Errorf("create: %v, want EACCES", err)
	}
	if _, err := os.Open(a); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("open: %v, want EMFILE", err)
	}
	d := must(os.Open(c.Dir))(t)
	defer d.Close()
	if err := d.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync of the directory: %v, want EIO", err)
	}
	check(t, d.Sync())
}

func TestFailedSyncLosesSilently(t *testing.T) {
	c := Start(t, Options{})
	path := filepath.Join(c.Dir, "f")
	old, fresh := bytes.Repeat([]byte("old "), 4096), bytes.Repeat([]byte("new "), 8192)
	f := create(t, path)
	writeAt(t, f, old, 0)
	check(t, f.Sync())
	syncDir(t, c.Dir)
	must(c.Fault(Fault{Op: "fsync"}))(t)
	writeAt(t, f, fresh, 0)
	if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EIO) {
		t.Fatalf("fdatasync: %v, want EIO", err)
	}
	check(t, f.Sync()) // all looks well
	if got := must(os.ReadFile(path))(t); !bytes.Equal(got, fresh) {
		t.Error("the cache should still show the new contents")
	}
	check(t, f.Close())
	check(t, c.DropCache())
	if got := must(os.ReadFile(path))(t); !bytes.Equal(got, old) {
		t.Error("after dropping the cache the old contents should show")
	}
	st := must(os.Stat(path))(t)
	if st.Size() != int64(len(old)) {
		t.Errorf("size %d after dropping the cache, want %d", st.Size(), len(old))
	}
}

func TestFailedReads(t *testing.T) {
	c := Start(t, Options{})
	f := create(t, filepath.Join(c.Dir, "f"))
	const size, bad = 8 << 20, 4 << 20
	writeAt(t, f, bytes.Repeat([]byte("x"), size), 0)
	m := must(unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED))(t)
	defer func() { check(t, unix.Munmap(m)) }()
	if faults(func() byte { return m[bad] }) {
		t.Fatal("fault before there is a reason")
	}
	id := must(c.Fault(Fault{Op: "read", Glob: "f", Off: bad, Len: 100, Times: -1}))(t)
	buf := make([]byte, 4096)
	if _, err := f.ReadAt(buf, bad); !errors.Is(err, syscall.EIO) {
		t.Errorf("read of a bad sector: %v, want EIO", err)
	}
	must(f.ReadAt(buf, 0))(t)
	must(f.ReadAt(buf, size-4096))(t)
	if !faults(func() byte { return m[bad+50] }) {
		t.Error("a bad sector under a map gives no fault")
	}
	if faults(func() byte { return m[0] }) || faults(func() byte { return m[size-1] }) {
		t.Error("fault far from the bad sector")
	}
	check(t, c.Unfault(id))
	must(f.ReadAt(buf, bad))(t)
	if faults(func() byte { return m[bad] }) {
		t.Error("fault after the disk has healed")
	}
}

func TestFullDisk(t *testing.T) {
	c := Start(t, Options{Limit: 64 << 10})
	path := filepath.Join(c.Dir, "f")
	f := create(t, path)
	n, err := f.Write(make([]byte, 100<<10))
	if n != 64<<10 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d bytes, error %v; want 64 KiB and ENOSPC", n, err)
	}
	writeAt(t, f, []byte("overwriting needs no space"), 100)
	if _, err := f.WriteAt([]byte("x"), 64<<10); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("one more byte: %v, want ENOSPC", err)
	}
	check(t, f.Truncate(60<<10))
	writeAt(t, f, []byte("x"), 64<<10-1)
	check(t, os.Remove(path))
	check(t, os.WriteFile(path, make([]byte, 64<<10), 0o644))
	check(t, c.SetLimit(0))
	check(t, os.WriteFile(path+"2", make([]byte, 64<<10), 0o644))
	counts := must(c.Counts())(t)
	if counts.Allocated != 128<<10 {
		t.Errorf("%d bytes in use, want 128 KiB", counts.Allocated)
	}
}
