package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
	"syscall"
)

// Bench is one run of a program.
type Bench struct {
	Dir   string // an empty directory on a disk
	Quick bool   // sizes that show that everything works, not how fast it is
	Log   io.Writer
	Table Table
}

// Group is a part of what a program measures. It adds rows to the table and leaves nothing in the
// directory.
type Group struct {
	Name string
	Run  func(*Bench) error
}

// childArg as the first argument makes a program do one thing and write what it has found to
// standard output.
const childArg = "child"

// Main is the main function of the program of that name: it runs the groups in their order and
// writes the table. A program that measures things in processes of their own has a function child,
// which does what its arguments ask for; otherwise it is nil. More flags can be declared before.
func Main(program string, groups []Group, child func(args []string) error) {
	var err error
	if len(os.Args) > 1 && os.Args[1] == childArg && child != nil {
		err = child(os.Args[2:])
	} else {
		err = run(groups)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(1)
	}
}

func run(groups []Group) (err error) {
	var names []string
	for _, g := range groups {
		names = append(names, g.Name)
	}
	parent := flag.String("dir", "", "measure in a new directory in `DIR`, which must be on a disk (default: that for temporary files, else the working directory)")
	quick := flag.Bool("quick", false, "small sizes: a check that everything works, of which the figures mean little")
	only := flag.String("run", "", "only the groups that match `REGEXP`: "+strings.Join(names, ", "))
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
	b := &Bench{Dir: dir, Quick: *quick, Log: os.Stderr}
	for _, g := range groups {
		if !match.MatchString(g.Name) {
			continue
		}
		fmt.Fprintf(b.Log, "measuring %s …\n", g.Name)
		if err := g.Run(b); err != nil {
			return fmt.Errorf("%s: %w", g.Name, err)
		}
	}
	b.Table.Print(os.Stdout)
	if *jsonFile != "" {
		return b.Table.WriteJSON(*jsonFile, b.Quick)
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

// Size is full, or small in a quick run.
func (b *Bench) Size(full, small int) int {
	if b.Quick {
		return small
	}
	return full
}

// Path is that of a file or directory of the given name to measure with.
func (b *Bench) Path(name string) string { return filepath.Join(b.Dir, name) }

// Remove removes a file or directory and waits until the disk is done with it: a freed extent is
// discarded when the journal commits, which would otherwise fall into the next measurement.
func (b *Bench) Remove(name string) error {
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	return b.SyncDir()
}

// SyncDir syncs the directory that is measured in.
func (b *Bench) SyncDir() error {
	d, err := os.Open(b.Dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// InChild runs the child function of the program in a process of its own and decodes what it has
// encoded as JSON into result, if that is not nil. A child that was asked to end itself by being
// killed has not failed.
func (b *Bench) InChild(result any, args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, append([]string{childArg}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && args[0] == "killed" && !exit.Exited() {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("child %v: %w", args, err)
	}
	if result == nil {
		return nil
	}
	return json.NewDecoder(bytes.NewReader(out)).Decode(result)
}
