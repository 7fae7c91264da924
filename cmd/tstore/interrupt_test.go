//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// An interrupted put leaves the store as it was: not there, or with what was in it.
func TestInterruptedPutLeavesTheStoreAlone(t *testing.T) {
	x := writeNPY(t, layout.DenseOf([]float32{1, 2, 3}, 3))
	data, err := os.ReadFile(x)
	if err != nil {
		t.Fatal(err)
	}
	// What is ignored here, as under nohup, the command would ignore, too; not what is caught.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for _, c := range []struct {
		existing bool
		signal   os.Signal
	}{{false, os.Interrupt}, {true, os.Interrupt}, {false, syscall.SIGTERM}, {false, syscall.SIGHUP}} {
		existing := c.existing
		dir := filepath.Join(t.TempDir(), "s")
		if existing {
			mustRun(t, "put", dir, "x", x)
		}
		cmd, _, stderr := tstore(t, "put", dir, "y", "-", "--format", "npy")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The process has begun to read once it has taken more than fits in a pipe.
		if _, err := stdin.Write(append(bytes.Clone(data), make([]byte, 1<<20)...)); err != nil {
			t.Fatal(err)
		}
		endWith(t, cmd, c.signal)
		if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "interrupted; the store is as it was") {
			t.Errorf("standard error: %q", got)
		}
		switch names := ""; {
		case existing:
			if names = mustRun(t, "ls", dir); names != "x\n" {
				t.Errorf("names after the interrupt: %q", names)
			}
		default:
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a store was created: %v", err)
			}
		}
	}
}

// A get that waits for someone to read its output ends when it is interrupted.
func TestInterruptedGetEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	mustRun(t, "put", dir, "x", writeNPY(t, layout.DenseOf(make([]int64, 1<<20), 1<<20)))
	fifo := filepath.Join(t.TempDir(), "fifo.npy")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, _, _ := tstore(t, "get", dir, "x", "-o", fifo)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	interruptAndWait(t, cmd) // while it waits for someone to read the rest
}

// A pack that waits for someone to read its output ends when it is interrupted, and leaves nothing.
func TestInterruptedPackLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	mustRun(t, "put", dir, "x", writeNPY(t, layout.DenseOf(make([]int64, 1<<20), 1<<20)))
	fifo := filepath.Join(t.TempDir(), "fifo.tstore")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	cmd, _, _ := tstore(t, "pack", dir, fifo)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	interruptAndWait(t, cmd)
	left, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("%s is left behind", f.Name())
	}
}

// An attach that is copying, and an unpack that is writing, end soon when they are interrupted, and
// leave the store as it was.
func TestInterruptedAttachLeavesTheStoreAlone(t *testing.T) {
	dir := t.TempDir() // on a disk: copying takes a while
	pkg := filepath.Join(dir, "p.tstore")
	writeHollowPackage(t, pkg, 1<<30)
	for _, args := range [][]string{{"attach", "", pkg}, {"unpack", pkg, ""}} {
		for _, existing := range []bool{false, true} {
			st := filepath.Join(dir, "s")
			for i := range args {
				if args[i] == "" || args[i] == st {
					args[i] = st
				}
			}
			if existing {
				mustRun(t, "put", st, "x", writeNPY(t, layout.DenseOf([]float32{1, 2, 3}, 3)))
			}
			before := filesBelow(t, st)
			cmd, _, stderr := tstore(t, args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForSize(t, cmd, filepath.Join(st, "segments", "*.seg.tmp"), 8<<20)
			interruptAndWait(t, cmd)
			if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "interrupted; the store is as it was") {
				t.Errorf("%v: standard error: %q", args, got)
			}
			after := filesBelow(t, st)
			delete(after, "catalog.sum") // which is made anew
			delete(before, "catalog.sum")
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("%v: files of the store (-before +after):\n%s", args, diff)
			}
			if existing {
				if names := mustRun(t, "ls", st); names != "x\n" {
					t.Errorf("%v: names after the interrupt: %q", args, names)
				}
			}
			if err := os.RemoveAll(st); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A pack into a file leaves what was there before.
func TestInterruptedPackKeepsTheFile(t *testing.T) {
	dir := t.TempDir()
	pkg, out := filepath.Join(dir, "p.tstore"), filepath.Join(dir, "out.tstore")
	writeHollowPackage(t, pkg, 1<<30)
	if err := os.WriteFile(out, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	before := filesBelow(t, dir)
	cmd, _, stderr := tstore(t, "pack", pkg, out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForSize(t, cmd, out+".*.tmp", 8<<20)
	interruptAndWait(t, cmd)
	if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "interrupted; the store is as it was") {
		t.Errorf("standard error: %q", got)
	}
	if diff := cmp.Diff(before, filesBelow(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if b, err := os.ReadFile(out); string(b) != "before" {
		t.Errorf("the file is now %d bytes, %v", len(b), err)
	}
}

// waitForSize waits until the only file that a pattern matches has at least n bytes.
func waitForSize(t *testing.T, cmd *exec.Cmd, pattern string, n int64) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(time.Millisecond) {
		if files, _ := filepath.Glob(pattern); len(files) == 1 {
			if info, err := os.Stat(files[0]); err == nil && info.Size() >= n {
				return
			}
		}
	}
	cmd.Process.Kill()
	t.Fatalf("nothing is being written to %s", pattern)
}

// writeHollowPackage makes a package of a tensor of n zeros, which takes no room on the disk.
func writeHollowPackage(t *testing.T, path string, n int64) {
	t.Helper()
	zeros, err := layout.NewDense(layout.Uint8, []int64{n}, make([]byte, n))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := store.NewPackageWriter(&hollowWriter{f: f})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	if err := p.Add("zeros", zeros); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// hollowWriter writes a file front to back, with holes for large pieces, of which it takes for granted
// that they are zeros.
type hollowWriter struct {
	f   *os.File
	end int64
}

func (w *hollowWriter) Write(b []byte) (int, error) {
	w.end += int64(len(b))
	if len(b) >= 4<<20 {
		return len(b), w.f.Truncate(w.end)
	}
	return w.f.WriteAt(b, w.end-int64(len(b)))
}

// interruptAndWait interrupts a process, which has to end within a second.
func interruptAndWait(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	endWith(t, cmd, os.Interrupt)
}

// endWith sends a process a signal that has to end it in order.
func endWith(t *testing.T, cmd *exec.Cmd, s os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	kill := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer kill.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailure {
		t.Errorf("ended with %v, want exit code %d", err, exitFailure)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v to end", d)
	}
}
