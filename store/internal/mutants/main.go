// Mutants makes deliberate faults in the store, one at a time, and runs the tests that
// have to notice:
//
//	go run ./store/internal/mutants [-run REGEXP] [-v]
//
// A fault that every test lets pass (it survives), that does not compile, or whose place
// in the source is not there exactly once, fails the whole. Everything happens in a copy
// of the module, which does not change while the tests run.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	only := flag.String("run", "", "only the faults whose description matches this regular expression")
	verbose := flag.Bool("v", false, "print what the tests say")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = run(pattern, *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// testTimeout ends a test that a fault makes wait for ever, which counts as noticed: far
// longer than any takes. soundTimeout is for all of them together.
const (
	testTimeout  = 3 * time.Minute
	soundTimeout = 20 * time.Minute
)

// run tries the faults whose descriptions match pattern.
func run(pattern *regexp.Regexp, verbose bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "tstore-mutants-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	l := lab{root: filepath.Join(temp, "module"), binary: filepath.Join(temp, "tests"), verbose: verbose}
	if err := copyModule(root, l.root); err != nil {
		return err
	}

	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return !pattern.MatchString(m.what) })
	if len(chosen) == 0 {
		return fmt.Errorf("no fault is called like %q", pattern)
	}
	start := time.Now()
	if err := l.sound(chosen); err != nil {
		return err
	}
	failed := 0
	for _, m := range chosen {
		began := time.Now()
		verdict, err := l.try(m)
		if err != nil {
			verdict = err.Error()
			failed++
		}
		fmt.Printf("%-66s %-34s %5.1fs  %s\n", m.what, m.file, time.Since(began).Seconds(), verdict)
	}
	fmt.Printf("%d faults, %d not noticed, %v\n", len(chosen), failed, time.Since(start).Round(time.Second))
	if failed > 0 {
		return fmt.Errorf("%d of %d faults were not noticed", failed, len(chosen))
	}
	return nil
}

// moduleRoot is the directory of the module that the program is run in.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || filepath.Base(path) != "go.mod" {
		return "", fmt.Errorf("it has to be run inside of the module: %q, %w", path, err)
	}
	return filepath.Dir(path), nil
}

// copyModule copies the module at from, but for what is hidden or was built.
func copyModule(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (rel == "bin" || len(rel) > 1 && rel[0] == '.'):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o666)
	})
}

// lab is where the faults are tried.
type lab struct {
	root    string // of the copy of the module
	binary  string // where compiled tests go
	verbose bool
}

// sound makes sure that without any fault the tests pass: what is red anyway would
// notice everything.
func (l *lab) sound(chosen []mutant) error {
	tests := map[string][]string{}
	for _, m := range chosen {
		tests[m.pkg] = append(tests[m.pkg], m.tests)
	}
	for pkg, list := range tests {
		if err := l.build(pkg); err != nil {
			return fmt.Errorf("without a fault: %w", err)
		}
		slices.Sort(list)
		output, err := l.test(pkg, strings.Join(slices.Compact(list), "|"), soundTimeout)
		if err != nil {
			return fmt.Errorf("without a fault, tests in %s fail:\n%s", pkg, output)
		}
	}
	return nil
}

// try makes the fault m and runs its tests. It says which test has noticed; it is an
// error if none has.
func (l *lab) try(m mutant) (string, error) {
	path := filepath.Join(l.root, filepath.FromSlash(m.file))
	sound, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	faulty := string(sound)
	for _, e := range append([]edit{{m.old, m.new}}, m.also...) {
		if n := strings.Count(faulty, e.old); n != 1 {
			return "", fmt.Errorf("STALE: the source has %q %d times", e.old, n)
		}
		faulty = strings.Replace(faulty, e.old, e.new, 1)
	}
	if err := os.WriteFile(path, []byte(faulty), 0o666); err != nil {
		return "", err
	}
	defer os.WriteFile(path, sound, 0o666)
	if err := l.build(m.pkg); err != nil {
		return "", err
	}
	output, err := l.test(m.pkg, m.tests, testTimeout)
	if l.verbose {
		fmt.Printf("%s", output)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", fmt.Errorf("SURVIVED: %s", m.tests)
	case !errors.As(err, &exit):
		return "", err
	}
	return "noticed by " + red(output), nil
}

// red are the tests that output says have failed, or what has ended the process.
func red(output []byte) string {
	var names []string
	for line := range bytes.Lines(output) {
		name, ok := strings.CutPrefix(string(line), "--- FAIL: ")
		if ok {
			names = append(names, strings.Fields(name)[0])
		}
		if strings.HasPrefix(string(line), "panic: ") || strings.HasPrefix(string(line), "fatal error: ") {
			names = append(names, strings.TrimSpace(string(line)))
		}
	}
	if len(names) == 0 {
		return "the end of the test process"
	}
	return strings.Join(names, ", ")
}

// build compiles the tests of a package.
func (l *lab) build(pkg string) error {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", l.binary, "./"+pkg)
	cmd.Dir = l.root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("DOES NOT COMPILE: %s", bytes.TrimSpace(output))
	}
	return nil
}

// test runs the tests of a package whose names match.
func (l *lab) test(pkg, names string, timeout time.Duration) ([]byte, error) {
	cmd := exec.Command(l.binary, "-test.run", "^("+names+")$", "-test.count=1", "-test.failfast", "-test.v", "-test.timeout", timeout.String())
	cmd.Dir = filepath.Join(l.root, filepath.FromSlash(pkg))
	output, err := cmd.CombinedOutput()
	if err == nil && !bytes.Contains(output, []byte("=== RUN")) {
		return output, fmt.Errorf("no test of %s is called like %s", pkg, names)
	}
	return output, err
}
