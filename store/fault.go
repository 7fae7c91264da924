package store

import (
	"fmt"
	"runtime/debug"

	"github.com/tstore/tstore/store/internal/segment"
)

// A map of a file that somebody has cut short, or that has a bad sector, can't be
// read: the processor faults, which ends the process unless the goroutine has asked
// for a panic instead (debug.SetPanicOnFault). Everything here that reads a map
// does, and makes ErrCorrupt of the panic if the address is one of ours.

// fault is what such a panic carries.
type fault interface {
	error
	Addr() uintptr
}

// rescue, deferred, makes an error of a fault in one of the maps of st; any other
// panic goes on. what says what was being read.
func (st *state) rescue(what string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	x, ok := p.(fault)
	if !ok {
		panic(p)
	}
	for _, f := range st.segs {
		if f.Contains(x.Addr()) {
			*err = faultError(f, what)
			return
		}
	}
	panic(p)
}

func faultError(f *segment.File, what string) error {
	return fmt.Errorf("tensor %q: %s: %w: the map can't be read: the file was cut short, or the disk has a bad sector", what, f.Path, ErrCorrupt)
}

// guarded runs fn, which reads the map of f for the tensor name, and makes an error
// of a fault.
func guarded(f *segment.File, name string, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer (&state{segs: map[uint64]*segment.File{0: f}}).rescue(name, &err)
	return fn()
}

// borrowed runs fn, which reads memory that the caller of a put has lent. That may be
// a map too; if it can't be read that is an error, in whichever goroutine fn runs.
func borrowed(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fault:
			err = fmt.Errorf("the memory of the tensor can't be read: %w", p)
		default:
			panic(p)
		}
	}()
	return fn()
}
