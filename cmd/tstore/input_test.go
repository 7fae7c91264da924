//go:build unix

package main

import (
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
