//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
)

// The scripts of cobra are still such that our changes to them have an effect.
func TestCompletionChanges(t *testing.T) {
	for shell, changes := range completionChanges {
		code, script, stderr := inside(t, "completion", shell)
		if code != exitDone {
			t.Fatal(stderr)
		}
		for _, c := range changes {
			if !strings.Contains(script, c.to) {
				t.Errorf("%s: the script lacks %q", shell, c.to)
			}
		}
	}
	for _, plain := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, script, stderr := inside(t, "completion", plain, "--no-descriptions"); code != exitDone || len(script) < 1000 {
			t.Errorf("%s: exit code %d, %d bytes: %s", plain, code, len(script), stderr)
		}
	}
}

// Bash completes names of tensors, also behind a quote, and flags, without any package.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := workDir(t)
	sh := newShell(t)
	x := writeNPY(t, layout.DenseOf([]float32{1, 2}, 2))
	for _, name := range []string{"train/x", "train/y", "test/x", "weights"} {
		mustRun(t, "put", filepath.Join(dir, "s"), name, x)
	}
	for _, c := range []struct{ words, want string }{
		{"tstore get s w", "weights"},
		{"tstore get s 'w", "weights"},
		{"tstore get s train/", "train/x train/y"},
		{"tstore get s t", "test/ train/"},
		{"tstore rm s weights te", "test/"},
		{"tstore diff s s we", "weights"},
		{"tstore ls --sort=s", "size"},
		{"tstore plot s weights --kind h", "heatmap hist"},
		{"tstore ver", "verify"},
	} {
		// Bash breaks words at = as well, as readline has it.
		words := strings.Fields(strings.ReplaceAll(c.words, "=", " = "))
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = `"` + w + `"`
		}
		script := `source <(tstore completion bash --no-descriptions)
COMP_LINE="` + c.words + `"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(` + strings.Join(quoted, " ") + `); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
__start_tstore 2>/dev/null
echo "${COMPREPLY[@]}"`
		cmd := exec.Command(bash, "--norc", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+sh.path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", c.words, err, out)
		}
		if diff := cmp.Diff(c.want, strings.Join(strings.Fields(string(out)), " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.words, diff)
		}
	}
}
