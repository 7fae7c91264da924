package main

import (
	"flag"

	"github.com/tstore/tstore/bench/internal/measure"
)

var (
	gibibytes = flag.Float64("size", 2, "make a package of so many `GIB` in the group large; it takes three times as much disk")
	python    = flag.String("python", "", "a `PYTHON` that has safetensors and NumPy, to show where safetensors files end")
)

func main() {
	measure.Main("bench/package", []measure.Group{
		{Name: "many", Run: many},
		{Name: "size", Run: sizes},
		{Name: "large", Run: large},
		{Name: "safetensors", Run: safetensors},
	}, child)
}
