package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// progressDelay is how long work takes before its progress is shown.
var progressDelay = time.Second

// innermost is the progress that was begun last, of those that are shown.
var innermost atomic.Pointer[progress]

// progress shows on standard error how far the work is, if that is a terminal and the work takes
// long. Its methods may be called by several goroutines.
type progress struct {
	mu    sync.Mutex
	total int64
	done  int64
	base  int64                    // what was done before that which is told
	bar   *progressbar.ProgressBar // nil where nothing is shown

	out     io.Writer
	told    time.Time     // when it was told something last
	waiting int           // columns of a phase that is shown in place of the bar
	stop    chan struct{} // closed at the end, if then was called
	outer   *progress     // of the work that this is a part of
}

// newProgress begins work on total bytes. It has to be ended.
func newProgress(cmd *cobra.Command, what string, total int64) *progress {
	return beginProgress(cmd, what, total, true)
}

// newCountProgress begins work on a number of things that report will tell.
func newCountProgress(cmd *cobra.Command, what string) *progress {
	return beginProgress(cmd, what, 1, false)
}

// newEndlessProgress begins work on a number of things that nobody knows.
func newEndlessProgress(cmd *cobra.Command, what string) *progress {
	return beginProgress(cmd, what, -1, false)
}

func beginProgress(cmd *cobra.Command, what string, total int64, bytes bool) *progress {
	p := &progress{total: total}
	f, ok := cmd.ErrOrStderr().(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) && !quiet(cmd) {
		p.out = &lateWriter{f, time.Now().Add(progressDelay)}
		options := []progressbar.Option{
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowBytes(bytes),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100 * time.Millisecond),
			progressbar.OptionSetWidth(20),
			progressbar.OptionClearOnFinish(),
			// Nothing is drawn but by us: otherwise it would go on after the end.
			progressbar.OptionSetSpinnerChangeInterval(0),
		}
		if !bytes {
			options = append(options, progressbar.OptionShowIts())
		}
		p.bar = progressbar.NewOptions64(total, options...)
		p.outer = innermost.Swap(p)
	}
	return p
}

// lateWriter drops what is written before its time, so that quick work shows nothing.
type lateWriter struct {
	f     *os.File
	start time.Time
}

func (w *lateWriter) Write(b []byte) (int, error) {
	if time.Now().Before(w.start) {
		return len(b), nil
	}
	return w.f.Write(b)
}

// add counts n more bytes.
func (p *progress) add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(p.done - p.base + n)
}

// set sets the number of bytes that are done.
func (p *progress) set(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(n)
}

func (p *progress) show(n int64) {
	p.done = p.base + n
	if p.total >= 0 {
		p.done = min(p.done, p.total) // files are a little larger than the tensors in them
	}
	if p.bar != nil {
		p.hidePhase()
		p.told = time.Now()
		p.bar.Set64(p.done)
	}
}

// goOn says that n bytes are done, and that the next numbers are of what comes after them.
func (p *progress) goOn(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base = n
	p.show(0)
}

// report sets both how much is done and how much there is to do.
func (p *progress) report(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if total != p.total {
		p.total = total
		if p.bar != nil {
			p.bar.ChangeMax64(total)
		}
	}
	p.show(done)
}

// end takes the bar off the screen.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.hidePhase()
		p.bar.Clear()
		p.bar = nil
		innermost.Store(p.outer)
	}
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
	}
}

// then says what is done wherever the work goes on and nothing is told: phase stands in place of the bar, with the
// time that it takes, until something is told again.
func (p *progress) then(phase string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil || p.stop != nil {
		return
	}
	stop := make(chan struct{})
	p.stop, p.told = stop, time.Now()
	go func() {
		tick := time.NewTicker(phaseTick)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				p.showPhase(phase)
			}
		}
	}()
}

// phaseTick is the time between two looks at whether something was told, and phaseDelay that after which the phase is
// shown.
const phaseTick = 200 * time.Millisecond

var phaseDelay = 700 * time.Millisecond

func (p *progress) showPhase(phase string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := time.Since(p.told)
	if p.bar == nil || took < phaseDelay || innermost.Load() != p {
		return
	}
	if p.waiting == 0 {
		p.bar.Clear()
	}
	line := fmt.Sprintf("%s [%v]", phase, took.Truncate(time.Second))
	p.waiting = utf8.RuneCountInString(line)
	io.WriteString(p.out, "\r"+line)
}

// hidePhase takes the phase off the screen.
func (p *progress) hidePhase() {
	if p.waiting > 0 {
		io.WriteString(p.out, "\r"+strings.Repeat(" ", p.waiting)+"\r")
		p.waiting = 0
	}
}

// visible reports whether anybody sees it.
func (p *progress) visible() bool { return p.bar != nil }

// above returns a writer to w that takes the bar off the screen whenever something is written, so that
// they do not mix.
func (p *progress) above(w io.Writer) io.Writer {
	if !p.visible() || !isTerminal(w) {
		return w
	}
	return &clearingWriter{p, w}
}

type clearingWriter struct {
	p *progress
	w io.Writer
}

func (c *clearingWriter) Write(b []byte) (int, error) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.p.bar != nil {
		c.p.hidePhase()
		c.p.bar.Clear()
	}
	return c.w.Write(b)
}

// watch sets the progress by the growth of a directory, until the returned function is called: a
// store writes a large tensor in one call, which tells nothing until it is done.
func (p *progress) watch(dir string) (stop func()) {
	if p.bar == nil {
		return func() {}
	}
	before := sizeOf(dir)
	stopped := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-tick.C:
				if n := sizeOf(dir) - before; n > 0 {
					p.set(n)
				}
			}
		}
	})
	return func() {
		close(stopped)
		wg.Wait()
	}
}

// sizeOf returns the bytes of all files in a directory. Files that come and go meanwhile count or
// do not.
func sizeOf(dir string) int64 {
	var total int64
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
