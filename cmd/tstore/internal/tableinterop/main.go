// Tableinterop compares the tables and images that tstore and other programs write to files and read from
// them, both ways and with the command as its users have it: Arrow files and streams with pyarrow, pandas,
// polars and DuckDB, .csv and .tsv with pandas, polars and NumPy, .png with Pillow, and .gz and .zst around
// a file.
//
//	tableinterop -python VENV/bin/python
//
// The Python needs the packages of codec/internal/interop/requirements.txt. For every comparison it prints
// how many tensors were compared; a difference, or nothing to compare, is a failure.
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func main() {
	python := flag.String("python", "python3", "Python with the packages that are compared")
	keep := flag.String("dir", "", "keep the files in this directory (default: a temporary one)")
	flag.Parse()
	if err := run(*python, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "tableinterop:", err)
		os.Exit(1)
	}
}

// described is a tensor in a file, as the Go and the Python part tell each other.
type described struct {
	File     string  `json:"file"`
	By       string  `json:"by"`   // the program that wrote the file
	Name     string  `json:"name"` // in the file, or empty if it is the only one
	DType    string  `json:"dtype"`
	Shape    []int64 `json:"shape"`
	Elements string  `json:"elements"` // row-major, little-endian, bools as bytes, in hex
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
	source, err := output("go", "list", "-f", "{{.Dir}}", "github.com/tstore/tstore/cmd/tstore/internal/tableinterop")
	if err != nil {
		return err
	}
	script := filepath.Join(strings.TrimSpace(source), "tables.py")
	tstore := filepath.Join(dir, "tstore.exe") // which every system takes for a program
	if _, err := output("go", "build", "-o", tstore, "github.com/tstore/tstore/cmd/tstore"); err != nil {
		return err
	}
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	for _, d := range []string{ours, theirs} {
		if err := os.Mkdir(d, 0o777); err != nil {
			return err
		}
	}
	if err := writeOurs(tstore, filepath.Join(dir, "store"), ours); err != nil {
		return err
	}
	counts, err := output(python, script, "read", ours)
	if err != nil {
		return err
	}
	if err := report(counts, "%s of tstore read by %s"); err != nil {
		return err
	}
	if _, err := output(python, script, "write", theirs); err != nil {
		return err
	}
	return readTheirs(tstore, filepath.Join(dir, "imported"), theirs)
}

// report prints how much was compared: of each line, a kind of file, a program and a number.
func report(counts, format string) error {
	lines := strings.Split(strings.TrimSpace(counts), "\n")
	for _, line := range lines {
		part := strings.Split(line, "\t")
		if len(part) != 3 {
			return fmt.Errorf("%q says no number", line)
		}
		fmt.Printf("%-60s %5s tensors\n", fmt.Sprintf(format, part[0], part[1]), part[2])
		if part[2] == "0" {
			return fmt.Errorf("no %s was compared with %s", part[0], part[1])
		}
	}
	return nil
}

// output runs a program and returns what it prints.
func output(program string, args ...string) (string, error) {
	out, err := exec.Command(program, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	return string(out), nil
}

// readTheirs imports all files of other programs, as one batch, and compares what is in the store.
func readTheirs(tstore, path, theirs string) error {
	index, err := os.ReadFile(filepath.Join(theirs, "index.jsonl"))
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(theirs, "index.jsonl")); err != nil {
		return err
	}
	if _, err := output(tstore, "import", path, theirs); err != nil {
		return err
	}
	st, err := store.Open(path, &store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer st.Close()
	counts := map[string]int{}
	for line := range strings.Lines(string(index)) {
		var want described
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			return err
		}
		stem, kind, _ := strings.Cut(want.File, ".")
		name := stem
		if want.Name != "" {
			name += "/" + want.Name
		}
		t, err := st.Get(name)
		if err != nil {
			return fmt.Errorf("%s by %s: %w", want.File, want.By, err)
		}
		d, err := layout.ToDense(t, nil)
		if err != nil {
			return err
		}
		elements := hex.EncodeToString(d.AppendRowMajor(nil))
		if d.DType().String() != want.DType || !slices.Equal(d.Shape(), want.Shape) || elements != want.Elements {
			return fmt.Errorf("%s by %s, %q: %v %v %.100s, it should be %s %v %.100s", want.File, want.By, want.Name, d.DType(), d.Shape(), elements, want.DType, want.Shape, want.Elements)
		}
		counts["."+kind+"\t"+want.By]++
	}
	var lines []string
	for what, n := range counts {
		lines = append(lines, fmt.Sprintf("%s\t%d", what, n))
	}
	slices.Sort(lines)
	return report(strings.Join(lines, "\n"), "%s of %s read by tstore")
}
