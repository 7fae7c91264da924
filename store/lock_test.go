package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
)

func init() { children["hold"] = holdChild }

// holdChild opens the store, says so, and keeps it open until its standard input
// ends. Then it closes it, or with a second argument just ends.
func holdChild(args []string) error {
	st, err := store.Open(args[0], nil)
	if err != nil {
		return err
	}
	if err := st.Put("held", scalar); err != nil {
		return err
	}
	fmt.Println("open")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
	}
	if len(args) > 1 {
		os.Exit(0)
	}
	return st.Close()
}

// holder is another process that has the store open.
type holder struct {
	t   testing.TB
	cmd *exec.Cmd
	in  interface{ Close() error }
}

func hold(t testing.TB, dir string, args ...string) *holder {
	t.Helper()
	cmd := child(t, "hold", append([]string{dir}, args...)...)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	h := &holder{t, cmd, in}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "open\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return h
}

// letGo makes the process close the store, or end without that.
func (h *holder) letGo() {
	h.t.Helper()
	must(h.t, h.in.Close())
	must(h.t, h.cmd.Wait())
}

// TestSecondWriter opens a store for writing that is open already, in this process
// and in another.
func TestSecondWriter(t *testing.T) {
	refused := func(dir string, pid int) {
		t.Helper()
		start := time.Now()
		for range 10 {
			_, err := store.Open(dir, nil)
			wantError(t, err, store.ErrLocked, fmt.Sprintf("pid %d", pid), dir)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("ten attempts took %v: they should fail at once", took)
		}
	}
	t.Run("same process", func(t *testing.T) {
		dir := filepath.Join(quickDir(t), "s")
		st := open(t, dir, nil)
		refused(dir, os.Getpid())
		must(t, st.Put("a", one))
		closeStore(t, st)
		must(t, compare(open(t, dir, nil), contents{"a": {tensor: one}}))
	})
	t.Run("another process", func(t *testing.T) {
		dir := filepath.Join(quickDir(t), "s")
		other := hold(t, dir)
		refused(dir, other.cmd.Process.Pid)
		must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), contents{"held": {tensor: scalar}}))
		other.letGo()
		must(t, compare(open(t, dir, nil), contents{"held": {tensor: scalar}}))
	})
	t.Run("by other paths", func(t *testing.T) {
		dir := filepath.Join(quickDir(t), "s")
		open(t, dir, nil)
		link := filepath.Join(quickDir(t), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		for _, path := range []string{link, dir + "/", filepath.Join(dir, "..", "s")} {
			_, err := store.Open(path, nil)
			wantError(t, err, store.ErrLocked)
		}
	})
}

// TestLockOfDeadProcess finds a lock whose process was killed, or ended without
// closing the store.
func TestLockOfDeadProcess(t *testing.T) {
	want := contents{"held": {tensor: scalar}}
	t.Run("killed", func(t *testing.T) {
		dir := filepath.Join(quickDir(t), "s")
		other := hold(t, dir)
		must(t, other.cmd.Process.Kill())
		other.cmd.Wait()
		must(t, compare(open(t, dir, nil), want))
	})
	t.Run("ended", func(t *testing.T) {
		dir := filepath.Join(quickDir(t), "s")
		hold(t, dir, "without closing").letGo()
		must(t, compare(open(t, dir, nil), want))
	})
	t.Run("what it says does not matter", func(t *testing.T) {
		dir := filepath.Join(quickDir(t), "s")
		must(t, os.Mkdir(dir, 0o777))
		must(t, os.WriteFile(filepath.Join(dir, "LOCK"), []byte("1\n"), 0o666)) // a process that lives
		st := open(t, dir, nil)
		text, err := os.ReadFile(filepath.Join(dir, "LOCK"))
		if err != nil || strings.TrimSpace(string(text)) != fmt.Sprint(os.Getpid()) {
			t.Errorf("LOCK says %q, %v; want the pid of this process", text, err)
		}
		closeStore(t, st)
		if _, err := os.Stat(filepath.Join(dir, "LOCK")); err != nil {
			t.Errorf("LOCK was deleted: %v", err)
		}
	})
}

// TestLockFileDeleted deletes files under a running writer: that lets no other one
// in, and does not disturb it.
func TestLockFileDeleted(t *testing.T) {
	for _, files := range [][]string{{"LOCK"}, {"catalog.db"}, {"LOCK", "catalog.db"}} {
		t.Run(strings.Join(files, " and "), func(t *testing.T) {
			dir := filepath.Join(quickDir(t), "s")
			other := hold(t, dir)
			for range 3 {
				for _, f := range files {
					if err := os.Remove(filepath.Join(dir, f)); err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Fatal(err)
					}
				}
				_, err := store.Open(dir, nil)
				wantError(t, err, store.ErrLocked)
				_, err = store.Open(dir, &store.Options{LockWait: 50 * time.Millisecond})
				wantError(t, err, store.ErrLocked)
			}
			other.letGo()
			must(t, compare(open(t, dir, nil), contents{"held": {tensor: scalar}}))
		})
	}
}

// TestLockWait waits for a writer to go away.
func TestLockWait(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	start := time.Now()
	_, err := store.Open(dir, &store.Options{LockWait: 150 * time.Millisecond})
	wantError(t, err, store.ErrLocked)
	if took := time.Since(start); took < 150*time.Millisecond {
		t.Errorf("it waited for %v only", took)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	want := contents{}
	for i := range 5 { // all of them, one after the other
		all.Go(func() {
			st, err := store.Open(dir, &store.Options{LockWait: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			name := fmt.Sprint("n", i)
			if err := st.Put(name, one); err != nil {
				t.Error(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			want[name] = stored{tensor: one}
		})
	}
	time.Sleep(50 * time.Millisecond)
	closeStore(t, st)
	all.Wait()
	must(t, compare(open(t, dir, nil), want))
}

// TestLockIsGivenBack opens a store for writing after openings that failed.
func TestLockIsGivenBack(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	varied(t, dir, &tiny)
	paths := segmentFiles(t, dir)
	last := paths[len(paths)-1]
	sound, err := os.ReadFile(last)
	must(t, err)
	must(t, os.WriteFile(last, []byte("damaged"), 0o666))
	for range 3 {
		_, err := store.Open(dir, nil)
		wantError(t, err, store.ErrCorrupt, last)
	}
	must(t, os.WriteFile(last, sound, 0o666))
	open(t, dir, nil)
}
