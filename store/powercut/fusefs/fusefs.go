package fusefs

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/tstore/tstore/store/powercut/disk"
	"github.com/tstore/tstore/store/powercut/volume"
)

// ErrNoFuse says that this machine has no usable /dev/fuse.
var ErrNoFuse = errors.New("there is no usable /dev/fuse")

// device is how a process becomes a file system.
var device = "/dev/fuse"

// validity is how long the kernel may keep names and attributes: nobody else changes them.
const validity = 1 << 20 // seconds

// Mount is a mounted volume.
type Mount struct {
	fuse.RawFileSystem // refuses what is not implemented here

	v      *volume.Volume
	dir    string
	server *fuse.Server

	mu         sync.Mutex
	lastHandle uint64
	dirs       map[uint64][]volume.Entry // listings of open directories
	rootFiles  map[uint64]volume.Node    // open handles of the root directory, whose node number outlives a cut
}

// New mounts a volume on a directory and serves it until it is unmounted.
func New(v *volume.Volume, dir string) (*Mount, error) {
	if f, err := os.OpenFile(device, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("fusefs: %w: %w", ErrNoFuse, err)
	} else if err := f.Close(); err != nil {
		return nil, fmt.Errorf("fusefs: %w", err)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("fusefs: mount: %w", err)
	}
	m := &Mount{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), v: v, dir: dir,
		dirs: map[uint64][]volume.Entry{}, rootFiles: map[uint64]volume.Node{},
	}
	server, err := fuse.NewServer(m, dir, &fuse.MountOptions{
		FsName: "powercut", Name: "powercut",
		MaxWrite:                 1 << 20,
		MaxBackground:            64,
		DirectMount:              true,
		DisableXAttrs:            true,
		DisableReadDirPlus:       true,
		ExplicitDataCacheControl: true,
		Options:                  []string{"default_permissions"},
	})
	if err != nil {
		return nil, fmt.Errorf("fusefs: mount on %s: %w: %w", dir, ErrNoFuse, err) // as in a container that has it but may not mount
	}
	m.server = server
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return nil, fmt.Errorf("fusefs: mount on %s: %w", dir, err)
	}
	return m, nil
}

// Volume returns what is mounted.
func (m *Mount) Volume() *volume.Volume { return m.v }

// Unmount ends the service. If something still uses the mount, it is detached and whoever uses it gets errors.
func (m *Mount) Unmount() error {
	err := m.server.Unmount()
	if err == nil {
		return nil
	}
	if derr := unix.Unmount(m.dir, unix.MNT_DETACH); derr != nil {
		return fmt.Errorf("fusefs: unmount %s: %w", m.dir, errors.Join(err, derr))
	}
	return nil // the connection breaks when this process ends
}

// Wait returns when the mount has been unmounted, by whomever.
func (m *Mount) Wait() { m.server.Wait() }

// DropCache forgets what the cache believes to be on the disk, here and in the kernel.
func (m *Mount) DropCache() { m.forget(m.v.DropCache()) }

// Cut switches the power off and on.
func (m *Mount) Cut(seed uint64, policy disk.Policy) error {
	dead, names, err := m.v.Cut(seed, policy)
	if err != nil {
		return err
	}
	for _, name := range names {
		m.server.EntryNotify(fuse.FUSE_ROOT_ID, name) // fails if the kernel does not know it, which is as good
	}
	m.forget(dead)
	return nil
}

// AddFault makes operations fail.
func (m *Mount) AddFault(f volume.Fault) (int, error) {
	id, err := m.v.AddFault(f)
	if err == nil && (f.Op == "read" || f.Op == "any") {
		m.forget(m.v.Nodes()) // what the kernel has would never be read again
	}
	return id, err
}

// forget makes the kernel drop pages and attributes. No lock may be held: the kernel waits for reads that are under way.
func (m *Mount) forget(nodes []volume.Node) {
	for _, n := range nodes {
		m.server.InodeNotify(nodeID(n), 0, 0) // fails if the kernel does not know it, which is as good
	}
}

// epochShift separates the epoch and the inode number in a node number of the kernel.
const epochShift = 40

func nodeID(n volume.Node) uint64 {
	if n.Ino == disk.RootIno {
		return fuse.FUSE_ROOT_ID // the kernel's number for the root never changes
	}
	return n.Epoch<<epochShift | n.Ino
}

func (m *Mount) node(id uint64) volume.Node {
	if id == fuse.FUSE_ROOT_ID {
		return m.v.Root()
	}
	return volume.Node{Epoch: id >> epochShift, Ino: id & (1<<epochShift - 1)}
}

func fillAttr(out *fuse.Attr, a volume.Attr) {
	*out = fuse.Attr{
		Ino: a.Ino, Size: uint64(a.Size), Blocks: uint64(a.Allocated) / 512, Blksize: disk.BlockSize, Mode: a.Mode | syscall.S_IFREG, Nlink: uint32(a.Nlink),
		Owner: fuse.Owner{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())},
	}
	if a.IsDir {
		out.Mode = a.Mode | syscall.S_IFDIR
	}
	out.SetTimes(&a.Modified, &a.Modified, &a.Modified)
}

func fillEntry(out *fuse.EntryOut, a volume.Attr) {
	out.NodeId = nodeID(a.Node)
	out.Generation = 1
	out.EntryValid, out.AttrValid = validity, validity
	fillAttr(&out.Attr, a)
}

func (m *Mount) String() string { return "powercut" }

func (m *Mount) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	a, errno := m.v.Lookup(m.node(in.NodeId), name)
	if errno == 0 {
		fillEntry(out, a)
	}
	return fuse.Status(errno)
}

func (m *Mount) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	a, errno := m.v.Stat(m.node(in.NodeId))
	if errno == 0 {
		out.AttrValid = validity
		fillAttr(&out.Attr, a)
	}
	return fuse.Status(errno)
}

func (m *Mount) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := m.node(in.NodeId)
	if size, ok := in.GetSize(); ok {
		if errno := m.v.Truncate(n, int64(size)); errno != 0 {
			return fuse.Status(errno)
		}
	}
	if mode, ok := in.GetMode(); ok {
		if errno := m.v.Chmod(n, mode); errno != 0 {
			return fuse.Status(errno)
		}
	}
	if at, ok := in.GetMTime(); ok {
		if errno := m.v.Touch(n, at); errno != 0 {
			return fuse.Status(errno)
		}
	}
	a, errno := m.v.Stat(n)
	if errno == 0 {
		out.AttrValid = validity
		fillAttr(&out.Attr, a)
	}
	return fuse.Status(errno)
}

func (m *Mount) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

func (m *Mount) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	if in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fuse.EPERM
	}
	return m.create(in.NodeId, name, in.Mode, out)
}

func (m *Mount) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.create(in.NodeId, name, in.Mode&0o7777|syscall.S_IFDIR, out)
}

func (m *Mount) create(dir uint64, name string, mode uint32, out *fuse.EntryOut) fuse.Status {
	a, errno := m.v.Create(m.node(dir), name, mode)
	if errno == 0 {
		fillEntry(out, a)
	}
	return fuse.Status(errno)
}

func (m *Mount) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return fuse.Status(m.v.Unlink(m.node(in.NodeId), name))
}

func (m *Mount) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return fuse.Status(m.v.Rmdir(m.node(in.NodeId), name))
}

func (m *Mount) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	return fuse.Status(m.v.Rename(m.node(in.NodeId), oldName, m.node(in.Newdir), newName, in.Flags))
}

func (m *Mount) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	a, errno := m.v.Link(m.node(in.Oldnodeid), m.node(in.NodeId), name)
	if errno == 0 {
		fillEntry(out, a)
	}
	return fuse.Status(errno)
}

func (m *Mount) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	status := m.create(in.NodeId, name, in.Mode&0o7777|syscall.S_IFREG, &out.EntryOut)
	if status == fuse.Status(syscall.EEXIST) && in.Flags&syscall.O_EXCL == 0 {
		a, errno := m.v.Lookup(m.node(in.NodeId), name)
		if errno != 0 {
			return fuse.Status(errno)
		}
		fillEntry(&out.EntryOut, a)
		status = fuse.OK
	}
	if status == fuse.OK {
		out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	}
	return status
}

func (m *Mount) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if errno := m.v.Open(m.node(in.NodeId)); errno != 0 {
		return fuse.Status(errno)
	}
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

func (m *Mount) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n, errno := m.v.Read(m.node(in.NodeId), buf[:min(len(buf), int(in.Size))], int64(in.Offset))
	if errno != 0 {
		return nil, fuse.Status(errno)
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

func (m *Mount) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	n, errno := m.v.Write(m.node(in.NodeId), data, int64(in.Offset))
	return uint32(n), fuse.Status(errno)
}

// datasync is the flag of an fdatasync in FsyncFlags.
const datasync = 1

func (m *Mount) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return fuse.Status(m.v.Sync(m.node(in.NodeId), in.FsyncFlags&datasync != 0))
}

func (m *Mount) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	n := m.node(in.NodeId)
	if n.Ino == disk.RootIno {
		m.mu.Lock()
		n = m.rootFiles[in.Fh]
		m.mu.Unlock()
	}
	return fuse.Status(m.v.Sync(n, in.FsyncFlags&datasync != 0))
}

func (m *Mount) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	n := m.node(in.NodeId)
	a, errno := m.v.Stat(n)
	if errno != 0 {
		return fuse.Status(errno)
	}
	off, size := int64(in.Offset), int64(in.Length)
	if off < 0 || size <= 0 || off+size < 0 {
		return fuse.Status(syscall.EINVAL)
	}
	keep := in.Mode&unix.FALLOC_FL_KEEP_SIZE != 0
	switch in.Mode &^ unix.FALLOC_FL_KEEP_SIZE {
	case 0:
	case unix.FALLOC_FL_PUNCH_HOLE, unix.FALLOC_FL_ZERO_RANGE:
		if errno := m.v.Zero(n, off, min(off+size, a.Size)-off); errno != 0 {
			return fuse.Status(errno)
		}
	default:
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	if !keep && off+size > a.Size {
		return fuse.Status(m.v.Truncate(n, off+size))
	}
	return fuse.OK
}

func (m *Mount) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	n := m.node(in.NodeId)
	entries, errno := m.v.List(n)
	if errno != 0 {
		return fuse.Status(errno)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastHandle++
	out.Fh = m.lastHandle
	m.dirs[out.Fh] = entries
	if n.Ino == disk.RootIno {
		m.rootFiles[out.Fh] = n
	}
	return fuse.OK
}

func (m *Mount) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	n := m.node(in.NodeId)
	m.mu.Lock()
	entries := m.dirs[in.Fh]
	if n.Ino == disk.RootIno {
		n = m.rootFiles[in.Fh]
	}
	m.mu.Unlock()
	if in.Offset == 0 { // from the start, maybe again: what is there now
		var errno syscall.Errno
		if entries, errno = m.v.List(n); errno != 0 {
			return fuse.Status(errno)
		}
		m.mu.Lock()
		m.dirs[in.Fh] = entries
		m.mu.Unlock()
	} else if _, errno := m.v.Stat(n); errno != 0 {
		return fuse.Status(errno)
	}
	for i := in.Offset; i < uint64(len(entries)); i++ {
		e := fuse.DirEntry{Name: entries[i].Name, Ino: entries[i].Ino, Mode: syscall.S_IFREG, Off: i + 1}
		if entries[i].IsDir {
			e.Mode = syscall.S_IFDIR
		}
		if !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

func (m *Mount) ReleaseDir(in *fuse.ReleaseIn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.dirs, in.Fh)
	delete(m.rootFiles, in.Fh)
}

func (m *Mount) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	limit, used := m.v.Space()
	if limit == 0 {
		limit = 1 << 42
	}
	free := uint64(max(0, limit-used)) / disk.BlockSize
	*out = fuse.StatfsOut{
		Blocks: uint64(limit) / disk.BlockSize, Bfree: free, Bavail: free, Files: 1 << 30, Ffree: 1 << 30,
		Bsize: disk.BlockSize, Frsize: disk.BlockSize, NameLen: 255,
	}
	return fuse.OK
}
