package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/cmd/tstore/internal/arrowfile"
	"github.com/tstore/tstore/cmd/tstore/internal/summary"
	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/codec/csv"
	"github.com/tstore/tstore/codec/mtx"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/codec/png"
	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Exit codes. They are part of the command's interface.
const (
	exitDone     = 0
	exitFailure  = 1
	exitUsage    = 2
	exitNotFound = 3
	exitCorrupt  = 4
	exitLocked   = 5

	exitDifferent = 1 // of diff
	exitTrouble   = 6 // of diff, for everything that is a failure otherwise
)

var errInterrupted = errors.New("interrupted")

// usageError is a command line that makes no sense, whatever is in the store.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// failure is an error from doing what the command line asks for. Every other error that cobra
// returns is about the command line itself.
type failure struct{ err error }

func (e *failure) Error() string { return e.err.Error() }
func (e *failure) Unwrap() error { return e.err }

// action makes f the work of a command.
func action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		defer guardMaps(&err)
		defer panicOnFault()()
		if err := f(cmd, args); err != nil {
			if cause := context.Cause(cmd.Context()); errors.Is(err, context.Canceled) && cause != nil {
				err = cause
			}
			return &failure{err}
		}
		return nil
	}
}

// hints says what to do about an error, and which exit code it gives. The first that fits counts.
var hints = []struct {
	is   error
	code int
	hint string
}{
	{errInterrupted, exitFailure, "the store is as it was"},
	{errNoPackage, exitNotFound, ""},
	{store.ErrNoStore, exitNotFound, "check the path; \"tstore put\" creates a store"},
	{store.ErrNotFound, exitNotFound, "\"tstore ls\" shows the names"},
	{store.ErrLocked, exitLocked, "try again when the other process is done, or wait for it with --wait 1m"},
	{store.ErrNewerFormat, exitFailure, "use a newer tstore"},
	{store.ErrCorrupt, exitCorrupt, ""}, // see damageHint
	{store.ErrOutcomeUnknown, exitFailure, "see with \"tstore ls\" whether it is there"},
	{npy.ErrInvalid, exitCorrupt, "make the file again"},
	{npy.ErrTruncated, exitCorrupt, "make or copy the file again"},
	{mtx.ErrInvalid, exitCorrupt, "make the file again"},
	{mtx.ErrTruncated, exitCorrupt, "make or copy the file again"},
	{npz.ErrInvalid, exitCorrupt, "make the file again"},
	{npz.ErrTruncated, exitCorrupt, "make or copy the file again"},
	{safetensors.ErrInvalid, exitCorrupt, "make the file again"},
	{safetensors.ErrTruncated, exitCorrupt, "make or copy the file again"},
	{arrowfile.ErrInvalid, exitCorrupt, "make the file again"},
	{arrowfile.ErrTruncated, exitCorrupt, "make or copy the file again"},
	{csv.ErrInvalid, exitCorrupt, "correct the file"},
	{png.ErrInvalid, exitCorrupt, "make the file again"},
	{png.ErrTruncated, exitCorrupt, "make or copy the file again"},
	{errCompressed, exitCorrupt, "make or copy the file again"},
	{codec.ErrInvalid, exitCorrupt, "make the file again"},
	{codec.ErrTruncated, exitCorrupt, "make or copy the file again"},
	{codec.ErrEndOfStream, exitCorrupt, "make the file again"},
	{layout.ErrLayout, exitFailure, "coo is for any shape, csr and csc are for matrices, csf is for two or more dimensions"},
	{layout.ErrTooLarge, exitFailure, "keep it sparse: .msg and .mtx files hold sparse tensors"},
	{summary.ErrType, exitFailure, "\"tstore get\" shows them"},
	{errNotConfirmed, exitFailure, ""},
	{errIndex, exitFailure, "\"tstore stat\" shows the shape"},
	{syscall.ENOSPC, exitFailure, "make room on the disk and try again"},
}

// explain returns the line to print for an error, which may be empty, and the exit code.
func explain(cmd *cobra.Command, err error) (line string, code int) {
	if errors.Is(err, errDifferent) { // that was printed already
		return "", exitDifferent
	}
	line, code = explainFailure(cmd, err)
	if cmd.Name() == "diff" {
		code = exitTrouble
	}
	return line, code
}

func explainFailure(cmd *cobra.Command, err error) (line string, code int) {
	if errors.Is(err, syscall.EPIPE) { // who read our output has seen enough
		return "", exitFailure
	}
	var work *failure
	var usage *usageError
	if !errors.As(err, &work) || errors.As(err, &usage) {
		return fmt.Sprintf("%s: %s; see \"%s --help\"", cmd.CommandPath(), oneLine(err), cmd.CommandPath()), exitUsage
	}
	code = exitFailure
	line = cmd.CommandPath() + ": " + oneLine(err)
	for _, h := range hints {
		if !errors.Is(err, h.is) {
			continue
		}
		hint := h.hint
		var listed *damage
		switch {
		case errors.As(err, &listed):
			hint = listed.hint
		case h.is == store.ErrCorrupt:
			hint = damageHint()
		}
		if hint != "" {
			line += "; " + hint
		}
		return line, h.code
	}
	return line, code
}

// damageHint says what to do about damage to what the command has opened.
func damageHint() string {
	guarded.Lock()
	defer guarded.Unlock()
	if len(guarded.packages) > 0 && len(guarded.stores) == 0 {
		return "make or copy the package again, or save what is whole with \"tstore repair\""
	}
	return "restore it from a backup, or save what is whole with \"tstore repair\""
}

// oneLine returns the text of an error without line breaks and other control characters, which
// names of files may have.
func oneLine(err error) string {
	return printable(err.Error())
}

// printable replaces control characters, and those that turn the direction of writing, are not seen, or end
// a line, so that a text can't take over a terminal, break a line, or look like another.
func printable(s string) string {
	clean := func(r rune) bool { return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }
	if !strings.ContainsFunc(s, func(r rune) bool { return !clean(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case clean(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, "\\U%08x", r)
		case r > 0xff:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			fmt.Fprintf(&b, "\\x%02x", r)
		}
	}
	return b.String()
}

// leftovers are what has to be removed if the process ends in the middle of its work.
var leftovers struct {
	sync.Mutex
	remove map[string]func()
	final  bool // the batch is being committed; its outcome is decided there
}

// onAbandon registers what to do about path if the process is ended, until the returned function
// is called.
func onAbandon(path string, remove func()) (done func()) {
	leftovers.Lock()
	defer leftovers.Unlock()
	if leftovers.remove == nil {
		leftovers.remove = map[string]func(){}
	}
	leftovers.remove[path] = remove
	return func() {
		leftovers.Lock()
		defer leftovers.Unlock()
		delete(leftovers.remove, path)
	}
}

// committing marks the point from which on an interrupt no longer stops the command.
func committing() {
	leftovers.Lock()
	defer leftovers.Unlock()
	leftovers.final = true
}

// abandon ends the process, unless its batch is being committed.
func abandon() {
	leftovers.Lock()
	defer leftovers.Unlock()
	if leftovers.final {
		return
	}
	for _, remove := range leftovers.remove {
		remove()
	}
	fmt.Fprintf(os.Stderr, "tstore: %v; the store is as it was\n", errInterrupted)
	os.Exit(exitFailure)
}
