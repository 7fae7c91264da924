package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/store/powercut/disk"
	"github.com/tstore/tstore/store/powercut/fusefs"
)

func TestExitCodes(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(trace, []byte("not a trace at all, but long"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want int
	}{
		{"", exitUsage},
		{"nonsense", exitUsage},
		{"mount", exitUsage},
		{"image a b", exitUsage},
		{"list", exitUsage},
		{"ctl", exitUsage},
		{"mount -nonsense x", exitUsage},
		{"list " + trace, exitError},
		{"list /does/not/exist", exitError},
		{"image -trace " + trace + " /does/not/exist", exitError},
		{"mount -from /does/not/exist /does/not/exist/either", exitError},
		{"ctl /does/not/exist {}", exitError},
	} {
		err := run(strings.Fields(tt.args))
		if err == nil || exitCode(err) != tt.want {
			t.Errorf("powercut %s: %v, exit code %d, want %d", tt.args, err, exitCode(err), tt.want)
		}
	}
	if got := exitCode(errors.Join(fusefs.ErrNoFuse)); got != exitNoFuse {
		t.Errorf("exit code %d without /dev/fuse, want %d", got, exitNoFuse)
	}
	if got := exitCode(flag.ErrHelp); got != exitUsage {
		t.Errorf("exit code %d for -h, want %d", got, exitUsage)
	}
}

func TestImageFromTrace(t *testing.T) {
	ops := []disk.Op{
		{Kind: disk.OpCreate, Dir: disk.RootIno, Name: "f", Ino: 2, Mode: 0o644},
		{Kind: disk.OpWrite, Ino: 2, Size: 3, Data: []byte("abc")},
		{Kind: disk.OpSettle},
		{Kind: disk.OpUnlink, Dir: disk.RootIno, Name: "f"},
	}
	var file bytes.Buffer
	w := disk.NewTraceWriter(&file)
	for i := range ops {
		if err := w.Write(&ops[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(trace, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags string
		there bool
	}{
		{"-at 0", false},
		{"-at 1 -policy {\"entries\":\"drop\"}", false},
		{"-at 3", true},
		{"-policy {\"entries\":\"keep\"}", false},
		{"-policy {\"entries\":\"drop\"} -seed 7 -fsync-entry", true},
	} {
		out := filepath.Join(t.TempDir(), "out")
		if err := run(append(append([]string{"image", "-trace", trace}, strings.Fields(tt.flags)...), out)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(out, "f"))
		if (err == nil) != tt.there || tt.there && string(got) != "abc" {
			t.Errorf("image %s: %q, %v; want it there: %v", tt.flags, got, err, tt.there)
		}
	}
	if err := run([]string{"image", "-trace", trace, "-at", "9", filepath.Join(t.TempDir(), "out")}); err == nil {
		t.Error("made an image of a point behind the end of the trace")
	}
	if err := run([]string{"image", "-trace", trace, "-policy", `{"blocks":"nonsense"}`, filepath.Join(t.TempDir(), "out")}); err == nil {
		t.Error("took a policy that there is not")
	}
}
