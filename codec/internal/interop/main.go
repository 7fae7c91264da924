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
	"os"
	"path/filepath"

	"github.com/tstore/tstore/codec/internal/peers"
)

func main() {
	peers.Main("github.com/tstore/tstore/codec/internal/interop", "pyarrow and numpy", func(python, source, dir string) error {
		if err := compareDense(python, filepath.Join(source, "dense.py"), dir); err != nil {
			return err
		}
		return compareArrow(python, source, dir)
	})
}

// appendLine appends v to a file as a line of JSON.
func appendLine(f *os.File, v any) error {
	return json.NewEncoder(f).Encode(v)
}
