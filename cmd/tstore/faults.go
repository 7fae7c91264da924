package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/tstore/tstore/store"
)

// guarded are the maps of input files, by address, and the stores and packages that are read
// in place. Reading a
// map faults if its file was cut short meanwhile, or lies on a bad sector. Files stay here when they
// are unmapped: a fault unwinds the stack, and closes the input, before it is asked where it came
// from.
var guarded struct {
	sync.Mutex
	maps     map[uintptr]guardedMap
	count    int      // of calls of guard
	stores   []string // paths; only package store knows where they are mapped
	packages []string
}

type guardedMap struct {
	size int
	age  int // how many came before it
	path string
}

func guard(m []byte, path string) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
	guarded.Lock()
	defer guarded.Unlock()
	if guarded.maps == nil {
		guarded.maps = map[uintptr]guardedMap{}
	}
	guarded.maps[start] = guardedMap{len(m), guarded.count, path}
	guarded.count++
}

// guardStore says that the files of a store, or a package, may be read in place.
func guardStore(path string, pkg bool) {
	guarded.Lock()
	defer guarded.Unlock()
	if pkg {
		guarded.packages = append(guarded.packages, path)
	} else {
		guarded.stores = append(guarded.stores, path)
	}
}

// guardMaps, deferred, turns a fault in the map of an input file or of a store into an error. For
// that it needs faults to be panics: see panicOnFault.
func guardMaps(err *error) {
	fault := recover()
	if fault == nil {
		return
	}
	if a, ok := fault.(interface{ Addr() uintptr }); ok {
		guarded.Lock()
		defer guarded.Unlock()
		found, at := guardedMap{age: -1}, uintptr(0)
		for start, m := range guarded.maps { // the last, if others lay there before
			if start <= a.Addr() && a.Addr()-start < uintptr(m.size) && m.age > found.age {
				found, at = m, a.Addr()-start
			}
		}
		if found.age >= 0 {
			*err = &failure{fmt.Errorf("%s: it can't be read at byte %d: the file was cut short meanwhile, or the disk is bad", found.path, at)}
			return
		}
		if open := slices.Concat(guarded.stores, guarded.packages); len(open) > 0 {
			*err = &failure{fmt.Errorf("%w: a file of %s can't be read in place: it was cut short meanwhile, or the disk is bad", store.ErrCorrupt, strings.Join(open, " or "))}
			return
		}
	}
	panic(fault)
}

// panicOnFault makes faults of this goroutine panics until the returned function is called.
func panicOnFault() (restore func()) {
	old := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(old) }
}
