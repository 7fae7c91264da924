package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tstore/tstore/store/powercut/control"
	"github.com/tstore/tstore/store/powercut/disk"
	"github.com/tstore/tstore/store/powercut/fusefs"
	"github.com/tstore/tstore/store/powercut/volume"
)

// Exit codes.
const (
	exitError  = 1
	exitUsage  = 2
	exitNoFuse = 3
)

var errUsage = errors.New("usage: powercut mount [flags] DIR | image [flags] OUT | list FILE | ctl SOCKET REQUEST")

func main() {
	if err := run(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "powercut:", err)
		}
		os.Exit(exitCode(err))
	}
}

func exitCode(err error) int {
	switch {
	case errors.Is(err, flag.ErrHelp), errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, fusefs.ErrNoFuse):
		return exitNoFuse
	}
	return exitError
}

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "mount":
		return mount(args[1:])
	case "image":
		return image(args[1:])
	case "list":
		return list(args[1:])
	case "ctl":
		return ctl(args[1:])
	}
	return fmt.Errorf("%q: %w", args[0], errUsage)
}

// parse reads flags and the one argument after them.
func parse(flags *flag.FlagSet, args []string, what string) (string, error) {
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return "", err
	} else if err != nil {
		return "", fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() != 1 {
		return "", fmt.Errorf("%s needs one argument, %s, after the flags: %w", flags.Name(), what, errUsage)
	}
	return flags.Arg(0), nil
}

func diskFlags(flags *flag.FlagSet, o *disk.Options) {
	flags.BoolVar(&o.FsyncEntry, "fsync-entry", false, "a sync of a file persists its name too, as on ext4")
	flags.StringVar(&o.Ignore, "ignore-syncs", "", "syncs of `what` do nothing: files, dirs or all")
}

func mount(args []string) error {
	var config volume.Config
	flags := flag.NewFlagSet("mount", flag.ContinueOnError)
	socket := flags.String("control", "", "unix `socket` for requests")
	trace := flags.String("trace", "", "write the trace to this `file` at the end")
	follow := flags.Bool("stdin", false, "end when standard input does, so that no mount outlives the test that started it")
	flags.Int64Var(&config.Limit, "limit", 0, "how many `bytes` files may take up, 0 for no limit")
	flags.DurationVar(&config.SyncDelay, "sync-delay", 0, "how long a sync takes at least")
	flags.StringVar(&config.From, "from", "", "start with the contents of this `directory`")
	diskFlags(flags, &config.Disk)
	dir, err := parse(flags, args, "the directory to mount on")
	if err != nil {
		return err
	}
	v, err := volume.New(config)
	if err != nil {
		return err
	}
	m, err := fusefs.New(v, dir)
	if err != nil {
		return err
	}
	ended := make(chan error, 4)
	if *socket != "" {
		l, err := net.Listen("unix", *socket)
		if err != nil {
			return errors.Join(err, m.Unmount())
		}
		defer l.Close()
		go func() { ended <- control.Serve(l, m) }()
	}
	if *follow {
		go func() {
			_, err := io.Copy(io.Discard, os.Stdin)
			ended <- err
		}()
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		ended <- nil
	}()
	go func() {
		m.Wait()
		ended <- nil
	}()
	fmt.Println("ready")
	err = <-ended
	if *trace != "" {
		err = errors.Join(err, saveTrace(*trace, v))
	}
	return errors.Join(err, m.Unmount())
}

func saveTrace(path string, v *volume.Volume) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := v.WriteTrace(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func readTrace(path string) ([]disk.Op, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ops, err := disk.ReadTrace(f)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		fmt.Fprintf(os.Stderr, "powercut: %v; going on with the %d operations before\n", err, len(ops))
		err = nil
	}
	return ops, err
}

func image(args []string) error {
	var opts disk.Options
	var policy disk.Policy
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	trace := flags.String("trace", "", "the trace `file`")
	at := flags.Int64("at", -1, "cut after so many operations, -1 for all")
	seed := flags.Uint64("seed", 0, "what to choose with")
	given := flags.String("policy", "", "what to choose from, in `JSON`, as for a request")
	verbose := flags.Bool("v", false, "print what was chosen")
	diskFlags(flags, &opts)
	out, err := parse(flags, args, "the directory to write")
	if err != nil {
		return err
	}
	if *given != "" {
		if err := json.Unmarshal([]byte(*given), &policy); err != nil {
			return fmt.Errorf("policy %s: %w", *given, err)
		}
	}
	ops, err := readTrace(*trace)
	if err != nil {
		return err
	}
	n := uint64(len(ops))
	if *at >= 0 {
		n = uint64(*at)
	}
	state, err := disk.NewReplay(opts).At(ops, n)
	if err != nil {
		return err
	}
	after, choices, err := state.Crash(*seed, policy)
	if err != nil {
		return err
	}
	if *verbose {
		for _, c := range choices {
			fmt.Printf("%s: %s\n", c.Path, c.What)
		}
	}
	return after.Dump(out)
}

func list(args []string) error {
	flags := flag.NewFlagSet("list", flag.ContinueOnError)
	path, err := parse(flags, args, "the trace file")
	if err != nil {
		return err
	}
	ops, err := readTrace(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for i := range ops {
		text, err := json.Marshal(&ops[i])
		if err != nil {
			return err
		}
		zeros := ""
		if ops[i].Kind == disk.OpWrite && ops[i].Data == nil {
			zeros = " zeros"
		}
		fmt.Fprintf(out, "%d %s%s\n", i, text, zeros)
	}
	return out.Flush()
}

func ctl(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("ctl needs a socket and requests: %w", errUsage)
	}
	conn, err := net.DialTimeout("unix", args[0], 5*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, request := range args[1:] {
		if _, err := fmt.Fprintln(conn, request); err != nil {
			return err
		}
		line, err := in.ReadString('\n')
		fmt.Print(line)
		if err != nil {
			return err
		}
	}
	return nil
}
