// Interop has two programs that share nothing with tstore read what it writes.
//
//	interop -python VENV/bin/python
//
// It makes stores and packages of many shapes. reader.py, written from
// docs/FORMAT.md alone, must see in each what was put there, and must agree with
// tstore on what is left of damaged ones; pyarrow must walk every file and read the
// dense tensors of the packages. The Python needs what
// codec/internal/interop/requirements.txt asks for.
//
// For every comparison it prints how many things were compared; a difference, or
// nothing to compare, is a failure.
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
	keep := flag.String("dir", "", "keep stores and packages in this directory (default: a temporary one)")
	seed := flag.Uint64("seed", 1, "of the random tensors, changes and damages")
	damages := flag.Int("damages", 1, "make so many times the usual number of damaged copies")
	flag.Parse()
	if err := run(*python, *keep, *seed, *damages); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

func run(python, dir string, seed uint64, damages int) error {
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
	source, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/tstore/tstore/store/internal/interop").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	p := programs{
		python:  python,
		reader:  filepath.Join(string(trimLine(source)), "reader.py"),
		arrow:   filepath.Join(string(trimLine(source)), "arrow.py"),
		corpus:  filepath.Join(string(trimLine(source)), "../../../testdata/corpus"),
		working: dir,
	}
	if err := p.compareCorpus(); err != nil {
		return err
	}
	scenes, err := makeScenes(dir, p.corpus, seed)
	if err != nil {
		return err
	}
	if err := p.compareScenes(scenes); err != nil {
		return err
	}
	if err := p.compareDamaged(scenes, seed, damages); err != nil {
		return err
	}
	return p.compareArrow(scenes)
}

// programs is where the programs lie that read what is written here.
type programs struct {
	python  string
	reader  string // reader.py
	arrow   string // arrow.py
	corpus  string // testdata/corpus
	working string // a directory for files of our own
}

// compareCorpus has reader.py read the messages that are made by hand.
func (p programs) compareCorpus() error {
	cmd := exec.Command(p.python, "-B", p.reader, "--messages", p.corpus)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("reader.py --messages: %w", err)
	}
	var read struct{ Compared int }
	if err := json.Unmarshal(out, &read); err != nil {
		return fmt.Errorf("reader.py --messages: %q: %w", out, err)
	}
	return atLeastOne("reader.py: messages of the corpus, read or refused", read.Compared)
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
	fmt.Printf("%-64s %6d\n", what, n)
	return nil
}
