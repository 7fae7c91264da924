package volume

import (
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/tstore/tstore/store/powercut/disk"
)

// Node names a file or directory. A cut starts a new epoch; nodes of an older one are gone, even if the file is still there.
type Node struct {
	Epoch, Ino uint64
}

// Config sets up a volume. The zero value is a strict disk without a limit.
type Config struct {
	Disk      disk.Options
	Limit     int64         // bytes that files may take up in whole blocks, 0 for no limit
	SyncDelay time.Duration // how long a sync takes at least
	From      string        // a directory whose contents the volume starts with, durable; "" for none
}

// Counts are operations seen so far, those that were made to fail included.
type Counts struct {
	Reads      int64 `json:"reads"`
	Writes     int64 `json:"writes"`
	WriteBytes int64 `json:"write_bytes"`
	Fsyncs     int64 `json:"fsyncs"`     // of files, with all their metadata
	Fdatasyncs int64 `json:"fdatasyncs"` // of files, with their size only
	DirSyncs   int64 `json:"dir_syncs"`
	Changes    int64 `json:"changes"` // of directories
	Ops        int64 `json:"ops"`     // operations in the trace
	Allocated  int64 `json:"allocated"`
}

// Volume is a live disk. Its methods may be called concurrently.
type Volume struct {
	config Config

	mu      sync.Mutex
	state   *disk.State
	ops     []disk.Op
	epoch   uint64
	nextIno uint64
	limit   int64
	times   map[uint64]time.Time // of the last modification
	faults  []*Fault
	faultID int
	counts  Counts

	replays sync.Map // disk.Options → *replay
}

type replay struct {
	mu sync.Mutex
	*disk.Replay
}

// New returns a volume.
func New(config Config) (*Volume, error) {
	v := &Volume{
		config: config, state: disk.NewState(config.Disk), nextIno: disk.RootIno + 1,
		limit: config.Limit, times: map[uint64]time.Time{},
	}
	if config.From != "" {
		err := disk.Load(config.From, v.nextIno, func(op disk.Op) error {
			v.nextIno = max(v.nextIno, op.Ino+1)
			if err := v.state.Apply(&op); err != nil {
				return err
			}
			v.ops = append(v.ops, op)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// do records an operation that has been found possible, and performs it.
func (v *Volume) do(op disk.Op) {
	if err := v.state.Apply(&op); err != nil {
		panic(fmt.Sprintf("volume: an operation that was checked is refused: %v", err)) // the trace would be wrong from here on
	}
	v.ops = append(v.ops, op)
	now := time.Now()
	for _, ino := range [...]uint64{op.Ino, op.Dir, op.ToDir} {
		if ino != 0 && op.Kind != disk.OpSync && op.Kind != disk.OpSynced && op.Kind != disk.OpChmod {
			v.times[ino] = now
		}
	}
}

// Root returns the root directory.
func (v *Volume) Root() Node {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Node{v.epoch, disk.RootIno}
}

// Attr describes a node.
type Attr struct {
	disk.Info
	Node     Node
	Modified time.Time
}

func (v *Volume) attr(ino uint64) Attr {
	info, _ := v.state.Stat(ino)
	return Attr{Info: info, Node: Node{v.epoch, ino}, Modified: v.times[ino]}
}

// alive checks that a node is of this epoch; after a cut everything that was open is dead.
func (v *Volume) alive(nodes ...Node) syscall.Errno {
	for _, n := range nodes {
		if n.Epoch != v.epoch {
			return syscall.EIO
		}
		if _, ok := v.state.Stat(n.Ino); !ok {
			return syscall.ESTALE
		}
	}
	return 0
}

// Stat describes a node.
func (v *Volume) Stat(n Node) (Attr, syscall.Errno) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.alive(n); errno != 0 {
		return Attr{}, errno
	}
	return v.attr(n.Ino), 0
}

// Lookup finds an entry.
func (v *Volume) Lookup(dir Node, name string) (Attr, syscall.Errno) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.alive(dir); errno != 0 {
		return Attr{}, errno
	}
	ino := v.state.Lookup(dir.Ino, name)
	if ino == 0 {
		return Attr{}, syscall.ENOENT
	}
	return v.attr(ino), 0
}

// Entry is a name in a directory.
type Entry struct {
	Name  string
	Ino   uint64
	IsDir bool
}

// List returns the entries of a directory, in order, beginning with "." and "..".
func (v *Volume) List(dir Node) ([]Entry, syscall.Errno) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.alive(dir); errno != 0 {
		return nil, errno
	}
	entries := []Entry{{".", dir.Ino, true}, {"..", v.state.Parent(dir.Ino), true}}
	for _, name := range v.state.Names(dir.Ino) {
		ino := v.state.Lookup(dir.Ino, name)
		info, _ := v.state.Stat(ino)
		entries = append(entries, Entry{name, ino, info.IsDir})
	}
	return entries, 0
}

// newName checks that a name can be given in a directory, apart from what is there.
func newName(name string) syscall.Errno {
	switch {
	case len(name) > 255:
		return syscall.ENAMETOOLONG
	case !utf8.ValidString(name):
		return syscall.EILSEQ // the trace is JSON
	case !disk.ValidName(name):
		return syscall.EINVAL
	}
	return 0
}

// change is the start of each change of directories: it counts, checks, and fails if a fault says so.
func (v *Volume) change(what string, dir Node, name string, others ...Node) syscall.Errno {
	v.counts.Changes++
	if errno := v.alive(append(others, dir)...); errno != 0 {
		return errno
	}
	if f := v.fire(what, v.join(dir.Ino, name), 0, 0); f != nil {
		return v.fail(f, what, v.join(dir.Ino, name))
	}
	return 0
}

// join makes a path of a directory and a name.
func (v *Volume) join(dir uint64, name string) string {
	if dir == disk.RootIno {
		return name
	}
	return v.state.Path(dir) + "/" + name
}

// fail records that an operation fails and returns its error.
func (v *Volume) fail(f *Fault, what, path string) syscall.Errno {
	v.do(disk.Op{Kind: disk.OpFail, Text: what, Err: f.Err, Path: path})
	return f.errno
}

// Create makes a file, or a directory if the mode has syscall.S_IFDIR.
func (v *Volume) Create(dir Node, name string, mode uint32) (Attr, syscall.Errno) {
	v.mu.Lock()
	defer v.mu.Unlock()
	op := disk.Op{Kind: disk.OpCreate, Dir: dir.Ino, Name: name, Ino: v.nextIno, Mode: mode & 0o7777}
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		op.Kind = disk.OpMkdir
	}
	if errno := v.change(string(op.Kind), dir, name); errno != 0 {
		return Attr{}, errno
	}
	if errno := newName(name); errno != 0 {
		return Attr{}, errno
	}
	if errno := v.linked(dir.Ino); errno != 0 {
		return Attr{}, errno
	}
	if v.state.Lookup(dir.Ino, name) != 0 {
		return Attr{}, syscall.EEXIST
	}
	v.nextIno++
	v.do(op)
	return v.attr(op.Ino), 0
}

// linked refuses new entries in a directory that was removed.
func (v *Volume) linked(dir uint64) syscall.Errno {
	if info, _ := v.state.Stat(dir); info.Nlink == 0 {
		return syscall.ENOENT
	}
	return 0
}

// Link gives a file one more name.
func (v *Volume) Link(file, dir Node, name string) (Attr, syscall.Errno) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.change("link", dir, name, file); errno != 0 {
		return Attr{}, errno
	}
	if errno := newName(name); errno != 0 {
		return Attr{}, errno
	}
	if errno := v.linked(dir.Ino); errno != 0 {
		return Attr{}, errno
	}
	info, _ := v.state.Stat(file.Ino)
	switch {
	case info.IsDir:
		return Attr{}, syscall.EPERM
	case info.Nlink == 0:
		return Attr{}, syscall.ENOENT
	case v.state.Lookup(dir.Ino, name) != 0:
		return Attr{}, syscall.EEXIST
	}
	v.do(disk.Op{Kind: disk.OpLink, Ino: file.Ino, Dir: dir.Ino, Name: name})
	return v.attr(file.Ino), 0
}

// Unlink removes the name of a file.
func (v *Volume) Unlink(dir Node, name string) syscall.Errno {
	return v.remove(disk.OpUnlink, dir, name)
}

// Rmdir removes an empty directory.
func (v *Volume) Rmdir(dir Node, name string) syscall.Errno { return v.remove(disk.OpRmdir, dir, name) }

func (v *Volume) remove(kind disk.Kind, dir Node, name string) syscall.Errno {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.change(string(kind), dir, name); errno != 0 {
		return errno
	}
	ino := v.state.Lookup(dir.Ino, name)
	info, _ := v.state.Stat(ino)
	switch {
	case ino == 0:
		return syscall.ENOENT
	case kind == disk.OpUnlink && info.IsDir:
		return syscall.EISDIR
	case kind == disk.OpRmdir && !info.IsDir:
		return syscall.ENOTDIR
	case info.IsDir && len(v.state.Names(ino)) > 0:
		return syscall.ENOTEMPTY
	}
	v.do(disk.Op{Kind: kind, Dir: dir.Ino, Name: name})
	return 0
}

// Rename flags, as of renameat2(2).
const renameNoReplace = 1

// Rename moves an entry, replacing what is there; flags as of renameat2, of which only RENAME_NOREPLACE is known.
func (v *Volume) Rename(dir Node, name string, toDir Node, toName string, flags uint32) syscall.Errno {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.change("rename", dir, name, toDir); errno != 0 {
		return errno
	}
	if errno := newName(toName); errno != 0 {
		return errno
	}
	if errno := v.linked(toDir.Ino); errno != 0 {
		return errno
	}
	ino, old := v.state.Lookup(dir.Ino, name), v.state.Lookup(toDir.Ino, toName)
	info, _ := v.state.Stat(ino)
	oldInfo, _ := v.state.Stat(old)
	switch {
	case flags&^renameNoReplace != 0:
		return syscall.EINVAL
	case ino == 0:
		return syscall.ENOENT
	case old != 0 && flags&renameNoReplace != 0:
		return syscall.EEXIST
	case old == ino: // two names of one file: nothing happens
		return 0
	case old != 0 && oldInfo.IsDir && !info.IsDir:
		return syscall.EISDIR
	case old != 0 && !oldInfo.IsDir && info.IsDir:
		return syscall.ENOTDIR
	case old != 0 && oldInfo.IsDir && len(v.state.Names(old)) > 0:
		return syscall.ENOTEMPTY
	case info.IsDir && v.above(ino, toDir.Ino):
		return syscall.EINVAL
	}
	v.do(disk.Op{Kind: disk.OpRename, Dir: dir.Ino, Name: name, ToDir: toDir.Ino, ToName: toName})
	return 0
}

// above tells whether directory a is b or above it.
func (v *Volume) above(a, b uint64) bool {
	for a != b {
		if b == disk.RootIno {
			return false
		}
		b = v.state.Parent(b)
	}
	return true
}

// Open is asked before a file is opened.
func (v *Volume) Open(n Node) syscall.Errno {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.alive(n); errno != 0 {
		return errno
	}
	if f := v.fire("open", v.state.Path(n.Ino), 0, 0); f != nil {
		return v.fail(f, "open", v.state.Path(n.Ino))
	}
	return 0
}

// Read fills dst from off, as far as the file reaches.
func (v *Volume) Read(n Node, dst []byte, off int64) (int, syscall.Errno) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.counts.Reads++
	if errno := v.alive(n); errno != 0 {
		return 0, errno
	}
	if f := v.fire("read", v.state.Path(n.Ino), off, int64(len(dst))); f != nil {
		return 0, f.errno // not part of the trace: the kernel reads ahead when it likes
	}
	return v.state.Read(n.Ino, dst, off), 0
}

// maxFileSize is what a file may grow to.
const maxFileSize = 1 << 44

// Write stores a copy of data and returns how many bytes found room.
func (v *Volume) Write(n Node, data []byte, off int64) (int, syscall.Errno) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.counts.Writes++
	v.counts.WriteBytes += int64(len(data))
	if errno := v.alive(n); errno != 0 {
		return 0, errno
	}
	if off < 0 || off+int64(len(data)) > maxFileSize {
		return 0, syscall.EFBIG
	}
	path := v.state.Path(n.Ino)
	if f := v.fire("write", path, off, int64(len(data))); f != nil {
		if f.Accept <= 0 || f.Accept >= int64(len(data)) {
			return 0, v.fail(f, fmt.Sprintf("write of %d bytes at %d", len(data), off), path)
		}
		data = data[:f.Accept]
	}
	if fits := v.fits(n.Ino, off, int64(len(data))); fits < int64(len(data)) {
		if fits == 0 {
			v.do(disk.Op{Kind: disk.OpFail, Text: fmt.Sprintf("write of %d bytes at %d: disk full", len(data), off), Err: "ENOSPC", Path: path})
			return 0, syscall.ENOSPC
		}
		data = data[:fits]
	}
	op := disk.Op{Kind: disk.OpWrite, Ino: n.Ino, Off: off, Size: int64(len(data)), Path: path}
	if !disk.AllZero(data) {
		op.Data = append([]byte(nil), data...)
	}
	v.do(op)
	return len(data), 0
}

// fits returns how many of size bytes at off can be written before the disk is full.
func (v *Volume) fits(ino uint64, off, size int64) int64 {
	if v.limit <= 0 {
		return size
	}
	free := v.limit - v.state.Allocated()
	for size > 0 && v.state.AddsBytes(ino, off, size) > free {
		size = max(0, (off+size-1)/disk.BlockSize*disk.BlockSize-off)
	}
	return size
}

// Zero writes zeros, for the kinds of fallocate that do.
func (v *Volume) Zero(n Node, off, size int64) syscall.Errno {
	const most = 1 << 20
	for size > 0 {
		written, errno := v.Write(n, make([]byte, min(size, most)), off)
		if errno != 0 {
			return errno
		}
		off, size = off+int64(written), size-int64(written)
	}
	return 0
}

// Truncate sets the size of a file.
func (v *Volume) Truncate(n Node, size int64) syscall.Errno {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.alive(n); errno != 0 {
		return errno
	}
	info, _ := v.state.Stat(n.Ino)
	switch {
	case info.IsDir:
		return syscall.EISDIR
	case size < 0:
		return syscall.EINVAL
	case size > maxFileSize:
		return syscall.EFBIG
	}
	path := v.state.Path(n.Ino)
	if f := v.fire("truncate", path, size, 0); f != nil {
		return v.fail(f, fmt.Sprintf("truncate to %d", size), path)
	}
	if size != info.Size {
		v.do(disk.Op{Kind: disk.OpTruncate, Ino: n.Ino, Size: size, Path: path})
	}
	return 0
}

// Chmod sets the permission bits.
func (v *Volume) Chmod(n Node, mode uint32) syscall.Errno {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.alive(n); errno != 0 {
		return errno
	}
	v.do(disk.Op{Kind: disk.OpChmod, Ino: n.Ino, Mode: mode & 0o7777})
	return 0
}

// Touch sets the time of modification. It is lost at a cut.
func (v *Volume) Touch(n Node, at time.Time) syscall.Errno {
	v.mu.Lock()
	defer v.mu.Unlock()
	if errno := v.alive(n); errno != 0 {
		return errno
	}
	v.times[n.Ino] = at
	return 0
}

// Sync makes a file or directory durable. Only what came before its start is covered.
func (v *Volume) Sync(n Node, dataOnly bool) syscall.Errno {
	v.mu.Lock()
	errno := v.alive(n)
	info, _ := v.state.Stat(n.Ino)
	what := "fsync"
	switch {
	case info.IsDir:
		what = "fsyncdir"
		v.counts.DirSyncs++
	case dataOnly:
		v.counts.Fdatasyncs++
	default:
		v.counts.Fsyncs++
	}
	if errno != 0 {
		v.mu.Unlock()
		return errno
	}
	path := v.state.Path(n.Ino)
	fault := v.fire(what, path, 0, 0)
	begin := disk.Op{Kind: disk.OpSync, Ino: n.Ino, Path: path}
	if dataOnly {
		begin.Only = "data"
	}
	end := disk.Op{Kind: disk.OpSynced, Ino: n.Ino, Begin: uint64(len(v.ops)), Path: path}
	v.do(begin)
	v.mu.Unlock()

	if v.config.SyncDelay > 0 {
		time.Sleep(v.config.SyncDelay)
	}

	v.mu.Lock()
	defer v.mu.Unlock()
	if n.Epoch != v.epoch {
		return syscall.EIO // the power went while it ran
	}
	if fault != nil {
		end.Err, end.Seed = fault.Err, fault.Seed
		v.do(end)
		return fault.errno
	}
	v.do(end)
	return 0
}

// Mark records a message of the workload and returns the length of the trace with it.
func (v *Volume) Mark(text string) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.do(disk.Op{Kind: disk.OpMark, Text: text})
	return int64(len(v.ops))
}

// Settle makes everything durable.
func (v *Volume) Settle() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.do(disk.Op{Kind: disk.OpSettle})
}

// DropCache forgets what the cache believes to be on the disk. It returns the files, whose contents may have changed thereby.
func (v *Volume) DropCache() []Node {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.do(disk.Op{Kind: disk.OpDropCache})
	return v.nodes()
}

// nodes returns all nodes of this epoch.
func (v *Volume) nodes() []Node {
	var nodes []Node
	for _, ino := range v.state.Inodes() {
		nodes = append(nodes, Node{v.epoch, ino})
	}
	return nodes
}

// Nodes returns all nodes of this epoch.
func (v *Volume) Nodes() []Node {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.nodes()
}

// Cut switches the power off and on. The volume goes on with what the disk held; all nodes are dead, and
// returned with the names in the root directory from before, so that caches can be told.
func (v *Volume) Cut(seed uint64, policy disk.Policy) (dead []Node, names []string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, _, err := v.state.Crash(seed, policy); err != nil {
		return nil, nil, err
	}
	dead, names = v.nodes(), v.state.Names(disk.RootIno)
	v.do(disk.Op{Kind: disk.OpCut, Seed: seed, Policy: &policy})
	v.epoch++
	return dead, names, nil
}

// SetLimit changes the space; 0 for no limit.
func (v *Volume) SetLimit(limit int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.limit = limit
}

// Space returns the limit, 0 for none, and what is in use, in bytes.
func (v *Volume) Space() (limit, used int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.limit, v.state.Allocated()
}

// Counts returns what was seen so far.
func (v *Volume) Counts() Counts {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.counts
	c.Ops, c.Allocated = int64(len(v.ops)), v.state.Allocated()
	return c
}

// Ops returns the operations of the trace so far. They must not be modified.
func (v *Volume) Ops() []disk.Op {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ops[:len(v.ops):len(v.ops)]
}

// WriteTrace writes the trace so far and returns its length in operations.
func (v *Volume) WriteTrace(w io.Writer) (int, error) {
	ops := v.Ops()
	t := disk.NewTraceWriter(w)
	for i := range ops {
		if err := t.Write(&ops[i]); err != nil {
			return 0, err
		}
	}
	return len(ops), t.Flush()
}

// Image writes into dir what a cut after the first at operations may have left; at < 0 means now. The live volume goes on meanwhile.
// Images in ascending order of at are cheapest.
func (v *Volume) Image(at int64, seed uint64, policy disk.Policy, opts disk.Options, dir string) ([]disk.Choice, error) {
	ops := v.Ops()
	if at < 0 {
		at = int64(len(ops))
	}
	entry, _ := v.replays.LoadOrStore(opts, &replay{Replay: disk.NewReplay(opts)})
	r := entry.(*replay)
	after, choices, err := func() (*disk.State, []disk.Choice, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		state, err := r.At(ops, uint64(at))
		if err != nil {
			return nil, nil, err
		}
		return state.Crash(seed, policy)
	}()
	if err != nil {
		return nil, err
	}
	return choices, after.Dump(dir)
}
