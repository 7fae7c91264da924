//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// shell runs command lines as someone would type them, with tstore in PATH, and programs that the
// examples mention but a machine may not have.
type shell struct{ path string }

func newShell(t *testing.T) *shell {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "tstore")); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"ssh":        "#!/bin/sh\nshift\neval \"$*\"\n",
		"jq":         "#!/bin/sh\ncat\n",
		"make-array": "#!/bin/sh\ncat x.npy\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return &shell{bin + string(os.PathListSeparator) + os.Getenv("PATH")}
}

func (s *shell) run(dir, line string) (stdout, stderr string, err error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+s.path, "HOME="+dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// workDir is a directory for a test, in memory if that can be: see quickDir.
func workDir(t *testing.T) string {
	t.Helper()
	if dir := quickDir(t); dir != "" {
		return dir
	}
	return t.TempDir()
}

// remark is what follows an example on its line.
var remark = regexp.MustCompile(`\s{3,}\S.*$`)

// exampleLines returns the lines of a text that are commands.
func exampleLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  tstore ") || strings.HasPrefix(line, "  make-array ") || strings.HasPrefix(line, "  echo ") || strings.HasPrefix(line, "  test ") {
			lines = append(lines, strings.TrimSpace(remark.ReplaceAllString(line, "")))
		}
	}
	return lines
}

// TestHelpExamples runs every example in the help of every command and in every topic.
func TestHelpExamples(t *testing.T) {
	sh := newShell(t)
	root := workDir(t)
	fixture, dir := filepath.Join(root, "fixture"), filepath.Join(root, "work")
	makeExamples(t, sh, fixture)
	fresh := func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(fixture)); err != nil {
			t.Fatal(err)
		}
	}
	var visit func(c *cobra.Command)
	n := 0
	visit = func(c *cobra.Command) {
		// Those of a command are each for itself, the others follow each other.
		text, story := c.Example, !c.HasParent()
		if c.IsAdditionalHelpTopicCommand() {
			text, story = c.Long, true
		}
		fresh()
		for i, line := range exampleLines(text) {
			n++
			if i > 0 && !story {
				fresh()
			}
			_, stderr, err := sh.run(dir, line)
			if code := exitCode(t, err); code != 0 && !(c.Name() == "diff" && code == exitDifferent) {
				t.Errorf("tstore %s --help: %s: exit code %d: %s", c.Name(), line, code, stderr)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	if n < 80 {
		t.Errorf("only %d examples were found", n)
	}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := err.(*exec.ExitError)
	if !ok {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

// makeExamples makes the stores, packages and files that the examples speak of.
func makeExamples(t *testing.T, sh *shell, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(filepath.Join(dir, "mystore"), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := layout.DenseOf(arange[float32](20*12*8), 20, 12, 8)
	m := layout.DenseOf(arange[float32](20*12), 20, 12)
	graph, err := layout.Convert(m, layout.LayoutCSR, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]layout.Tensor{
		"train/x": x, "train/y": layout.DenseOf(arange[int64](20), 20), "meta/z": m, "old/z": m, "older/z": m, "new/x": m,
		"x": m, "weights": layout.DenseOf([]layout.BF16{1, 2, 3, 4}, 2, 2), "graph": graph, "backup/x": x,
		"picture": layout.DenseOf(arange[uint8](4*5*3), 4, 5, 3),
	} {
		if err := st.Put(name, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	digits, err := filepath.Abs("../../testdata/digits")
	if err != nil {
		t.Fatal(err)
	}
	matrices, err := filepath.Abs("../../testdata/matrices")
	if err != nil {
		t.Fatal(err)
	}
	_, stderr, err := sh.run(dir, `set -e
		echo 'A text.' >README.md; mkdir -p .config/fish/completions
		mkdir arrays more arrays/old
		cp '`+digits+`'/*.npy .
		cp digits_labels.npy arrays/labels.npy; cp digits_labels.npy more/more.npy; cp digits_labels.npy arrays/old/x.npy
		tstore get mystore x -o x.npy; tstore get mystore train/x -o images.npy; cp x.npy labels.npy
		cp '`+matrices+`'/pores_1.mtx graph.mtx; gzip -k graph.mtx
		tstore export mystore model.safetensors train/ --strip train/
		tstore export mystore arrays.npz train/
		tstore get mystore x -o table.csv.gz; tstore get mystore picture -o image.png
		tstore import sizes digits_images.npy digits_labels.npy labels.npy --prefix train/
		tstore import sizes digits_images.npy digits_labels.npy labels.npy
		tstore cp -r mystore train/ sizes other/
		for p in digits huge old new a b; do tstore pack sizes $p.tstore; done
		tstore pack mystore newer.tstore
		rm -rf sizes`)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
}

// TestReadmeCommands runs the commands in README.md and docs/TUTORIAL.md and compares what they print
// with what the text shows.
func TestReadmeCommands(t *testing.T) {
	for _, doc := range []string{"README.md", "docs/TUTORIAL.md"} {
		t.Run(filepath.Base(doc), func(t *testing.T) { runConsole(t, doc) })
	}
}

// buildTutorial builds the program in the tutorial.
func buildTutorial(t *testing.T, dir, text string) {
	t.Helper()
	program, _, _ := strings.Cut(text, "```\n")
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main"+program), 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "main"), source)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program in the tutorial: %v: %s", err, out)
	}
}

// matches reports whether a text is what is shown, where … stands for anything on a line.
func matches(shown, text string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(shown), "…", "[^\n]*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(text)
}

func runConsole(t *testing.T, doc string) {
	text, err := os.ReadFile(filepath.Join("../..", doc))
	if err != nil {
		t.Fatal(err)
	}
	sh, dir := newShell(t), workDir(t)
	for _, from := range []string{"digits", "matrices"} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../testdata", from))); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(dir, "README.md"))
	}
	rest := string(text)
	if _, program, ok := strings.Cut(rest, "```go\npackage main"); ok {
		buildTutorial(t, dir, program)
	}
	commands := 0
	for {
		_, block, ok := strings.Cut(rest, "```console\n")
		if !ok {
			break
		}
		block, rest, ok = strings.Cut(block, "```\n")
		if !ok {
			t.Fatalf("%s: a console block does not end", doc)
		}
		for _, step := range strings.Split("\n"+block, "\n$ ")[1:] {
			commands++
			line, want, _ := strings.Cut(step, "\n")
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			if line == "go run main.go" { // which needs a module around it
				line = "./main"
			}
			stdout, stderr, err := sh.run(dir, line)
			if err != nil {
				t.Errorf("%s: %s: %v: %s", doc, line, err, stderr)
			}
			if diff := cmp.Diff(want, stdout+stderr); diff != "" && !matches(want, stdout+stderr) {
				t.Errorf("%s: %s (-text +run):\n%s", doc, line, diff)
			}
		}
	}
	if commands < 5 {
		t.Errorf("%s has %d commands in console blocks", doc, commands)
	}
}
