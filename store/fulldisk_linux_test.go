package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tstore/tstore/store"
)

// smallDisk mounts a file system of size bytes in memory.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	must(t, os.Mkdir(dir, 0o777))
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skipf("mounting a small file system is not permitted here: %v; run as root", err)
	}
	must(t, err)
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting: %v", err)
			unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
	return dir
}

// fillUp puts tensors of n elements until one fails, which want has to say why, and
// returns what is there.
func fillUp(t *testing.T, st *store.Store, n int, want error) contents {
	t.Helper()
	c := contents{}
	for i := range 100_000 {
		name := fmt.Sprintf("fill%05d", i)
		err := st.Put(name, stamped(uint64(i), n))
		if err != nil {
			wantError(t, err, want, st.Path())
			if errors.Is(err, store.ErrOutcomeUnknown) {
				t.Errorf("%v: nothing is unknown here", err)
			}
			return c
		}
		c[name] = stored{tensor: stamped(uint64(i), n)}
	}
	t.Fatal("the disk never gets full")
	return nil
}

// TestFullFileSystem fills a real file system, with tensors of several sizes and logs that
// are rotated often or never.
func TestFullFileSystem(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int // elements
		opts *store.Options
	}{
		{"small tensors", 100, &store.Options{}},
		{"large tensors", 20_000, &store.Options{}},
		{"segments of their own", 40_000, &store.Options{SegmentSize: 256 << 10}},
		{"many logs", 300, &tiny},
		{"many logs, sealed", 1, store.WithSealing(tiny, 10, 100)},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := smallDisk(t, 3<<20)
			ballast := filepath.Join(disk, "ballast")
			must(t, os.WriteFile(ballast, make([]byte, 1<<20), 0o666))
			dir := filepath.Join(disk, "s")
			st := open(t, dir, c.opts)
			want := fillUp(t, st, c.n, syscall.ENOSPC)
			must(t, compare(st, want))

			// It stays so, and nothing that is there suffers.
			for range 3 {
				wantError(t, st.Put("more", stamped(1, c.n)), syscall.ENOSPC)
				err := st.Update(func(tx *store.Tx) error {
					for i := range 10 {
						if err := tx.Put(fmt.Sprint("more", i), stamped(1, max(c.n, 1000))); err != nil {
							return err
						}
					}
					return nil
				})
				wantError(t, err, syscall.ENOSPC)
			}
			must(t, compare(st, want))
			must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))

			// What only takes away works.
			names := slices.Sorted(maps.Keys(want))
			for _, name := range names[:min(len(names)/2, 40)] {
				must(t, st.Delete(name))
				delete(want, name)
			}
			must(t, st.Update(func(tx *store.Tx) error {
				for name := range want {
					return tx.Rename(name, name) // nothing
				}
				return nil
			}))
			must(t, compare(st, want))

			// So does going away and coming back.
			closeStore(t, st)
			must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
			st = open(t, dir, c.opts)
			must(t, compare(st, want))
			name := names[len(names)-1]
			must(t, st.Delete(name))
			delete(want, name)
			must(t, compare(st, want))

			// And with room there is everything again.
			must(t, os.Remove(ballast))
			for i := range 3 {
				x := stamped(uint64(i), c.n)
				must(t, st.Put("again", x))
				want["again"] = stored{tensor: x}
			}
			// Compacting may need more room than that, but does no harm.
			if _, err := st.Compact(context.Background(), nil); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("compacting with some room: %v", err)
			}
			must(t, compare(st, want))
			closeStore(t, st)
			must(t, compare(open(t, dir, c.opts), want))
		})
	}
}

// TestCompactOnFullDisk fills a disk with tensors of which every second one and, after that,
// all of another kind are deleted: the space of what is wholly dead is what the rest needs.
func TestCompactOnFullDisk(t *testing.T) {
	fill := func(t *testing.T, size int) (st *store.Store, ballast string) {
		disk := smallDisk(t, size)
		ballast = filepath.Join(disk, "ballast")
		st = open(t, filepath.Join(disk, "s"), &store.Options{SegmentSize: 1 << 20})
		for _, kind := range []string{"mixed", "dead"} {
			for i := range 16 {
				must(t, st.Put(fmt.Sprintf("%s%02d", kind, i), stamped(uint64(i), 25_000))) // 200 KB
			}
		}
		f, err := os.Create(ballast)
		must(t, err)
		for piece := make([]byte, 4096); err == nil; {
			_, err = f.Write(piece)
		}
		wantError(t, err, syscall.ENOSPC)
		must(t, f.Close())
		return st, ballast
	}
	halve := func(st *store.Store) contents {
		want := contents{}
		for i := range 16 {
			name := fmt.Sprintf("mixed%02d", i)
			if i%2 == 0 {
				must(t, st.Delete(name))
			} else {
				want[name] = stored{tensor: stamped(uint64(i), 25_000)}
			}
		}
		return want
	}

	t.Run("the dead make room", func(t *testing.T) {
		st, _ := fill(t, 9<<20)
		want := halve(st)
		for i := range 16 {
			must(t, st.Delete(fmt.Sprintf("dead%02d", i)))
		}
		result, err := st.Compact(context.Background(), nil)
		must(t, err)
		if result.Before-result.After < 3<<20 {
			t.Errorf("it has done %+v", result)
		}
		must(t, compare(st, want))
		closeStore(t, st)
		must(t, compare(open(t, st.Path(), nil), want))
	})
	t.Run("it says what is missing", func(t *testing.T) {
		st, ballast := fill(t, 9<<20)
		want := halve(st)
		for i := range 16 {
			want[fmt.Sprintf("dead%02d", i)] = stored{tensor: stamped(uint64(i), 25_000)}
		}
		_, err := st.Compact(context.Background(), nil)
		wantError(t, err, syscall.ENOSPC, "more bytes of free space are needed")
		must(t, compare(st, want))
		var missing int64
		_, after, _ := strings.Cut(err.Error(), "about ")
		if _, err := fmt.Sscan(after, &missing); err != nil {
			t.Fatal(err)
		}
		// With so much more, and the log that it could not begin, it works.
		info, err := os.Stat(ballast)
		must(t, err)
		if missing < 1<<20 || missing > 6<<20 {
			t.Fatalf("%d bytes are said to be missing", missing)
		}
		must(t, os.Truncate(ballast, info.Size()-missing-128<<10))
		if _, err := st.Compact(context.Background(), nil); err != nil {
			t.Errorf("with %d bytes more: %v", missing, err)
		}
		must(t, compare(st, want))
	})
}

// TestReadOnlyFileSystem reads and writes a store there.
func TestReadOnlyFileSystem(t *testing.T) {
	disk := smallDisk(t, 8<<20)
	dir := filepath.Join(disk, "s")
	want := varied(t, dir, &tiny)
	must(t, unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	for range 2 {
		_, err := store.Open(dir, nil)
		wantError(t, err, syscall.EROFS, dir)
	}
	_, err := store.Open(filepath.Join(disk, "new"), nil)
	wantError(t, err, syscall.EROFS)
	must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
}

func init() { children["limits"] = limitsChild }

// limitsChild works under a limit that would hit the tests' own process, too.
func limitsChild(args []string) error {
	what, dir := args[0], args[1]
	switch what {
	case "file size":
		return underLimit(dir, unix.RLIMIT_FSIZE, 300<<10, syscall.EFBIG, &store.Options{})
	case "file size, less than a log":
		return underLimit(dir, unix.RLIMIT_FSIZE, 200<<10, syscall.EFBIG, &store.Options{SegmentSize: 256 << 10})
	case "file size, lowered":
		return underLoweredLimit(dir)
	case "open files":
		return underLimit(dir, unix.RLIMIT_NOFILE, 40, syscall.EMFILE, &tiny)
	}
	return withoutPermission(dir)
}

// underLimit puts tensors until the limit is hit, and goes on when it is raised.
func underLimit(dir string, resource int, limit uint64, want error, opts *store.Options) error {
	var before unix.Rlimit
	if err := unix.Getrlimit(resource, &before); err != nil {
		return err
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: before.Max}); err != nil {
		return err
	}
	st, err := store.Open(dir, opts)
	if err != nil {
		return err
	}
	c := contents{}
	put := func() error {
		name := fmt.Sprint("n", len(c))
		x := stamped(uint64(len(c)), 3000)
		if err := st.Put(name, x); err != nil {
			return err
		}
		c[name] = stored{tensor: x}
		return nil
	}
	for i := 0; ; i++ {
		err := put()
		if err == nil && i < 10_000 {
			continue
		}
		if !errors.Is(err, want) || errors.Is(err, store.ErrOutcomeUnknown) {
			return fmt.Errorf("putting number %d: %v, want %v", i, err, want)
		}
		break
	}
	for range 5 {
		if err := put(); !errors.Is(err, want) {
			return fmt.Errorf("putting under the limit: %v, want %v", err, want)
		}
	}
	if err := compare(st, c); err != nil {
		return fmt.Errorf("under the limit: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(c))[:3] {
		if err := st.Delete(name); err != nil {
			return fmt.Errorf("deleting under the limit: %w", err)
		}
		delete(c, name)
	}
	if err := unix.Setrlimit(resource, &before); err != nil {
		return err
	}
	c["spacer"] = stored{tensor: scalar} // so that put takes a new name
	c["spacer2"], c["spacer3"] = c["spacer"], c["spacer"]
	for _, name := range []string{"spacer", "spacer2", "spacer3"} {
		if err := st.Put(name, scalar); err != nil {
			return fmt.Errorf("once the limit is gone: %w", err)
		}
	}
	for range 10 {
		if err := put(); err != nil {
			return fmt.Errorf("once the limit is gone: %w", err)
		}
	}
	if err := compare(st, c); err != nil {
		return fmt.Errorf("once the limit is gone: %w", err)
	}
	if err := st.Close(); err != nil {
		return err
	}
	if st, err = store.Open(dir, opts); err != nil {
		return err
	}
	return errors.Join(compare(st, c), st.Close())
}

// underLoweredLimit lowers the largest size of files below that of a log which is there.
func underLoweredLimit(dir string) error {
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	c := contents{}
	for i := range 20 {
		name := fmt.Sprint("n", i)
		c[name] = stored{tensor: stamped(uint64(i), 2000)}
		if err := st.Put(name, c[name].tensor); err != nil {
			return err
		}
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100 << 10, Max: before.Max}); err != nil {
		return err
	}
	refused := func(what string, err error) error {
		if !errors.Is(err, syscall.EFBIG) || errors.Is(err, store.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "ulimit -f") {
			return fmt.Errorf("%s: %w: want an EFBIG that says what to do", what, err)
		}
		return nil
	}
	for range 2 {
		err := errors.Join(
			refused("putting", st.Put("more", scalar)),
			refused("putting much", st.Put("more", stamped(1, 100_000))),
			refused("deleting", st.Delete("n0")),
			compare(st, c))
		if err != nil {
			return err
		}
	}
	if err := st.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	reader, err := store.Open(dir, &store.Options{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	if err := errors.Join(compare(reader, c), reader.Close()); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if st, err = store.Open(dir, nil); err != nil {
		return err
	}
	if err := errors.Join(compare(st, c), st.Put("more", scalar), st.Delete("n0")); err != nil {
		return fmt.Errorf("once the limit is gone: %w", err)
	}
	return st.Close()
}

// withoutPermission opens stores as somebody who may not.
func withoutPermission(parent string) error {
	if os.Getuid() == 0 {
		const nobody = 65534
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return fmt.Errorf("becoming somebody else: %w", err)
		}
	}
	var errs []error
	check := func(what string, err, want error) {
		if !errors.Is(err, want) {
			errs = append(errs, fmt.Errorf("%s: %v, want %v", what, err, want))
		}
	}
	try := func(name string, opts *store.Options) error {
		st, err := store.Open(filepath.Join(parent, name), opts)
		if err != nil {
			return err
		}
		defer st.Close()
		_, err = st.Get("a")
		return err
	}
	read := &store.Options{ReadOnly: true}
	check("writing what may be read", try("readable", nil), os.ErrPermission)
	check("reading what may be read", try("readable", read), nil)
	check("writing what may not be read", try("secret", nil), os.ErrPermission)
	check("reading what may not be read", try("secret", read), os.ErrPermission)
	check("reading segments that may not be", try("sealed", read), os.ErrPermission)
	check("creating where it is not allowed", try("new", nil), os.ErrPermission)
	check("reading nothing", try("new", read), store.ErrNoStore)
	return errors.Join(errs...)
}

// TestLimits runs into limits of the operating system.
func TestLimits(t *testing.T) {
	for _, what := range []string{"file size", "file size, less than a log", "file size, lowered", "open files"} {
		t.Run(what, func(t *testing.T) {
			if out, err := child(t, "limits", what, filepath.Join(quickDir(t), "s")).Output(); err != nil {
				t.Errorf("%v %s", err, out)
			}
		})
	}
}

// TestPermissions opens stores as somebody who may not.
func TestPermissions(t *testing.T) {
	dir := quickDir(t)
	for _, name := range []string{"readable", "secret", "sealed"} {
		fill(t, filepath.Join(dir, name), contents{"a": {tensor: one}})
	}
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		must(t, os.Chmod(path, mode))
		t.Cleanup(func() { os.Chmod(path, 0o777) })
	}
	for _, p := range []string{"readable/LOCK", "readable/segments/0000000001.seg", "readable/catalog.db"} {
		chmod(filepath.Join(dir, p), 0o444)
	}
	for _, p := range []string{"readable/segments", "readable"} {
		chmod(filepath.Join(dir, p), 0o555)
	}
	chmod(filepath.Join(dir, "secret"), 0)
	chmod(filepath.Join(dir, "sealed/segments/0000000001.seg"), 0)
	chmod(filepath.Join(dir, "sealed"), 0o555)
	chmod(dir, 0o555)
	if out, err := child(t, "limits", "permission", dir).Output(); err != nil {
		t.Errorf("%v %s", err, out)
	}
}
