package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tstore/tstore/layout"
)

// openTerminal opens both ends of a terminal: what is written to slave can be read from master.
func openTerminal(t *testing.T, columns int) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// onTerminal runs the command in this process with both outputs on a terminal, and returns what has been
// written there.
func onTerminal(t *testing.T, columns int, args ...string) (code int, screen string) {
	t.Helper()
	master, slave := openTerminal(t, columns)
	defer master.Close()
	shown := make(chan string)
	go func() {
		var b strings.Builder
		io.Copy(&b, master) // which ends in an error when the other end is closed
		shown <- b.String()
	}()
	code = run(t.Context(), args, slave, slave)
	slave.Close()
	return code, strings.ReplaceAll(<-shown, "\r\n", "\n")
}

// Work that takes long shows its progress on a terminal, and nowhere else.
func TestProgressOnTerminal(t *testing.T) {
	delay := progressDelay
	defer func() { progressDelay = delay }()
	progressDelay = 0
	dir := t.TempDir()
	s, p := filepath.Join(dir, "s"), filepath.Join(dir, "p.tstore")
	x := writeNPY(t, layout.DenseOf(make([]float64, 1<<20), 1<<10, 1<<10))
	for _, name := range []string{"a/x", "b/x"} {
		if code, _, stderr := inside(t, "put", s, name, x); code != 0 {
			t.Fatal(stderr)
		}
	}
	bar := regexp.MustCompile(`\d+% \|[█ ]*\| \( *[0-9.]+.*B.*\) \[\d+s`)
	for _, c := range [][]string{
		{"pack", s, p},
		{"verify", s},
		{"verify", p},
		{"describe", s, "a/x"},
		{"plot", s, "a/x"},
		{"plot", s, "a/x", "-o", filepath.Join(dir, "x.png")},
		{"diff", s, p},
		{"diff", s, p, "a/x", "b/x"},
		{"get", s, "a/x", "-o", filepath.Join(dir, "x.npy")},
		{"convert", s, "a/x", "--layout", "csr", "--to", "c"},
	} {
		if code, screen := onTerminal(t, 100, c...); code != exitDone || !bar.MatchString(screen) {
			t.Errorf("%q: exit code %d, no progress on the terminal: %q", c, code, screen)
		}
		if code, screen := onTerminal(t, 100, append(c, "--quiet")...); code != exitDone || bar.MatchString(screen) {
			t.Errorf("%q --quiet: exit code %d, progress on the terminal: %q", c, code, screen)
		}
		if code, stdout, stderr := inside(t, c...); code != exitDone || stderr != "" || bar.MatchString(stdout) {
			t.Errorf("%q without a terminal: exit code %d, %q, %q", c, code, stdout, stderr)
		}
	}
	progressDelay = time.Hour
	if _, screen := onTerminal(t, 100, "verify", s); bar.MatchString(screen) {
		t.Errorf("quick work shows progress: %q", screen)
	}
}

// Names that would look like others are not shown as they are.
func TestNamesOnTerminal(t *testing.T) {
	s := filepath.Join(t.TempDir(), "s")
	const name, shown = "a\u202eb\u2028c", `a\u202eb\u2028c`
	mustRun(t, "put", s, name, writeNPY(t, layout.DenseOf([]float32{1}, 1)))
	for _, args := range [][]string{{"ls", s}, {"ls", "-l", s}, {"du", s}} {
		if code, screen := onTerminal(t, 100, args...); code != exitDone || !strings.Contains(screen, shown) || strings.Contains(screen, name) {
			t.Errorf("%q: exit code %d, on the terminal: %q", args, code, screen)
		}
	}
	if got := mustRun(t, "ls", s); got != name+"\n" {
		t.Errorf("ls without a terminal: %q", got)
	}
	if got := mustRun(t, "ls", "-l", s); !strings.Contains(got, shown) {
		t.Errorf("ls -l without a terminal: %q", got)
	}
}

// Where nobody knows how large the output will be, and where text is parsed, bytes are counted all the same.
func TestProgressOfText(t *testing.T) {
	delay := progressDelay
	defer func() { progressDelay = delay }()
	progressDelay = 0
	dir := t.TempDir()
	s := filepath.Join(dir, "s")
	mustRun(t, "put", s, "x", writeNPY(t, layout.DenseOf(make([]float64, 1<<18), 1<<16, 4)))
	for _, name := range []string{"x.csv", "x.mtx", "x.tsv.gz", "x.npy.zst"} {
		file := filepath.Join(dir, name)
		code, screen := onTerminal(t, 100, "get", s, "x", "-o", file)
		if written := regexp.MustCompile(`writing .* \([0-9.]+ [kM]?B, [0-9.]+ [kMG]?B/s`); code != exitDone || !written.MatchString(screen) || strings.Contains(screen, "%") {
			t.Errorf("get -o %s: exit code %d, on the terminal: %q", name, code, screen)
		}
		code, screen = onTerminal(t, 100, "put", s, "y", file)
		read := regexp.MustCompile(`reading ` + regexp.QuoteMeta(file) + ` +\d+% \|`)
		if text := !strings.Contains(name, "npy"); code != exitDone || read.MatchString(screen) != text {
			t.Errorf("put %s: exit code %d, on the terminal: %q", name, code, screen)
		}
	}
}

// Work that tells nothing for a while is named, with the time that it takes.
func TestPhaseOnTerminal(t *testing.T) {
	delay, phase := progressDelay, phaseDelay
	defer func() { progressDelay, phaseDelay = delay, phase }()
	progressDelay, phaseDelay = 0, 0
	master, slave := openTerminal(t, 100)
	defer master.Close()
	defer slave.Close()
	cmd := newRoot()
	cmd.SetErr(slave)
	p := newProgress(cmd, "copying", 1000)
	p.then("checking names")
	p.report(1000, 1000)
	time.Sleep(3 * phaseTick)
	inner := newProgress(cmd, "within", 10)
	inner.end()
	p.report(10, 1000)
	p.end()
	p.then("never")
	slave.WriteString("END")
	time.Sleep(2 * phaseTick)
	b := make([]byte, 1<<16)
	n, err := master.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	screen := string(b[:n])
	if !strings.Contains(screen, "\rchecking names [0s]") || !strings.HasSuffix(screen, "\rEND") || strings.Contains(screen, "never") {
		t.Errorf("on the screen: %q", screen)
	}
	if innermost.Load() != nil {
		t.Error("ended work is still shown")
	}
}

// When the work has ended, nothing is shown any more, also where nobody knew how much it would be.
func TestProgressEnds(t *testing.T) {
	delay := progressDelay
	defer func() { progressDelay = delay }()
	progressDelay = 0
	master, slave := openTerminal(t, 100)
	defer master.Close()
	defer slave.Close()
	cmd := newRoot()
	cmd.SetErr(slave)
	p := newEndlessProgress(cmd, "counting")
	for n := range int64(5) {
		p.set(1000 * n)
		time.Sleep(120 * time.Millisecond)
	}
	p.end()
	slave.WriteString("END")
	time.Sleep(300 * time.Millisecond)
	b := make([]byte, 1<<16)
	n, err := master.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if screen := string(b[:n]); !strings.Contains(screen, "counting") || !strings.HasSuffix(screen, "END") {
		t.Errorf("on the screen: %q", screen)
	}
}

// A picture on a terminal is as wide as that and has colours, unless it is told otherwise.
func TestPlotOnTerminal(t *testing.T) {
	s := filepath.Join(t.TempDir(), "s")
	if code, _, stderr := inside(t, "put", s, "x", writeNPY(t, layout.DenseOf(make([]float64, 1<<10), 8, 1<<7))); code != 0 {
		t.Fatal(stderr)
	}
	t.Setenv("TERM", "xterm")
	for _, noColor := range []string{"", "1"} {
		t.Setenv("NO_COLOR", noColor)
		for _, columns := range []int{40, 120} {
			code, screen := onTerminal(t, columns, "plot", s, "x")
			if code != exitDone || strings.Contains(screen, "\x1b[38;") != (noColor == "") {
				t.Errorf("NO_COLOR=%q: exit code %d, %q", noColor, code, screen)
			}
			wide := 0
			for line := range strings.Lines(regexp.MustCompile("\x1b\\[[0-9;]*[a-zA-Z]").ReplaceAllString(screen, "")) {
				line = line[strings.LastIndex(line, "\r")+1:] // behind what the progress was
				wide = max(wide, len([]rune(strings.TrimRight(line, " \n"))))
			}
			if wide > columns || wide < columns*3/4 {
				t.Errorf("NO_COLOR=%q: %d columns of %d are used: %q", noColor, wide, columns, screen)
			}
		}
	}
	if code, screen := onTerminal(t, 80, "plot", s, "x", "-o", "-"); code != exitUsage || !strings.Contains(screen, "standard output is a terminal") {
		t.Errorf("-o -: exit code %d: %q", code, screen)
	}
}
