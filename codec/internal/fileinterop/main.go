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
	"fmt"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/codec/internal/peers"
)

func main() {
	peers.Main("github.com/tstore/tstore/codec/internal/fileinterop", "NumPy, SciPy and safetensors", compare)
}

func compare(python, source, dir string) error {
	for _, format := range []struct {
		name, program string
		write         func(dir string) error
		read          func(dir string, c tensorCase) error
	}{
		{"npz", "NumPy", writeArchives, readArchive},
		{"sparse", "SciPy", writeSparse, readSparse},
		{"safetensors", "safetensors", writeSafetensors, readSafetensors},
	} {
		script := filepath.Join(source, format.name+".py")
		dir := filepath.Join(dir, format.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := format.write(dir); err != nil {
			return fmt.Errorf("%s: %w", format.name, err)
		}
		var checked struct{ Compared int }
		out, err := peers.Output(python, script, "check", dir)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(out), &checked); err != nil {
			return fmt.Errorf("%s check: %q: %w", script, out, err)
		}
		if err := peers.AtLeastOne(format.name+" tensors of tstore read by "+format.program, checked.Compared); err != nil {
			return err
		}
		if _, err := peers.Output(python, script, "write", dir); err != nil {
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
		if err := peers.AtLeastOne(format.name+" tensors of "+format.program+" read by tstore", compared); err != nil {
			return err
		}
	}
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
