package disk

import (
	"errors"
	"fmt"
	"slices"
)

// Options say how strict the disk is about what makes what durable.
type Options struct {
	// FsyncEntry makes a sync of a file also persist its own name and those of the directories above it, as
	// ext4 and most others do and nobody promises.
	FsyncEntry bool `json:"fsync_entry,omitempty"`
	// Ignore makes syncs do nothing: "files", "dirs" or "all". A checker that still finds nothing wrong is broken.
	Ignore string `json:"ignore,omitempty"`
}

// State is a file system on a disk with a volatile cache. It is not safe for concurrent use.
type State struct {
	opts      Options
	inodes    map[uint64]*inode
	next      uint64 // the number of operations applied
	allocated int64  // blocks in use

	pending  []*change
	lastOf   map[entryKey]*change
	lastMove *change
}

// NewState returns an empty file system.
func NewState(opts Options) *State {
	s := newState(opts)
	s.inodes[RootIno] = newDir(RootIno, 0o755)
	return s
}

func newState(opts Options) *State {
	return &State{opts: opts, inodes: map[uint64]*inode{}, lastOf: map[entryKey]*change{}}
}

// Next returns the number of operations applied so far.
func (s *State) Next() uint64 { return s.next }

// Allocated returns the bytes in use, in whole blocks.
func (s *State) Allocated() int64 { return s.allocated * BlockSize }

// Apply performs one operation. An operation that is impossible in this state is an error and changes nothing.
func (s *State) Apply(op *Op) error {
	if err := s.apply(op); err != nil {
		return fmt.Errorf("disk: operation %d: %w", s.next, err)
	}
	s.next++
	return nil
}

var errKind = errors.New("unknown operation")

func (s *State) apply(op *Op) error {
	if err := op.check(); err != nil {
		return err
	}
	seq := s.next
	switch op.Kind {
	case OpMark, OpFail:
		return nil
	case OpCreate, OpMkdir:
		return s.create(op, seq)
	case OpLink:
		return s.link(op, seq)
	case OpUnlink, OpRmdir:
		return s.remove(op, seq)
	case OpRename:
		return s.rename(op, seq)
	case OpWrite:
		f, err := s.file(op.Ino)
		if err != nil {
			return err
		}
		before := f.used
		f.write(op.Off, op.Size, op.Data, seq)
		s.account(f, before)
		return nil
	case OpTruncate:
		f, err := s.file(op.Ino)
		if err != nil {
			return err
		}
		before := f.used
		f.truncate(op.Size, seq)
		s.account(f, before)
		return nil
	case OpChmod:
		n := s.inodes[op.Ino]
		if n == nil {
			return fmt.Errorf("chmod: no inode %d", op.Ino)
		}
		n.mode = op.Mode
		return nil
	case OpSync:
		if s.inodes[op.Ino] == nil {
			return fmt.Errorf("sync: no inode %d", op.Ino)
		}
		return nil
	case OpSynced:
		return s.synced(op)
	case OpSettle:
		for _, c := range s.pending {
			c.done = true
		}
		s.flushDone()
		for _, n := range s.inodes {
			if !n.isDir {
				n.settle()
			}
		}
		s.recount()
		return nil
	case OpDropCache:
		for _, n := range s.inodes {
			if !n.isDir {
				n.dropCache()
			}
		}
		s.recount()
		return nil
	case OpCut:
		policy := Policy{}
		if op.Policy != nil {
			policy = *op.Policy
		}
		after, _, err := s.Crash(op.Seed, policy)
		if err != nil {
			return err
		}
		*s = *after
		return nil
	}
	return fmt.Errorf("%q: %w", op.Kind, errKind)
}

// account adds what the file has grown to the space in use. A file without a name counts as gone.
func (s *State) account(f *inode, before int64) {
	if f.nlink > 0 {
		s.allocated += f.used - before
	}
}

func (s *State) file(ino uint64) (*inode, error) {
	n := s.inodes[ino]
	if n == nil || n.isDir {
		return nil, fmt.Errorf("%d is not a file", ino)
	}
	return n, nil
}

func (s *State) dir(ino uint64) (*inode, error) {
	n := s.inodes[ino]
	if n == nil || !n.isDir {
		return nil, fmt.Errorf("%d is not a directory", ino)
	}
	return n, nil
}

// free checks that a name can be given in a directory.
func (s *State) free(dir uint64, name string) error {
	d, err := s.dir(dir)
	if err != nil {
		return err
	}
	if !ValidName(name) {
		return fmt.Errorf("%q is not a name", name)
	}
	if d.entries[name] != 0 {
		return fmt.Errorf("%q exists in %d", name, dir)
	}
	return nil
}

// ValidName tells whether a directory entry can have this name.
func ValidName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 255 {
		return false
	}
	return !slices.ContainsFunc([]byte(name), func(b byte) bool { return b == '/' || b == 0 })
}

func (s *State) create(op *Op, seq uint64) error {
	if err := s.free(op.Dir, op.Name); err != nil {
		return err
	}
	if op.Ino == 0 || s.inodes[op.Ino] != nil {
		return fmt.Errorf("inode %d is taken", op.Ino)
	}
	if op.Kind == OpMkdir {
		s.inodes[op.Ino] = newDir(op.Ino, op.Mode)
		s.inodes[op.Dir].nlink++
	} else {
		s.inodes[op.Ino] = newFile(op.Ino, op.Mode, seq)
		s.inodes[op.Ino].nlink = 1
	}
	s.queue(seq, edit{op.Dir, op.Name, op.Ino})
	return nil
}

func (s *State) link(op *Op, seq uint64) error {
	f, err := s.file(op.Ino)
	if err != nil {
		return err
	}
	if err := s.free(op.Dir, op.Name); err != nil {
		return err
	}
	if f.nlink == 0 {
		return fmt.Errorf("file %d has no name any more", op.Ino)
	}
	f.nlink++
	s.queue(seq, edit{op.Dir, op.Name, op.Ino})
	return nil
}

func (s *State) remove(op *Op, seq uint64) error {
	d, err := s.dir(op.Dir)
	if err != nil {
		return err
	}
	n := s.inodes[d.entries[op.Name]]
	switch {
	case n == nil:
		return fmt.Errorf("no %q in %d", op.Name, op.Dir)
	case n.isDir != (op.Kind == OpRmdir):
		return fmt.Errorf("%s of %q: wrong type", op.Kind, op.Name)
	case n.isDir && len(n.entries) > 0:
		return fmt.Errorf("directory %q is not empty", op.Name)
	}
	s.unlinked(d, n)
	s.queue(seq, edit{op.Dir, op.Name, 0})
	return nil
}

// unlinked counts one name less for n in d.
func (s *State) unlinked(d, n *inode) {
	if n.isDir {
		n.nlink = 0
		d.nlink--
		return
	}
	if n.nlink--; n.nlink == 0 {
		s.allocated -= n.used
	}
}

func (s *State) rename(op *Op, seq uint64) error {
	from, err := s.dir(op.Dir)
	if err != nil {
		return err
	}
	to, err := s.dir(op.ToDir)
	if err != nil {
		return err
	}
	n := s.inodes[from.entries[op.Name]]
	old := s.inodes[to.entries[op.ToName]]
	switch {
	case n == nil:
		return fmt.Errorf("rename: no %q in %d", op.Name, op.Dir)
	case !ValidName(op.ToName):
		return fmt.Errorf("rename: %q is not a name", op.ToName)
	case n == old:
		return fmt.Errorf("rename of %q to %q: the same file", op.Name, op.ToName)
	case n.isDir && s.above(n.ino, op.ToDir):
		return fmt.Errorf("rename of directory %q into itself", op.Name)
	case old != nil && old.isDir != n.isDir:
		return fmt.Errorf("rename over %q: wrong type", op.ToName)
	case old != nil && old.isDir && len(old.entries) > 0:
		return fmt.Errorf("rename over %q: directory is not empty", op.ToName)
	}
	if old != nil {
		s.unlinked(to, old)
	}
	if n.isDir {
		from.nlink--
		to.nlink++
	}
	s.queue(seq, edit{op.Dir, op.Name, 0}, edit{op.ToDir, op.ToName, n.ino})
	return nil
}

// above tells whether directory a is b or one of the directories above b.
func (s *State) above(a, b uint64) bool {
	for range len(s.inodes) {
		if a == b {
			return true
		}
		if b == RootIno {
			return false
		}
		b = s.inodes[b].parent
	}
	return true
}

func (s *State) synced(op *Op) error {
	n := s.inodes[op.Ino]
	if n == nil || op.Begin > s.next {
		return fmt.Errorf("end of a sync of %d that began at %d: there is none", op.Ino, op.Begin)
	}
	failed := op.Err != ""
	if n.isDir {
		if !failed && s.opts.Ignore != "dirs" && s.opts.Ignore != "all" {
			s.dirSynced(op.Ino, op.Begin)
		}
		return nil
	}
	switch {
	case s.opts.Ignore == "files" || s.opts.Ignore == "all":
	case failed:
		n.syncFailed(op.Begin, op.Seed)
	default:
		n.synced(op.Begin)
		if s.opts.FsyncEntry {
			s.entrySynced(op.Ino, op.Begin)
		}
	}
	return nil
}

func (s *State) recount() {
	s.allocated = 0
	for _, n := range s.inodes {
		if !n.isDir && n.nlink > 0 {
			s.allocated += n.used
		}
	}
}

// Info describes an inode as the running system sees it.
type Info struct {
	Ino       uint64
	IsDir     bool
	Mode      uint32 // permission bits
	Nlink     int
	Size      int64
	Allocated int64 // bytes, in whole blocks
}

// Stat describes an inode.
func (s *State) Stat(ino uint64) (Info, bool) {
	n := s.inodes[ino]
	if n == nil {
		return Info{}, false
	}
	info := Info{Ino: ino, IsDir: n.isDir, Mode: n.mode, Nlink: n.nlink}
	if !n.isDir {
		info.Size = n.size()
		info.Allocated = n.used * BlockSize
	}
	return info, true
}

// Path returns one of the names of an inode.
func (s *State) Path(ino uint64) string {
	path := ""
	for range len(s.inodes) {
		n := s.inodes[ino]
		if n == nil || ino == RootIno {
			break
		}
		if path == "" {
			path = n.name
		} else {
			path = n.name + "/" + path
		}
		ino = n.parent
	}
	return path
}

// Lookup returns the inode of an entry, 0 if there is none.
func (s *State) Lookup(dir uint64, name string) uint64 {
	if d := s.inodes[dir]; d != nil {
		return d.entries[name]
	}
	return 0
}

// Parent returns the directory above a directory.
func (s *State) Parent(dir uint64) uint64 {
	if n := s.inodes[dir]; n != nil && n.parent != 0 {
		return n.parent
	}
	return RootIno
}

// Names returns the entries of a directory in order.
func (s *State) Names(dir uint64) []string {
	d := s.inodes[dir]
	if d == nil {
		return nil
	}
	return sortedKeys(d.entries)
}

// Read fills dst from a file at off and returns how many bytes lie inside the file.
func (s *State) Read(ino uint64, dst []byte, off int64) int {
	f := s.inodes[ino]
	if f == nil || f.isDir || off < 0 || off >= f.size() {
		return 0
	}
	n := min(int64(len(dst)), f.size()-off)
	f.read(dst[:n], off)
	return int(n)
}

// AddsBytes is how much space a write would take, in whole blocks.
func (s *State) AddsBytes(ino uint64, off, size int64) int64 {
	if f := s.inodes[ino]; f != nil && !f.isDir {
		return f.addsBlocks(off, size) * BlockSize
	}
	return 0
}

// Inodes returns the numbers of all inodes, in order, also of those without a name.
func (s *State) Inodes() []uint64 { return sortedKeys(s.inodes) }
