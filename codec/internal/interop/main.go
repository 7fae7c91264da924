// Interop compares what tstore and Arrow write and read, both ways.
//
//	interop -python VENV/bin/python
//
// The Python needs the packages of requirements.txt; pyarrow brings Arrow's C++
// library, against which arrow/messages.cc is compiled by c++ or what the
// environment variable CXX names. For every comparison it
// prints how many messages were compared; a difference, or nothing to compare,
// is a failure.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	python := flag.String("python", "python3", "Python with pyarrow and numpy")
	keep := flag.String("dir", "", "keep the messages in this directory (default: a temporary one)")
	flag.Parse()
	if err := run(*python, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

func run(python, dir string) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "tstore-interop-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// The scripts lie beside this file, wherever the module is.
	source, err := output("go", "list", "-f", "{{.Dir}}", "github.com/tstore/tstore/codec/internal/interop")
	if err != nil {
		return err
	}
	if err := compareDense(python, filepath.Join(source, "dense.py"), dir); err != nil {
		return err
	}
	return compareArrow(python, source, dir)
}

// output runs a program, whose standard error goes to ours, and returns the
// last line that it prints.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w", name, args, err)
	}
	return string(trimLine(out)), nil
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// atLeastOne turns a count of zero into an error: a comparison of nothing has
// shown nothing.
func atLeastOne(what string, n int) error {
	if n == 0 {
		return fmt.Errorf("%s: nothing was compared", what)
	}
	fmt.Printf("%-60s %6d\n", what, n)
	return nil
}

// appendLine appends v to a file as a line of JSON.
func appendLine(f *os.File, v any) error {
	return json.NewEncoder(f).Encode(v)
}
