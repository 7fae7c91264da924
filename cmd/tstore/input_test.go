//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A file that is cut short while it is read gives an error that names it, not a crash.
func TestFileCutShortWhileMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	var sum byte
	cmd := &cobra.Command{RunE: action(func(cmd *cobra.Command, _ []string) error {
		in, err := openInput(cmd, path)
		if err != nil {
			return err
		}
		defer in.close()
		if err := os.Truncate(path, 0); err != nil {
			return err
		}
		for _, b := range in.bytes {
			sum += b
		}
		return nil
	})}
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(nil)
	err := cmd.ExecuteContext(t.Context())
	if err == nil || !strings.Contains(err.Error(), path+": it can't be read at byte 0") {
		t.Errorf("error %v", err)
	}
	if line, code := explain(cmd, err); code != exitFailure || strings.Contains(line, "\n") {
		t.Errorf("exit code %d, %q", code, line)
	}

	// Any other panic stays one.
	defer func() {
		if got := recover(); got != "other" {
			t.Errorf("recovered %v", got)
		}
	}()
	err = action(func(*cobra.Command, []string) error { panic("other") })(cmd, nil)
	t.Errorf("a panic became error %v", err)
}

// A pipe that never ends is given up as soon as it has said that it is something else.
func TestEndlessPipe(t *testing.T) {
	for _, test := range []struct{ flag, want string }{
		{"npy", "standard input: it does not begin like a .npy file"},
		{"npz", "standard input: it does not begin like a .npz file"},
		{"safetensors", "standard input: it does not begin like a .safetensors file"},
		{"msg", "standard input: it does not begin like a .msg file"},
		{"arrow", "standard input: it does not begin like a .arrow file"},
		{"arrows", "standard input: it does not begin like a .arrows file"},
		{"", "standard input: nothing tells its format"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		written := make(chan int)
		go func() {
			n, line := 0, bytes.Repeat([]byte("y\n"), 1<<15)
			for {
				m, err := w.Write(line)
				if n += m; err != nil {
					written <- n
					return
				}
			}
		}()
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		cmd.SetIn(r)
		_, err = openArchive(cmd, "-", test.flag)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("--format %q: %v, want %s", test.flag, err, test.want)
		}
		r.Close()
		if n := <-written; n > 2*spillSize {
			t.Errorf("--format %q: %d bytes were taken", test.flag, n)
		}
	}
}
