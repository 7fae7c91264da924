// Command files measures how fast files become tensors of a store: .safetensors and .npz of 1 GiB,
// against copying the file, and how much memory it takes beside the page cache.
//
//	go run ./bench/files [-dir DIR] [-quick] [-run REGEXP] [-json FILE]
//
// It prints a table like that of bench/store, made in the same way. bench/README.md explains each
// figure.
package main

import "github.com/tstore/tstore/bench/internal/measure"

func main() {
	measure.Main("bench/files", []measure.Group{
		{Name: "safetensors", Run: importSafetensors},
		{Name: "npz", Run: importNPZ},
		{Name: "deflated", Run: importDeflated},
		{Name: "checksum", Run: checksum},
	}, child)
}
