// Command asm writes the amd64 assembly of package vec and its Go stubs.
//
// Run it in its own folder: go run . writes the files of package vec into the folder above it, or into another one
// given by -dir, and those of its benchmark into ../bench/vec from there. The output depends on nothing but this source, so running it again gives
// the same bytes.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("asm: ")
	dir := flag.String("dir", "..", "write the assembly and stubs into this `folder`")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	for _, f := range []struct {
		folder, pkg, name string
		make              func(*gen)
	}{
		{".", "vec", "count", countKernels},
		{".", "vec", "compact", compactKernels},
		{".", "vec", "check", checkKernels},
		{".", "vec", "convert", convertKernels},
		{".", "vec", "stream", streamKernels},
		{".", "vec", "coords", coordsKernels},
		{".", "vec", "place", placeKernels},
		{".", "vec", "tile", tileKernels},
		{".", "vec", "drop", dropKernels},
		{".", "vec", "moments", momentsKernels},
		{".", "vec", "pairs", pairsKernels},
		{".", "vec", "lines", linesKernels},
		{".", "vec", "records", recordsKernels},
		{".", "vec", "runs", runsKernels},
		{".", "vec", "expand", expandKernels},
		{"../bench/vec", "main", "read", readKernels},
	} {
		if err := write(filepath.Join(*dir, f.folder), f.pkg, f.name, f.make); err != nil {
			log.Fatalf("%s: %v", f.name, err)
		}
	}
}

// gen is the context that one file is built in.
type gen struct {
	*build.Context
	labels int
}

// label returns a label that is new in this file.
func (g *gen) label(name string) string {
	g.labels++
	return fmt.Sprintf("%s%d", name, g.labels)
}

// write makes name_amd64.s and name_stubs_amd64.go. Nothing is written unless all went well, for an
// empty stub file would hide the error behind others.
func write(dir, pkg, name string, kernels func(*gen)) error {
	g := &gen{Context: build.NewContext()}
	kernels(g)
	file, err := g.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	cfg := printer.Config{Name: "vec/asm", Pkg: pkg}
	asm, err := printer.NewGoAsm(cfg).Print(file)
	if err != nil {
		return err
	}
	stubs, err := printer.NewStubs(cfg).Print(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+"_amd64.s"), asm, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+"_stubs_amd64.go"), stubs, 0o644)
}
