package volume

import (
	"fmt"
	"path"
	"slices"
	"syscall"
)

// Fault makes operations fail.
type Fault struct {
	ID int `json:"id"`
	// Op is the kind of operation: write, fsync (of files, fdatasync too), fsyncdir, sync (either), read, open, truncate,
	// create, mkdir, link, unlink, rmdir, rename, change (any of the last six), modify (all but read and open), any.
	Op string `json:"op"`
	// Glob restricts it to paths that match, as path.Match has it, as a whole or by their last element. A rename goes by its old name.
	Glob string `json:"glob,omitempty"`
	// Nth is the first of the matching operations that fails, counted from 1, since the fault was set; 0 means 1.
	Nth int64 `json:"nth,omitempty"`
	// Times is how many fail in all, from the Nth on; 0 means 1, negative means all.
	Times int64 `json:"times,omitempty"`
	// Err is the name of the error; "" means EIO.
	Err string `json:"err,omitempty"`
	// Off and Len restrict reads and writes to those that touch a range of the file; Len 0 is no restriction.
	Off int64 `json:"off,omitempty"`
	Len int64 `json:"len,omitempty"`
	// Accept makes a write take that many bytes, a short write without an error, if it has more.
	Accept int64 `json:"accept,omitempty"`
	// Seed other than 0 makes a failed sync write some of the blocks nevertheless.
	Seed uint64 `json:"seed,omitempty"`

	Seen int64 `json:"seen"` // matching operations so far
	Hits int64 `json:"hits"` // how many of them failed

	errno syscall.Errno
}

var errnos = map[string]syscall.Errno{
	"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT, "EROFS": syscall.EROFS, "EFBIG": syscall.EFBIG,
	"EACCES": syscall.EACCES, "EPERM": syscall.EPERM, "EMFILE": syscall.EMFILE, "ENFILE": syscall.ENFILE, "ENOMEM": syscall.ENOMEM,
	"EINTR": syscall.EINTR, "EAGAIN": syscall.EAGAIN,
}

var kindsOf = map[string][]string{
	"write": {"write"}, "fsync": {"fsync"}, "fsyncdir": {"fsyncdir"}, "sync": {"fsync", "fsyncdir"}, "read": {"read"}, "open": {"open"},
	"truncate": {"truncate"}, "create": {"create"}, "mkdir": {"mkdir"}, "link": {"link"}, "unlink": {"unlink"}, "rmdir": {"rmdir"}, "rename": {"rename"},
	"change": {"create", "mkdir", "link", "unlink", "rmdir", "rename"},
	"modify": {"write", "truncate", "fsync", "fsyncdir", "create", "mkdir", "link", "unlink", "rmdir", "rename"}, "any": nil,
}

// AddFault sets a fault and returns its number.
func (v *Volume) AddFault(f Fault) (int, error) {
	if f.Err == "" {
		f.Err = "EIO"
	}
	errno, ok := errnos[f.Err]
	if !ok {
		return 0, fmt.Errorf("volume: fault with error %q: not known", f.Err)
	}
	if _, ok := kindsOf[f.Op]; !ok {
		return 0, fmt.Errorf("volume: fault for %q: there is no such operation", f.Op)
	}
	if _, err := path.Match(f.Glob, ""); err != nil {
		return 0, fmt.Errorf("volume: fault for paths %q: %w", f.Glob, err)
	}
	f.errno, f.Seen, f.Hits = errno, 0, 0
	f.Nth = max(f.Nth, 1)
	if f.Times == 0 {
		f.Times = 1
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faultID++
	f.ID = v.faultID
	v.faults = append(v.faults, &f)
	return f.ID, nil
}

// RemoveFault removes a fault, or all of them if id is 0.
func (v *Volume) RemoveFault(id int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = slices.DeleteFunc(v.faults, func(f *Fault) bool { return id == 0 || f.ID == id })
}

// Faults returns the faults that are set, with what they have seen.
func (v *Volume) Faults() []Fault {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]Fault, 0, len(v.faults))
	for _, f := range v.faults {
		list = append(list, *f)
	}
	return list
}

// fire counts an operation for all faults and returns the first one that hits it, nil if none does.
func (v *Volume) fire(what, name string, off, size int64) *Fault {
	var hit *Fault
	for _, f := range v.faults {
		if !f.matches(what, name, off, size) {
			continue
		}
		f.Seen++
		if hit == nil && f.Seen >= f.Nth && (f.Times < 0 || f.Seen < f.Nth+f.Times) {
			f.Hits++
			hit = f
		}
	}
	return hit
}

func (f *Fault) matches(what, name string, off, size int64) bool {
	if kinds := kindsOf[f.Op]; kinds != nil && !slices.Contains(kinds, what) {
		return false
	}
	if f.Glob != "" {
		whole, _ := path.Match(f.Glob, name)
		last, _ := path.Match(f.Glob, path.Base(name))
		if !whole && !last {
			return false
		}
	}
	if f.Len > 0 && (what == "read" || what == "write") {
		return off < f.Off+f.Len && f.Off < off+size
	}
	return true
}
