//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tstore/tstore/layout"
)

// An interrupted put leaves the store as it was: not there, or with what was in it.
func TestInterruptedPutLeavesTheStoreAlone(t *testing.T) {
	x := writeNPY(t, layout.DenseOf([]float32{1, 2, 3}, 3))
	data, err := os.ReadFile(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, existing := range []bool{false, true} {
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
		interruptAndWait(t, cmd)
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

// interruptAndWait interrupts a process, which has to end within a second.
func interruptAndWait(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
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
