package volume

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/tstore/tstore/store/powercut/disk"
)

func newVolume(t *testing.T, c Config) *Volume {
	t.Helper()
	v, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func ok(t *testing.T, errno syscall.Errno) {
	t.Helper()
	if errno != 0 {
		t.Fatal(errno)
	}
}

func TestErrors(t *testing.T) {
	v := newVolume(t, Config{})
	root := v.Root()
	d, errno := v.Create(root, "d", syscall.S_IFDIR|0o755)
	ok(t, errno)
	f, errno := v.Create(root, "f", 0o644)
	ok(t, errno)
	gone, errno := v.Create(root, "gone", syscall.S_IFDIR|0o755)
	ok(t, errno)
	ok(t, v.Rmdir(root, "gone"))
	_, errno = v.Create(d.Node, "x", 0o644)
	ok(t, errno)
	long := string(make([]byte, 256))
	created := func(dir Node, name string) syscall.Errno { _, errno := v.Create(dir, name, 0); return errno }
	linked := func(file, dir Node, name string) syscall.Errno { _, errno := v.Link(file, dir, name); return errno }
	wrote := func(off int64) syscall.Errno { _, errno := v.Write(f.Node, []byte("x"), off); return errno }
	for _, tt := range []struct {
		what string
		got  syscall.Errno
		want syscall.Errno
	}{
		{"create what is there", created(root, "f"), syscall.EEXIST},
		{"create in what was removed", created(gone.Node, "f"), syscall.ENOENT},
		{"long name", created(root, long), syscall.ENAMETOOLONG},
		{"name that is not UTF-8", created(root, "\xff"), syscall.EILSEQ},
		{"node that never was", created(Node{0, 99}, "y"), syscall.ESTALE},
		{"node of another epoch", created(Node{7, disk.RootIno}, "y"), syscall.EIO},
		{"link a directory", linked(d.Node, root, "y"), syscall.EPERM},
		{"link over what is there", linked(f.Node, root, "d"), syscall.EEXIST},
		{"link into what was removed", linked(f.Node, gone.Node, "y"), syscall.ENOENT},
		{"unlink nothing", v.Unlink(root, "y"), syscall.ENOENT},
		{"unlink a directory", v.Unlink(root, "d"), syscall.EISDIR},
		{"rmdir a file", v.Rmdir(root, "f"), syscall.ENOTDIR},
		{"rmdir what holds something", v.Rmdir(root, "d"), syscall.ENOTEMPTY},
		{"rename nothing", v.Rename(root, "y", root, "z", 0), syscall.ENOENT},
		{"rename a file over a directory", v.Rename(root, "f", root, "d", 0), syscall.EISDIR},
		{"rename a directory over a file", v.Rename(root, "d", root, "f", 0), syscall.ENOTDIR},
		{"rename a directory into itself", v.Rename(root, "d", d.Node, "e", 0), syscall.EINVAL},
		{"rename into what was removed", v.Rename(root, "f", gone.Node, "e", 0), syscall.ENOENT},
		{"exchange", v.Rename(root, "f", root, "d", 2), syscall.EINVAL},
		{"no replacement", v.Rename(d.Node, "x", root, "f", 1), syscall.EEXIST},
		{"rename to itself", v.Rename(root, "f", root, "f", 0), 0},
		{"truncate a directory", v.Truncate(d.Node, 0), syscall.EISDIR},
		{"truncate to less than nothing", v.Truncate(f.Node, -1), syscall.EINVAL},
		{"a file that is too large", v.Truncate(f.Node, 1<<60), syscall.EFBIG},
		{"a write too far out", wrote(1 << 60), syscall.EFBIG},
		{"a write before the start", wrote(-1), syscall.EFBIG},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	// What was refused is not in the trace: it replays.
	if _, err := disk.NewReplay(disk.Options{}).At(v.Ops(), uint64(len(v.Ops()))); err != nil {
		t.Error(err)
	}
}

func TestCutKillsNodes(t *testing.T) {
	v := newVolume(t, Config{})
	f, errno := v.Create(v.Root(), "f", 0o644)
	ok(t, errno)
	ok(t, v.Sync(v.Root(), false))
	dead, names, err := v.Cut(1, disk.Policy{})
	if err != nil || len(dead) != 2 || len(names) != 1 {
		t.Fatalf("cut: %v, %v, %v", dead, names, err)
	}
	if _, _, err := v.Cut(1, disk.Policy{Sizes: "nonsense"}); err == nil {
		t.Error("took a policy that there is not")
	}
	if errno := v.Sync(f.Node, false); errno != syscall.EIO {
		t.Errorf("sync of a dead node: %v", errno)
	}
	again, errno := v.Lookup(v.Root(), "f")
	ok(t, errno)
	if again.Node == f.Node || again.Ino != f.Ino {
		t.Errorf("after the cut %+v, before %+v: want the same inode under a new node", again, f)
	}
}

// TestConcurrentRun has writers, syncs, marks and images at the same time; the trace must replay to what the volume holds.
func TestConcurrentRun(t *testing.T) {
	v := newVolume(t, Config{SyncDelay: 100})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			name := string(rune('a' + i))
			f, errno := v.Create(v.Root(), name, 0o644)
			if errno != 0 {
				t.Error(errno)
				return
			}
			for j := range 50 {
				if _, errno := v.Write(f.Node, []byte{byte(j)}, int64(j*1000)); errno != 0 {
					t.Error(errno)
				}
				if errno := v.Sync(f.Node, true); errno != 0 {
					t.Error(errno)
				}
				v.Mark(name)
			}
		})
	}
	parent := t.TempDir()
	for i := range 10 {
		if _, err := v.Image(-1, uint64(i), disk.Policy{}, disk.Options{}, filepath.Join(parent, string(rune('0'+i)))); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	ok(t, v.Sync(v.Root(), false))
	out := filepath.Join(parent, "last")
	if _, err := v.Image(-1, 1, disk.Policy{}, disk.Options{}, out); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		data, err := os.ReadFile(filepath.Join(out, string(rune('a'+i))))
		if err != nil || len(data) != 49_001 || data[49_000] != 49 {
			t.Errorf("file %d after a cut with everything synced: %d bytes, %v", i, len(data), err)
		}
	}
	if c := v.Counts(); c.Writes != 200 || c.Fdatasyncs != 200 || c.DirSyncs != 1 || c.Ops != int64(len(v.Ops())) {
		t.Errorf("counts %+v", c)
	}
}
