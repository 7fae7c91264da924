package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"syscall"
)

// bench is one run of the program.
type bench struct {
	dir   string // an empty directory on a disk
	quick bool   // sizes that show that everything works, not how fast it is
	log   io.Writer
	table table
}

// size is full, or small in a quick run.
func (b *bench) size(full, small int) int {
	if b.quick {
		return small
	}
	return full
}

// path is that of a file or directory of the given name to measure with.
func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// groups are the measurements in the order in which they run. Each adds rows to the table and
// leaves nothing in the directory.
var groups = []struct {
	name string
	run  func(*bench) error
}{
	{"large", (*bench).large},
	{"medium", (*bench).medium},
	{"durable", (*bench).durable},
	{"batches", (*bench).batches},
	{"names", (*bench).names},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		if err := child(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench/store:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/store:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	parent := flag.String("dir", "", "measure in a new directory in `DIR`, which must be on a disk (default: that for temporary files, else the working directory)")
	quick := flag.Bool("quick", false, "small sizes: a check that everything works, of which the figures mean little")
	only := flag.String("run", "", "only the groups that match `REGEXP`: large, medium, durable, batches, names")
	jsonFile := flag.String("json", "", "write the table to `FILE` too, as JSON")
	profile := flag.String("cpuprofile", "", "write a CPU profile to `FILE`")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := makeDir(*parent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	go removeOnSignal(dir)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	b := &bench{dir: dir, quick: *quick, log: os.Stderr}
	for _, g := range groups {
		if !match.MatchString(g.name) {
			continue
		}
		fmt.Fprintf(b.log, "measuring %s …\n", g.name)
		if err := g.run(b); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	b.table.print(os.Stdout)
	if *jsonFile != "" {
		return b.table.writeJSON(*jsonFile, b.quick)
	}
	return nil
}

// makeDir makes the directory to measure in. A file system in memory would make every figure
// that has to do with durability meaningless.
func makeDir(parent string) (string, error) {
	if parent == "" {
		parent = os.TempDir()
		if inMemory(parent) {
			parent = "."
		}
	}
	if inMemory(parent) {
		return "", fmt.Errorf("%s is in memory: give a directory on a disk with -dir", parent)
	}
	return os.MkdirTemp(parent, "tstore-bench-")
}

func removeOnSignal(dir string) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	<-c
	os.RemoveAll(dir)
	os.Exit(130)
}
