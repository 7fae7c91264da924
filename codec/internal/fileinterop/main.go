// Fileinterop compares what tstore and other programs write to files and read from them, both ways:
// .npz archives with NumPy, sparse ones with SciPy, .safetensors files with the safetensors library.
//
//	fileinterop -python VENV/bin/python
//
// The Python needs the packages of codec/internal/interop/requirements.txt. For every comparison it
// prints how many tensors were compared; a difference, or nothing to compare, is a failure.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	python := flag.String("python", "python3", "Python with NumPy, SciPy and safetensors")
	keep := flag.String("dir", "", "keep the files in this directory (default: a temporary one)")
	flag.Parse()
	if err := run(*python, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "fileinterop:", err)
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
	// The scripts lie beside this file, wherever the module is.
	source, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/tstore/tstore/codec/internal/fileinterop").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for _, format := range []struct {
		name, program string
		write         func(dir string) error
		read          func(dir string, c tensorCase) error
	}{
		{"npz", "NumPy", writeArchives, readArchive},
		{"sparse", "SciPy", writeSparse, readSparse},
		{"safetensors", "safetensors", writeSafetensors, readSafetensors},
	} {
		script := []string{filepath.Join(string(source[:len(source)-1]), format.name+".py")}
		dir := filepath.Join(dir, format.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := format.write(dir); err != nil {
			return fmt.Errorf("%s: %w", format.name, err)
		}
		var checked struct{ Compared int }
		out, err := runPython(python, append(script, "check", dir)...)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(out, &checked); err != nil {
			return fmt.Errorf("%s check: %q: %w", script[0], out, err)
		}
		if err := atLeastOne(format.name+" tensors of tstore read by "+format.program, checked.Compared); err != nil {
			return err
		}
		if _, err := runPython(python, append(script, "write", dir)...); err != nil {
			return err
		}
		compared := 0
		err = eachCase(filepath.Join(dir, "theirs.jsonl"), func(c tensorCase) error {
			compared++
			if err := format.read(dir, c); err != nil {
				return fmt.Errorf("%s, tensor %q: %w", c.File, c.Name, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := atLeastOne(format.name+" tensors of "+format.program+" read by tstore", compared); err != nil {
			return err
		}
	}
	return nil
}

func runPython(python string, args ...string) ([]byte, error) {
	cmd := exec.Command(python, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w", python, args, err)
	}
	return out, nil
}

// atLeastOne turns a count of zero into an error: a comparison of nothing has shown nothing.
func atLeastOne(what string, n int) error {
	if n == 0 {
		return fmt.Errorf("%s: nothing was compared", what)
	}
	fmt.Printf("%-60s %6d\n", what, n)
	return nil
}

// eachCase calls f for each line of a description.
func eachCase(path string, f func(tensorCase) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c tensorCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err
		}
	}
	return lines.Err()
}
