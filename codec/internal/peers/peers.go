// Package peers is what the programs have in common that compare tstore with other programs: codec/internal/interop
// and codec/internal/fileinterop.
package peers

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"strings"

	"github.com/tstore/tstore/layout"
)

// Main is main of the program whose package has the given import path. It calls compare with a Python that has the
// packages in needs, with the directory of the package's source, where scripts lie, wherever the module is, and
// with one for files. The latter is a temporary one if -dir names none.
func Main(pkg, needs string, compare func(python, source, dir string) error) {
	python := flag.String("python", "python3", "Python with "+needs)
	keep := flag.String("dir", "", "keep the files in this directory (default: a temporary one)")
	flag.Parse()
	if err := run(pkg, *python, *keep, compare); err != nil {
		fmt.Fprintln(os.Stderr, path.Base(pkg)+":", err)
		os.Exit(1)
	}
}

func run(pkg, python, dir string, compare func(python, source, dir string) error) error {
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
	source, err := Output("go", "list", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return err
	}
	return compare(python, source, dir)
}

// Output runs a program, whose standard error goes to ours, and returns what it prints, without the end of the
// last line.
func Output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w", name, args, err)
	}
	return strings.TrimRight(string(out), "\r\n"), nil
}

// AtLeastOne prints how much was compared. Zero is an error: a comparison of nothing has shown nothing.
func AtLeastOne(what string, n int) error {
	if n == 0 {
		return fmt.Errorf("%s: nothing was compared", what)
	}
	fmt.Printf("%-60s %6d\n", what, n)
	return nil
}

// RandomElements returns the row-major bytes of a tensor, of which any are valid but for bools.
func RandomElements(random *rand.Rand, dt layout.DType, shape []int64) []byte {
	n, _ := layout.CheckedProduct(shape, int64(dt.Size()))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
		if dt == layout.Bool {
			b[i] &= 1
		}
	}
	return b
}
